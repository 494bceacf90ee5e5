(* What is computed from an answer, and what is computed before the question, costs nothing. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Iris Require Import Arithmetic Laws.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section PostProcessing.
Variable F : realFieldType.

(* K v is the law of what is made of the answer v *)
Definition stochastic (V W : finType) (K : V -> W -> F) := forall v, law (K v).
Definition processed (V W : finType) (K : V -> W -> F) (p : V -> F) := fun w => \sum_v p v * K v w.

Lemma processed_law (V W : finType) (K : V -> W -> F) p : stochastic K -> law p -> law (processed K p).
Proof.
move=> sK [p0 p1]; split=> [w|].
  by apply: sumr_ge0 => v _; apply: mulr_ge0 => //; case: (sK v).
by rewrite exchange_big /= -p1; apply: eq_bigr => v _; rewrite -mulr_sumr (sK v).2 mulr1.
Qed.

Lemma hockey_stick_processed (V W : finType) (K : V -> W -> F) r p q : stochastic K ->
  hockey_stick r (processed K p) (processed K q) <= hockey_stick r p q.
Proof.
move=> sK; have K0 v w : 0 <= K v w by case: (sK v).
have -> : hockey_stick r p q = \sum_w \sum_v Num.max 0 (p v - r * q v) * K v w.
  by rewrite exchange_big; apply: eq_bigr => v _ /=; rewrite -mulr_sumr (sK v).2 mulr1.
apply: ler_sum => w _; apply: max_le.
  by apply: sumr_ge0 => v _; rewrite mulr_ge0 ?max_ge0.
rewrite /processed mulr_sumr -sumrB; apply: ler_sum => v _.
by rewrite mulrA -mulrBl ler_wpmul2r ?max_ge.
Qed.

Theorem post_processing (V W : finType) (K : V -> W -> F) r d p q : stochastic K ->
  close r d p q -> close r d (processed K p) (processed K q).
Proof. by move=> sK /andP[h1 h2]; rewrite /close !(le_trans (hockey_stick_processed _ _ _ sK)). Qed.

Theorem private_post_processing (D : Type) (V W : finType) (E : D -> D -> Prop) (K : V -> W -> F) r d M :
  stochastic K -> private r d E M -> private r d E (fun x => processed K (M x)).
Proof. by move=> sK pM x y /pM; apply: post_processing. Qed.

(* a question that sends neighbours to neighbours or equals *)
Definition morphism (D D' : Type) (E : D -> D -> Prop) (E' : D' -> D' -> Prop) (g : D -> D') :=
  forall x y, E x y -> g x = g y \/ E' (g x) (g y).

Theorem pullback (D D' : Type) (V : finType) (E : D -> D -> Prop) (E' : D' -> D' -> Prop)
    (g : D -> D') (M : D' -> V -> F) r d : 1 <= r -> 0 <= d ->
  morphism E E' g -> laws M -> private r d E' M -> private r d E (fun x => M (g x)).
Proof. by move=> r1 d0 mg lM pM x y /mg[->|/pM //]; apply: close_refl. Qed.

End PostProcessing.
