(* Weak duality: prices on edges bound the goal of every private mechanism from below.  Any prices do; bad ones only
   prove a weak bound.                                                                                               *)
From mathcomp Require Import all_ssreflect all_algebra.
From Iris Require Import Arithmetic Laws.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Duality.
Variables (F : realFieldType) (D V : finType).
Implicit Types (M score : D -> V -> F).

(* an edge that is private at (ratio, delta), and a price for every answer there *)
Record price := Price { from : D; to : D; ratio : F; delta : F; prices : V -> F; dearest : F }.

Definition paid (e : price) M := \sum_v prices e v * (M (from e) v - ratio e * M (to e) v).
Definition fair M (e : price) :=
  close (ratio e) (delta e) (M (from e)) (M (to e)) /\ forall v, 0 <= prices e v <= dearest e.

(* what an edge's prices add to the score of its ends *)
Definition adjust (e : price) score : D -> V -> F := fun i v =>
  score i v + (i == from e)%:R * prices e v - (i == to e)%:R * (ratio e * prices e v).
Fixpoint adjusted score (es : seq price) := if es is e :: es then adjusted (adjust e score) es else score.

Definition total score M := \sum_i \sum_v score i v * M i v.

Lemma total_adjust e score M : total (adjust e score) M = total score M + paid e M.
Proof.
have pick i (g : D -> F) : \sum_j (j == i)%:R * g j = g i.
  by rewrite (bigD1 i) //= eqxx mul1r big1 ?addr0 // => j /negbTE ->; rewrite mul0r.
rewrite /total /adjust /paid.
have -> : \sum_v prices e v * (M (from e) v - ratio e * M (to e) v) =
    \sum_v prices e v * M (from e) v - \sum_v ratio e * prices e v * M (to e) v.
  by rewrite -sumrB; apply: eq_bigr => v _; linear.
rewrite -(pick (from e) (fun i => \sum_v prices e v * M i v)).
rewrite -(pick (to e) (fun i => \sum_v ratio e * prices e v * M i v)) -sumrB -big_split /=.
apply: eq_bigr => i _; rewrite !mulr_sumr -sumrB -big_split /=; apply: eq_bigr => v _; linear.
Qed.

(* privacy bounds what may be paid *)
Lemma paid_le e M : laws M -> fair M e -> paid e M <= delta e * dearest e.
Proof.
move=> lM [/andP[h _] b]; have t0 : 0 <= dearest e.
  have [v _|none] := pickP (@predT V); first by have /andP[] := b v; apply: le_trans.
  by have [_] := lM (from e); rewrite big_pred0 // => /esym/eqP; rewrite oner_eq0.
apply: (@le_trans _ _ (dearest e * hockey_stick (ratio e) (M (from e)) (M (to e)))); last first.
  by rewrite mulrC ler_wpmul2r.
rewrite /hockey_stick mulr_sumr; apply: ler_sum => v _; have /andP[b0 b1] := b v.
by apply: le_trans (ler_wpmul2l b0 (max_ge _)) (ler_wpmul2r (max_ge0 _) b1).
Qed.

Fixpoint all_fair M (es : seq price) : Prop := if es is e :: es then fair M e /\ all_fair M es else True.

Theorem weak_duality score M (es : seq price) (low : D -> F) : laws M -> all_fair M es ->
  (forall i v, low i <= adjusted score es i v) ->
  \sum_i low i - \sum_(e <- es) delta e * dearest e <= total score M.
Proof.
move=> lM; elim: es score => [|e es IH] score /=.
  move=> _ h; rewrite big_nil subr0; apply: ler_sum => i _; have [p0 p1] := lM i.
  rewrite -[low i]mulr1 -p1 mulr_sumr; apply: ler_sum => v _; exact: ler_wpmul2r.
case=> fe fes /(IH _ fes); rewrite total_adjust big_cons /= => h.
by have := paid_le lM fe; linear.
Qed.

End Duality.
