(* The rules of pull from the top, for three categories, have a solution: they are followed until few records matter. *)
From mathcomp Require Import all_ssreflect all_algebra zify.
From Iris Require Import Arithmetic Laws Pull.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section PullExists.
Variables (F : realFieldType) (r : F).
Hypothesis r1 : 1 <= r.

Fixpoint follow (fuel x y : nat) : F :=
  if fuel is k.+1 then
    match x, y with
    | 0, 0 => 3%:R^-1
    | 0, 1 => r * (2%:R * r + 1)^-1
    | 1, 0 => (2%:R * r + 1)^-1
    | 1, 1 => (r + 2%:R)^-1
    | 0, y => (1 - follow k y 0) / 2%:R
    | 1, y => (1 - follow k y 1) / (r + 1)
    | x.+2, 0 => follow k x.+1 1 / r
    | x.+2, y.+1 => follow k x y / r
    end
  else 0.

(* how many rules are left to follow, at most *)
Definition left_over (x y : nat) : nat :=
  (if (x <= 1) && (y <= 1) then 0 else 3 * (x + y) + (if x <= 1 then 2 else if y == 0 then 1 else 0))%N.
Definition pull x y : F := follow (left_over x y).+1 x y.

Lemma fewer0 y : (left_over y.+2 0 < left_over 0 y.+2)%N. Proof. rewrite /left_over /=; lia. Qed.
Lemma fewer1 y : (left_over y.+2 1 < left_over 1 y.+2)%N. Proof. rewrite /left_over /=; lia. Qed.
Lemma fewer2 x : (left_over x.+1 1 < left_over x.+2 0)%N.
Proof. by case: x => [|x]; rewrite /left_over /=; lia. Qed.
Lemma fewer3 x y : (left_over x y < left_over x.+2 y.+1)%N.
Proof. by case: x => [|[|x]]; case: y => [|[|y]]; rewrite /left_over /=; lia. Qed.

Lemma follow_enough k j x y : (left_over x y < k)%N -> (left_over x y < j)%N -> follow k x y = follow j x y.
Proof.
have less a b c : (a < b)%N -> (b < c.+1)%N -> (a < c)%N by move=> ab bc; apply: (leq_trans ab).
elim: k j x y => [|k IH] [|j] // [|[|x]] [|[|y]] // hk hj; rewrite [LHS]/= [RHS]/=; congr (_ / _).
- by congr (1 - _); apply: IH; [apply: less (fewer0 y) hk|apply: less (fewer0 y) hj].
- by congr (1 - _); apply: IH; [apply: less (fewer1 y) hk|apply: less (fewer1 y) hj].
- by apply: IH; [apply: less (fewer2 x) hk|apply: less (fewer2 x) hj].
- by apply: IH; [apply: less (fewer3 x 0) hk|apply: less (fewer3 x 0) hj].
- by apply: IH; [apply: less (fewer3 x y.+1) hk|apply: less (fewer3 x y.+1) hj].
Qed.

Let c2 : (2%:R * r + 1) * (2%:R * r + 1)^-1 = 1. Proof. by rewrite divff // lt0r_neq0 //; linear. Qed.
Let c3 : (r + 2%:R) * (r + 2%:R)^-1 = 1. Proof. by rewrite divff // lt0r_neq0 //; linear. Qed.
Let c0 : r != 0. Proof. by rewrite lt0r_neq0 //; linear. Qed.
Let c1 : r + 1 != 0. Proof. by rewrite lt0r_neq0 //; linear. Qed.
Let two : (2%:R : F) != 0. Proof. by rewrite pnatr_eq0. Qed.

Theorem pull_exists : pulled r pull.
Proof.
have three : (3%:R : F) * 3%:R^-1 = 1 by rewrite divff // pnatr_eq0.
split=> [[|[|y]]|[|[|y]]|x y|x]; rewrite /pull.
- rewrite /=; linear.
- rewrite /=; linear.
- have e k : follow k.+1 0 y.+2 = (1 - follow k y.+2 0) / 2%:R by [].
  rewrite e mulrC divfK //; congr (1 - _).
  by apply: follow_enough => //; apply: fewer0.
- rewrite /=; linear.
- rewrite /=; linear.
- have e k : follow k.+1 1 y.+2 = (1 - follow k y.+2 1) / (r + 1) by [].
  rewrite e mulrC divfK //; congr (1 - _).
  by apply: follow_enough => //; apply: fewer1.
- have e k : follow k.+1 x.+2 y.+1 = follow k x y / r by [].
  by rewrite e mulrC divfK //; apply: follow_enough => //; apply: fewer3.
- have e k : follow k.+1 x.+2 0 = follow k x.+1 1 / r by [].
  by rewrite e mulrC divfK //; apply: follow_enough => //; apply: fewer2.
Qed.

End PullExists.
