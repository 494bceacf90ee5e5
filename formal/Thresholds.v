(* Reading a geometric count by a randomised threshold: nothing private moves faster from count to count. *)
From mathcomp Require Import all_ssreflect all_algebra zify.
From Iris Require Import Arithmetic Laws Shapes PostProcessing Operator RankOrder Geometric.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Thresholds.
Variables (F : realFieldType) (n : nat) (a : F).
Hypotheses (a0 : 0 < a) (a1 : a < 1).
Notation N := n.+1.
Notation V := 'I_N.+1.
Notation G := (@geometric F n a).
Notation step := (u a^-1 0).

Let r1 : 1 <= a^-1. Proof. exact: inverse_ge1. Qed.

Lemma le_step s t : (t <= step s) = [&& t <= 1, a * t <= s & t <= 1 - a * (1 - s)].
Proof.
have an : a != 0 by apply: lt0r_neq0.
rewrite le_u // addr0 subr0 ler_pdivl_mull // -[in X in [&& _, _ & X]](ler_pmul2l a0).
by rewrite mulrA divff // mul1r mulrBr divff.
Qed.

Lemma step_branches s : [/\ step s <= 1, a * step s <= s & step s <= 1 - a * (1 - s)].
Proof. by have := lexx (step s); rewrite le_step => /and3P. Qed.

(* yes below k, yes with probability t at k, no above *)
Definition threshold (k : nat) (t : F) (z : V) : F :=
  if (z < k)%N then 1 else if z == k :> nat then t else 0.
Definition mean (i : nat) (g : V -> F) := \sum_z G i z * g z.

