(* Finite laws, events, the hockey-stick divergence, and (epsilon, delta)-closeness.  r stands for e^epsilon. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Iris Require Import Arithmetic.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Laws.
Variable F : realFieldType.

Definition law (V : finType) (p : V -> F) := (forall v, 0 <= p v) /\ \sum_v p v = 1.
Definition prob (V : finType) (p : V -> F) (S : {set V}) := \sum_(v in S) p v.
Definition hockey_stick (V : finType) r (p q : V -> F) := \sum_v Num.max 0 (p v - r * q v).
Definition close (V : finType) r d (p q : V -> F) := (hockey_stick r p q <= d) && (hockey_stick r q p <= d).

(* a mechanism has a law for every dataset; neighbours is any relation between datasets *)
Definition laws (D : Type) (V : finType) (M : D -> V -> F) := forall x, law (M x).
Definition private (D : Type) (V : finType) r d (neighbours : D -> D -> Prop) (M : D -> V -> F) :=
  forall x y, neighbours x y -> close r d (M x) (M y).

Implicit Type V : finType.

Lemma max_ge0 (x : F) : 0 <= Num.max 0 x. Proof. by rewrite le_maxr lexx. Qed.
Lemma max_ge (x : F) : x <= Num.max 0 x. Proof. by rewrite le_maxr lexx orbT. Qed.
Lemma max_le (x y : F) : 0 <= y -> x <= y -> Num.max 0 x <= y. Proof. by rewrite le_maxl => -> ->. Qed.

Lemma prob_ge0 V (p : V -> F) S : law p -> 0 <= prob p S.
Proof. by case=> p0 _; apply: sumr_ge0. Qed.

Lemma prob_setC V (p : V -> F) S : law p -> prob p (~: S) = 1 - prob p S.
Proof.
move=> [_ <-]; rewrite /prob [X in X - _](bigID (mem S)) /= addrAC subrr add0r.
by apply: eq_bigl => v; rewrite inE.
Qed.

Lemma prob_bounds V (p : V -> F) S : law p -> 0 <= prob p S <= 1.
Proof. by move=> lp; have := prob_ge0 (~: S) lp; have := prob_ge0 S lp; rewrite prob_setC //; linear. Qed.

Lemma prob_set1 V (p : V -> F) v : prob p [set v] = p v.
Proof. exact: big_set1. Qed.

Lemma closeC V r d (p q : V -> F) : close r d p q = close r d q p.
Proof. by rewrite /close andbC. Qed.

Lemma eq_close V r d (p p' q q' : V -> F) : p =1 p' -> q =1 q' -> close r d p q = close r d p' q'.
Proof.
have e (a a' b b' : V -> F) : a =1 a' -> b =1 b' -> hockey_stick r a b = hockey_stick r a' b'.
  by move=> ea eb; apply: eq_bigr => v _; rewrite ea eb.
by move=> ep eq; rewrite /close (e _ _ _ _ ep eq) (e _ _ _ _ eq ep).
Qed.

(* the hockey stick is the excess of the worst event *)
Lemma hockey_stickP V r d (p q : V -> F) : 0 <= d ->
  reflect (forall S, prob p S <= r * prob q S + d) (hockey_stick r p q <= d).
Proof.
move=> d0; have excess S : prob p S - r * prob q S = \sum_(v in S) (p v - r * q v).
  by rewrite sumrB mulr_sumr.
apply: (iffP idP) => [h S|h].
  suff : prob p S - r * prob q S <= hockey_stick r p q by linear.
  rewrite excess /hockey_stick [leRHS](bigID (mem S)) /= -[leLHS]addr0; apply: ler_add.
    by apply: ler_sum => v _; apply: max_ge.
  by apply: sumr_ge0 => v _; apply: max_ge0.
pose S := [set v | 0 <= p v - r * q v].
have -> : hockey_stick r p q = prob p S - r * prob q S.
  rewrite excess /hockey_stick (bigID (mem S)) /= [X in _ + X]big1 ?addr0 => [|v].
    by apply: eq_bigr => v; rewrite inE => /max_idPr.
  by rewrite inE -ltNge => /ltW /max_idPl.
by have := h S; linear.
Qed.

Theorem close_all_events V r d (p q : V -> F) : 0 <= d ->
  close r d p q <->
  forall S, prob p S <= r * prob q S + d /\ prob q S <= r * prob p S + d.
Proof.
move=> d0; split=> [/andP[/(hockey_stickP _ _ _ d0) h1 /(hockey_stickP _ _ _ d0) h2] S|h].
  by split.
by apply/andP; split; apply/hockey_stickP => // S; have [] := h S.
Qed.

Lemma close_refl V r d (p : V -> F) : 1 <= r -> 0 <= d -> law p -> close r d p p.
Proof.
move=> r1 d0 [p0 _]; rewrite /close andbb /hockey_stick big1 // => v _.
by apply/max_idPl; have := p0 v; nonlinear.
Qed.

Theorem close_weaker V r r' d d' (p q : V -> F) : law p -> law q -> r <= r' -> d <= d' ->
  close r d p q -> close r' d' p q.
Proof.
have mono (a b : V -> F) : (forall v, 0 <= b v) -> r <= r' -> hockey_stick r' a b <= hockey_stick r a b.
  move=> b0 rr; apply: ler_sum => v _; rewrite max_le ?max_ge0 //.
  by apply: le_trans (max_ge _); have := b0 v; nonlinear.
move=> [p0 _] [q0 _] rr dd /andP[h1 h2].
by rewrite /close !(le_trans (mono _ _ _ rr)) ?(le_trans h1) ?(le_trans h2).
Qed.

(* the same answers under other names *)
Lemma close_rename (V W : finType) r d (p q : V -> F) (g : W -> V) : bijective g ->
  close r d (fun w => p (g w)) (fun w => q (g w)) = close r d p q.
Proof.
move=> bg; have e (a b : V -> F) : hockey_stick r (fun w => a (g w)) (fun w => b (g w)) = hockey_stick r a b.
  by rewrite /hockey_stick [RHS](reindex g) //; apply: onW_bij.
by rewrite /close !e.
Qed.

Lemma law_rename (V W : finType) (p : V -> F) (g : W -> V) : bijective g -> law p -> law (fun w => p (g w)).
Proof.
move=> bg [p0 p1]; split=> [w|]; first exact: p0.
by rewrite -p1 [RHS](reindex g) //; apply: onW_bij.
Qed.

(* a yes-or-no answer *)
Definition coin (s : F) := fun b : bool => if b then s else 1 - s.

Lemma coin_law s : 0 <= s <= 1 -> law (coin s).
Proof. by move=> /andP[a b]; split; [case=> /=; linear|rewrite big_bool /=; linear]. Qed.

Lemma close_coins r d s t : 0 <= d -> close r d (coin s) (coin t) <->
  Num.max 0 (s - r * t) + Num.max 0 ((1 - s) - r * (1 - t)) <= d /\
  Num.max 0 (t - r * s) + Num.max 0 ((1 - t) - r * (1 - s)) <= d.
Proof. by move=> _; rewrite /close /hockey_stick !big_bool; split=> /andP. Qed.

End Laws.
