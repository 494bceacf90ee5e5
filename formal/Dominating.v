(* Pairs of laws that are easier to tell apart than others, at every ratio, stay so when answers are put together,
   whatever earlier answers made one ask next.                                                                     *)
From mathcomp Require Import all_ssreflect all_algebra.
From Iris Require Import Arithmetic Laws PostProcessing Composition.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Dominating.
Variable F : realFieldType.

(* (a, b) dominates (p, q): its profile is nowhere below theirs *)
Definition dominated (V W : finType) (p q : V -> F) (a b : W -> F) :=
  forall r, 0 <= r -> hockey_stick r p q <= hockey_stick r a b.

(* an answer v, and then one that may depend on it *)
Definition then_ (V W : finType) (p : V -> F) (K : V -> W -> F) := fun vw : V * W => p vw.1 * K vw.1 vw.2.

Lemma then_law (V W : finType) (p : V -> F) (K : V -> W -> F) : law p -> stochastic K -> law (then_ p K).
Proof.
move=> [p0 p1] sK; split=> [vw|]; first by apply: mulr_ge0 => //; case: (sK vw.1).
rewrite (sum_pairs (fun v w => p v * K v w)) -p1; apply: eq_bigr => v _.
by rewrite -mulr_sumr (sK v).2 mulr1.
Qed.

Lemma dominated_scaled (V W : finType) (p q : V -> F) (a b : W -> F) x y : dominated p q a b ->
  (forall v, 0 <= q v) -> 0 <= x -> 0 <= y ->
  \sum_v Num.max 0 (x * p v - y * q v) <= \sum_w Num.max 0 (x * a w - y * b w).
Proof.
move=> dom q0; rewrite le_eqVlt => /orP[/eqP <- y0|x0 y0].
  rewrite big1 => [|v _]; first by apply: sumr_ge0 => w _; apply: max_ge0.
  by apply/max_idPl; have := mulr_ge0 y0 (q0 v); rewrite mul0r sub0r oppr_le0.
have e (U : finType) (c d : U -> F) : \sum_u Num.max 0 (x * c u - y * d u) = x * hockey_stick (y / x) c d.
  rewrite /hockey_stick mulr_sumr; apply: eq_bigr => u _; rewrite maxr_pmulr ?ltW // mulr0; congr (Num.max 0 _).
  by rewrite mulrBr !mulrA [x * y]mulrC mulfK ?lt0r_neq0.
by rewrite !e; apply: ler_wpmul2l (ltW x0) _ _ (dom _ _); apply: divr_ge0 => //; apply: ltW.
Qed.

Theorem dominating_composition (V W A B : finType) (p q : V -> F) (K L : V -> W -> F) (a b : A -> F) (c d : B -> F) :
  law p -> law q -> law c -> law d -> stochastic K -> stochastic L ->
  dominated p q a b -> (forall v, dominated (K v) (L v) c d) ->
  dominated (then_ p K) (then_ q L) (both a c) (both b d).
Proof.
move=> [p0 _] [q0 _] [c0 _] [d0 _] sK sL first next r r0.
rewrite /hockey_stick (sum_pairs (fun v w => Num.max 0 (p v * K v w - r * (q v * L v w)))).
rewrite (sum_pairs (fun x y => Num.max 0 (a x * c y - r * (b x * d y)))).
apply: (@le_trans _ _ (\sum_v \sum_y Num.max 0 (p v * c y - r * q v * d y))).
  apply: ler_sum => v _; under eq_bigr do rewrite mulrA.
  by apply: dominated_scaled => //; [case: (sL v)|apply: mulr_ge0].
rewrite exchange_big [leRHS]exchange_big /=; apply: ler_sum => y _.
have e (f g : F) : f * c y - r * g * d y = c y * f - (r * d y) * g by linear.
have e' (f g : F) : f * c y - r * (g * d y) = c y * f - (r * d y) * g by linear.
under eq_bigr do rewrite e; under [leRHS]eq_bigr do rewrite e'.
by apply: dominated_scaled => //; apply: mulr_ge0.
Qed.

(* n answers from round m on: of the history h so far, K h is the law of the next one *)
Fixpoint rounds (V : finType) n : finType := if n is n.+1 then [finType of V * rounds V n] else [finType of unit].
Fixpoint played (V : finType) (K : seq V -> V -> F) n h : rounds V n -> F :=
  if n is n.+1 return rounds V n -> F then then_ (K h) (fun v => @played V K n (rcons h v)) else fun _ => 1.