Lemma threshold_bounds k t z : 0 <= t <= 1 -> 0 <= threshold k t z <= 1.
Proof. by rewrite /threshold => ht; case: ifP => _; [|case: ifP => _ //]; rewrite ?lexx ?ler01. Qed.

Lemma mean_not i g : (i <= N)%N -> mean i (fun z => 1 - g z) = 1 - mean i g.
Proof.
move=> iN; rewrite -[in RHS](proj2 (geometric_law a0 a1 iN)) /mean -sumrB.
by apply: eq_bigr => z _; linear.
Qed.

Lemma mean_near i g : (forall z, 0 <= g z <= 1) -> (i < N)%N ->
  mean i g <= step (mean i.+1 g) /\ mean i.+1 g <= step (mean i g).
Proof.
move=> hg iN; pose K (z : V) := coin (g z).
have sK : stochastic K by move=> z; apply: coin_law.
have c := post_processing sK (geometric_private a0 a1 iN).
have l0 := processed_law sK (geometric_law a0 a1 (ltnW iN)).
have l1 := processed_law sK (geometric_law a0 a1 iN).
have e j : prob (processed K (G j)) [set true] = mean j g by rewrite prob_set1.
by split; rewrite -!e; apply: (u_optimal r1 (lexx 0)) => //; rewrite closeC.
Qed.

Lemma mean_left k t i : (k <= i)%N -> mean i.+1 (threshold k t) = a * mean i (threshold k t).
Proof.
move=> ki; rewrite /mean mulr_sumr; apply: eq_bigr => z _; rewrite /threshold mulrA.
case: ltngtP => zk; rewrite ?mulr0 // (geometric_left a0 a1) //; first by rewrite ltnW // (leq_trans zk).
by rewrite zk.
Qed.

Lemma mean_right k t i : (i < k)%N -> (i < N)%N ->
  1 - mean i (threshold k t) = a * (1 - mean i.+1 (threshold k t)).
Proof.
move=> ik iN; rewrite -!mean_not ?(ltnW iN) // /mean mulr_sumr; apply: eq_bigr => z _.
rewrite /threshold mulrA; case: ltngtP => zk; rewrite ?subrr ?mulr0 //.
  by rewrite (geometric_right a0 a1) // (ltn_trans ik).
by rewrite (geometric_right a0 a1) // zk.
Qed.

(* a threshold goes as far as privacy lets it *)
Lemma mean_down k t i : 0 <= t <= 1 -> (i < N)%N ->
  mean i (threshold k t) = step (mean i.+1 (threshold k t)).
Proof.
move=> ht iN; have [h _] := mean_near (fun z => threshold_bounds k z ht) iN.
apply/le_anti; rewrite h /=; have [_ b c] := step_branches (mean i.+1 (threshold k t)).
case: (leqP k i) => ki; last by have := mean_right t ki iN; linear.
by rewrite -(ler_pmul2l a0) -mean_left.
Qed.

Lemma mean_up k t i : 0 <= t <= 1 -> (i < N)%N ->
  1 - mean i.+1 (threshold k t) = step (1 - mean i (threshold k t)).
Proof.
move=> ht iN; have h01 z : 0 <= 1 - threshold k t z <= 1 by have := threshold_bounds k z ht; linear.
have [_ h] := mean_near h01 iN; rewrite !mean_not ?(ltnW iN) // in h.
apply/le_anti; rewrite h /=; have [_ b c] := step_branches (1 - mean i (threshold k t)).
case: (leqP k i) => ki; first by have := mean_left t ki; linear.
by rewrite -(ler_pmul2l a0) -mean_right.
Qed.

Lemma mean_iter_down k t v s : 0 <= t <= 1 -> (v <= N)%N -> (s <= v)%N ->
  mean (v - s) (threshold k t) = iter s step (mean v (threshold k t)).
Proof.
move=> ht vN; elim: s => [|s IH] sv; first by rewrite subn0.
by rewrite iterS -IH ?(ltnW sv) // (mean_down k ht) ?subnSK //; lia.
Qed.

Lemma mean_iter_up k t v s : 0 <= t <= 1 -> (v + s <= N)%N ->
  1 - mean (v + s) (threshold k t) = iter s step (1 - mean v (threshold k t)).
Proof.
move=> ht; elim: s => [|s IH] sv; first by rewrite addn0.
by rewrite addnS in sv *; rewrite iterS -IH ?(ltnW sv) //; apply: mean_up.
Qed.

(* every probability is the mean of some threshold *)
Lemma threshold_exists v s : (v <= N)%N -> 0 <= s <= 1 ->
  exists kt : V * F, 0 <= kt.2 <= 1 /\ mean v (threshold kt.1 kt.2) = s.
Proof.
move=> vN /andP[s0 s1]; have [q0 q1] := geometric_law a0 a1 vN.
have ex : exists k, s <= prefix (G v) k by exists N.+1; rewrite prefix_all q1.
case: (ex_minnP ex) => -[|k] hk least.
  exists (ord0, 0); rewrite /= lexx ler01; split=> //; rewrite prefix0 in hk.
  rewrite (_ : s = 0); last by linear.
  by rewrite /mean big1 // => z _; rewrite /threshold ltn0 if_same mulr0.
have kN : (k < N.+1)%N.
  by rewrite ltnNge; apply/negP => h; have := least N.+1; rewrite prefix_all q1 s1 => /(_ isT); rewrite ltnNge h.
pose K := Ordinal kN; have pk : prefix (G v) k.+1 = prefix (G v) k + G v K := prefixS (G v) K.
have lk : prefix (G v) k < s by rewrite ltNge; apply/negP => /least; rewrite ltnn.
have gk : 0 < G v K := geometric_gt0 a0 a1 v K.
have share : (s - prefix (G v) k) / G v K * G v K = s - prefix (G v) k by rewrite divfK ?gt_eqF.
exists (K, (s - prefix (G v) k) / G v K) => /=; split.
  apply/andP; split; first by rewrite -(pmulr_lge0 _ gk) share; linear.
  by rewrite -(ler_pmul2r gk) share mul1r; linear.
rewrite /mean (bigID (fun z : V => (z < k)%N)) /= (eq_bigr (G v)); last first.
  by move=> z zk; rewrite /threshold zk mulr1.
rewrite -/(prefix (G v) k) (bigD1 K) ?ltnn //= big1 ?addr0.
  by rewrite /threshold ltnn eqxx mulrC share; linear.
by move=> z /andP[/negbTE h zK]; rewrite /threshold h -val_eqE /= in zK *; rewrite (negbTE zK) mulr0.
Qed.

Lemma threshold_total k t k' t' : 0 <= t <= 1 -> 0 <= t' <= 1 ->
  (forall z, threshold k t z <= threshold k' t' z) \/ (forall z, threshold k' t' z <= threshold k t z).
Proof.
have lt x y b c : 0 <= b <= 1 -> 0 <= c <= 1 -> (x < y)%N -> forall z, threshold x b z <= threshold y c z.
  move=> /andP[b0 b1] hc xy z; have /andP[c0 c1] := threshold_bounds y z hc.
  rewrite {1}/threshold; case: ltngtP => h //; last by rewrite /threshold h xy.
  by rewrite /threshold (ltn_trans h xy).
move=> ht ht'; case: (ltngtP k k') => h; [by left; apply: lt|by right; apply: lt|subst k'].
by case: (leP t t') => [|/ltW] h; [left|right] => z; rewrite /threshold; case: ltngtP.
Qed.

End Thresholds.
