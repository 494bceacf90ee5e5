(* Depth on lists: layer after layer, computed from the edges.  What is extracted finds the depth of Depth.v. *)
From mathcomp Require Import all_ssreflect.
From Iris Require Import Depth.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

Section Layers.
Variables (size : nat) (edges : seq (nat * nat)) (classes : seq nat).  (* nodes are numbered from 0 *)

Definition class x := nth 0 classes x.
Definition near x := flatten
  [seq (if eqn e.1 x then [:: e.2] else [::]) ++ (if eqn e.2 x then [:: e.1] else [::]) | e <- edges].
Definition first := [seq has (fun y => ~~ eqn (class x) (class y)) (near x) | x <- iota 0 size].
Definition next (layer : seq bool) :=
  [seq has (fun y => eqn (class x) (class y) && nth false layer y) (near x) | x <- iota 0 size].
Definition layer k := iter k next first.
Fixpoint layers k l : seq (seq bool) := if k is k.+1 then l :: layers k (next l) else [::].
(* the number of the first layer that holds a node; the number of nodes if none does *)
Definition depths : seq nat :=
  let all_layers := layers size first in [seq find (fun l => nth false l x) all_layers | x <- iota 0 size].

Notation node := 'I_size.
Hypothesis inside : all (fun e => (e.1 < size) && (e.2 < size)) edges.
Definition joined : rel node := fun x y => ((x : nat, y : nat) \in edges) || ((y : nat, x : nat) \in edges).
Definition class_of (x : node) := class x.
Definition depth_of (x : node) := let k := nth 0 depths x in if k < size then Some k else None.

Lemma nearP x y : (y \in near x) = ((x, y) \in edges) || ((y, x) \in edges).
Proof.
rewrite /near; elim: edges => //= -[a b] es IH; rewrite mem_cat {}IH mem_cat !inE !xpair_eqE /=.
rewrite -[eqn a x]/(a == x) -[eqn b x]/(b == x) ![x == _]eq_sym.
by case: (a == x); case: (b == x); rewrite ?inE /= ?andbT ?andbF ?orbF /=; do ![case: (_ == _)|case: (_ \in _)].
Qed.

Lemma has_near (x : node) (a : pred nat) : has a (near x) = [exists y : node, joined x y && a y].
Proof.
apply/hasP/existsP => [[y]|[y /andP[e ay]]]; last by exists (y : nat); rewrite // nearP.
rewrite nearP => e ay; have hy : y < size by case/orP: (e) => /(allP inside)/andP[].
by exists (Ordinal hy); rewrite /joined /= e ay.
Qed.

Lemma nth_nodes T d (a : nat -> T) (y : node) : nth d [seq a z | z <- iota 0 size] y = a y.
Proof. by rewrite (nth_map 0) ?size_iota // nth_iota. Qed.

Lemma layerP k (x : node) : nth false (layer k) x = leads joined class_of k x.
Proof.
elim: k x => [|k IH] x; rewrite /layer /= nth_nodes has_near; apply: eq_existsb => y; first by [].
by rewrite IH.
Qed.

Lemma layersE k j : layers k (layer j) = [seq layer i | i <- iota j k].
Proof. by elim: k j => //= k IH j; rewrite -(IH j.+1). Qed.

Theorem depths_correct : is_depth (fun x y => is_true (joined x y)) class_of depth_of.
Proof.
move=> x; rewrite /depth_of /depths nth_nodes (layersE size 0 : layers size first = _) find_map.
set a := preim _ _; have aP k : a k = leads joined class_of k x by rewrite /a /= layerP.
case: ltnP => h.
  have hs : has a (iota 0 size) by rewrite has_find size_iota.
  have := nth_find 0 hs; rewrite nth_iota // add0n aP => /leadsP r; split=> // j /leadsP rj.
  rewrite leqNgt; apply/negP => l; have := before_find 0 l.
  by rewrite nth_iota ?(ltn_trans l) // add0n aP rj.
move=> j /leadsP /leads_short[i il]; rewrite card_ord => ri.
have : has a (iota 0 size) by apply/hasP; exists i; rewrite ?mem_iota ?aP.
by rewrite has_find size_iota ltnNge h.
Qed.
End Layers.
