(* Fractions of whole numbers, which programs compute with, and the numbers of an ordered field that they stand for. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra ssrZ zify.
From Iris Require Import Arithmetic.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

(* a numerator and a denominator, not necessarily in lowest terms *)
Definition fraction := (Z * Z)%type.
Definition proper (x : fraction) : bool := Z.ltb 0 x.2.
Notation one := (Zpos xH).
Notation zero := (Z0, one).
Notation unit := (one, one).

Definition reduced (x : fraction) : fraction := let g := Z.gcd x.1 x.2 in (Z.div x.1 g, Z.div x.2 g).
Definition add (x y : fraction) := reduced (Z.add (Z.mul x.1 y.2) (Z.mul y.1 x.2), Z.mul x.2 y.2).
Definition mul (x y : fraction) := reduced (Z.mul x.1 y.1, Z.mul x.2 y.2).
Definition opp (x : fraction) : fraction := (Z.opp x.1, x.2).
Definition sub (x y : fraction) := add x (opp y).
Definition inverse (x : fraction) : fraction := (x.2, x.1).  (* of a number above 0 *)
Definition le (x y : fraction) : bool := Z.leb (Z.mul x.1 y.2) (Z.mul y.1 x.2).
Definition least (x y : fraction) := if le x y then x else y.
Definition most (x y : fraction) := if le x y then y else x.

Lemma factor_gt0 k x c : Z.lt 0 c -> Z.lt 0 x -> c = Z.mul k x -> Z.lt 0 k.
Proof. by move=> c0 x0 e; move: c0; rewrite e => /(Z.mul_pos_cancel_r _ _ x0). Qed.
Lemma gcd_gt0 x y : Z.lt 0 x -> Z.lt 0 (Z.gcd x y).
Proof.
move=> x0; have := Z.gcd_nonneg x y; have : Z.gcd x y <> Z0 by move/Z.gcd_eq_0_l; lia.
lia.
Qed.

Local Open Scope ring_scope.

Section Numbers.
Variable F : realFieldType.
Notation of_Z := (@of_Z F).

Definition number (x : fraction) : F := of_Z x.1 / of_Z x.2.

Lemma of_Z0 : of_Z Z0 = 0. Proof. by []. Qed.
Lemma of_Z_lt x y : (of_Z x < of_Z y) = Z.ltb x y.
Proof. by rewrite ltNge of_Z_le; lia. Qed.
Lemma of_Z_pos z : Z.lt 0 z -> 0 < of_Z z.
Proof. by rewrite -of_Z0 of_Z_lt; lia. Qed.
Lemma of_ZB x y : of_Z (Z.sub x y) = of_Z x - of_Z y.
Proof. by rewrite -Z.add_opp_r of_ZD of_ZN. Qed.

Lemma properP x : proper x -> 0 < of_Z x.2.
Proof. by move/Z.ltb_lt; apply: of_Z_pos. Qed.
Lemma proper_neq0 x : proper x -> of_Z x.2 != 0.
Proof. by move/properP/lt0r_neq0. Qed.

Lemma number0 : number zero = 0. Proof. by rewrite /number mul0r. Qed.
Lemma number1 : number unit = 1. Proof. by rewrite /number divff ?oner_eq0. Qed.

Lemma proper_reduced x : proper x -> proper (reduced x).
Proof.
move=> /Z.ltb_lt x0; apply/Z.ltb_lt; rewrite /reduced /=.
have g0 : Z.lt 0 (Z.gcd x.1 x.2) by rewrite Z.gcd_comm; apply: gcd_gt0.
have [k ek] := Z.gcd_divide_r x.1 x.2; rewrite {1}ek Z.div_mul; last by lia.
exact: factor_gt0 x0 g0 ek.
Qed.

Lemma number_reduced x : proper x -> number (reduced x) = number x.
Proof.
move=> /Z.ltb_lt x0; rewrite /number /reduced /=.
have g0 : Z.lt 0 (Z.gcd x.1 x.2) by rewrite Z.gcd_comm; apply: gcd_gt0.
have [k ek] := Z.gcd_divide_r x.1 x.2; have [j ej] := Z.gcd_divide_l x.1 x.2.
have -> : Z.div x.1 (Z.gcd x.1 x.2) = j by rewrite {1}ej Z.div_mul; lia.
have -> : Z.div x.2 (Z.gcd x.1 x.2) = k by rewrite {1}ek Z.div_mul; lia.
have g1 : of_Z (Z.gcd x.1 x.2) != 0 by apply/lt0r_neq0/of_Z_pos.
by rewrite [in RHS]ej [in X in _ = _ / X]ek !of_ZM -mulf_div divff ?mulr1.
Qed.

Lemma proper_mul x y : proper x -> proper y -> proper (mul x y).
Proof.
by move=> /Z.ltb_lt x0 /Z.ltb_lt y0; apply/proper_reduced/Z.ltb_lt/Z.mul_pos_pos.
Qed.
Lemma proper_add x y : proper x -> proper y -> proper (add x y).
Proof.
by move=> /Z.ltb_lt x0 /Z.ltb_lt y0; apply/proper_reduced/Z.ltb_lt/Z.mul_pos_pos.
Qed.
Lemma proper_opp x : proper x -> proper (opp x). Proof. by []. Qed.
Lemma proper_sub x y : proper x -> proper y -> proper (sub x y).
Proof. by move=> px py; apply: proper_add. Qed.

Let product x y : proper x -> proper y -> proper (Z.mul x.1 y.1, Z.mul x.2 y.2).
Proof. by move=> /Z.ltb_lt x0 /Z.ltb_lt y0; apply/Z.ltb_lt/Z.mul_pos_pos. Qed.

Lemma number_mul x y : proper x -> proper y -> number (mul x y) = number x * number y.
Proof. by move=> px py; rewrite number_reduced ?product // /number !of_ZM mulf_div. Qed.
Lemma number_add x y : proper x -> proper y -> number (add x y) = number x + number y.
Proof.
move=> px py; rewrite number_reduced; last exact: (product px py).
by rewrite /number /= of_ZD !of_ZM addf_div ?proper_neq0.
Qed.
Lemma number_opp x : number (opp x) = - number x.
Proof. by rewrite /number of_ZN mulNr. Qed.
Lemma number_sub x y : proper x -> proper y -> number (sub x y) = number x - number y.
Proof. by move=> px py; rewrite number_add // number_opp. Qed.

Lemma number_le x y : proper x -> proper y -> (number x <= number y) = le x y.
Proof.
move=> /properP px /properP py; rewrite /number ler_pdivr_mulr // mulrAC ler_pdivl_mulr //.
by rewrite -!of_ZM of_Z_le.
Qed.

Lemma number_least x y : proper x -> proper y -> number (least x y) = Num.min (number x) (number y).
Proof. by move=> px py; rewrite /least -number_le //; case: leP. Qed.
Lemma proper_least x y : proper x -> proper y -> proper (least x y).
Proof. by move=> px py; rewrite /least; case: ifP. Qed.
Lemma number_most x y : proper x -> proper y -> number (most x y) = Num.max (number x) (number y).
Proof. by move=> px py; rewrite /most -number_le //; case: leP. Qed.
Lemma proper_most x y : proper x -> proper y -> proper (most x y).
Proof. by move=> px py; rewrite /most; case: ifP. Qed.

Lemma proper_inverse x : proper x -> 0 < number x -> proper (inverse x).
Proof.
move=> px; rewrite pmulr_lgt0 ?invr_gt0 ?properP // -of_Z0 of_Z_lt; exact.
Qed.
Lemma number_inverse x : number (inverse x) = (number x)^-1.
Proof. by rewrite /number invf_div. Qed.

End Numbers.
Arguments of_Z_pos {F z}.
Arguments properP {F x}.
Arguments proper_neq0 {F x}.
