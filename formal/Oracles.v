(* The operator u and partition selection on fractions: what is extracted computes these and nothing else. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra ssrZ zify.
From Iris Require Import Arithmetic Fractions Operator PartitionSelection.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

(* the largest probability that a neighbour may give to an event of probability s *)
Definition step (r d s : fraction) : fraction :=
  least unit (least (add (mul r s) d) (sub unit (mul (sub (sub unit s) d) (inverse r)))).
(* n steps away; from zero, the probability with which a group of n is named *)
Definition steps (r d : fraction) (n : nat) (s : fraction) : fraction := iter n (step r d) s.

Local Open Scope ring_scope.

Section Meaning.
Variables (F : realFieldType) (r d : fraction).
Notation number := (@number F).
Hypotheses (pr : proper r) (pd : proper d) (r0 : 0 < number r).

Lemma proper_step s : proper s -> proper (step r d s).
Proof.
move=> ps; have pi := proper_inverse pr r0; have pu : proper unit by [].
apply: proper_least => //; apply: proper_least; first by apply: proper_add => //; apply: proper_mul.
by apply: proper_sub => //; apply: proper_mul => //; apply: proper_sub => //; apply: proper_sub.
Qed.

Theorem step_correct s : proper s -> number (step r d s) = u (number r) (number d) (number s).
Proof.
move=> ps; have pi := proper_inverse pr r0; have pu : proper unit by [].
have p1 : proper (add (mul r s) d) by apply: proper_add => //; apply: proper_mul.
have p2 : proper (sub (sub unit s) d) by apply: proper_sub => //; apply: proper_sub.
have p3 : proper (mul (sub (sub unit s) d) (inverse r)) by apply: proper_mul.
have p4 : proper (sub unit (mul (sub (sub unit s) d) (inverse r))) by apply: proper_sub.
have q1 : proper (sub unit s) by apply: proper_sub.
have q2 : proper (mul r s) by apply: proper_mul.
have e1 : number (add (mul r s) d) = number r * number s + number d by rewrite number_add // number_mul.
have e2 : number (sub (sub unit s) d) = 1 - number s - number d.
  by rewrite (number_sub F q1 pd) (number_sub F pu ps) number1.
have e3 : number (mul (sub (sub unit s) d) (inverse r)) = (1 - number s - number d) / number r.
  by rewrite number_mul // e2 number_inverse.
have e4 : number (sub unit (mul (sub (sub unit s) d) (inverse r))) = 1 - (1 - number s - number d) / number r.
  by rewrite (number_sub F pu p3) number1 e3.
rewrite /step (number_least F pu (proper_least p1 p4)) (number_least F p1 p4) number1 e1 e4 //.
Qed.

Theorem steps_correct n s : proper s -> number (steps r d n s) = iter n (u (number r) (number d)) (number s).
Proof.
move=> ps; have pn k : proper (steps r d k s) by elim: k => //= k; apply: proper_step.
by elim: n => [|n IH] //; rewrite /steps !iterS step_correct ?IH //; apply: pn.
Qed.

Theorem naming_correct n : number (steps r d n zero) = named (number r) (number d) n.
Proof. by rewrite steps_correct // number0. Qed.
End Meaning.
