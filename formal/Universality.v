(* One noise for all consumers of a count: every private mechanism is matched by one post-processing of the
   geometric one, at every count and for every loss that never falls away from the truth.               *)
From mathcomp Require Import all_ssreflect all_algebra zify.
From Iris Require Import Arithmetic Laws Shapes PostProcessing Operator RankOrder Geometric Thresholds.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Losses.
Variables (F : realFieldType) (n : nat).
Notation N := n.+1.
Notation V := 'I_N.+1.

(* toward the truth on both sides *)
Definition nearer i (p q : V -> F) := forall v, (v <= N)%N ->
  if (i <= v)%N then prefix q v.+1 <= prefix p v.+1 else prefix p v.+1 <= prefix q v.+1.

(* losses that never fall, away from i, on either side *)
Definition never_falls (l : nat -> F) i :=
  (forall v, (v < i)%N -> l v.+1 <= l v) /\ (forall v, (i <= v)%N -> l v <= l v.+1).
Definition expected (l : nat -> F) (p : V -> F) := \sum_(v : V) l v * p v.

Lemma expected_parts (p : V -> F) l : law p ->
  expected l p = l N - \sum_(v < N) (l v.+1 - l v) * prefix p v.+1.
Proof.
move=> lp; rewrite /expected.
rewrite (eq_bigr (fun v : V => (l v.+1 * prefix p v.+1 - l v * prefix p v) - (l v.+1 - l v) * prefix p v.+1)).
  rewrite sumrB -(big_mkord predT (fun v => l v.+1 * prefix p v.+1 - l v * prefix p v)) telescope_sumr //=.
  have e x y s : x - (s + (x - y)) = y - s :> F by linear.
  by rewrite prefix0 mulr0 subr0 big_ord_recr /= prefix_all (proj2 lp) !mulr1 e.
by move=> v _; rewrite prefixS; linear.
Qed.

Lemma nearer_expected i (p q : V -> F) l : law p -> law q -> nearer i p q -> never_falls l i ->
  expected l p <= expected l q.
Proof.
move=> lp lq near [l1 l2]; rewrite (expected_parts _ lp) (expected_parts _ lq) ler_add2l ler_opp2.
apply: ler_sum => v _; have := near v (ltnW (ltn_ord v)); case: leqP => iv c.
  by apply: ler_wpmul2l => //; rewrite subr_ge0 l2.
by apply: ler_wnmul2l => //; rewrite subr_le0 l1.
Qed.
End Losses.

Section Universality.
Variables (F : realFieldType) (n : nat) (a : F).
Hypotheses (a0 : 0 < a) (a1 : a < 1).
Notation N := n.+1.
Notation V := 'I_N.+1.
Notation G := (@geometric F n a).
Notation step := (u a^-1 0).

Variable M : nat -> V -> F.
Hypothesis M_law : forall i, (i <= N)%N -> law (M i).
Hypothesis M_private : forall i, (i < N)%N -> close a^-1 0 (M i) (M i.+1).

Let r1 : 1 <= a^-1. Proof. exact: inverse_ge1. Qed.

Lemma M_down v s k : (v <= N)%N -> (s <= v)%N -> prefix (M (v - s)) k <= iter s step (prefix (M v) k).
Proof.
move=> vN; elim: s => [|s IH] sv; first by rewrite subn0.
have lt : (v - s.+1 < N)%N by lia.
rewrite iterS; apply: le_trans (u_monotone r1 (lexx 0) (IH (ltnW sv))).
rewrite !prefix_prob; apply: (u_optimal r1 (lexx 0)); try by apply: M_law; lia.
by rewrite closeC -[in X in close _ _ _ X]subnSK //; apply: M_private.
Qed.

Lemma M_up v s k : (v + s <= N)%N -> 1 - prefix (M (v + s)) k <= iter s step (1 - prefix (M v) k).
Proof.
elim: s => [|s IH] sv; first by rewrite addn0.
rewrite addnS in sv *; rewrite iterS; apply: le_trans (u_monotone r1 (lexx 0) (IH (ltnW sv))).
have l0 := M_law (ltnW sv); have l1 := M_law sv.
by rewrite !prefix_prob -!prob_setC //; apply: (u_optimal r1 (lexx 0)) => //; apply: M_private.
Qed.

Theorem universal_reading : exists R : V -> V -> F,
  stochastic R /\ forall i, (i <= N)%N -> nearer i (processed R (G i)) (M i).
Proof.
have leN (v : V) : (v <= N)%N by rewrite -ltnS.
have choice (v : V) : exists kt : V * F, 0 <= kt.2 <= 1 /\ mean a v (@threshold F n kt.1 kt.2) = prefix (M v) v.+1.
  exact: (threshold_exists a0 a1 (leN v) (prefix_bounds v.+1 (M_law (leN v)))).
