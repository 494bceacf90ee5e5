(* A checker of certificates by universality: on counts 0..N no private mechanism beats the best reading of the
   geometric one, where losses never fall away from the truth.  What that reading reaches is the bound.        *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra ssrZ zify.
From Iris Require Import Arithmetic Laws Fractions PostProcessing Geometric Universality Checker Certificates.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

(* x, x a, x a^2, ... *)
Fixpoint falling (a x : fraction) k : seq fraction := if k is k.+1 then x :: falling a (mul x a) k else [::].
(* what it costs to read z as each of the answers: a row, but for a factor that depends on z alone *)
Definition costs_of powers w z (weighted : seq (fraction * seq fraction)) : seq fraction :=
  let parts := [seq (mul x.1.1 (nth zero powers (distance x.2 z)), x.1.2) | x <- zip weighted (iota 0 w)] in
  foldr plus (nseq w zero) [seq scale part.1 part.2 | part <- parts].
Definition factor a n z : fraction := if eqn z 0 || eqn z n then unit else sub unit a.
Definition fall_of f : fraction := inverse (head (unit, zero) (pairs f)).1.
(* row i of the geometric mechanism *)
Definition noise f i : seq fraction :=
  let: (w, a) := (width f, fall_of f) in
  let powers := falling a unit w in
  [seq mul (mul (nth zero powers (distance i z)) (factor a w.-1 z)) (inverse (add unit a)) | z <- iota 0 w].
Definition reading_bound f g : fraction :=
  let: (w, a) := (width f, fall_of f) in
  let powers := falling a unit w in
  let weighted := zip (weights g) (losses g) in
  let least z := smallest (costs_of powers w z weighted) in
  mul (inverse (add unit a)) (sum [seq mul (factor a w.-1 z) (least z) | z <- iota 0 w]).

(* never falls away from i, on either side *)
Definition grows (i : nat) (row : seq fraction) : bool :=
  sorted (fun x y => le y x) (take i.+1 row) && sorted le (drop i row).
Definition joins (e : N * N) i j := N.eqb e.1 (N.of_nat i) && N.eqb e.2 (N.of_nat j).
Definition of_counts f : bool :=
  [&& eqn (size (rows f)) (width f), ltn 1 (width f),
      if pairs f is [:: rd] then ~~ le rd.1 unit && equal rd.2 zero else false &
      all (fun i => has (fun e => joins e i i.+1 || joins e i.+1 i) (edges f)) (iota 0 (width f).-1)].
(* entries may differ by the slack: where powers are long, files round them *)
Definition near slack (x y : fraction) := le x (add y slack) && le y (add x slack).
Definition check_geometric f slack : bool :=
  [&& check f, of_counts f, proper slack, le zero slack &
      all (fun x => all2 (near slack) x.1 (noise f x.2)) (zip (rows f) (iota 0 (width f)))].
Definition check_reading f g (value bound : fraction) : bool :=
  [&& check f, is_goal (size (rows f)) (width f) g, proper value, proper bound, equal value (value_of f g) &
      [&& of_counts f, all (fun x => grows x.2 x.1) (zip (losses g) (iota 0 (width f))) &
          le bound (reading_bound f g)]].

Local Open Scope ring_scope.

Section Meaning.
Variable F : realFieldType.
Notation number := (@number F).

Lemma falling_both a x k d : (d < k)%N -> proper a -> proper x ->
  proper (nth zero (falling a x k) d) /\ number (nth zero (falling a x k) d) = number x * number a ^+ d.
Proof.
move=> dk pa; elim: k d dk x => [|k IH] [|d] //= dk x px; first by rewrite expr0 mulr1.
have [] := IH d dk (mul x a) (proper_mul px pa); split=> //.
by rewrite exprS mulrA -(number_mul F px pa).
Qed.

Lemma proper_nth_zero (row : seq fraction) v : all proper row -> proper (nth zero row v).
Proof. by move=> h; case: (ltnP v (size row)) => l; [apply: (allP h); apply: mem_nth|rewrite nth_default]. Qed.

Lemma in_zip (T : eqType) (x0 : T) xs w i : size xs = w -> (i < w)%N -> (nth x0 xs i, i) \in zip xs (iota 0 w).
Proof.
move=> sw iw; have -> : (nth x0 xs i, i) = nth (x0, 0%N) (zip xs (iota 0 w)) i.
  by rewrite nth_zip ?size_iota // nth_iota.
by rewrite mem_nth // size_zip sw size_iota minnn.
Qed.

Lemma distance_lt i z k : (i < k)%N -> (z < k)%N -> (distance i z < k)%N.
Proof. by rewrite /distance; lia. Qed.

Lemma cancelled (c x y p e : F) : c != 0 -> c * (x * y * (p * e / c)) = e * (x * y * p).
Proof.
move=> c0; have h : p * e / c * c = p * e := divfK c0 (p * e).
have -> : c * (x * y * (p * e / c)) = x * y * (p * e / c * c) by linear.
by rewrite h; linear.
Qed.

Lemma grows_never_falls (row : seq fraction) i k : size row = k.+1 -> all proper row -> (i < k.+1)%N -> grows i row ->
  never_falls (fun v => number (nth zero row (minn v k))) i.
Proof.
move=> sr pr ik /andP[/(sortedP zero) up /(sortedP zero) down].
have ok v : proper (nth zero row v) by apply: proper_nth_zero.
split=> v h; cbv beta.
  have vk : (v < k)%N by apply: leq_trans h _; rewrite -ltnS.
  have := up v; rewrite size_takel ?sr // !nth_take ?ltnS ?(ltnW h) // => /(_ h).
  by rewrite -(number_le F) // (minn_idPl vk) (minn_idPl (ltnW vk)).
case: (ltnP v k) => vk; last by rewrite (minn_idPr (leqW vk)).
have hv : ((v - i).+1 < size (drop i row))%N by rewrite size_drop sr; lia.
have := down _ hv; rewrite !nth_drop addnS subnKC // -(number_le F) //.
by rewrite (minn_idPl vk).
Qed.

Lemma sum_cast m p (e : m = p) (G : 'I_m -> F) : \sum_i G i = \sum_j G (cast_ord (esym e) j).
Proof. by case: p / e; apply: eq_bigr => i _; congr G; apply: val_inj. Qed.

Section File.
Variables (f : file) (g : goal) (n : nat).
Hypotheses (cf : check f) (hg : is_goal (size (rows f)) (width f) g).
Hypotheses (sN : size (rows f) = n.+2) (wN : width f = n.+2).
Notation V := 'I_n.+2.
Variable r : fraction.
Let a := (number r)^-1.
Hypotheses (pr : proper r) (r1 : 1 < number r).
Hypothesis joined : forall i : nat, (i < n.+1)%N ->
  forall (x y : input f), x = i :> nat -> y = i.+1 :> nat -> neighbours x y.
Variable M : input f -> output f -> F.
Hypotheses (lM : laws M) (pM : forall x y : input f, neighbours x y -> close (number r) 0 (M x) (M y)).

Let a0 : 0 < a. Proof. by rewrite invr_gt0; apply: lt_trans r1; apply: ltr01. Qed.
Let a1 : a < 1. Proof. by rewrite invf_lt1 //; apply: lt_trans r1; apply: ltr01. Qed.

Definition count (i : nat) : input f := cast_ord (esym sN) (inord i).
Definition given (i : nat) : V -> F := fun v => M (count i) (cast_ord (esym wN) v).

Lemma given_law i : law (given i).
Proof. by have [m0 m1] := lM (count i); split=> [v|]; [apply: m0|rewrite -m1 (sum_cast wN)]. Qed.

Lemma given_private i : (i < n.+1)%N -> close a^-1 0 (given i) (given i.+1).
Proof.
move=> lt; rewrite invrK; have e (x y : input f) : hockey_stick (number r) (M x) (M y) =
    hockey_stick (number r) (fun v : V => M x (cast_ord (esym wN) v)) (fun v => M y (cast_ord (esym wN) v)).
  exact: (sum_cast wN).
rewrite /close -!e -/(close _ _ _ _); apply: pM; apply: (joined lt); by rewrite /= inordK // leqW.
Qed.

Lemma given_same (i : input f) (v : output f) : given i (cast_ord wN v) = M i v.
Proof.
rewrite /given cast_ordK /count; congr (M _ v); apply: val_inj => /=; rewrite inordK // -sN; exact: ltn_ord.
Qed.

(* what is up to s from the geometric mechanism has, for every other, a reading that is as good everywhere, but for s *)
Lemma readings_exist (G : input f -> output f -> F) s : 0 <= s ->
  (forall i v, G i v <= @geometric F n a i (cast_ord wN v) + s) ->
  exists R : output f -> output f -> F, stochastic R /\ forall (i : input f) l m, never_falls l i ->
    (forall v, 0 <= l v <= m) ->
    \sum_(v : output f) l v * processed R (G i) v <= \sum_(v : output f) l v * M i v + (width f)%:R * s * m.
Proof.
move=> s0 eG; have [R [sR best]] := universality a0 a1 (fun i _ => given_law i) (@given_private).
exists (fun z v => R (cast_ord wN z) (cast_ord wN v)); split=> [z|i l m fl lm].
  have [R0 R1] := sR (cast_ord wN z); split=> [v|]; first exact: R0.
  by rewrite -R1 (sum_cast wN); apply: eq_bigr => v _; rewrite cast_ordKV.
have iN : (i <= n.+1)%N by rewrite -ltnS -sN; apply: ltn_ord.
have -> : \sum_(v : output f) l v * M i v = expected l (given i).
  by rewrite (sum_cast wN); apply: eq_bigr => v _; rewrite -given_same cast_ordKV.
apply: le_trans (ler_add (best i l iN fl) (lexx _)).
have -> : (width f)%:R * s * m = \sum_(z : V) s * m by rewrite sumr_const card_ord wN -mulrA mulr_natl.
have -> : expected l (processed R (@geometric F n a i)) = \sum_(z : V) geometric a i z * expected l (R z).
  rewrite /expected /processed; under eq_bigr do rewrite mulr_sumr.
  rewrite exchange_big; apply: eq_bigr => z _; rewrite mulr_sumr; apply: eq_bigr => v _; exact: mulrCA.
have -> : \sum_(v : output f) l v * processed (fun z v => R (cast_ord wN z) (cast_ord wN v)) (G i) v =
    \sum_(z : V) G i (cast_ord (esym wN) z) * expected l (R z).
  rewrite /processed (sum_cast wN); under eq_bigr do rewrite (sum_cast wN) mulr_sumr.
  rewrite exchange_big; apply: eq_bigr => z _; rewrite /expected mulr_sumr; apply: eq_bigr => v _.
  by rewrite !cast_ordKV mulrCA.
rewrite -big_split; apply: ler_sum => z _; have [R0 R1] := sR z.
have e0 : 0 <= expected l (R z) by apply: sumr_ge0 => v _; apply: mulr_ge0 => //; case/andP: (lm v).
have em : expected l (R z) <= m.
  by rewrite -[m]mulr1 -R1 mulr_sumr; apply: ler_sum => v _; apply: ler_wpmul2r => //; case/andP: (lm v).
have := eG i (cast_ord (esym wN) z); rewrite cast_ordKV => le.
apply: le_trans (ler_wpmul2r e0 le) _; rewrite mulrDl ler_add2l; exact: ler_wpmul2l.
Qed.

(* losses as a function of all whole numbers *)
Definition loss (i v : nat) : F := number (nth zero (nth [::] (losses g) i) (minn v n.+1)).
Hypothesis losses_grow : forall i, (i < n.+2)%N -> never_falls (loss i) i.

Lemma risk_given (i : V) : risk g M (cast_ord (esym sN) i) = expected (loss i) (given i).
Proof.
rewrite /risk (sum_cast wN) /expected; apply: eq_bigr => v _; rewrite /loss /given /count inord_val /=.
by rewrite (minn_idPl _) // -ltnS.
Qed.

Notation weight i := (number (nth zero (weights g) i)).
Definition share (i z v : nat) : F := weight i * loss i v * @geometric F n a i (inord z).

Theorem best_reading (least_cost : V -> F) : (forall z v : V, least_cost z <= \sum_(i : V) share i z v) ->
  \sum_z least_cost z <= \sum_(i < size (rows f)) weight i * risk g M i.
Proof.
move=> low; have lG i : (i <= n.+1)%N -> law (@geometric F n a i) by apply: geometric_law.
have [R [sR best]] := universality a0 a1 (fun i _ => given_law i) (@given_private).
apply: (@le_trans _ _ (\sum_(i : V) weight i * expected (loss i) (processed R (@geometric F n a i)))); last first.
  rewrite (sum_cast sN); apply: ler_sum => i _; rewrite risk_given.
  apply: ler_wpmul2l; first exact: (@weight_ge0 F f g hg).
  by apply: best; [rewrite -ltnS|apply: losses_grow].
have -> : \sum_(i : V) weight i * expected (loss i) (processed R (@geometric F n a i)) =
    \sum_(z : V) \sum_(v : V) R z v * \sum_(i : V) share i z v.
  under eq_bigr do rewrite /expected /processed mulr_sumr.
  rewrite exchange_big /=; under eq_bigr do under eq_bigr do rewrite mulr_sumr mulr_sumr.
  under eq_bigr do rewrite exchange_big /=.
  rewrite exchange_big /=; apply: eq_bigr => z _; apply: eq_bigr => v _; rewrite mulr_sumr.
  by apply: eq_bigr => i _; rewrite /share inord_val; linear.
apply: ler_sum => z _; have [R0 R1] := sR z; rewrite -[X in X <= _]mul1r -R1 mulr_suml.
apply: ler_sum => v _; by apply: ler_wpmul2l.
Qed.

(* ---- what is computed ---- *)

Variable d : fraction.
Hypothesis pairs_are : pairs f = [:: (r, d)].

Lemma fall_both : proper (fall_of f) /\ number (fall_of f) = a.
Proof.
have -> : fall_of f = inverse r by rewrite /fall_of pairs_are.
by split; [apply: proper_inverse => //; apply: lt_trans r1; apply: ltr01|apply: number_inverse].
Qed.

Lemma factor_both z : proper (factor (fall_of f) n.+1 z) /\ number (factor (fall_of f) n.+1 z) = end_or_inside n a z.
Proof.
have [pa ea] := fall_both; rewrite /factor /end_or_inside -[eqn z 0]/(z == 0%N) -[eqn z n.+1]/(z == n.+1).
case: ifP => _; first by split=> //; apply: number1.
by split; [apply: proper_sub|rewrite number_sub // number1 ea].
Qed.

Lemma shares_sum (z v : V) : (1 + a) * (\sum_(i : V) share i z v) = end_or_inside n a z *
  (\sum_(i : V) weight i * number (nth zero (nth [::] (losses g) i) v) * a ^+ distance i z).
Proof.
rewrite !mulr_sumr; apply: eq_bigr => i _; rewrite /share /geometric inord_val /loss.
have -> : minn v n.+1 = v by apply/minn_idPl; rewrite -ltnS.
by apply: cancelled; apply/lt0r_neq0/addr_gt0; [apply: ltr01|].
Qed.

Lemma noise_both (i : V) (z : V) : proper (nth zero (noise f i) z) /\ number (nth zero (noise f i) z) = geometric a i z.
Proof.
have [pa ea] := fall_both; have p1 : proper (add unit (fall_of f)) by apply: proper_add.
have e1 : number (add unit (fall_of f)) = 1 + a by rewrite number_add // number1 ea.
have pi : proper (inverse (add unit (fall_of f))).
  by apply: (@proper_inverse F) => //; rewrite e1; apply: addr_gt0 => //; apply: ltr01.
have far : (distance i z < width f)%N by rewrite wN; apply: distance_lt.
have pu : proper unit by []. have [pp ep] := falling_both far pa pu; have [pf ef] := factor_both z.
have nw : (width f).-1 = n.+1 by rewrite wN.
have hz : (z < width f)%N by rewrite wN.
rewrite /noise (nth_map 0%N) ?size_iota // nth_iota // add0n nw; split; first by do !apply: proper_mul.
rewrite !number_mul ?proper_mul // number_inverse e1 ep ef number1 mul1r ea; exact: erefl.
Qed.

Lemma row_says_eq row (s t : output f -> F) : row_says row s -> s =1 t -> row_says row t.
Proof. by case=> h1 h2 h3 st; split=> // v; rewrite h3. Qed.

Lemma folded_says (parts : seq (fraction * seq fraction)) :
  all (fun part => proper part.1 && is_row (width f) part.2) parts ->
  row_says (foldr plus (nseq (width f) zero) [seq scale part.1 part.2 | part <- parts])
    (fun v : output f => \sum_(part <- parts) number part.1 * number (nth zero part.2 v)).
Proof.
elim: parts => [_|[c row] parts IH /= /andP[/andP[pc /andP[/eqP sr pr']] /IH says]].
  split=> [||v]; rewrite ?size_nseq // ?all_nseq ?orbT //= nth_nseq ltn_ord big_nil; exact: number0.
have one : row_says row (fun v : output f => number (nth zero row v)) by split.
apply: (row_says_eq (plus_says (scale_says pc one) says)) => v; by rewrite big_cons.
Qed.

Let sizes : [/\ size (weights g) = n.+2, all proper (weights g), size (losses g) = n.+2 &
  all (is_row (width f)) (losses g)].
Proof. by case/and5P: hg => /eqP h1 h2 _ /eqP h4 /andP[h5 _]; rewrite -sN. Qed.

Notation table := (costs_of (falling (fall_of f) unit (width f)) (width f)).

Lemma costs_says (z : V) : row_says (table z (zip (weights g) (losses g)))
  (fun v : output f => \sum_(i : V) weight i * number (nth zero (nth [::] (losses g) i) v) * a ^+ distance i z).
Proof.
have [sw pw sl rl] := sizes; have [pa ea] := fall_both.
have sz : size (zip (zip (weights g) (losses g)) (iota 0 (width f))) = n.+2.
  by rewrite !size_zip sw sl size_iota wN !minnn.
pose x0 := (zero, [::] : seq fraction, 0%N).
have at_ (i : V) : nth x0 (zip (zip (weights g) (losses g)) (iota 0 (width f))) i =
    (nth zero (weights g) i, nth [::] (losses g) i, i : nat).
  rewrite nth_zip ?size_zip ?sw ?sl ?minnn ?size_iota ?wN //.
  by rewrite nth_zip ?sw ?sl // nth_iota.
have near (i : V) : (distance i z < width f)%N by rewrite wN; apply: distance_lt.
have pu : proper unit by [].
apply: (row_says_eq (folded_says _)) => [|v].
  rewrite all_map; apply/(all_nthP x0) => i; rewrite sz => hi; rewrite (at_ (Ordinal hi)) /=.
  rewrite (allP rl) ?mem_nth ?sl // andbT; apply: proper_mul; first by apply: (allP pw); rewrite mem_nth ?sw.
  by have [] := falling_both (near (Ordinal hi)) pa pu.
rewrite big_map (big_nth x0) sz big_mkord; apply: eq_bigr => i _; rewrite at_ /=.
have [pp ep] := falling_both (near i) pa pu; rewrite number_mul //; last by apply: (allP pw); rewrite mem_nth ?sw.
by rewrite ep number1 mul1r ea; linear.
Qed.

Lemma reading_bound_sound : proper (reading_bound f g) /\
  number (reading_bound f g) <= \sum_(i < size (rows f)) weight i * risk g M i.
Proof.
have [pa ea] := fall_both; have p1 : proper (add unit (fall_of f)) by apply: proper_add.
have e1 : number (add unit (fall_of f)) = 1 + a by rewrite number_add // number1 ea.
have pos : 0 < 1 + a by apply: addr_gt0 => //; apply: ltr01.
have pi : proper (inverse (add unit (fall_of f))) by apply: (@proper_inverse F) => //; rewrite e1.
pose least_row z := smallest (table z (zip (weights g) (losses g))).
pose xs := [seq mul (factor (fall_of f) (width f).-1 z) (least_row z) | z <- iota 0 (width f)].
rewrite -[reading_bound f g]/(mul (inverse (add unit (fall_of f))) (sum xs)).
have nw : (width f).-1 = n.+1 by rewrite wN.
have both (z : V) : proper (mul (factor (fall_of f) (width f).-1 z) (least_row z)) /\
   number (mul (factor (fall_of f) (width f).-1 z) (least_row z)) = end_or_inside n a z * number (least_row z).
  have [pf ef] := factor_both z; have [_ pc _] := costs_says z; have ps := proper_smallest pc.
  by rewrite nw; split; [apply: proper_mul|rewrite number_mul // ef].
have sx : size xs = n.+2 by rewrite size_map size_iota wN.
have xE (z : V) : nth zero xs z = mul (factor (fall_of f) (width f).-1 z) (least_row z).
  by rewrite (nth_map 0%N) ?size_iota ?wN // nth_iota ?wN.
have px : all proper xs.
  by apply/(all_nthP zero) => z; rewrite sx => hz; rewrite (xE (Ordinal hz)); case: (both (Ordinal hz)).
split; first by apply: proper_mul => //; apply: proper_sum.
rewrite number_mul ?proper_sum // number_inverse e1 (number_sum F sx px) mulr_sumr.
apply: (best_reading (least_cost := fun z : V => (1 + a)^-1 * number (nth zero xs z))) => z v.
have says := smallest_says (cast_ord (esym wN) v) (costs_says z).
rewrite xE (both z).2 mulrA -(ler_pmul2l pos).
set e := end_or_inside n a z; set x := number (least_row z).
have -> : (1 + a) * ((1 + a)^-1 * e * x) = e * x by rewrite !mulrA mulfV ?mul1r // lt0r_neq0.
rewrite shares_sum; apply: (ler_wpmul2l (ltW (end_or_inside_gt0 n a0 a1 z))); exact: says.
Qed.
End File.

(* what `of_counts` says *)
Lemma of_countsP f : check f -> of_counts f -> exists n r d, [/\ size (rows f) = n.+2, width f = n.+2,
  pairs f = [:: (r, d)], proper r /\ 1 < number r :> F &
  (forall i : nat, (i < n.+1)%N -> forall x y : input f, x = i :> nat -> y = i.+1 :> nat -> neighbours x y) /\
  forall M : input f -> output f -> F, private_under M -> forall x y, neighbours x y -> close (number r) 0 (M x) (M y)].
Proof.
move=> cf /and4P[/eqP sw w2 one /allP joined]; have [[wp _ _] _ _] := (check_correct F f).1 cf.
case ep: (pairs f) one wp => [|[r d] [|]] // /andP[r1 d0] wp; have in_ := mem_head (r, d) [::].
have [/= /Z.ltb_lt pr /Z.ltb_lt pd _ _] := wp _ in_.
exists (width f).-2, r, d; have wN : width f = (width f).-2.+2 by case: (width f) w2 => [|[]].
split; rewrite ?sw //; first by split=> //; rewrite -(number1 F) ltNge number_le.
split=> [i hi x y ex ey|M pM x y xy].
  have := joined i; rewrite mem_iota add0n {1}wN hi => /(_ isT) /hasP[e ef je].
  exists e; split=> //; case/orP: je => /andP[/N.eqb_eq -> /N.eqb_eq ->]; rewrite !Nnat.Nat2N.id ex ey; by [left|right].
have <- : number d = 0 :> F by apply/eqP; rewrite -(number0 F) -number_equal.
by apply: (pM (r, d)) xy; rewrite ep.
Qed.

(* whoever reads the file's mechanism well is served as well as by any private one, at every input at the same time,
   but for what rounding costs *)
Theorem geometric_correct f slack : check_geometric f slack ->
  [/\ laws (@mechanism F f), private_under (@mechanism F f) &
      forall M : input f -> output f -> F, laws M -> private_under M ->
      exists R : output f -> output f -> F, stochastic R /\ forall (i : input f) l m, never_falls l i ->
        (forall v, 0 <= l v <= m) ->
        \sum_(v : output f) l v * processed R (@mechanism F f i) v <=
        \sum_(v : output f) l v * M i v + (width f)%:R * number slack * m].
Proof.
case/and5P=> cf counts ps s0 /allP same; have [_ lf pf] := (check_correct F f).1 cf; split=> // M lM pM.
have [n [r [d [sN wN ep [pr r1] [joined close_]]]]] := of_countsP cf counts.
apply: (@readings_exist f n sN wN r r1 joined M lM (close_ M pM)) => [|i v].
  by rewrite -(number0 F) number_le.
have iN : (i < n.+2)%N by rewrite -sN; apply: ltn_ord.
have [pg eg] := noise_both wN pr r1 ep (Ordinal iN) (cast_ord wN v); rewrite -eg /mechanism.
have iw : (i < width f)%N by rewrite wN. have sw : size (rows f) = width f by rewrite sN wN.
have := same _ (in_zip [::] sw iw).
have /andP[/eqP sr /allP prr] : is_row (width f) (nth [::] (rows f) i).
  by case/and3P: cf => _ /allP h _; apply/h/mem_nth.
rewrite all2E /= => /andP[_ /allP h]; have sz : size (noise f i) = width f by rewrite size_map size_iota.
rewrite -number_add // number_le ?proper_add //; last by apply: prr; rewrite mem_nth ?sr.
have /andP[] // : near slack (nth zero (nth [::] (rows f) i) v) (nth zero (noise f i) v).
apply: (h (nth zero (nth [::] (rows f) i) v, nth zero (noise f i) v)).
by rewrite -nth_zip ?sr ?sz // mem_nth // size_zip sr sz minnn.
Qed.

(* the file keeps its promise, its goal has the value stated, and no private mechanism goes below the bound *)
Theorem reading_correct f g value bound : check_reading f g value bound ->
  [/\ laws (@mechanism F f), private_under (@mechanism F f),
      forall t, at_most g t (@mechanism F f) <-> number value <= t &
      forall (M : input f -> output f -> F) t, laws M -> private_under M -> at_most g t M -> number bound <= t].
Proof.
case/and5P => cf hg pv pb /andP[/andP[v1 v2]] /and3P[counts grow hb]; have [_ lf pf] := (check_correct F f).1 cf.
have same : number (value_of f g) = number value :> F.
  by apply/le_anti; rewrite !number_le ?v1 ?v2 // (value_proper cf hg).
split=> // [t|M t lM pM atM]; first by rewrite (value_correct cf hg) same.
have [n [r [d [sN wN ep [pr r1] [joined close_]]]]] := of_countsP cf counts.
have falls (i : nat) : (i < n.+2)%N -> never_falls (@loss g n i) i.
  move=> hi; case/and5P: hg => _ _ _ /eqP sl /andP[rl _]; have sz : size (losses g) = n.+2 by rewrite sl.
  have /andP[/eqP sr pr2] : is_row (width f) (nth [::] (losses g) i) by apply: (allP rl); rewrite mem_nth ?sz.
  have gi : grows i (nth [::] (losses g) i) by apply: (allP grow _ (in_zip [::] _ _)); rewrite ?sz ?wN.
  by rewrite wN in sr; apply: grows_never_falls.
have [pb' le] := reading_bound_sound hg sN wN pr r1 joined lM (close_ M pM) falls ep.
by apply: le_trans (at_most_average hg atM); apply: le_trans le; rewrite number_le.
Qed.
End Meaning.
