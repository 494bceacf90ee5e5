(* Noise that ends: at epsilon = log 2 and delta = 1/4 the law 1/4, 1/2, 1/4 on -1, 0, 1 serves every reader of a
   count.                                                                                                       *)
From mathcomp Require Import all_ssreflect all_algebra.
From Iris Require Import Arithmetic Laws Shapes PostProcessing Operator Universality AnyShape.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Bounded.
Variable F : realFieldType.
Notation u := (@u F 2%:R (1 / 4%:R)).

Definition below_three (j : nat) : F := nth 1 [:: 0; 1 / 4%:R; 3%:R / 4%:R] j.

Lemma u_low s : s <= 1 / 4%:R -> u s = 2%:R * s + 1 / 4%:R.
Proof.
move=> h; rewrite /Operator.u; have e : 1 - (1 - s - 1 / 4%:R) / 2%:R = s / 2%:R + 5%:R / 8%:R by linear.
rewrite e (_ : Num.min _ (s / 2%:R + _) = 2%:R * s + 1 / 4%:R); last by apply/min_idPl; linear.
by apply/min_idPr; linear.
Qed.
Lemma u_middle s : 1 / 4%:R <= s -> s <= 3%:R / 4%:R -> u s = s / 2%:R + 5%:R / 8%:R.
Proof.
move=> h k; rewrite /Operator.u; have e : 1 - (1 - s - 1 / 4%:R) / 2%:R = s / 2%:R + 5%:R / 8%:R by linear.
rewrite e (_ : Num.min _ (s / 2%:R + _) = s / 2%:R + 5%:R / 8%:R); last by apply/min_idPr; linear.
by apply/min_idPr; linear.
Qed.
Lemma u_high s : 3%:R / 4%:R <= s -> u s = 1.
Proof.
move=> h; rewrite /Operator.u; have e : 1 - (1 - s - 1 / 4%:R) / 2%:R = s / 2%:R + 5%:R / 8%:R by linear.
by rewrite e; apply/min_idPl; rewrite le_minr; linear.
Qed.

Theorem three_tight : tight_noise u 1 3 below_three.
Proof.
rewrite /below_three; split=> //.
- by move=> [|[|[|j]]] //= _; rewrite nth_nil.
- by move=> [|[|[|j]]] //= _; linear.
- move=> [|[|[|j]]]; rewrite addn1 /=.
  + by rewrite u_low; linear.
  + by rewrite u_middle; linear.
  + by rewrite u_high.
  + by rewrite !nth_nil u_high //; linear.
- by move=> [|[|[|[|j]]]] //= _; linear.
- move=> [|[|[|j]]] // t _ ht; rewrite [nth _ _ _]/= [nth _ _ _.+1]/=.
  + rewrite !u_low; linear.
  + have /andP[t0 t1] := ht; rewrite !u_middle; linear.
  + rewrite !u_high; linear.
Qed.

(* every mechanism that is private at (log 2, 1/4), at every count, for every loss that never falls *)
Theorem three_universal (n : nat) (M : nat -> 'I_n.+2 -> F) :
  (forall i, (i <= n.+1)%N -> law (M i)) -> (forall i, (i < n.+1)%N -> close 2%:R (1 / 4%:R) (M i) (M i.+1)) ->
  exists R : 'I_(1 * n.+1 + 3).+1 -> 'I_n.+2 -> F, stochastic R /\ forall i l, (i <= n.+1)%N -> never_falls l i ->
    expected l (processed R (@cell F 1 3 below_three n i)) <= expected l (M i).
Proof.
move=> lM pM; have r1 : 1 <= 2%:R :> F by linear. have d0 : 0 <= 1 / 4%:R :> F by linear.
apply: (universality_any (u_shape r1 d0) three_tight) => // i iN.
by apply/(close_within r1 d0); [apply/lM/ltnW|apply: lM|apply: pM].
Qed.

End Bounded.
