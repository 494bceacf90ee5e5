(* One record among q categories: the truth with probability (r + d(q-1))/(r + q - 1), the rest equal. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Iris Require Import Arithmetic Laws.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section RandomisedResponse.
Variables (F : realFieldType) (r d : F) (V : finType).
Hypotheses (r1 : 1 <= r) (d0 : 0 <= d).
Notation q := (#|V|%:R : F).

(* every record may become every other one *)
Definition all_private (x : V -> V -> F) := forall i j, i != j -> close r d (x i) (x j).

Lemma sum_others (c : F) (i : V) : \sum_(j | j != i) c = (q - 1) * c.
Proof.
have : \sum_(j : V) c = q * c by rewrite sumr_const mulr_natl.
by rewrite (bigD1 i) //=; linear.
Qed.

(* no private answer is true more often, over all categories together *)
Theorem response_optimal (x : V -> V -> F) : laws x -> all_private x ->
  (\sum_i x i i) * (r + q - 1) <= q * (r + d * (q - 1)).
Proof.
move=> lx cx; set m := \sum_i x i i.
have wrong : \sum_i \sum_(j | j != i) x j i = q - m.
  have -> : q = \sum_(i : V) \sum_j x j i.
    by rewrite exchange_big /= (eq_bigr (fun=> 1)) ?sumr_const // => j _; case: (lx j).
  by rewrite /m -sumrB; apply: eq_bigr => i _; rewrite [in RHS](bigD1 i) //= addrC addKr.
have key : \sum_i \sum_(j | j != i) x i i <= \sum_i \sum_(j | j != i) (r * x j i + d).
  apply: ler_sum => i _; apply: ler_sum => j ji; rewrite eq_sym in ji.
  by have /(close_all_events _ _ _ d0)/(_ [set i])[h _] := cx i j ji; rewrite !prob_set1 in h.
have e1 : \sum_i \sum_(j | j != i) x i i = (q - 1) * m.
  by rewrite /m mulr_sumr; apply: eq_bigr => i _; rewrite sum_others.
have e2 : \sum_i \sum_(j | j != i) (r * x j i + d) = r * (q - m) + q * ((q - 1) * d).
  rewrite -wrong mulr_sumr mulr_natl -sumr_const -big_split /=.
  by apply: eq_bigr => i _; rewrite big_split /= sum_others mulr_sumr.
by rewrite e1 e2 in key; linear.
Qed.

Definition true_answer := (r + d * (q - 1)) / (r + q - 1).
Definition wrong_answer := (1 - true_answer) / (q - 1).
Definition response (i v : V) := if i == v then true_answer else wrong_answer.

Hypothesis V2 : (1 < #|V|)%N.
Let q2 : 1 < q. Proof. by rewrite ltr1n. Qed.

Lemma true_answerE : true_answer * (r + q - 1) = r + d * (q - 1).
Proof. by rewrite divfK //; apply/lt0r_neq0; linear. Qed.
Lemma wrong_answerE : wrong_answer * (q - 1) = 1 - true_answer.
Proof. by rewrite divfK //; apply/lt0r_neq0; linear. Qed.

Lemma answers : d <= 1 -> [/\ 0 <= wrong_answer, wrong_answer <= true_answer & true_answer - r * wrong_answer = d].
Proof.
move=> d1; have q1 : 0 < q - 1 by linear.
have t := true_answerE; have w := wrong_answerE.
have gap : true_answer - r * wrong_answer = d.
  have rw : r * (wrong_answer * (q - 1)) = r * (1 - true_answer) by rewrite w.
  by apply: (mulIf (lt0r_neq0 q1)); linear.
have w0 : 0 <= wrong_answer.
  have qr : 0 < r + q - 1 by linear.
  by rewrite -(pmulr_lge0 _ q1) w subr_ge0 -(ler_pmul2r qr) t mul1r; have := ler_wpmul2r (ltW q1) d1; linear.
by split=> //; have := ler_wpmul2l w0 r1; linear.
Qed.

Theorem response_laws : d <= 1 -> laws response.
Proof.
move=> d1; have [w0 wt _] := answers d1; move=> i; split=> [v|].
  by rewrite /response; case: eqP => _ //; apply: le_trans wt.
have w := wrong_answerE; rewrite (bigD1 i) //= (eq_bigr (fun=> wrong_answer)); last first.
  by move=> j /negbTE ji; rewrite /response eq_sym ji.
by rewrite sum_others /response eqxx; linear.
Qed.

Theorem response_private : d <= 1 -> all_private response.
Proof.
move=> d1; have [w0 wt gap] := answers d1.
have one i j : i != j -> hockey_stick r (response i) (response j) <= d.
  move=> ij; rewrite /hockey_stick (bigD1 i) //= big1 ?addr0 => [|v vi].
    by rewrite /response eqxx eq_sym (negbTE ij) gap max_le.
  apply/max_idPl; rewrite /response [i == v]eq_sym (negbTE vi).
  have x := ler_wpmul2l w0 r1.
  by case: eqP => _; [have := ler_wpmul2l (le_trans w0 wt) r1|]; linear.
by move=> i j ij; apply/andP; split; apply: one => //; rewrite eq_sym.
Qed.

End RandomisedResponse.
