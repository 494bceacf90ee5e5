(* Symmetric trade-off functions f, as Dong, Roth and Su define privacy: a test that wrongly accuses with
   probability s misses with probability f(s) at least.  With u = 1 - f they are the shapes of Shapes.v.  *)
From mathcomp Require Import all_ssreflect all_algebra fingroup perm.
From Iris Require Import Arithmetic Laws Shapes RankOrder Depth Graphs.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section TradeOff.
Variables (F : realFieldType) (f : F -> F).

(* between 0 and the line of guessing, convex, falling, and its own inverse where it is not flat *)
Record trade_off : Prop := TradeOff {
  trade_off_ge0 : forall s, 0 <= s <= 1 -> 0 <= f s;
  trade_off_le : forall s, 0 <= s <= 1 -> f s <= 1 - s;
  trade_off_convex : forall l s t, 0 <= l <= 1 -> 0 <= s <= 1 -> 0 <= t <= 1 ->
    f (l * s + (1 - l) * t) <= l * f s + (1 - l) * f t;
  trade_off_symmetric : forall s, 0 <= s <= 1 -> f (f s) <= s
}.

(* an event S as a test of p against q: it accuses wrongly with probability p(S), and misses with q(not S) *)
Definition hard_to_tell (V : finType) (p q : V -> F) :=
  forall S, f (prob p S) <= prob q (~: S) /\ f (prob q S) <= prob p (~: S).

Theorem trade_off_shape : trade_off -> shape (fun s => 1 - f s).
Proof.
case=> ge0 le convex symmetric; split=> [s hs|s hs|l s t hl hs ht|s hs].
- by have := ge0 s hs; linear.
- by have := le s hs; linear.
- by have := convex l s t hl hs ht; linear.
- by have := symmetric s hs; rewrite subKr; linear.
Qed.

Theorem hard_to_tell_within (V : finType) (p q : V -> F) : law p -> law q ->
  hard_to_tell p q <-> within (fun s => 1 - f s) p q.
Proof.
by move=> lp lq; split=> h S; have [] := h S; rewrite !prob_setC //; split; linear.
Qed.

(* the graph theorem for every symmetric trade-off function *)
Theorem optimal_trade_off (n : nat) (D : Type) (E : D -> D -> Prop) (c : D -> {perm 'I_n.+1}) depth m :
  trade_off -> (forall x y, E x y -> E y x) -> is_depth E c depth -> (forall k, law (m k)) ->
  (forall x y, E x y -> c x <> c y -> hard_to_tell (unranked (c x) (m (c x))) (unranked (c y) (m (c y)))) ->
  let M := optimal (fun s => 1 - f s) c depth m in
  [/\ laws M, forall x y, E x y -> hard_to_tell (M x) (M y) &
    forall M', laws M' -> (forall x y, E x y -> hard_to_tell (M' x) (M' y)) -> has_boundary E c m M' ->
      forall x, dominates (ranked c M x) (ranked c M' x)].
Proof.
move=> /trade_off_shape su symE depthP m_law m_valid M.
have lu k : law (unranked k (m k)) by apply: law_rename (m_law k); apply: perm_bijective.
have val : valid_boundary (fun s => 1 - f s) E c m by move=> x y e ne; apply/hard_to_tell_within => //; apply: m_valid.
have lM : laws M by apply: optimal_laws.
split=> // [x y e|M' lM' pM' bM'].
  by apply/hard_to_tell_within => //; apply: (optimal_private su symE depthP m_law val).
by apply: (optimal_dominates su depthP m_law) => // x y e; apply/hard_to_tell_within => //; apply: pM'.
Qed.

End TradeOff.
