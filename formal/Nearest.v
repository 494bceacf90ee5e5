(* Depth counts the neighbours between a table and the nearest one with another answer. *)
From mathcomp Require Import all_ssreflect.
From Iris Require Import Depth Shapes.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

Section Nearest.
Variables (D : Type) (C : eqType) (E : D -> D -> Prop) (f : D -> C) (depth : D -> option nat).
Hypothesis depthP : is_depth E f depth.

Lemma walk_first t x z : walk E t.+1 x z <-> exists y, E x y /\ walk E t y z.
Proof.
split=> [|[y [e w]]].
  elim: t z => [|t IH] z w; inversion w as [|t' x' y' z' w' e]; subst.
    by inversion w'; subst; exists z; split=> //; apply: walk0.
  by have [y [e1 w1]] := IH _ w'; exists y; split=> //; apply: walkS w1 e.
elim: w => [a|n a b c _ IH e'] in e *; first by apply: walkS e; apply: walk0.
exact: walkS (IH e) e'.
Qed.

Lemma reaches_walk k x : reaches E f k x -> exists y, walk E k.+1 x y /\ f x <> f y.
Proof.
elim=> {k x} [x [y [e g]]|k x y e g _ [z [w ne]]].
  by exists y; split=> //; apply/walk_first; exists y; split=> //; apply: walk0.
by exists z; split; [apply/walk_first; exists y|rewrite g].
Qed.

Lemma walk_reaches t x y : walk E t x y -> f x <> f y -> exists2 j, reaches E f j x & j < t.
Proof.
elim: t x => [|t IH] x w; first by inversion w.
have [z [e {}w]] := (walk_first _ _ _).1 w => ne; case: (eqVneq (f x) (f z)) => [g|/eqP g].
  have [|j r lt] := IH z w; first by rewrite -g.
  by exists j.+1 => //; apply: reachesS e g r.
by exists 0 => //; apply: reaches0; exists z.
Qed.

(* the nearest node of another class is one step further than the boundary *)
Theorem depth_nearest x : if depth x is Some k then
    (exists y, walk E k.+1 x y /\ f x <> f y) /\ (forall t y, walk E t x y -> f x <> f y -> k < t)
  else forall t y, walk E t x y -> f x = f y.
Proof.
have := depthP x; case: (depth x) => [k [r least]|never]; last first.
  by move=> t y w; apply/eqP; apply: contraT => /eqP /(walk_reaches w)[j r _]; case: (never j).
split; first exact: reaches_walk.
by move=> t y w /(walk_reaches w)[j rj]; apply: leq_ltn_trans (least _ rj).
Qed.
End Nearest.
