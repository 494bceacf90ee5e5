(* Privacy of any shape.  With f a symmetric trade-off function, u = 1 - f says how likely an event may be next
   door: `within u p q` holds if no event separates p from q by more than u.                               *)
From mathcomp Require Import all_ssreflect all_algebra.
From Iris Require Import Arithmetic Laws.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Shapes.
Variable F : realFieldType.

Record shape (u : F -> F) : Prop := Shape {
  shape_le1 : forall s, 0 <= s <= 1 -> u s <= 1;
  shape_ge : forall s, 0 <= s <= 1 -> s <= u s;
  shape_concave : forall l s t, 0 <= l <= 1 -> 0 <= s <= 1 -> 0 <= t <= 1 ->
    l * u s + (1 - l) * u t <= u (l * s + (1 - l) * t);
  shape_symmetric : forall s, 0 <= s <= 1 -> 1 - s <= u (1 - u s)
}.

Definition within (V : finType) (u : F -> F) (p q : V -> F) :=
  forall S, prob q S <= u (prob p S) /\ prob p S <= u (prob q S).
Definition private_within (D : Type) (V : finType) u (E : D -> D -> Prop) (M : D -> V -> F) :=
  forall x y, E x y -> within u (M x) (M y).

Lemma withinC (V : finType) u (p q : V -> F) : within u p q -> within u q p.
Proof. by move=> h S; have [] := h S. Qed.

Lemma within_rename (V W : finType) u (p q : V -> F) (g : W -> V) : bijective g ->
  within u p q -> within u (fun w => p (g w)) (fun w => q (g w)).
