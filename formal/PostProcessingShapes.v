(* Post-processing under every shape of privacy: randomised tests tell laws apart no better than events do. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Iris Require Import Arithmetic Laws Shapes PostProcessing.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Tests.
Variables (F : realFieldType) (u : F -> F).
Hypothesis su : shape u.

Lemma mean_bounds (V : finType) (p g : V -> F) : law p -> (forall v, 0 <= g v <= 1) -> 0 <= \sum_v p v * g v <= 1.
Proof.
move=> [p0 p1] hg; apply/andP; split.
  by apply: sumr_ge0 => v _; apply: mulr_ge0 => //; case/andP: (hg v).
by rewrite -p1; apply: ler_sum => v _; rewrite -[leRHS]mulr1 ler_wpmul2l //; case/andP: (hg v).
Qed.

(* a test accuses after the answer v with probability g v *)
Theorem tests_within (V : finType) (p q : V -> F) g : law p -> law q -> within u p q ->
  (forall v, 0 <= g v <= 1) -> \sum_v q v * g v <= u (\sum_v p v * g v).
Proof.
move=> lp lq pq.
suff h (s : seq V) g' : (forall v, 0 <= g' v <= 1) -> (forall v, v \notin s -> g' v = 0 \/ g' v = 1) ->
    \sum_v q v * g' v <= u (\sum_v p v * g' v).
  by move=> hg; apply: (h (enum V)) => // v; rewrite mem_enum.
elim: s g' => [|x s IH] {}g hg certain.
  have e (f : V -> F) : \sum_v f v * g v = prob f [set v | g v == 1].
    rewrite /prob [RHS]big_mkcond; apply: eq_bigr => v _; rewrite inE.
    by case: (certain v) => // ->; rewrite ?mulr0 ?mulr1 ?eqxx // eq_sym oner_eq0.
  by rewrite !e; case: (pq [set v | g v == 1]).
pose at_x b v := if v == x then b else g v.
have mix (f : V -> F) : \sum_v f v * g v = g x * (\sum_v f v * at_x 1 v) + (1 - g x) * (\sum_v f v * at_x 0 v).
  rewrite !mulr_sumr -big_split; apply: eq_bigr => v _ /=; rewrite /at_x; case: eqP => [->|_]; linear.
have b01 : 0 <= (0 : F) <= 1 /\ 0 <= (1 : F) <= 1 by linear.
have bounds b : 0 <= b <= 1 -> forall v, 0 <= at_x b v <= 1 by move=> hb v; rewrite /at_x; case: eqP.
have sure b : b = 0 \/ b = 1 -> forall v, v \notin s -> at_x b v = 0 \/ at_x b v = 1.
  move=> hb v vs; rewrite /at_x; case: eqP => // /eqP vx; apply: certain.
  by rewrite inE negb_or vx.
have h0 := IH _ (bounds 0 b01.1) (sure 0 (or_introl erefl)).
have h1 := IH _ (bounds 1 b01.2) (sure 1 (or_intror erefl)).
have m0 := mean_bounds lp (bounds 0 b01.1); have m1 := mean_bounds lp (bounds 1 b01.2).
rewrite (mix p) (mix q); apply: le_trans (shape_concave su (hg x) m1 m0).
have /andP[x0 x1] := hg x; have x2 : 0 <= 1 - g x by linear.
by have := ler_wpmul2l x0 h1; have := ler_wpmul2l x2 h0; linear.
Qed.

Theorem processed_within (V W : finType) (K : V -> W -> F) (p q : V -> F) : stochastic K ->
  law p -> law q -> within u p q -> within u (processed K p) (processed K q).
Proof.
move=> sK lp lq pq S; have e (f : V -> F) : prob (processed K f) S = \sum_v f v * prob (K v) S.
  by rewrite /prob /processed exchange_big; apply: eq_bigr => v _; rewrite mulr_sumr.
have b v := prob_bounds S (sK v).
by rewrite !e; split; apply: tests_within => //; apply: withinC.
Qed.
End Tests.
