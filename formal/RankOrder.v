(* The operator T: a law listed in rank order, its prefix sums raised by u.
   It is private and dominates whatever is, for every shape of privacy.    *)
From mathcomp Require Import all_ssreflect all_algebra.
From Iris Require Import Arithmetic Laws Shapes.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Prefix.
Variables (F : realFieldType) (n : nat).
Notation V := 'I_n.+1.
Implicit Types p q : V -> F.

(* the probability of the k answers that are ranked first *)
Definition prefix p k := \sum_(i < n.+1 | (i < k)%N) p i.

Lemma prefix0 p : prefix p 0 = 0. Proof. exact: big_pred0. Qed.

Lemma prefixS p (i : V) : prefix p i.+1 = prefix p i + p i.
Proof.
rewrite /prefix (bigD1 i) //= addrC; congr (_ + _); apply: eq_bigl => j.
by rewrite ltnS andbC -val_eqE /= -ltn_neqAle.
Qed.

Lemma prefix_all p : prefix p n.+1 = \sum_i p i.
Proof. by apply: eq_bigl => i; rewrite ltn_ord. Qed.

Lemma prefix_prob p k : prefix p k = prob p [set i : V | (i < k)%N].
Proof. by apply: eq_bigl => i; rewrite inE. Qed.

Lemma prefix_bounds p k : law p -> 0 <= prefix p k <= 1.
Proof. by move=> lp; rewrite prefix_prob; apply: prob_bounds. Qed.

Lemma prefix_eq p q : (forall k, (k <= n.+1)%N -> prefix p k = prefix q k) -> p =1 q.
Proof.
by move=> h i; have := prefixS p i; rewrite (h i.+1) // (h i) 1?ltnW // prefixS => /addrI.
Qed.

(* p has at least as much as q in every prefix *)
Definition dominates p q := forall k, (k <= n.+1)%N -> prefix q k <= prefix p k.

End Prefix.

Section Step.
Variables (F : realFieldType) (n : nat) (u : F -> F).
Hypothesis su : shape u.
Notation V := 'I_n.+1.
Implicit Types p q : V -> F.

Definition raised p k := if k is 0%N then 0 else u (prefix p k).
Definition T p : V -> F := fun i => raised p i.+1 - raised p i.

Lemma prefix_T p k : (k <= n.+1)%N -> prefix (T p) k = raised p k.
Proof.
elim: k => [|k IH] hk; first by rewrite prefix0.
by rewrite (prefixS (T p) (Ordinal hk)) /= (IH (ltnW hk)) /T /= addrC subrK.
Qed.

Lemma raised_le p k : law p -> raised p k <= u (prefix p k).
Proof.
by move=> lp; case: k => //=; case/andP: (shape_bounds su (prefix_bounds 0 lp)).
Qed.

Theorem T_law p : law p -> law (T p).
Proof.
move=> lp; split=> [i|]; last first.
  by rewrite -prefix_all prefix_T //= prefix_all (proj2 lp) shape1.
rewrite subr_ge0 (le_trans (raised_le i lp)) //=; apply: (shape_monotone su).
- by case/andP: (prefix_bounds i lp).
- by rewrite prefixS ler_addl; case: lp.
- by case/andP: (prefix_bounds i.+1 lp).
Qed.

(* an event gains most if it comes first *)
Theorem T_within p : law p -> within u p (T p).
Proof.
move=> lp; have [p0 p1] := lp; apply: within_half => //; first exact: T_law.
move=> S; pose part (f : V -> F) k := \sum_(i < n.+1 | (i \in S) && (i < k)%N) f i.
have partS f (i : V) : part f i.+1 = part f i + (if i \in S then f i else 0).
  rewrite /part; case: ifP => iS.
    rewrite (bigD1 i) ?iS //= addrC; congr (_ + _); apply: eq_bigl => j.
    by rewrite ltnS -andbA; congr (_ && _); rewrite andbC -val_eqE /= -ltn_neqAle.
  rewrite addr0; apply: eq_bigl => j; rewrite ltnS leq_eqVlt andb_orr.
  by case: eqP => [/val_inj ->|_]; rewrite ?iS // andbF.
have part0 f : part f 0%N = 0 by apply: big_pred0 => i; rewrite andbF.
have part_all f : part f n.+1 = prob f S by apply: eq_bigl => i; rewrite ltn_ord andbT.
have part_prefix k : 0 <= part p k <= prefix p k.
  rewrite sumr_ge0 //= /prefix [leRHS](bigID (mem S)) /=.
  have -> : part p k = \sum_(i < n.+1 | (i < k)%N && (i \in S)) p i by apply: eq_bigl => i; rewrite andbC.
  by rewrite ler_addl sumr_ge0.
suff h k : (k <= n.+1)%N -> part (T p) k <= u (part p k) by rewrite -!part_all h.
elim: k => [|k IH] hk.
  by rewrite !part0; have /(shape_bounds su)/andP[] : 0 <= (0 : F) <= 1 by linear.
have {}IH := IH (ltnW hk); pose i := Ordinal hk.
have eT : T p i = raised p k.+1 - raised p k by [].
have ep : prefix p k.+1 = prefix p k + p i := prefixS p i.
have [e1 e2] : part (T p) k.+1 = part (T p) k + (if i \in S then T p i else 0) /\
    part p k.+1 = part p k + (if i \in S then p i else 0) by split; apply: (partS _ i).
rewrite e1 e2; case: ifP => _; last by rewrite !addr0.
have /andP[c0 c1] := part_prefix k; have b := prefix_bounds k.+1 lp.
have h1 : prefix p k + p i <= 1 by linear.
have inc := shape_increments su c0 c1 (p0 i) h1; rewrite eT /raised ep.
clear eT ep e1 e2 b; clearbody i; case: k {hk} IH c0 c1 h1 inc => [|k] IH c0 c1 h1 inc; last by linear.
by rewrite !part0 !add0r prefix0 add0r subr0.
Qed.

Theorem T_dominates p q : law p -> law q -> within u p q -> dominates (T p) q.
Proof.
move=> lp lq h k hk; rewrite prefix_T //; case: k hk => [|k] hk; first by rewrite prefix0.
by rewrite /raised !prefix_prob; have [] := h [set i : V | (i < k.+1)%N].
Qed.

Lemma T_monotone p q : law p -> law q -> dominates p q -> dominates (T p) (T q).
Proof.
move=> lp lq h k hk; rewrite !prefix_T //; case: k hk => [|k] hk //=.
apply: (shape_monotone su); last by case/andP: (prefix_bounds k.+1 lp).
  by case/andP: (prefix_bounds k.+1 lq).
exact: h.
Qed.

Lemma iter_T_law p t : law p -> law (iter t T p).
Proof. by move=> lp; elim: t => //= t; apply: T_law. Qed.

(* T^t raises every prefix sum by u^t *)
Theorem prefix_iter_T p t k : (0 < k)%N -> (k <= n.+1)%N ->
  prefix (iter t T p) k = iter t u (prefix p k).
Proof.
move=> k0 hk; elim: t => //= t IH; rewrite prefix_T // /raised -IH.
by case: k k0 {hk IH}.
Qed.

End Step.