have [kt hkt] := fin_all_exists choice; pose g (v : V) := @threshold F n (kt v).1 (kt v).2.
have g01 v z : 0 <= g v z <= 1 by case: (hkt v) => ht _; apply: threshold_bounds.
have gm (v : V) : mean a v (g v) = prefix (M v) v.+1 by case: (hkt v).
have star i (v : V) : (i <= N)%N ->
    if (i <= v)%N then prefix (M i) v.+1 <= mean a i (g v) else mean a i (g v) <= prefix (M i) v.+1.
  move=> iN; have vN := leN v; have [ht hm] := hkt v; case: leqP => iv.
    rewrite -(subKn iv) /g (mean_iter_down a0 a1) // ?leq_subr // hm.
    by apply: M_down; rewrite ?leq_subr.
  have e : (v + (i - v))%N = i by rewrite subnKC // ltnW.
  suff : 1 - prefix (M i) v.+1 <= 1 - mean a i (g v) by linear.
  by rewrite -e /g (mean_iter_up a0 a1) ?e // hm -[X in prefix (M X)]e; apply: M_up; rewrite e.
have mono (v w : V) z : w = v.+1 :> nat -> g v z <= g w z.
  move=> wv; have [ht _] := hkt v; have [ht' _] := hkt w.
  case: (threshold_total n (kt v).1 (kt w).1 ht ht') => h; first exact: h.
  have wN := leN w.
  have le : mean a w (g v) <= mean a w (g w).
    rewrite gm; have := star w v wN; rewrite wv ltnn => /le_trans; apply.
    by rewrite -wv prefixS ler_addl; case: (M_law wN).
  have ge y : 0 <= G w y * (g v y - g w y).
    by apply: mulr_ge0; [exact/ltW/geometric_gt0|rewrite subr_ge0; apply: h].
  have z0 : \sum_y G w y * (g v y - g w y) = 0.
    apply/le_anti; rewrite sumr_ge0 // andbT.
    rewrite (eq_bigr (fun y => G w y * g v y - G w y * g w y)); last by move=> y _; rewrite mulrBr.
    by rewrite sumrB subr_le0.
  have /eqP : G w z * (g v z - g w z) = 0 by apply: (psumr_eq0P (fun y _ => ge y) z0).
  by rewrite mulf_eq0 gt_eqF ?geometric_gt0 //= subr_eq0 => /eqP ->.
pose up (k : nat) (z : V) : F := if k is v.+1 then if (v < N)%N then g (inord v) z else 1 else 0.
have upS v z : up v z <= up v.+1 z.
  case: v => [|v] /=; first by case/andP: (g01 (inord 0) z).
  case: (ltnP v.+1 N) => h; last by case: ifP => _ //; case/andP: (g01 (inord v) z).
  by rewrite (ltnW h); apply: mono; rewrite !inordK // ltnS ltnW // ltnW.
pose R (z v : V) := up v.+1 z - up v z.
have sR : stochastic R.
  move=> z; split=> [v|]; first by rewrite subr_ge0.
  rewrite /R -(big_mkord predT (fun v => up v.+1 z - up v z)) telescope_sumr //= ltnn subr0 //.
have prefixR i k : (k <= N.+1)%N -> prefix (processed R (G i)) k = mean a i (up k).
  elim: k => [|k IH] kN; first by rewrite prefix0 /mean big1 // => z _; rewrite mulr0.
  rewrite (prefixS _ (Ordinal kN)) /= IH ?(ltnW kN) // /processed /mean -big_split; apply: eq_bigr => z _ /=.
  by rewrite /R /= mulrBr addrC subrK.
exists R; split=> // i iN v vN; rewrite prefixR //.
case: (ltnP v N) => h.
  have -> : mean a i (up v.+1) = mean a i (g (inord v)) by apply: eq_bigr => z _; rewrite /= h.
  by have := star i (inord v) iN; rewrite inordK.
have -> : v = N by apply/eqP; rewrite eqn_leq vN h.
rewrite iN prefix_all (proj2 (M_law iN)) /mean (eq_bigr (G i)) ?(proj2 (geometric_law a0 a1 iN)) // => z _.
by rewrite /= ltnn mulr1.
Qed.

Theorem universality : exists R : V -> V -> F, stochastic R /\ forall i l, (i <= N)%N -> never_falls l i ->
  expected l (processed R (G i)) <= expected l (M i).
Proof.
have [R [sR near]] := universal_reading; exists R; split=> // i l iN.
exact: nearer_expected (processed_law sR (geometric_law a0 a1 iN)) (M_law iN) (near i iN).
Qed.

End Universality.
