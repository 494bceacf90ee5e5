(* Groups of neighbours, disjoint parts, and several releases. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Iris Require Import Arithmetic Laws.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Composition.
Variable F : realFieldType.

Theorem group_privacy (V : finType) r1 r2 d1 d2 (p q s : V -> F) :
  0 <= r1 -> 0 <= r2 -> 0 <= d1 -> 0 <= d2 ->
  close r1 d1 p q -> close r2 d2 q s ->
  close (r1 * r2) (Num.max (d1 + r1 * d2) (d2 + r2 * d1)) p s.
Proof.
move=> r10 r20 d10 d20 /(close_all_events _ _ _ d10) h1 /(close_all_events _ _ _ d20) h2.
set d := Num.max _ _; have /andP[k1 k2] : (d1 + r1 * d2 <= d) && (d2 + r2 * d1 <= d) by rewrite -le_maxl.
have d0 : 0 <= d by apply: le_trans k1; apply: addr_ge0 => //; apply: mulr_ge0.
apply/close_all_events => // S; have [a1 a2] := h1 S; have [b1 b2] := h2 S.
have c1 := ler_wpmul2l r10 b1; have c2 := ler_wpmul2l r20 a2.
by split; linear.
Qed.

(* two answers drawn independently *)
Definition both (V W : finType) (p : V -> F) (q : W -> F) := fun vw : V * W => p vw.1 * q vw.2.

Lemma sum_pairs (V W : finType) (f : V -> W -> F) : \sum_(vw : V * W) f vw.1 vw.2 = \sum_v \sum_w f v w.
Proof. by rewrite pair_bigA. Qed.

Lemma both_law (V W : finType) (p : V -> F) (q : W -> F) : law p -> law q -> law (both p q).
Proof.
move=> [p0 p1] [q0 q1]; split=> [vw|]; first exact: mulr_ge0.
rewrite (sum_pairs (fun v w => p v * q w)) -p1; apply: eq_bigr => v _.
by rewrite -mulr_sumr q1 mulr1.
Qed.

(* a record that is in one part costs what that part costs *)
Theorem parallel_composition (V W : finType) (p p' : V -> F) (q : W -> F) r d : law q ->
  close r d (both p q) (both p' q) = close r d p p'.
Proof.
move=> [q0 q1]; have e (a b : V -> F) : hockey_stick r (both a q) (both b q) = hockey_stick r a b.
  rewrite /hockey_stick (sum_pairs (fun v w => Num.max 0 (a v * q w - r * (b v * q w)))).
  apply: eq_bigr => v _; rewrite -[RHS]mulr1 -q1 mulr_sumr; apply: eq_bigr => w _.
  by rewrite maxr_pmull // mul0r mulrBl mulrA.
by rewrite /close !e.
Qed.

Theorem basic_composition (V W : finType) (p p' : V -> F) (q q' : W -> F) r1 r2 d1 d2 :
  0 <= r1 -> 0 <= r2 -> law p -> law p' -> law q -> law q' ->
  close r1 d1 p p' -> close r2 d2 q q' -> close (r1 * r2) (d1 + d2) (both p q) (both p' q').
Proof.
move=> r10 r20.
have one (a a' : V -> F) (b b' : W -> F) : law a -> law a' -> law b -> law b' ->
    hockey_stick r1 a a' <= d1 -> hockey_stick r2 b b' <= d2 ->
    hockey_stick (r1 * r2) (both a b) (both a' b') <= d1 + d2.
  move=> [a0 a1] [a0' a1'] [b0 b1] [b0' b1'] h1 h2.
  pose m v := Num.max 0 (a v - r1 * a' v); pose k w := Num.max 0 (b w - r2 * b' w).
  (* a b - r1 a' r2 b' <= m b + (a - m)(b - r2 b'), since a - m <= r1 a' *)
  apply: (@le_trans _ _ (\sum_v \sum_w (m v * b w + a v * k w))); last first.
    under eq_bigr do rewrite big_split /= -!mulr_sumr b1 mulr1.
    by rewrite big_split /= -mulr_suml a1 mul1r; apply: ler_add.
  rewrite /hockey_stick (sum_pairs (fun v w => Num.max 0 (a v * b w - r1 * r2 * (a' v * b' w)))).
  apply: ler_sum => v _; apply: ler_sum => w _.
  have m0 : 0 <= m v := max_ge0 _; have k0 : 0 <= k w := max_ge0 _.
  have m1 : a v - r1 * a' v <= m v := max_ge _; have k1 : b w - r2 * b' w <= k w := max_ge _.
  have ma : 0 <= a v - m v.
    by rewrite subr_ge0; apply: max_le => //; have := mulr_ge0 r10 (a0' v); linear.
  have x1 := ler_wpmul2l (mulr_ge0 r20 (b0' w)) m1.
  have x2 := ler_wpmul2l ma k1; have x3 := mulr_ge0 m0 k0.
  apply: max_le; last by linear.
  by have := mulr_ge0 m0 (b0 w); have := mulr_ge0 (a0 v) k0; linear.
move=> lp lp' lq lq' /andP[h1 h2] /andP[h3 h4].
by apply/andP; split; apply: one.
Qed.

End Composition.
