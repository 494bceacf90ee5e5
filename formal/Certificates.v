(* A checker of certificates: the value of a goal, and a bound by weak duality on what any private mechanism reaches.
   Prices come from anywhere: whatever they are, the bound that is accepted holds.                                    *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra ssrZ zify.
From Iris Require Import Arithmetic Laws Fractions Checker Duality.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

(* what should be small: the weighted sum of expected losses, or the largest of those considered *)
Record goal := Goal {
  worst : bool;
  weights : seq fraction;          (* one for each input; of a worst case a prior *)
  losses : seq (seq fraction);     (* a row for each input *)
  considered : seq bool
}.
(* the prices of all answers on an edge (in one of its directions), under one of the pairs *)
Record entry := Entry { edge : N; backward : bool; pair : N; costs : seq fraction }.

Definition equal (x y : fraction) := le x y && le y x.
Definition sum (xs : seq fraction) := foldr add zero xs.
Definition scale (c : fraction) (row : seq fraction) := [seq mul c x | x <- row].
Definition plus (xs ys : seq fraction) := [seq add xy.1 xy.2 | xy <- zip xs ys].
Definition largest (xs : seq fraction) := foldr most (head zero xs) xs.
Definition smallest (xs : seq fraction) := foldr least (head zero xs) xs.

Definition is_goal n w g :=
  [&& eqn (size (weights g)) n, all proper (weights g), all (le zero) (weights g),
      eqn (size (losses g)) n, all (is_row w) (losses g), eqn (size (considered g)) n &
      worst g ==> equal (sum (weights g)) unit &&
                  all (fun cw => cw.1 || equal cw.2 zero) (zip (considered g) (weights g))].

Definition expected_loss (ls row : seq fraction) := sum [seq mul lp.1 lp.2 | lp <- zip ls row].
Definition chosen (cs : seq bool) (xs : seq fraction) := [seq cx.2 | cx <- zip cs xs & cx.1].
Definition value_of f g :=
  let risks := [seq expected_loss lr.1 lr.2 | lr <- zip (losses g) (rows f)] in
  if worst g then largest (chosen (considered g) risks) else expected_loss (weights g) risks.

Fixpoint priced w (ps : tree (fraction * fraction)) (es : tree (N * N)) (entries : seq entry)
    (t : tree (seq fraction)) (spent : fraction) : option (tree (seq fraction) * fraction) :=
  if entries is e :: entries then
    match get (N.succ_pos (pair e)) ps, get (N.succ_pos (edge e)) es with
    | Some rd, Some ij =>
      let i := N.succ_pos (if backward e then ij.2 else ij.1) in
      let j := N.succ_pos (if backward e then ij.1 else ij.2) in
      if is_row w (costs e) && all (le zero) (costs e) then
        if get i t is Some x then
          let t := put i (plus x (costs e)) t in
          if get j t is Some y then
            priced w ps es entries (put j (plus y (scale (opp rd.1) (costs e))) t)
              (add spent (mul rd.2 (largest (costs e))))
          else None
        else None
      else None
    | _, _ => None
    end
  else Some (t, spent).

Fixpoint smallest_sum (T : Type) (k : positive) (xs : seq T) (t : tree (seq fraction)) : fraction :=
  if xs is _ :: xs then add (smallest (odflt [::] (get k t))) (smallest_sum (Pos.succ k) xs t) else zero.

Definition lower_bound f g entries : option fraction :=
  let start := numbered 1 [seq scale wl.1 wl.2 | wl <- zip (weights g) (losses g)] in
  if priced (width f) (numbered 1 (pairs f)) (numbered 1 (edges f)) entries start zero is Some (t, spent)
  then Some (sub (smallest_sum 1 (rows f) t) spent) else None.

Definition check_certificate f g (value bound : fraction) entries : bool :=
  [&& check f, is_goal (size (rows f)) (width f) g, proper value, proper bound, equal value (value_of f g) &
      if lower_bound f g entries is Some b then le bound b else false].

Local Open Scope ring_scope.

Section Meaning.
Variable F : realFieldType.
Notation number := (@number F).

Lemma number_equal x y : proper x -> proper y -> equal x y = (number x == number y).
Proof. by move=> px py; rewrite /equal -!(number_le F) // eq_le. Qed.

Lemma proper_sum xs : all proper xs -> proper (sum xs).
Proof. by elim: xs => //= x xs IH /andP[px /IH]; apply: proper_add. Qed.

Lemma number_sum n xs : size xs = n -> all proper xs -> number (sum xs) = \sum_(i < n) number (nth zero xs i).
Proof.
move=> <-; elim: xs => [|x xs IH] /=; first by rewrite big_ord0 number0.
by case/andP => px pxs; rewrite big_ord_recl number_add ?IH ?proper_sum.
Qed.

Lemma products_proper xs ys : all proper xs -> all proper ys -> all proper [seq mul lp.1 lp.2 | lp <- zip xs ys].
Proof.
elim: xs ys => [|x xs IH] [|y ys] //= /andP[px pxs] /andP[py pys].
by rewrite proper_mul ?IH.
Qed.
Lemma proper_expected xs ys : all proper xs -> all proper ys -> proper (expected_loss xs ys).
Proof. by move=> px py; apply/proper_sum/products_proper. Qed.

Lemma number_expected n xs ys : size xs = n -> size ys = n -> all proper xs -> all proper ys ->
  number (expected_loss xs ys) = \sum_(i < n) number (nth zero xs i) * number (nth zero ys i).
Proof.
move=> sx sy px py; have sz : size (zip xs ys) = n by rewrite size_zip sx sy minnn.
rewrite (@number_sum n) ?size_map ?sz //; last exact: products_proper.
apply: eq_bigr => i _; rewrite (nth_map (zero, zero)) ?sz // nth_zip ?sx ?sy //=.
have px' : proper (nth zero xs i) by apply: (allP px); rewrite mem_nth ?sx.
have py' : proper (nth zero ys i) by apply: (allP py); rewrite mem_nth ?sy.
by rewrite number_mul.
Qed.

Lemma proper_fold (op : fraction -> fraction -> fraction) x xs :
  (forall a b, proper a -> proper b -> proper (op a b)) -> proper x -> all proper xs -> proper (foldr op x xs).
Proof. by move=> h px; elim: xs => //= y xs IH /andP[py /IH]; apply: h. Qed.

Lemma proper_head xs : all proper xs -> proper (head zero xs).
Proof. by case: xs => //= x xs /andP[]. Qed.

Lemma proper_smallest xs : all proper xs -> proper (smallest xs).
Proof. by move=> px; apply: proper_fold (proper_head px) px; apply: proper_least. Qed.
Lemma proper_largest xs : all proper xs -> proper (largest xs).
Proof. by move=> px; apply: proper_fold (proper_head px) px; apply: proper_most. Qed.

Lemma smallest_le xs x : all proper xs -> x \in xs -> number (smallest xs) <= number x.
Proof.
move=> px xx; rewrite /smallest; have := proper_head px; move: (head zero xs) => y py.
elim: xs px xx => //= z xs IH /andP[pz pxs]; have pf := proper_fold proper_least py pxs.
rewrite inE number_least // le_minl => /orP[/eqP ->|/(IH pxs) ->]; by rewrite ?lexx ?orbT.
Qed.

Lemma fold_most_le y xs t : proper y -> all proper xs ->
  (number (foldr most y xs) <= t) = (number y <= t) && all (fun x => number x <= t) xs.
Proof.
move=> py; elim: xs => [|x xs IH] /=; first by rewrite andbT.
case/andP=> px pxs; rewrite number_most ?(proper_fold proper_most) // le_maxl IH //.
by rewrite andbCA.
Qed.

Lemma largest_le xs t : all proper xs -> (0 < size xs)%N ->
  (number (largest xs) <= t) = all (fun x => number x <= t) xs.
Proof.
move=> px; rewrite /largest fold_most_le ?proper_head //; case: xs px => //= x xs _ _.
by rewrite andbA andbb.
Qed.

Lemma le_largest xs x : all proper xs -> x \in xs -> number x <= number (largest xs).
Proof.
move=> px xx; have := lexx (number (largest xs)); rewrite largest_le //; last by case: xs {px} xx.
by move=> /allP; apply.
Qed.

(* ---- what a goal means ---- *)

Definition risk f g (M : input f -> output f -> F) (i : input f) : F :=
  \sum_(v < width f) number (nth zero (nth [::] (losses g) i) v) * M i v.
(* the goal of M is at most t *)
Definition at_most f g (t : F) (M : input f -> output f -> F) :=
  if worst g then forall i : input f, nth false (considered g) i -> risk g M i <= t
  else \sum_(i < size (rows f)) number (nth zero (weights g) i) * risk g M i <= t.
Definition private_under f (M : input f -> output f -> F) :=
  forall rd, rd \in pairs f -> private (number rd.1) (number rd.2) (@neighbours f) M.

Section File.
Variables (f : file) (g : goal).
Hypotheses (cf : check f) (hg : is_goal (size (rows f)) (width f) g).
Notation n := (size (rows f)).
Notation w := (width f).

Let goal_parts : [/\ size (weights g) = n, all proper (weights g), all (le zero) (weights g), size (losses g) = n &
  forall i : input f, size (nth [::] (losses g) i) = w /\ all proper (nth [::] (losses g) i)].
Proof.
case/and5P: hg => /eqP h1 h2 h3 /eqP h4 /andP[h5 _]; split=> // i.
have /andP[/eqP s d] : is_row w (nth [::] (losses g) i) by apply: (allP h5); rewrite mem_nth ?h4.
by split.
Qed.

Let row_parts (i : input f) : size (nth [::] (rows f) i) = w /\ all proper (nth [::] (rows f) i).
Proof.
case/and3P: cf => _ /allP h _; have /andP[/eqP s d] : is_row w (nth [::] (rows f) i) by apply/h/mem_nth.
by split.
Qed.

Let pair_proper rd : rd \in pairs f -> proper rd.1 /\ proper rd.2.
Proof.
case/and3P: cf => /allP h _ _ /h; case: rd => -[rn rm] [dn dm] /and4P[a _ b c]; split=> //.
rewrite /proper /=; lia.
Qed.

Lemma weight_ge0 i : 0 <= number (nth zero (weights g) i).
Proof.
have [sw pw zw _ _] := goal_parts; case: (ltnP i (size (weights g))) => h; last by rewrite nth_default // number0.
have iw := mem_nth zero h; have := allP zw _ iw; by rewrite -(number_le F) ?(allP pw _ iw) // number0.
Qed.

Let risks := [seq expected_loss lr.1 lr.2 | lr <- zip (losses g) (rows f)].
Let size_risks : size risks = n.
Proof. by have [_ _ _ sl _] := goal_parts; rewrite size_map size_zip sl minnn. Qed.
Let risks_proper : all proper risks.
Proof.
have [_ _ _ sl gl] := goal_parts; apply/(all_nthP zero) => i; rewrite size_risks => iN.
rewrite (nth_map ([::], [::])) ?size_zip ?sl ?minnn // nth_zip ?sl //.
have [_ h] := gl (Ordinal iN); have [_ k] := row_parts (Ordinal iN); exact: proper_expected.
Qed.
Let risksE (i : input f) : number (nth zero risks i) = risk g (@mechanism F f) i.
Proof.
have [_ _ _ sl gl] := goal_parts; rewrite (nth_map ([::], [::])) ?size_zip ?sl ?minnn // nth_zip ?sl //.
have [s h] := gl i; have [s' k] := row_parts i; exact: number_expected.
Qed.

Let considered_size : size (considered g) = n.
Proof. by case/and5P: hg => _ _ _ _ /and3P[_ /eqP]. Qed.

Lemma prior : worst g -> \sum_(i < n) number (nth zero (weights g) i) = 1 /\
  forall i : input f, ~~ nth false (considered g) i -> number (nth zero (weights g) i) = 0.
Proof.
move=> wg; have [sw pw _ _ _] := goal_parts.
case/and5P: hg => _ _ _ _ /and3P[_ _]; rewrite wg => /andP[h1 /allP h2]; split.
  by rewrite -(number_sum sw pw); apply/eqP; rewrite -(number1 F) -number_equal ?proper_sum.
move=> i ni; have pi : proper (nth zero (weights g) i) by apply: (allP pw); rewrite mem_nth ?sw.
have : (nth false (considered g) i, nth zero (weights g) i) \in zip (considered g) (weights g).
  by rewrite -nth_zip ?considered_size ?sw // mem_nth ?size_zip ?considered_size ?sw ?minnn.
by move/h2; rewrite /= (negbTE ni) number_equal // number0 => /eqP.
Qed.

Let chosen_proper : all proper (chosen (considered g) risks).
Proof.
apply/allP => x /mapP[[c y]]; rewrite mem_filter => /andP[_ /(nthP (false, zero))[i]].
rewrite size_zip considered_size size_risks minnn => iN; rewrite nth_zip ?considered_size ?size_risks //.
by case=> _ <- -> /=; apply: (allP risks_proper); rewrite mem_nth ?size_risks.
Qed.

Lemma value_proper : proper (value_of f g).
Proof.
have [_ pw _ _ _] := goal_parts; rewrite /value_of -/risks; case: (worst g).
  exact: proper_largest chosen_proper.
exact: proper_expected pw risks_proper.
Qed.

Theorem value_correct t : at_most g t (@mechanism F f) <-> number (value_of f g) <= t.
Proof.
have [sw pw _ _ _] := goal_parts; rewrite /at_most /value_of -/risks; case wg: (worst g); last first.
  by rewrite (number_expected sw size_risks pw risks_proper) (eq_bigr _ (fun i _ => congr1 _ (risksE i))).
have [w1 w0] := prior wg.
have inside (i : input f) : nth false (considered g) i -> nth zero risks i \in chosen (considered g) risks.
  move=> ci; apply/mapP; exists (true, nth zero risks i) => //; rewrite mem_filter /= -ci -nth_zip.
    by rewrite mem_nth // size_zip considered_size size_risks minnn.
  by rewrite considered_size size_risks.
have pm := chosen_proper.
have some : (0 < size (chosen (considered g) risks))%N.
  case e: (chosen _ _) inside => // none.
  suff : \sum_(i < n) number (nth zero (weights g) i) = 0 by rewrite w1 => /eqP; rewrite oner_eq0.
  by rewrite big1 // => i _; apply: w0; apply/negP => /none.
rewrite largest_le //; split=> [h|/allP h i ci]; last by rewrite -risksE h ?inside.
apply/allP => x /mapP[[c y]]; rewrite mem_filter => /andP[/= -> /(nthP (false, zero))[i]].
rewrite size_zip considered_size size_risks minnn => iN; rewrite nth_zip ?considered_size ?size_risks //.
by case=> ci <- -> /=; rewrite (risksE (Ordinal iN)) h //= ci.
Qed.

(* ---- the bound, for any private mechanism ---- *)

Variable M : input f -> output f -> F.
Hypotheses (lM : laws M) (pM : private_under M).

Definition key (i : nat) := Pos.of_succ_nat i.
Lemma key_of a : N.succ_pos a = key (N.to_nat a). Proof. rewrite /key; lia. Qed.
Lemma key_inj i j : Pos.eqb (key i) (key j) = (i == j).
Proof. by rewrite /key; case: Pos.eqb_spec; case: eqP; lia. Qed.

(* the tree holds, for every input, a row that says what the function says *)
Definition row_says (row : seq fraction) (s : output f -> F) :=
  [/\ size row = w, all proper row & forall v : output f, number (nth zero row v) = s v].
Definition represents (t : tree (seq fraction)) (score : input f -> output f -> F) :=
  forall i : input f, exists2 row, get (key i) t = Some row & row_says row (score i).

Lemma represents_put t score (i : input f) row (score' : input f -> output f -> F) :
  represents t score -> row_says row (score' i) -> (forall j, j != i -> score' j =1 score j) ->
  represents (put (key i) row t) score'.
Proof.
move=> rt ri same j; rewrite get_put key_inj; case: eqP => [/val_inj ->|ne]; first by exists row.
have [x gx [sx px ex]] := rt j; exists x => //; split=> // v; by rewrite ex same //; apply/eqP => /(congr1 val)/ne.
Qed.

Lemma plus_says xs ys s s' : row_says xs s -> row_says ys s' -> row_says (plus xs ys) (fun v => s v + s' v).
Proof.
case=> sx px ex [sy py ey]; have sz : size (zip xs ys) = w by rewrite size_zip sx sy minnn.
split; first by rewrite size_map.
  elim: xs ys px py {sx ex sy ey sz} => [|x xs IH] [|y ys] //= /andP[px pxs] /andP[py pys].
  by rewrite proper_add ?IH.
move=> v; rewrite (nth_map (zero, zero)) ?sz // nth_zip ?sx ?sy //= -ex -ey number_add //.
  by apply: (allP px); rewrite mem_nth ?sx.
by apply: (allP py); rewrite mem_nth ?sy.
Qed.

Lemma scale_says c xs s : proper c -> row_says xs s -> row_says (scale c xs) (fun v => number c * s v).
Proof.
move=> pc [sx px ex]; split; first by rewrite size_map.
  by rewrite all_map; apply/allP => x /(allP px); apply: proper_mul.
move=> v; rewrite (nth_map zero) ?sx // -ex number_mul //.
by apply: (allP px); rewrite mem_nth ?sx.
Qed.

Lemma smallest_says xs s v : row_says xs s -> number (smallest xs) <= s v.
Proof. by case=> sx px ex; rewrite -ex; apply: smallest_le => //; rewrite mem_nth ?sx. Qed.

Let edge_inputs ij : ij \in edges f -> (N.to_nat ij.1 < n)%N /\ (N.to_nat ij.2 < n)%N.
Proof. by have [[_ _ h] _ _] := (check_correct F f).1 cf; apply: h. Qed.

Lemma get_in (T : eqType) a (xs : seq T) x : get (N.succ_pos a) (numbered 1 xs) = Some x -> x \in xs.
Proof. by rewrite (get_row x); case: ifP => // h [<-]; apply: mem_nth. Qed.

Lemma priced_sound entries t spent t' spent' score : represents t score -> proper spent ->
  priced w (numbered 1 (pairs f)) (numbered 1 (edges f)) entries t spent = Some (t', spent') ->
  exists score', [/\ represents t' score', proper spent' &
    total score' M - number spent' <= total score M - number spent].
Proof.
elim: entries t spent score => [|e entries IH] t spent score rt ps /=.
  by case=> <- <-; exists score.
case gp: (get _ (numbered 1 (pairs f))) => [rd|] //; case ge: (get _ (numbered 1 (edges f))) => [ij|] //.
have rp := get_in gp; have [p1 p2] := pair_proper rp; have ie := get_in ge; have [h1 h2] := edge_inputs ie.
have [a [b [ea eb near]]] : exists a b : input f, [/\ (if backward e then ij.2 else ij.1) = N.of_nat a,
    (if backward e then ij.1 else ij.2) = N.of_nat b & neighbours a b].
  case: (backward e); [exists (Ordinal h2), (Ordinal h1)|exists (Ordinal h1), (Ordinal h2)]; split=> //=; try lia.
    by exists ij; split=> //; right.
  by exists ij; split=> //; left.
rewrite ea eb !key_of !Nnat.Nat2N.id.
case: ifP => // /andP[/andP[/eqP sc pc] /allP zc].
have ga : exists2 x, get (key a) t = Some x & row_says x (score a) by apply: rt.
have cs : row_says (costs e) (fun v => number (nth zero (costs e) v)) by split.
case: ga => x -> xs; pose s1 i v := score i v + (i == a)%:R * number (nth zero (costs e) v).
have r1 : represents (put (key a) (plus x (costs e)) t) s1.
  apply: represents_put rt _ _ => [|j ja v]; last by rewrite /s1 (negbTE ja) mul0r addr0.
  have [sz pz ez] := plus_says xs cs; split=> // v; by rewrite ez /s1 eqxx mul1r.
have [y gy ys] := r1 b; rewrite gy => next.
pose price := Price a b (number rd.1) (number rd.2) (fun v : output f => number (nth zero (costs e) v))
  (number (largest (costs e))).
have r2 : represents (put (key b) (plus y (scale (opp rd.1) (costs e))) (put (key a) (plus x (costs e)) t))
    (adjust price score).
  apply: represents_put r1 _ _ => [|j jb v]; last by rewrite /adjust /= (negbTE jb) mul0r subr0.
  have [sz pz ez] := plus_says ys (scale_says (proper_opp p1) cs); split=> // v.
  by rewrite ez /adjust /s1 /= eqxx mul1r number_opp mulNr.
have pl : proper (largest (costs e)) by apply: proper_largest.
have ps' : proper (add spent (mul rd.2 (largest (costs e)))) by apply: proper_add => //; apply: proper_mul.
have [score' [rt' pspent' le']] := IH _ _ _ r2 ps' next; exists score'; split=> //; apply: (le_trans le').
rewrite total_adjust number_add ?number_mul //; last exact: proper_mul.
have fp : fair M price.
  split=> [|v]; first exact: pM near.
  have cv : nth zero (costs e) v \in costs e by rewrite mem_nth ?sc.
  have pv := allP pc _ cv; rewrite /= le_largest // andbT -(number0 F) number_le //; exact: zc.
have := paid_le lM fp; rewrite /=; linear.
Qed.

Lemma smallest_sumE t score k (xs : seq (seq fraction)) :
  (forall i, (i < size xs)%N -> exists row, [/\ get (key (k + i)) t = Some row, all proper row &
     number (smallest row) <= score (k + i)%N]) ->
  proper (smallest_sum (key k) xs t) /\ number (smallest_sum (key k) xs t) <= \sum_(i < size xs) score (k + i)%N.
Proof.
elim: xs k => [|x xs IH] k h /=; first by rewrite big_ord0 number0.
have [row [g0 p0 l0]] := h 0%N isT; rewrite addn0 in g0 l0; rewrite g0 /=.
have e : Pos.succ (key k) = key k.+1 by rewrite /key; lia.
have [pr lr] : proper (smallest_sum (key k.+1) xs t) /\
    number (smallest_sum (key k.+1) xs t) <= \sum_(i < size xs) score (k.+1 + i)%N.
  by apply: IH => i hi; rewrite addSnnS; apply: h.
have ps := proper_smallest p0; rewrite e big_ord_recl /= addn0; split; first exact: proper_add.
rewrite number_add //; apply: ler_add => //; apply: le_trans lr _; apply: ler_sum => i _.
by rewrite addSnnS.
Qed.

Lemma lower_bound_sound entries b : lower_bound f g entries = Some b ->
  proper b /\ number b <= \sum_(i < n) number (nth zero (weights g) i) * risk g M i.
Proof.
rewrite /lower_bound; case h: priced => [[t spent]|] // [<-]; have [sw pw _ sl gl] := goal_parts.
pose start (i : input f) (v : output f) :=
  number (nth zero (weights g) i) * number (nth zero (nth [::] (losses g) i) v).
have r0 : represents (numbered 1 [seq scale wl.1 wl.2 | wl <- zip (weights g) (losses g)]) start.
  move=> i; exists (scale (nth zero (weights g) i) (nth [::] (losses g) i)).
    have -> : key i = N.succ_pos (N.of_nat i) by rewrite key_of Nnat.Nat2N.id.
    rewrite (get_row [::]) Nnat.Nat2N.id size_map size_zip sw sl minnn ltn_ord.
    by rewrite (nth_map (zero, [::])) ?size_zip ?sw ?sl ?minnn // nth_zip ?sw ?sl.
  have [s p] := gl i; apply: (scale_says (s := fun v => number (nth zero (nth [::] (losses g) i) v))); last by split.
  by apply: (allP pw); rewrite mem_nth ?sw.
have pz : proper zero by [].
have [score [rt pspent le]] := priced_sound r0 pz h.
have [ps ls] : proper (smallest_sum 1 (rows f) t) /\ number (smallest_sum 1 (rows f) t) <= total score M.
  pose low i := number (smallest (odflt [::] (get (key i) t))).
  have [pr lr] : proper (smallest_sum (key 0) (rows f) t) /\
      number (smallest_sum (key 0) (rows f) t) <= \sum_(i < n) low (0 + i)%N.
    apply: smallest_sumE => i hi; have [row gr [_ pr _]] := rt (Ordinal hi); exists row.
    by rewrite /low !add0n gr.
  split=> //; apply: (le_trans lr); apply: ler_sum => i _; have [p0 p1] := lM i.
  have [row gr says] := rt i; rewrite /low add0n gr /=.
  rewrite -[number _]mulr1 -p1 mulr_sumr; apply: ler_sum => v _; apply: ler_wpmul2r => //.
  exact: smallest_says says.
split; first exact: proper_sub.
have -> : \sum_(i < n) number (nth zero (weights g) i) * risk g M i = total start M.
  by apply: eq_bigr => i _; rewrite /risk mulr_sumr; apply: eq_bigr => v _; rewrite mulrA.
by rewrite number_sub //; move: le; rewrite number0; linear.
Qed.

Lemma at_most_average t : at_most g t M -> \sum_(i < n) number (nth zero (weights g) i) * risk g M i <= t.
Proof.
rewrite /at_most; case wg: (worst g) => // h; have [w1 w0] := prior wg.
rewrite -[t]mul1r -w1 mulr_suml; apply: ler_sum => i _; case ci: (nth false (considered g) i).
  by apply: (ler_wpmul2l (weight_ge0 i)); apply: h.
by rewrite w0 ?ci // !mul0r.
Qed.
End File.

(* the file keeps its promise, its goal has the value stated, and no private mechanism goes below the bound *)
Theorem certificate_correct f g value bound entries : check_certificate f g value bound entries ->
  [/\ laws (@mechanism F f), private_under (@mechanism F f),
      forall t, at_most g t (@mechanism F f) <-> number value <= t &
      forall (M : input f -> output f -> F) t, laws M -> private_under M -> at_most g t M -> number bound <= t].
Proof.
case/and5P => cf hg pv pb /andP[/andP[v1 v2]]; have [_ lf pf] := (check_correct F f).1 cf.
case h: (lower_bound f g entries) => [b|] // hb; split=> // [t|M t lM pM /(at_most_average hg)].
  have pv' := value_proper cf hg; rewrite (value_correct cf hg); have -> // : number (value_of f g) = number value.
  by apply/le_anti; rewrite !number_le // v1 v2.
have [pb' lb] := lower_bound_sound cf hg lM pM h; apply: le_trans; apply: le_trans lb.
by rewrite number_le.
Qed.
End Meaning.