Global Arguments played {V} K n h _.
Fixpoint independent (W : finType) (a : nat -> W -> F) n m : rounds W n -> F :=
  if n is n.+1 return rounds W n -> F then both (a m) (@independent W a n m.+1) else fun _ => 1.
Global Arguments independent {W} a n m _.

Lemma played_law (V : finType) (K : seq V -> V -> F) n h : (forall h, law (K h)) -> law (played K n h).
Proof.
move=> lK; elim: n h => [|n IH] h; first by split=> [v|]; rewrite ?ler01 ?(big_pred1 tt) //; case.
by apply: then_law => // v; apply: IH.
Qed.

Lemma independent_law (W : finType) (a : nat -> W -> F) n m : (forall m, law (a m)) -> law (independent a n m).
Proof.
move=> la; elim: n m => [|n IH] m; first by split=> [v|]; rewrite ?ler01 ?(big_pred1 tt) //; case.
exact: both_law.
Qed.

(* if a pair bounds each round whatever earlier answers made one choose for it, then their product bounds all rounds *)
Theorem dominating_rounds (V W : finType) (K L : seq V -> V -> F) (a b : nat -> W -> F) :
  (forall h, law (K h)) -> (forall h, law (L h)) -> (forall m, law (a m)) -> (forall m, law (b m)) ->
  (forall h, dominated (K h) (L h) (a (size h)) (b (size h))) ->
  forall n h, dominated (played K n h) (played L n h) (independent a n (size h)) (independent b n (size h)).
Proof.
move=> lK lL la lb dom; elim=> [|n IH] h.
  by move=> r r0; rewrite /hockey_stick !(big_pred1 tt) //; case.
apply: dominating_composition => //; [exact: independent_law|exact: independent_law| | |].
- by move=> v; apply: played_law.
- by move=> v; apply: played_law.
- by move=> v; have := IH (rcons h v); rewrite size_rcons.
Qed.

(* what is drawn from an answer without another look at the data may be seen as well: a coalition of readers of a chain
   learns no more than its best informed member *)
Theorem coalition (V W : finType) (K : V -> W -> F) r d (p q : V -> F) : 1 <= r -> 0 <= d -> stochastic K ->
  close r d p q -> close r d (then_ p K) (then_ q K).
Proof.
move=> r1 d0 sK; have e (a : V -> F) : then_ a K =1 processed (fun v (vw : V * W) => (vw.1 == v)%:R * K v vw.2) a.
  move=> [v w]; rewrite /then_ /processed (bigD1 v) //= eqxx mul1r big1 ?addr0 // => u /negbTE uv.
  by rewrite eq_sym uv mul0r mulr0.
rewrite (eq_close _ _ (e p) (e q)); apply: post_processing => v; split=> [vw|].
  by apply: mulr_ge0; [apply: ler0n|case: (sK v)].
rewrite (sum_pairs (fun u w => (u == v)%:R * K v w)) (bigD1 v) //=.
rewrite [X in _ + X]big1 ?addr0 => [|u /negbTE uv]; last by apply: big1 => w _; rewrite uv mul0r.
by under eq_bigr do rewrite eqxx mul1r; case: (sK v).
Qed.

(* a missing answer is drawn from its law given the others: the joint law is the same in any order *)
Theorem refinement (V W : finType) (j : V * W -> F) (v0 : V) : law j ->
  exists J : W -> V -> F, stochastic J /\ forall v w, j (v, w) = (\sum_u j (u, w)) * J w v.
Proof.
move=> [j0 _]; have m0 w : 0 <= \sum_u j (u, w) by apply: sumr_ge0.
exists (fun w v => if \sum_u j (u, w) == 0 then (v == v0)%:R else j (v, w) / \sum_u j (u, w)); split.
  move=> w; case m1: (\sum_u j (u, w) == 0); split=> [v|] /=; rewrite ?m1.
  - exact: ler0n.
  - by rewrite (bigD1 v0) //= eqxx big1 ?addr0 // => v /negbTE ->.
  - by apply: divr_ge0.
  - by rewrite -mulr_suml divff ?m1.
move=> v w /=; case: ifP => [/eqP m1|/negbT m1]; last by rewrite mulrC divfK.
by rewrite m1 mul0r; apply: (psumr_eq0P (fun u _ => j0 (u, w)) m1).
Qed.

End Dominating.
