(* Depth: the distance to the boundary of one's own class, in any graph. *)
From mathcomp Require Import all_ssreflect.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

Section Depth.
Variables (D C : Type) (E : D -> D -> Prop) (f : D -> C).

Definition boundary x := exists y, E x y /\ f x <> f y.

(* k steps inside the class lead to its boundary *)
Inductive reaches : nat -> D -> Prop :=
| reaches0 x : boundary x -> reaches 0 x
| reachesS k x y : E x y -> f x = f y -> reaches k y -> reaches k.+1 x.

(* Some k: the distance to the boundary; None: it cannot be reached *)
Definition is_depth (depth : D -> option nat) := forall x,
  if depth x is Some k then reaches k x /\ (forall j, reaches j x -> k <= j) else forall j, ~ reaches j x.

Variable depth : D -> option nat.
Hypothesis depthP : is_depth depth.

Lemma depth_boundary x : boundary x -> depth x = Some 0.
Proof.
move=> bx; have := depthP x; case: (depth x) => [k|] h; last by case: (h _ (reaches0 bx)).
by case: h => _ /(_ _ (reaches0 bx)); rewrite leqn0 => /eqP ->.
Qed.

Lemma depth_step x y k : E x y -> f x = f y -> depth y = Some k -> exists2 j, depth x = Some j & j <= k.+1.
Proof.
move=> exy fxy dy; have := depthP y; rewrite dy => -[wy _].
have wx := reachesS exy fxy wy; have := depthP x; case: (depth x) => [j|] h; last by case: (h _ wx).
by exists j => //; apply: (proj2 h).
Qed.
End Depth.

(* only which nodes are of one class matters *)
Lemma is_depth_class (D C C' : Type) (E : D -> D -> Prop) (f : D -> C) (g : D -> C') depth :
  (forall x y, f x = f y <-> g x = g y) -> is_depth E f depth -> is_depth E g depth.
Proof.
move=> fg h x; have e j y : reaches E f j y <-> reaches E g j y.
  split; elim=> {j y} [y [z [a b]]|j y z a b _ IH].
  - by apply: reaches0; exists z; split=> // /fg.
  - by apply: reachesS IH => //; apply/fg.
  - by apply: reaches0; exists z; split=> // /fg.
  - by apply: reachesS IH => //; apply/fg.
have := h x; case: (depth x) => [k [/e r l]|no j /e]; last exact: no.
by split=> // j /e; apply: l.
Qed.

(* a depth is known by its neighbours: 0 on the boundary, one more at most next door, one less at some neighbour *)
Lemma depth_local (D C : Type) (E : D -> D -> Prop) (f : D -> C) (depth : D -> option nat) :
  (forall x, boundary E f x <-> depth x = Some 0) ->
  (forall x y k, E x y -> f x = f y -> depth y = Some k -> exists2 j, depth x = Some j & j <= k.+1) ->
  (forall x k, depth x = Some k.+1 -> exists y, [/\ E x y, f x = f y & depth y = Some k]) ->
  is_depth E f depth.
Proof.
move=> zero near down x.
have least j y : reaches E f j y -> exists2 i, depth y = Some i & i <= j.
  elim=> {j y} [y /zero ->|j y z e g _ [i di ij]]; first by exists 0.
  by have [i' di' le] := near _ _ _ e g di; exists i' => //; apply: leq_trans le _.
case dx: (depth x) => [k|] => [|j /least]; last by rewrite dx => -[].
split=> [|j /least[i]]; last by rewrite dx => -[->].
elim: k x dx => [|k IH] x dx; first by apply/reaches0/zero.
by have [y [e g dy]] := down _ _ dx; apply: reachesS e g (IH _ dy).
Qed.

(* a finite graph has a depth *)
Section Finite.
Variables (D : finType) (C : eqType) (edge : rel D) (f : D -> C).
Notation E := (fun x y => is_true (edge x y)).

Definition on_boundary x := [exists y, edge x y && (f x != f y)].
Fixpoint leads k x :=
  if k is k.+1 then [exists y, [&& edge x y, f x == f y & leads k y]] else on_boundary x.

Lemma on_boundaryP x : reflect (boundary E f x) (on_boundary x).
Proof.
apply: (iffP existsP) => [[y /andP[e /eqP g]]|[y [e g]]]; exists y => //.
by apply/andP; split=> //; apply/eqP.
Qed.

Lemma leadsP k x : reflect (reaches E f k x) (leads k x).
Proof.
apply: (iffP idP); last first.
  by elim=> {k x} [x /on_boundaryP //|k x y e g _ h] /=; apply/existsP; exists y; rewrite e g eqxx.
elim: k x => [x /on_boundaryP h|k IH x /existsP[y /and3P[e /eqP g /IH h]]]; first exact: reaches0.
exact: reachesS e g h.
Qed.

Definition same_class : rel D := fun x y => edge x y && (f x == f y).
Definition leads_somewhere x := [exists b, connect same_class x b && on_boundary b].

Lemma leads_somewhereP x : reflect (exists k, leads k x) (leads_somewhere x).
Proof.
apply: (iffP existsP) => [[b /andP[/connectP[p pp ->] hb]]|[k]].
  exists (size p); elim: p x pp hb => //= y p IH x /andP[/andP[e g] pp] hb.
  by apply/existsP; exists y; rewrite e g IH.
elim: k x => [x h|k IH x /existsP[y /and3P[e g /IH[b /andP[c hb]]]]]; first by exists x; rewrite connect0.
by exists b; rewrite hb andbT; apply: connect_trans c; apply: connect1; rewrite /same_class e.
Qed.

(* and it can be reached in fewer steps than there are nodes *)
Lemma leads_short k x : leads k x -> exists2 j, leads j x & j < #|D|.
Proof.
move=> h; have /leads_somewhereP/existsP[b /andP[/connectP[p pp eb] hb]] : exists k, leads k x by exists k.
move: hb; rewrite {}eb; case/shortenP: pp => q pq uq _ hb; exists (size q).
  by elim: q x pq {uq h} hb => //= y q IH x /andP[/andP[e g] pq] hb; apply/existsP; exists y; rewrite e g IH.
by rewrite -[(size q).+1]/(size (x :: q)) -(card_uniqP uq) max_card.
Qed.

Definition depth x : option nat := if leads_somewhereP x is ReflectT h then Some (ex_minn h) else None.

Theorem depth_exists : is_depth E f depth.
Proof.
move=> x; rewrite /depth; case: leads_somewhereP => [h|h].
  by case: ex_minnP => k /leadsP wk mk; split=> // j /leadsP; apply: mk.
by move=> j /leadsP hj; apply: h; exists j.
Qed.
End Finite.
