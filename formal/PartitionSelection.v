(* Naming groups: u^n(0) is the largest private probability of naming a group of n. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Iris Require Import Arithmetic Laws Shapes Operator.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section PartitionSelection.
Variables (F : realFieldType) (r d : F).
Hypotheses (r1 : 1 <= r) (d0 : 0 <= d).
Let su := u_shape r1 d0.

Definition named n : F := iter n (u r d) 0.

Lemma named_bounds n : 0 <= named n <= 1.
Proof. by apply: (iter_bounds su); rewrite lexx ler01. Qed.

Theorem selection_private n : close r d (coin (named n)) (coin (named n.+1)).
Proof. exact: u_sound (named_bounds n). Qed.

Theorem selection_optimal (s : nat -> F) : s 0%N = 0 -> (forall n, 0 <= s n <= 1) ->
  (forall n, close r d (coin (s n)) (coin (s n.+1))) -> forall n, s n <= named n.
Proof.
move=> s0 sp sc; elim=> [|n IH]; first by rewrite s0.
by apply: (le_trans (u_largest r1 d0 (sp n) (sp n.+1) (sc n))); apply: u_monotone.
Qed.

End PartitionSelection.
