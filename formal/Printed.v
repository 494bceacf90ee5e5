(* The operator as one paper prints it is not private ([Gu2024], eq. 9). *)
From mathcomp Require Import all_ssreflect all_algebra.
From Iris Require Import Arithmetic Laws.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Definition u_printed (F : realFieldType) (r d s : F) :=
  Num.min 1 (Num.min (r * s + d) (1 - (1 - s) / r + d)).

(* at r = 2, delta = 1/10, s = 1/2 it gives 17/20, and 1/2 > 2 (1 - 17/20) + 1/10 *)
Theorem printed_not_private (F : realFieldType) (r := 2%:R : F) (d := 1 / 10%:R : F) (s := 1 / 2%:R : F) :
  0 <= u_printed r d s <= 1 /\ ~ close r d (coin s) (coin (u_printed r d s)).
Proof.
have -> : u_printed r d s = 17%:R / 20%:R.
  rewrite /u_printed (_ : 1 - (1 - s) / r + d = 17%:R / 20%:R); last by rewrite /s /r /d; linear.
  rewrite (min_idPr (_ : 17%:R / 20%:R <= r * s + d)); last by rewrite /r /s /d; linear.
  by apply/min_idPr; linear.
split; first by linear.
have d0 : 0 <= d by rewrite /d; linear.
case/(close_coins _ _ _ d0) => a _; have x := max_ge0 (s - r * (17%:R / 20%:R)).
have y := max_ge (1 - s - r * (1 - 17%:R / 20%:R)).
have z : d < 1 - s - r * (1 - 17%:R / 20%:R) by rewrite /d /s /r; linear.
by linear.
Qed.
