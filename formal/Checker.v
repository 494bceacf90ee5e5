(* A checker of mechanism files that computes with whole numbers only, and what its answer means in every ordered
   field: it says yes if and only if every row is a law and every edge keeps every pair (epsilon, delta).
   OCaml's program of `check` is extracted from this file (formal/checker).                                  *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra ssrZ zify.
From Iris Require Import Arithmetic Laws Fractions.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

Record file := File {
  pairs : seq (fraction * fraction);  (* r = e^epsilon and delta; all of them must hold *)
  width : nat;                        (* how many answers there are *)
  rows : seq (seq fraction);          (* one for each input *)
  edges : seq (N * N)                 (* inputs that are neighbours, numbered from 0 *)
}.

(* a row over one denominator *)
Definition common (row : seq fraction) : Z := foldr (fun x => Z.lcm x.2) one row.
Definition scaled (row : seq fraction) : Z * seq Z :=
  let d := common row in (d, [seq Z.mul x.1 (Z.div d x.2) | x <- row]).

Definition is_law (row : Z * seq Z) := all (Z.leb 0) row.2 && Z.eqb (foldr Z.add Z0 row.2) row.1.

(* the sum of max(0, a p - b q) *)
Fixpoint excess (a b : Z) (ps qs : seq Z) : Z :=
  match ps, qs with
  | p :: ps, q :: qs =>
    let x := Z.sub (Z.mul a p) (Z.mul b q) in
    if Z.leb x 0 then excess a b ps qs else Z.add x (excess a b ps qs)
  | _, _ => Z0
  end.

Definition one_way (rd : fraction * fraction) (P Q : Z * seq Z) :=
  let: ((rn, rm), (dn, dm)) := rd in
  let g := Z.gcd P.1 Q.1 in
  let a := Z.div Q.1 g in
  Z.leb (Z.mul dm (excess (Z.mul rm a) (Z.mul rn (Z.div P.1 g)) P.2 Q.2)) (Z.mul dn (Z.mul rm (Z.mul P.1 a))).

(* rows by their numbers: a binary tree along the digits *)
Inductive tree (T : Type) := Leaf | Node of tree T & option T & tree T.
Arguments Leaf {T}.
Fixpoint get (T : Type) (k : positive) (t : tree T) : option T :=
  if t is Node l x r then match k with xH => x | xO k => get k l | xI k => get k r end else None.
Fixpoint put (T : Type) (k : positive) (y : T) (t : tree T) : tree T :=
  let: (l, x, r) := if t is Node l x r then (l, x, r) else (Leaf, None, Leaf) in
  match k with xH => Node l (Some y) r | xO k => Node (put k y l) x r | xI k => Node l x (put k y r) end.
Fixpoint numbered (T : Type) (k : positive) (xs : seq T) : tree T :=
  if xs is x :: xs then put k x (numbered (Pos.succ k) xs) else Leaf.

Definition edge_kept (pairs : seq (fraction * fraction)) (t : tree (Z * seq Z)) (e : N * N) :=
  match get (N.succ_pos e.1) t, get (N.succ_pos e.2) t with
  | Some P, Some Q => all (fun rd => one_way rd P Q && one_way rd Q P) pairs
  | _, _ => false
  end.

Definition is_pair (rd : fraction * fraction) :=
  let: ((rn, rm), (dn, dm)) := rd in [&& Z.ltb 0 rm, Z.leb rm rn, Z.leb 0 dn & Z.ltb dn dm].
Definition is_row w (row : seq fraction) := eqn (size row) w && all proper row.

Definition check (f : file) : bool :=
  [&& all is_pair (pairs f), all (is_row (width f)) (rows f) &
      let laws := [seq scaled row | row <- rows f] in
      all is_law laws && all (edge_kept (pairs f) (numbered 1 laws)) (edges f)].

(* ---- the tree ---- *)

Lemma get_put T (k j : positive) (y : T) t : get j (put k y t) = if Pos.eqb j k then Some y else get j t.
Proof.
elim: k j t => [k IH|k IH|] [j|j|] [|l x r] //=; rewrite ?IH //; case: Pos.eqb => //; by case: j.
Qed.

Lemma get_numbered T (x0 : T) k j xs : get j (numbered k xs) =
  if (Pos.to_nat k <= Pos.to_nat j < Pos.to_nat k + size xs)%N
  then Some (nth x0 xs (Pos.to_nat j - Pos.to_nat k)) else None.
Proof.
elim: xs k => [|x xs IH] k /=; first by rewrite ifF; [case: j|lia].
rewrite get_put IH; case: Pos.eqb_spec => [->|ne].
  by rewrite ifT ?subnn //; lia.
case: ifP => h; last by rewrite ifF //; lia.
by rewrite ifT; [rewrite (_ : Pos.to_nat j - Pos.to_nat k = (Pos.to_nat j - Pos.to_nat (Pos.succ k)).+1)%N //|]; lia.
Qed.

Lemma get_row T (x0 : T) (i : N) xs : get (N.succ_pos i) (numbered 1 xs) =
  if (N.to_nat i < size xs)%N then Some (nth x0 xs (N.to_nat i)) else None.
Proof.
rewrite (get_numbered x0) (_ : Pos.to_nat (N.succ_pos i) = (N.to_nat i).+1); last by lia.
by rewrite (_ : (_ <= _ < _)%N = (N.to_nat i < size xs)%N) ?subn1 //; lia.
Qed.

(* ---- one denominator for a row ---- *)

Lemma common_gt0 row : all proper row -> Z.lt 0 (common row).
Proof.
elim: row => [|x row IH] //= /andP[/Z.ltb_lt x0 /IH h]; rewrite -/(common row).
have := Z.lcm_nonneg x.2 (common row); have : Z.lcm x.2 (common row) <> Z0 by rewrite Z.lcm_eq_0; lia.
lia.
Qed.

Lemma common_divides row x : x \in row -> Z.divide x.2 (common row).
Proof.
elim: row => [|y row IH] //=; rewrite inE -/(common row) => /orP[/eqP ->|/IH h]; first exact: Z.divide_lcm_l.
exact: (Z.divide_trans _ _ _ h (Z.divide_lcm_r _ _)).
Qed.

Local Open Scope ring_scope.

Section Meaning.
Variable F : realFieldType.
Notation of_Z := (@of_Z F).

Notation number := (@number F).
Definition input f := 'I_(size (rows f)).
Definition output f := 'I_(width f).
(* the mechanism and the graph that a file describes *)
Definition mechanism f (i : input f) (v : output f) : F := number (nth zero (nth [::] (rows f) i) v).
Definition neighbours f (i j : input f) : Prop :=
  exists e, e \in edges f /\ ((N.to_nat e.1, N.to_nat e.2) = (i : nat, j : nat) \/
                              (N.to_nat e.1, N.to_nat e.2) = (j : nat, i : nat)).
(* what must hold of a file for it to describe a mechanism and a promise at all *)
Definition well_formed f :=
  [/\ forall rd, rd \in pairs f -> [/\ Z.lt 0 rd.1.2, Z.lt 0 rd.2.2, 1 <= number rd.1 & 0 <= number rd.2 < 1],
      forall row, row \in rows f -> size row = width f /\ forall x, x \in row -> Z.lt 0 x.2 &
      forall e, e \in edges f -> (N.to_nat e.1 < size (rows f))%N /\ (N.to_nat e.2 < size (rows f))%N].

Lemma of_Z_sum (xs : seq Z) w : size xs = w -> of_Z (foldr Z.add Z0 xs) = \sum_(i < w) of_Z (nth Z0 xs i).
Proof.
move=> <-; elim: xs => [|x xs IH] /=; first by rewrite big_ord0.
by rewrite big_ord_recl of_ZD IH.
Qed.

Lemma of_Z_excess a b (ps qs : seq Z) w : size ps = w -> size qs = w ->
  of_Z (excess a b ps qs) = \sum_(i < w) Num.max 0 (of_Z a * of_Z (nth Z0 ps i) - of_Z b * of_Z (nth Z0 qs i)).
Proof.
move=> <-; elim: ps qs => [|p ps IH] [|q qs] //= e; first by rewrite big_ord0.
case: e => e; rewrite big_ord_recl /= -!of_ZM -of_ZB -IH //.
case: Z.leb_spec => x0; last first.
  by rewrite of_ZD (max_idPr (ltW (of_Z_pos x0))).
by rewrite (max_idPl _) ?add0r // -(of_Z0 F) of_Z_le; apply/Z.leb_le.
Qed.

(* a scaled row says the same *)
Lemma scaled_number w row i : size row = w -> all proper row -> (i < w)%N ->
  number (nth zero row i) = of_Z (nth Z0 (scaled row).2 i) / of_Z (scaled row).1.
Proof.
move=> sw pd iw; rewrite /scaled /= (nth_map zero) ?sw // /Fractions.number.
set x := nth _ row i; have xr : x \in row by rewrite mem_nth ?sw.
have /allP/(_ _ xr)/Z.ltb_lt x0 := pd.
have c0 := common_gt0 pd; case: (common_divides xr) => k ek.
have -> : Z.div (common row) x.2 = k by rewrite ek Z.div_mul; lia.
have k0 := factor_gt0 c0 x0 ek.
have n0 z : Z.lt 0 z -> of_Z z != 0 by move=> h; apply/lt0r_neq0/of_Z_pos.
by rewrite ek !of_ZM mulrC [of_Z k * _]mulrC -mulf_div divff ?n0 // mulr1 mulrC.
Qed.

Lemma is_lawP w row : size row = w -> all proper row ->
  reflect (law (fun v : 'I_w => number (nth zero row v))) (is_law (scaled row)).
Proof.
move=> sw pd; have c0 := @of_Z_pos F _ (common_gt0 pd).
have ss : size (scaled row).2 = w by rewrite size_map.
have e (v : 'I_w) := scaled_number sw pd (ltn_ord v).
apply: (iffP andP) => [[/allP ge0 /Z.eqb_eq sum]|[ge0 sum]].
  split=> [v|]; last first.
    by rewrite (eq_bigr _ (fun v _ => e v)) -mulr_suml -of_Z_sum // sum divff ?lt0r_neq0.
  rewrite e divr_ge0 ?(ltW c0) // -(of_Z0 F) of_Z_le; apply: ge0.
  by rewrite mem_nth ?ss.
split.
  apply/(all_nthP Z0) => v; rewrite ss => vw; have := ge0 (Ordinal vw).
  by rewrite e /= pmulr_lge0 ?invr_gt0 // -(of_Z0 F) of_Z_le.
apply/Z.eqb_eq/(@of_Z_inj F); rewrite (of_Z_sum ss).
have : (\sum_(v < w) of_Z (nth Z0 (scaled row).2 v)) / of_Z (scaled row).1 = 1.
  by rewrite mulr_suml -sum; apply: eq_bigr => v _; rewrite e.
by move/(canRL (divfK (lt0r_neq0 c0))); rewrite mul1r.
Qed.

Lemma over_one (rn rm P Q a b x y : F) : rm != 0 -> P != 0 -> Q != 0 -> a != 0 -> P * a = Q * b ->
  x / P - rn / rm * (y / Q) = (rm * (P * a))^-1 * (rm * a * x - rn * b * y).
Proof.
move=> rm0 P0 Q0 a0 cross; have k0 : rm * (P * a) != 0 by rewrite !mulf_neq0.
have ex := divfK P0 x; have ey := divfK Q0 y; have er := divfK rm0 rn.
rewrite -{2}ex -{2}ey -{2}er; apply: (mulfI k0); rewrite mulVKf //.
have := congr1 (fun z => rm * (rn / rm) * (y / Q) * z) cross; linear.
Qed.

Lemma one_wayP w rd (p q : seq fraction) : is_pair rd ->
  size p = w -> all proper p -> size q = w -> all proper q ->
  one_way rd (scaled p) (scaled q) =
  (hockey_stick (number rd.1) (fun v : 'I_w => number (nth zero p v)) (fun v => number (nth zero q v))
     <= number rd.2).
Proof.
case: rd => -[rn rm] [dn dm] /and4P[rm0 _ dn0 dm0] sp pp sq pq; rewrite /one_way [in RHS]/Fractions.number /=.
have p0 := common_gt0 pp; have q0 := common_gt0 pq.
set P := common p in p0 *; set Q := common q in q0 *; set g := Z.gcd P Q.
have g0 : Z.lt 0 g := gcd_gt0 Q p0.
have [a ea] := Z.gcd_divide_r P Q; have [b eb] := Z.gcd_divide_l P Q.
rewrite -/g in ea eb.
have -> : Z.div Q g = a by rewrite {1}ea Z.div_mul; lia.
have -> : Z.div P g = b by rewrite {1}eb Z.div_mul; lia.
have a0 := factor_gt0 q0 g0 ea. have b0 := factor_gt0 p0 g0 eb.
have cross : Z.mul P a = Z.mul Q b.
  clearbody P Q g. by move: eb ea => -> ->; lia.
have pos z : Z.lt 0 z -> 0 < of_Z z by apply: of_Z_pos.
have fP := pos _ p0; have fQ := pos _ q0; have fa := pos _ a0; have fb := pos _ b0.
have frm : 0 < of_Z rm by apply: of_Z_pos; lia.
have fdm : 0 < of_Z dm by apply: of_Z_pos; lia.
have sps : size (scaled p).2 = w by rewrite size_map. have sqs : size (scaled q).2 = w by rewrite size_map.
have k0 : 0 < of_Z rm * of_Z (Z.mul P a) by rewrite of_ZM !mulr_gt0.
have crossF : of_Z P * of_Z a = of_Z Q * of_Z b by rewrite -!of_ZM cross.
have -> : hockey_stick (of_Z rn / of_Z rm) (fun v : 'I_w => number (nth zero p v))
     (fun v => number (nth zero q v)) =
   of_Z (excess (Z.mul rm a) (Z.mul rn b) (scaled p).2 (scaled q).2) / (of_Z rm * of_Z (Z.mul P a)).
  rewrite (of_Z_excess _ _ sps sqs) /hockey_stick mulr_suml; apply: eq_bigr => v _.
  rewrite (scaled_number sp pp (ltn_ord v)) (scaled_number sq pq (ltn_ord v)) -/P -/Q.
  rewrite -[RHS]mulrC maxr_pmulr ?invr_ge0 ?ltW // mulr0; congr (Num.max 0 _).
  by rewrite !of_ZM; apply: over_one => //; apply: lt0r_neq0.
rewrite ler_pdivr_mulr // -(@of_Z_le F) !of_ZM mulrAC ler_pdivl_mulr //; congr (_ <= _); first exact: mulrC.
Qed.

Lemma is_pairP rd : reflect
  [/\ Z.lt 0 rd.1.2, Z.lt 0 rd.2.2, 1 <= number rd.1 & 0 <= number rd.2 < 1] (is_pair rd).
Proof.
case: rd => -[rn rm] [dn dm]; rewrite /is_pair /Fractions.number /=; apply: (iffP and4P) => [[h1 h2 h3 h4]|[h1 h2 h3 h4]].
  have rm0 : Z.lt 0 rm by lia. have dm0 : Z.lt 0 dm by lia.
  split=> //; first by rewrite ler_pdivl_mulr ?of_Z_pos // mul1r of_Z_le.
  rewrite pmulr_lge0 ?invr_gt0 ?of_Z_pos // -(of_Z0 F) of_Z_le h3.
  by rewrite ltr_pdivr_mulr ?of_Z_pos // mul1r of_Z_lt.
move: h3 h4; rewrite ler_pdivl_mulr ?of_Z_pos // mul1r of_Z_le => h3.
rewrite pmulr_lge0 ?invr_gt0 ?of_Z_pos // -(of_Z0 F) of_Z_le ltr_pdivr_mulr ?of_Z_pos // mul1r of_Z_lt => /andP[h4 h5].
by split=> //; apply/Z.ltb_lt.
Qed.

Lemma is_rowP w row : reflect (size row = w /\ forall x, x \in row -> Z.lt 0 x.2) (is_row w row).
Proof.
apply: (iffP andP) => [[/eqP sw /allP h]|[sw h]]; split=> //; first by move=> x /h /Z.ltb_lt.
  exact/eqP.
by apply/allP => x /h xr; apply/Z.ltb_lt.
Qed.

(* yes if and only if the file describes a mechanism that keeps its promise *)
Theorem check_correct f : check f <->
  [/\ well_formed f, laws (@mechanism f) &
      forall rd, rd \in pairs f -> private (number rd.1) (number rd.2) (@neighbours f) (@mechanism f)].
Proof.
pose row (i : input f) := nth [::] (rows f) i.
have row_in i : row i \in rows f by apply: mem_nth.
have edgeE : forall e, edge_kept (pairs f) (numbered 1 [seq scaled x | x <- rows f]) e =
    [&& (N.to_nat e.1 < size (rows f))%N, (N.to_nat e.2 < size (rows f))%N &
      all (fun rd => let P := scaled (nth [::] (rows f) (N.to_nat e.1)) in
                     let Q := scaled (nth [::] (rows f) (N.to_nat e.2)) in
                     one_way rd P Q && one_way rd Q P) (pairs f)].
  move=> e; rewrite /edge_kept !(get_row (scaled [::])) size_map.
  case: ltnP => h1; case: ltnP => h2 //=; by rewrite !(nth_map [::]).
have closeE rd (i j : input f) : well_formed f -> rd \in pairs f ->
    one_way rd (scaled (row i)) (scaled (row j)) && one_way rd (scaled (row j)) (scaled (row i)) =
    close (number rd.1) (number rd.2) (@mechanism f i) (@mechanism f j).
  case=> wp wr _ rp; have pp : is_pair rd by apply/is_pairP/wp.
  have rowOK k : size (row k) = width f /\ all proper (row k).
    by have /(is_rowP (width f))/andP[/eqP] := wr _ (row_in k).
  have [[s1 d1] [s2 d2]] := (rowOK i, rowOK j).
  by rewrite (one_wayP pp s1 d1 s2 d2) (one_wayP pp s2 d2 s1 d1).
split=> [/and3P[/allP hp /allP hr /andP[/allP hl /allP he]]|[wf lM pM]].
  have wf : well_formed f.
    split=> [rd /hp /is_pairP //|x /hr /is_rowP //|e /he].
    by rewrite edgeE => /and3P[].
  split=> // [i|rd rp i j].
    have [_ wr _] := wf; have /(is_rowP (width f))/andP[/eqP s d] := wr _ (row_in i).
    by apply/(is_lawP s d)/hl/map_f.
  case=> -[a b] [/he]; rewrite edgeE /= => /and3P[ha hb /allP /(_ rd rp)].
  by move=> h [] [ea eb]; [|rewrite closeC]; rewrite -closeE //; move: h; rewrite ea eb.
have [wp wr we] := wf; apply/and3P; split.
- by apply/allP => rd /wp /is_pairP.
- by apply/allP => x /wr /is_rowP.
- apply/andP; split.
    apply/allP => _ /mapP[x xr ->]; have [i hi ex] : exists2 i, (i < size (rows f))%N & x = nth [::] (rows f) i.
      by exists (index x (rows f)); rewrite ?index_mem // nth_index.
    have /(is_rowP (width f))/andP[/eqP s d] := wr _ xr.
    apply/(is_lawP s d); have [m0 m1] := lM (Ordinal hi).
    by subst x; split.
  apply/allP => e ef; have [h1 h2] := we e ef; rewrite edgeE h1 h2 /=; apply/allP => rd rp.
  have := pM rd rp (Ordinal h1) (Ordinal h2); rewrite -closeE //; apply.
  by exists e; split=> //; left.
Qed.

(* a ratio that is too small does no harm: e^epsilon may be rounded down *)
Corollary check_private f rd r : check f -> rd \in pairs f -> number rd.1 <= r ->
  private r (number rd.2) (@neighbours f) (@mechanism f).
Proof.
move=> /check_correct[_ lM pM] rp h i j /(pM rd rp).
by apply: close_weaker.
Qed.

End Meaning.
