(* The operator u of (epsilon, delta)-privacy: what an event of probability s may be given next door. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Iris Require Import Arithmetic Laws Shapes.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Definition u (F : realFieldType) (r d s : F) := Num.min 1 (Num.min (r * s + d) (1 - (1 - s - d) / r)).

Section Operator.
Variables (F : realFieldType) (r d : F).
Hypotheses (r1 : 1 <= r) (d0 : 0 <= d).
Notation u := (u r d).

Let r0 : 0 < r. Proof. linear. Qed.

Lemma le_u s t : (t <= u s) = [&& t <= 1, t <= r * s + d & r * t <= r - (1 - s - d)].
Proof.
rewrite /Operator.u !le_minr -(ler_pmul2l r0 t (1 - _)) mulrBr mulr1 mulrCA divff ?mulr1 //.
by rewrite gt_eqF.
Qed.

Lemma u_branches s : [/\ u s <= 1, u s <= r * s + d & r * u s <= r - (1 - s - d)].
Proof. by have := lexx (u s); rewrite le_u => /and3P. Qed.

Theorem u_monotone s t : s <= t -> u s <= u t.
Proof.
move=> st; have [a b c] := u_branches s; have := ler_wpmul2l (ltW r0) st.
by rewrite le_u => m; apply/and3P; split; linear.
Qed.

Theorem u_concave l s t : 0 <= l <= 1 -> l * u s + (1 - l) * u t <= u (l * s + (1 - l) * t).
Proof.
move=> l01; have [l0 m0] : 0 <= l /\ 0 <= 1 - l by linear.
have [a1 a2 a3] := u_branches s; have [b1 b2 b3] := u_branches t.
have := ler_wpmul2l l0 a1; have := ler_wpmul2l m0 b1.
have := ler_wpmul2l l0 a2; have := ler_wpmul2l m0 b2.
have := ler_wpmul2l l0 a3; have := ler_wpmul2l m0 b3.
by move=> *; rewrite le_u; apply/and3P; split; linear.
Qed.

Theorem u_shape : shape u.
Proof.
split=> [s _|s /andP[s0 s1]|l s t hl _ _|s /andP[s0 s1]]; first by case: (u_branches s).
- have := ler_wpmul2l s0 r1; have k : 0 <= 1 - s by linear.
  by have := ler_wpmul2l k r1 => a b; rewrite le_u; apply/and3P; split; linear.
- exact: u_concave.
- by have [a b c] := u_branches s; rewrite le_u; apply/and3P; split; linear.
Qed.

(* closeness is what u says of every event *)
Theorem close_within (V : finType) (p q : V -> F) : law p -> law q -> close r d p q <-> within u p q.
Proof.
move=> lp lq; split=> [/(close_all_events _ _ _ d0) h S|h].
  have [h1 h2] := h S; have [h3 h4] := h (~: S); rewrite !prob_setC // in h3 h4.
  have := prob_bounds S lp; have := prob_bounds S lq => bq bp.
  by split; rewrite le_u; apply/and3P; split; linear.
apply/(close_all_events _ _ _ d0) => S; have [h1 h2] := h S.
by have [_ a _] := u_branches (prob p S); have [_ b _] := u_branches (prob q S); linear.
Qed.

Theorem u_optimal (V : finType) (p q : V -> F) (S : {set V}) : law p -> law q ->
  close r d p q -> prob q S <= u (prob p S).
Proof. by move=> lp lq /(close_within lp lq) h; have [] := h S. Qed.

Theorem u_sound s : 0 <= s <= 1 -> close r d (coin s) (coin (u s)).
Proof.
move=> hs; have ht := shape_bounds u_shape hs; have st := shape_ge u_shape hs.
have [a b c] := u_branches s; apply/close_coins => //.
have [h k] : 0 <= s /\ 0 <= 1 - s by linear.
have := ler_wpmul2l h r1; have := ler_wpmul2l k r1 => m n.
have := ler_wpmul2l (ltW r0) st => x.
rewrite (max_idPl (_ : s - r * u s <= 0)); last by linear.
rewrite (max_idPl (_ : 1 - u s - r * (1 - s) <= 0)); last by linear.
by split; [rewrite add0r|rewrite addr0]; apply: max_le; linear.
Qed.

Theorem u_largest s t : 0 <= s <= 1 -> 0 <= t <= 1 -> close r d (coin s) (coin t) -> t <= u s.
Proof.
by move=> hs ht /(u_optimal [set true] (coin_law hs) (coin_law ht)); rewrite !prob_set1.
Qed.

(* the boundary that favours neither of two answers *)
Definition balanced := (r + d) / (r + 1).

Lemma balancedE : balanced * (r + 1) = r + d.
Proof. by rewrite divfK //; apply/lt0r_neq0; linear. Qed.

Theorem balanced_close : d <= 1 -> close r d (coin balanced) (coin (1 - balanced)).
Proof.
move=> d1; have e := balancedE; have half : 1 - balanced <= balanced.
  by rewrite -(ler_pmul2r (_ : 0 < r + 1)); linear.
have h : 0 <= 1 - balanced by rewrite -(pmulr_lge0 _ (_ : 0 < r + 1)) 1?mulrC; linear.
have := ler_wpmul2l h r1 => m; apply/close_coins => //.
rewrite subKr (max_idPl (_ : 1 - balanced - r * balanced <= 0)); last by nonlinear.
rewrite addr0 add0r.
by split; apply: max_le; linear.
Qed.

Theorem balanced_largest p q : close r d (coin p) (coin (1 - q)) -> (p + q) / 2%:R <= balanced.
Proof.
move/(close_coins _ _ _ d0) => [a b].
have a1 := max_ge (p - r * (1 - q)); have a2 := max_ge0 (1 - p - r * (1 - (1 - q))).
have b1 := max_ge (1 - (1 - q) - r * (1 - p)); have b2 := max_ge0 (1 - q - r * p).
by rewrite /balanced ler_pdivl_mulr; linear.
Qed.

End Operator.