Proof.
case=> g' gK g'K h S.
have e (a : V -> F) : prob (fun w => a (g w)) S = prob a [set v | g' v \in S].
  rewrite /prob [RHS](reindex g) /=; last by exists g' => v _.
  by apply: eq_bigl => w; rewrite inE gK.
by rewrite !e; apply: h.
Qed.

Lemma shape_monotone w s t : shape w -> 0 <= s -> s <= t -> t <= 1 -> w s <= w t.
Proof.
move=> sw s0 st t1; case: (ltrP s 1) => [s1|s1]; last first.
  by rewrite (_ : s = t) //; linear.
pose l := (1 - t) / (1 - s); have ls : l * (1 - s) = 1 - t by rewrite divfK //; apply/lt0r_neq0; linear.
have l1 : 0 <= l <= 1.
  by rewrite /l divr_ge0 ?ler_pdivr_mulr /=; linear.
have hs : 0 <= s <= 1 by linear. have h1 : 0 <= (1 : F) <= 1 by linear.
have := shape_concave sw l1 hs h1; rewrite (_ : l * s + (1 - l) * 1 = t); last by linear.
have := shape_ge sw h1; have := shape_le1 sw hs => w1 w2 c.
have k0 : 0 <= 1 - l by linear.
have := ler_wpmul2l k0 w2; have := ler_wpmul2l k0 w1; linear.
Qed.

(* several pairs (epsilon, delta) at once are the least of their operators *)
Theorem shape_min u v : shape u -> shape v -> shape (fun s => Num.min (u s) (v s)).
Proof.
move=> su sv; split=> [s hs|s hs|l s t hl hs ht|s hs].
- by rewrite le_minl (shape_le1 su).
- by rewrite le_minr (shape_ge su) ?(shape_ge sv).
- have a := shape_concave su hl hs ht; have b := shape_concave sv hl hs ht.
  have [l0 l1] : 0 <= l /\ 0 <= 1 - l by linear.
  have le1 (x y : F) : Num.min x y <= x /\ Num.min x y <= y by rewrite !le_minl !lexx orbT.
  have [s1 s2] := le1 (u s) (v s); have [t1 t2] := le1 (u t) (v t).
  have := ler_wpmul2l l0 s1; have := ler_wpmul2l l0 s2.
  have := ler_wpmul2l l1 t1; have := ler_wpmul2l l1 t2.
  by rewrite le_minr; linear.
- have a1 := shape_le1 su hs; have b1 := shape_le1 sv hs.
  have a2 := shape_ge su hs; have b2 := shape_ge sv hs.
  have a := shape_symmetric su hs; have b := shape_symmetric sv hs.
  rewrite le_minr; apply/andP; split.
    apply: (le_trans a); apply: (shape_monotone su); case: (leP (u s) (v s)); linear.
  apply: (le_trans b); apply: (shape_monotone sv); case: (leP (u s) (v s)); linear.
Qed.

Variable u : F -> F.
Hypothesis su : shape u.

Lemma shape_mono s t : 0 <= s -> s <= t -> t <= 1 -> u s <= u t.
Proof. exact: shape_monotone. Qed.

Lemma shape_bounds s : 0 <= s <= 1 -> 0 <= u s <= 1.
Proof. by move=> h; have := shape_ge su h; have := shape_le1 su h; linear. Qed.

Lemma shape1 : u 1 = 1.
Proof.
have h : 0 <= (1 : F) <= 1 by linear.
by have := shape_ge su h; have := shape_le1 su h; linear.
Qed.

(* a concave function grows most at the left *)
Lemma shape_increments a b h : 0 <= a -> a <= b -> 0 <= h -> b + h <= 1 -> u (b + h) - u b <= u (a + h) - u a.
Proof.
move=> a0 ab h0 bh; case: (ltrP 0 (b + h - a)) => [L0|L0]; last first.
  have -> : b = a by linear. by linear.
pose l := h / (b + h - a); have hl : l * (b + h - a) = h by rewrite divfK ?lt0r_neq0.
have l1 : 0 <= l <= 1 by rewrite /l divr_ge0 ?(ltW L0) // ler_pdivr_mulr //; linear.
have l2 : 0 <= 1 - l <= 1 by linear.
have hb : 0 <= b + h <= 1 by linear. have ha : 0 <= a <= 1 by linear.
have := shape_concave su l1 hb ha; rewrite (_ : l * (b + h) + (1 - l) * a = a + h); last by linear.
have := shape_concave su l2 hb ha; rewrite (_ : (1 - l) * (b + h) + (1 - (1 - l)) * a = b); last by linear.
by linear.
Qed.

Lemma within_refl (V : finType) (p : V -> F) : law p -> within u p p.
Proof. by move=> lp S; split; apply: (shape_ge su); apply: prob_bounds. Qed.

(* one direction is enough *)
Lemma within_half (V : finType) (p q : V -> F) : law p -> law q ->
  (forall S, prob q S <= u (prob p S)) -> within u p q.
Proof.
move=> lp lq h S; split=> //; have := h (~: S); rewrite !prob_setC // => c.
have hp := prob_bounds S lp; have hq := prob_bounds S lq.
have h1 : 0 <= 1 - prob p S <= 1 by linear.
have := shape_symmetric su h1; have := shape_bounds h1 => b1 sy.
have : u (1 - u (1 - prob p S)) <= u (prob q S) by apply: shape_mono; linear.
by linear.
Qed.

(* rows one after another lose at most one step of u each *)
Inductive walk (D : Type) (E : D -> D -> Prop) : nat -> D -> D -> Prop :=
| walk0 x : walk E 0 x x
| walkS t x y z : walk E t x y -> E y z -> walk E t.+1 x z.

Lemma iter_bounds t s : 0 <= s <= 1 -> 0 <= iter t u s <= 1.
Proof. by move=> hs; elim: t => //= t; apply: shape_bounds. Qed.

Lemma iter_mono t s s' : 0 <= s -> s <= s' -> s' <= 1 -> iter t u s <= iter t u s'.
Proof.
move=> s0 ss s1; elim: t => //= t IH; apply: shape_mono => //.
  by have /andP[] : 0 <= iter t u s <= 1 by apply: iter_bounds; linear.
by have /andP[] : 0 <= iter t u s' <= 1 by apply: iter_bounds; linear.
Qed.

Theorem node_bound (D : Type) (E : D -> D -> Prop) (V : finType) (M : D -> V -> F) (S : {set V}) t b x :
  laws M -> private_within u E M -> walk E t b x -> prob (M x) S <= iter t u (prob (M b) S).
Proof.
move=> lM pM; elim=> {t b x} [//|t x y z _ IH e] /=.
have [h _] := pM _ _ e S; apply: (le_trans h); apply: shape_mono => //.
  by case/andP: (prob_bounds S (lM y)).
by case/andP: (iter_bounds t (prob_bounds S (lM x))).
Qed.

End Shapes.
