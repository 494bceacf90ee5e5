(* A checker of rows that are best beside some that are given: no private mechanism that shares those makes the first k
   choices of any input likelier.  Bounds on an event go along the edges, again and again; every round's bounds hold. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra ssrZ zify.
From Iris Require Import Arithmetic Laws Fractions Shapes Operator Oracles Rows Checker Certificates.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

(* the probability that a row gives to some answers *)
Definition mass (answers : seq nat) (row : seq fraction) : fraction := sum [seq nth zero row v | v <- answers].

(* where a row is given the event has what that row gives it, elsewhere at most 1 *)
Definition start f (given : seq bool) answers : tree fraction :=
  numbered 1 [seq if gr.1 then mass answers gr.2 else unit | gr <- zip given (rows f)].
Definition lower ps (i j : positive) (t : tree fraction) : tree fraction :=
  match get i t, get j t with Some x, Some y => put i (least x (step_all ps y)) t | _, _ => t end.
Definition relax ps (t : tree fraction) (e : N * N) :=
  let i := N.succ_pos e.1 in let j := N.succ_pos e.2 in lower ps j i (lower ps i j t).
Definition bounds f given rounds answers :=
  iter rounds (fun t => foldl (relax (pairs f)) t (edges f)) (start f given answers).

(* every input that is asked for gives the event its bound, but for the slack *)
Fixpoint reached answers slack (k : positive) (asked : seq bool) (table : seq (seq fraction)) (t : tree fraction) :=
  match asked, table with
  | a :: asked, row :: table =>
    (if a then if get k t is Some b then le b (add (mass answers row) slack) else false else true)
    && reached answers slack (Pos.succ k) asked table t
  | _, _ => true
  end.

Fixpoint apart (answers : seq nat) : bool :=
  if answers is v :: answers then ~~ has (eqn v) answers && apart answers else true.

(* rows may be rounded: by at most 2^-45 in each entry of a row, and so by at most width times that in any event *)
Definition rounding : Z := Z.pow 2 45.
Definition most_slack f : fraction := (Z.of_nat (width f), rounding).

Definition check_first_choices f (given : seq bool) (rankings : seq (seq nat)) (ranking_of : seq nat) rounds slack :=
  [&& check f, proper slack && le slack (most_slack f), eqn (size given) (size (rows f)), eqn (size ranking_of) (size (rows f)),
      all (fun c => ltn c (size rankings)) ranking_of,
      all (fun ranking => apart ranking && all (fun v => ltn v (width f)) ranking) rankings &
      all (fun c => let ranking := nth [::] rankings c in
         all (fun k => let answers := take k ranking in
            reached answers slack 1 [seq eqn c d | d <- ranking_of] (rows f) (bounds f given rounds answers))
           (iota 1 (width f)))
        (iota 0 (size rankings))].

Lemma place_of a : N.succ_pos a = key (N.to_nat a). Proof. rewrite /key; lia. Qed.
Lemma place_inj i j : Pos.eqb (key i) (key j) = (i == j).
Proof. by rewrite /key; case: Pos.eqb_spec; case: eqP; lia. Qed.

Lemma reachedP answers slack k asked table t (i : nat) : size asked = size table -> (i < size table)%N ->
  reached answers slack (key k) asked table t -> nth false asked i ->
  exists2 b, get (key (k + i)) t = Some b & le b (add (mass answers (nth [::] table i)) slack).
Proof.
elim: asked k table i => [|a asked IH] k [|row table] [|i] //= [sz] hi /andP[h rest].
  by move=> ai; move: h; rewrite ai addn0; case: get => // b hb; exists b.
have e : Pos.succ (key k) = key k.+1 by rewrite /key; lia.
by rewrite -addSnnS; apply: IH => //; rewrite -e.
Qed.

Local Open Scope ring_scope.

Section Meaning.
Variable F : realFieldType.
Notation number := (@number F).

Lemma apartP answers : apart answers = uniq answers.
Proof. by elim: answers => //= v answers ->; congr (~~ _ && _); rewrite -has_pred1; apply: eq_has => w; exact: eq_sym. Qed.

Lemma proper_nth (row : seq fraction) v : all proper row -> proper (nth zero row v).
Proof. by move=> h; case: (ltnP v (size row)) => l; [apply: (allP h); apply: mem_nth|rewrite nth_default]. Qed.

Lemma proper_mass answers row : all proper row -> proper (mass answers row).
Proof. by move=> h; apply: proper_sum; rewrite all_map; apply/allP => v _; apply: proper_nth. Qed.

Definition event w (answers : seq nat) : {set 'I_w} := [set v : 'I_w | (v : nat) \in answers].

Lemma number_mass w answers row : uniq answers -> all (fun v => v < w)%N answers -> all proper row ->
  number (mass answers row) = prob (fun v : 'I_w => number (nth zero row v)) (event w answers).
Proof.
move=> ua wa pr; pose G v := number (nth zero row v).
have -> : number (mass answers row) = \sum_(v <- answers) G v.
  rewrite /mass; elim: answers {ua wa} => [|v answers IH] /=; first by rewrite big_nil number0.
  by rewrite number_add ?IH ?big_cons ?proper_nth //; exact: proper_mass.
rewrite /prob (eq_bigl (fun v : 'I_w => (v : nat) \in answers)); last by move=> v; rewrite inE.
rewrite -(big_mkord (fun v => v \in answers) G) -[RHS]big_filter; apply: perm_big.
apply: uniq_perm => // [|v]; first by rewrite filter_uniq ?iota_uniq.
rewrite mem_filter mem_index_iota /=; case h: (v \in answers) => //=.
by rewrite (allP wa).
Qed.

(* what one step allows, for all pairs at once *)
Lemma u_all_monotone ps (s t : F) : @are_pairs F ps -> s <= t -> u_all ps s <= u_all ps t.
Proof.
elim: ps => [|rd ps IH] h st //=; have [_ _ r1 d0] := h rd (mem_head _ _).
have IH' : u_all ps s <= u_all ps t by apply: IH => // x xs; apply: h; rewrite inE xs orbT.
rewrite /u_all /= -/(u_all ps s) -/(u_all ps t) le_minr; apply/andP; split.
  by apply: le_trans (u_monotone r1 d0 st); rewrite le_minl lexx.
by apply: le_trans IH'; rewrite le_minl lexx orbT.
Qed.

Section File.
Variables (f : file) (M : input f -> output f -> F).
Hypotheses (cf : check f) (lM : laws M) (pM : private_under M).

Lemma file_pairs : @are_pairs F (pairs f).
Proof.
have [[wp _ _] _ _] := (check_correct F f).1 cf => rd /wp[h1 h2 h3 /andP[h4 _]].
by split=> //; apply/Z.ltb_lt.
Qed.

Lemma next_door (i j : input f) (S : {set output f}) : neighbours i j ->
  prob (M i) S <= u_all (pairs f) (prob (M j) S).
Proof.
move=> ij; have := file_pairs; have := pM; rewrite /private_under.
elim: (pairs f) => [|rd ps IH] priv ok /=; first by case/andP: (prob_bounds S (lM i)).
have [_ _ r1 d0] := ok rd (mem_head _ _); rewrite le_minr; apply/andP; split.
  apply: (u_optimal r1 d0) => //; rewrite closeC; apply: priv => //; exact: mem_head.
by apply: IH => x xs; [apply: priv|apply: ok]; rewrite inE xs orbT.
Qed.

Variables (given : seq bool) (answers : seq nat).
Hypotheses (sg : size given = size (rows f)) (ua : uniq answers) (wa : all (fun v => v < width f)%N answers).
Hypothesis shares : forall i : input f, nth false given i -> M i =1 @mechanism F f i.
Notation S := (event (width f) answers).

Let row_parts (i : input f) : all proper (nth [::] (rows f) i).
Proof.
case/and3P: cf => _ /allP h _; have /andP[_ d] : is_row (width f) (nth [::] (rows f) i) by apply/h/mem_nth.
exact: d.
Qed.

(* each number in the tree is a bound *)
Definition holds (t : tree fraction) :=
  forall (i : input f) b, get (key i) t = Some b -> proper b /\ prob (M i) S <= number b.

Lemma start_holds : holds (start f given answers).
Proof.
move=> i b; have -> : key i = N.succ_pos (N.of_nat i) by rewrite place_of Nnat.Nat2N.id.
have sz : size (zip given (rows f)) = size (rows f) by rewrite size_zip sg minnn.
rewrite (get_row unit) Nnat.Nat2N.id size_map sz ltn_ord => -[<-].
rewrite (nth_map (false, [::])) ?sz // nth_zip //=; case: ifP => [gi|_]; last first.
  by split=> //; rewrite number1; case/andP: (prob_bounds S (lM i)).
split; first exact: proper_mass.
by rewrite (number_mass ua wa) // /prob; apply: ler_sum => v _; rewrite shares.
Qed.

Lemma lower_holds (i j : input f) t : neighbours i j -> holds t -> holds (lower (pairs f) (key i) (key j) t).
Proof.
move=> ij ht; rewrite /lower; case gi: (get (key i) t) => [x|] //; case gj: (get (key j) t) => [y|] // k b.
rewrite get_put place_inj; case: eqP => [/val_inj ->|_]; last exact: ht.
case=> <-; have [px hx] := ht i x gi; have [py hy] := ht j y gj.
have [ps es] := step_all_both file_pairs py; split; first exact: proper_least.
rewrite number_least // le_minr hx es /=; apply: le_trans (next_door S ij) _.
exact: u_all_monotone file_pairs hy.
Qed.

Lemma relax_holds t e : e \in edges f -> holds t -> holds (relax (pairs f) t e).
Proof.
move=> ef ht; have [[_ _ we] _ _] := (check_correct F f).1 cf; have [h1 h2] := we e ef.
rewrite /relax !place_of; have e1 : N.to_nat e.1 = Ordinal h1 by []. have e2 : N.to_nat e.2 = Ordinal h2 by [].
rewrite e1 e2; apply: lower_holds; first by exists e; split=> //; right.
by apply: lower_holds => //; exists e; split=> //; left.
Qed.

Lemma bounds_hold rounds : holds (bounds f given rounds answers).
Proof.
elim: rounds => [|rounds IH]; first exact: start_holds.
rewrite /bounds iterS -/(bounds f given rounds answers).
have: {subset edges f <= edges f} by [].
elim: {1 3}(edges f) (bounds _ _ _ _) IH => //= e es IHe t ht sub; apply: IHe.
  by apply: relax_holds => //; apply: sub; rewrite mem_head.
by move=> x xs; apply: sub; rewrite inE xs orbT.
Qed.

End File.

(* the first k choices of an input *)
Definition first_choices f (rankings : seq (seq nat)) (ranking_of : seq nat) (i : input f) k : {set output f} :=
  event (width f) (take k (nth [::] rankings (nth 0%N ranking_of i))).

Lemma power_of_two n : @of_Z F (Z.pow 2 (Z.of_nat n)) = 2%:R ^+ n.
Proof.
elim: n => [|n IH]; first by rewrite expr0; exact: (of_Z_nat F 1).
rewrite Nat2Z.inj_succ Z.pow_succ_r; last by lia.
by rewrite of_ZM IH exprS; congr (_ * _); exact: (of_Z_nat F 2).
Qed.
Lemma number_most_slack f : number (most_slack f) = (width f)%:R / 2%:R ^+ 45.
Proof. by rewrite /number /most_slack of_Z_nat -power_of_two. Qed.

Theorem first_choices_correct f given rankings ranking_of rounds slack :
  check_first_choices f given rankings ranking_of rounds slack ->
  number slack <= (width f)%:R / 2%:R ^+ 45 /\
  forall M : input f -> output f -> F, laws M -> private_under M ->
  (forall i : input f, nth false given i -> M i =1 @mechanism F f i) ->
  forall i k, (0 < k <= width f)%N ->
  prob (M i) (first_choices rankings ranking_of i k) <=
  prob (@mechanism F f i) (first_choices rankings ranking_of i k) + number slack.
Proof.
case/and5P=> cf /andP[ps capped] /eqP sg /eqP sr /and3P[/allP inside /allP ok /allP best].
split=> [|M lM pM shares i k /andP[k0 kw]]; first by rewrite -number_most_slack number_le.
set c := nth 0%N ranking_of i; have cr : c \in ranking_of by rewrite mem_nth ?sr.
have cs : (c < size rankings)%N := inside _ cr.
have /andP[ra rw] := ok _ (mem_nth [::] cs); set answers := take k (nth [::] rankings c).
have ua : uniq answers by rewrite take_uniq // -apartP.
have wa : all (fun v => v < width f)%N answers by apply/allP => v /mem_take /(allP rw).
have := best c; rewrite mem_iota add0n cs => /(_ isT) /allP /(_ k).
rewrite mem_iota k0 add1n ltnS kw => /(_ isT) h.
have [|||b gb hb] := @reachedP answers slack 0 _ _ _ i _ _ h.
- by rewrite size_map sr.
- exact: ltn_ord.
- by rewrite (nth_map 0%N) ?sr //; apply/eqnP.
have [pb le_b] := bounds_hold cf lM pM sg ua wa shares gb.
have pr : all proper (nth [::] (rows f) i).
  by case/and3P: cf => _ /allP hr _; have /andP[_ d] : is_row (width f) (nth [::] (rows f) i) by apply/hr/mem_nth.
apply: le_trans le_b _; move: hb; rewrite -(number_le F) ?proper_add ?proper_mass //.
by rewrite number_add ?proper_mass // (number_mass ua wa pr).
Qed.
End Meaning.
