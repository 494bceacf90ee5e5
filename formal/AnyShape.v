(* One noise for all readers of a count, for any shape of privacy: noise on cells that moves by whole cells from
   count to count, and reaches what u allows, serves every loss that never falls away from the truth as well as
   any private mechanism does.                                                                                *)
From mathcomp Require Import all_ssreflect all_algebra zify.
From Iris Require Import Arithmetic Laws Shapes PostProcessing RankOrder Universality.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section AnyShape.
Variables (F : realFieldType) (u : F -> F).
Hypothesis su : shape u.

(* below j: the probability of the first j of S cells; a step of the count moves it by m cells *)
Record tight_noise (m S : nat) (below : nat -> F) : Prop := TightNoise {
  below0 : below 0%N = 0;
  below_all : forall j, (S <= j)%N -> below j = 1;
  below_lt : forall j, (j < S)%N -> below j < below j.+1;
  below_step : forall j, below (j + m)%N = u (below j);
  below_mirror : forall j, (j <= S)%N -> below (S - j)%N = 1 - below j;
  below_affine : forall j t, (j < S)%N -> 0 <= t <= 1 ->
    u ((1 - t) * below j + t * below j.+1) = (1 - t) * u (below j) + t * u (below j.+1)
}.

Variables (m S : nat) (below : nat -> F).
Hypothesis tight : tight_noise m S below.
Variable n : nat.
Notation N := n.+1.
Notation V := 'I_N.+1.
Notation Z := 'I_(m * N + S).+1.

(* the law of the cell at count i *)
Definition cell (i : nat) (z : Z) : F := below (z.+1 - m * i) - below (z - m * i).

Lemma below_mono j k : (j <= k)%N -> below j <= below k.
Proof.
elim: k => [|k IH]; first by rewrite leqn0 => /eqP ->.
rewrite leq_eqVlt => /orP[/eqP -> //|jk]; apply: (le_trans (IH jk)).
case: (ltnP k S) => kS; first exact/ltW/(below_lt tight).
by rewrite !(below_all tight) // ltnW.
Qed.

Lemma below_bounds j : 0 <= below j <= 1.
Proof.
rewrite -(below0 tight) below_mono //=; have := below_mono (leq_maxl j S).
by rewrite (below_all tight (leq_maxr j S)).
Qed.

Lemma cell_ge0 i z : 0 <= cell i z.
Proof. by rewrite subr_ge0 below_mono // leq_sub2r. Qed.

Lemma cell_gt0 i (z : Z) : (m * i <= z)%N -> (z < m * i + S)%N -> 0 < cell i z.
Proof.
move=> lo hi; rewrite subr_gt0 subSn //; apply: (below_lt tight); lia.
Qed.

Lemma cell_prefix i k : (k <= (m * N + S).+1)%N -> \sum_(z : Z | (z < k)%N) cell i z = below (k - m * i).
Proof.
elim: k => [|k IH] hk; first by rewrite big_pred0 // sub0n (below0 tight).
rewrite (bigD1 (Ordinal hk)) //= (eq_bigl (fun z : Z => (z < k)%N)) => [|z].
  by rewrite IH ?(ltnW hk) // /cell /= subrK.
by rewrite ltnS andbC -val_eqE /= -ltn_neqAle.
Qed.

Lemma cell_law i : (i <= N)%N -> law (cell i).
Proof.
move=> iN; split=> [z|]; first exact: cell_ge0.
rewrite (eq_bigl (fun z : Z => (z < (m * N + S).+1)%N)) => [|z]; last by rewrite ltn_ord.
rewrite cell_prefix // (below_all tight) //.
have : (m * i <= m * N)%N by rewrite leq_mul2l iN orbT.
lia.
Qed.

Lemma cell_all i : (i <= N)%N -> below ((m * N + S).+1 - m * i) = 1.
Proof.
move=> iN; apply: (below_all tight); have : (m * i <= m * N)%N by rewrite leq_mul2l iN orbT.
lia.
Qed.

(* the noise is private: an event gains most if it comes first *)
Theorem tight_private i : (i < N)%N -> within u (cell i) (cell i.+1).
Proof.
move=> iN; have l0 := cell_law (ltnW iN); have l1 := cell_law iN.
apply/withinC/(within_half su) => // A.
pose part j k := \sum_(z : Z | (z \in A) && (z < k)%N) cell j z.
have partS j (z : Z) : part j z.+1 = part j z + (if z \in A then cell j z else 0).
  rewrite /part; case: ifP => zA.
    rewrite (bigD1 z) ?zA //= addrC; congr (_ + _); apply: eq_bigl => y.
    by rewrite ltnS -andbA; congr (_ && _); rewrite andbC -val_eqE /= -ltn_neqAle.
  rewrite addr0; apply: eq_bigl => y; rewrite ltnS leq_eqVlt andb_orr.
  by case: eqP => [/val_inj ->|_]; rewrite ?zA // andbF.
have part_le j k : (k <= (m * N + S).+1)%N -> 0 <= part j k <= below (k - m * j).
  move=> hk; rewrite sumr_ge0 /= => [|z _]; last exact: cell_ge0.
  rewrite -cell_prefix // [leRHS](bigID (mem A)) /=.
  have -> : part j k = \sum_(z : Z | (z < k)%N && (z \in A)) cell j z by apply: eq_bigl => z; rewrite andbC.
  by rewrite ler_addl sumr_ge0 // => z _; apply: cell_ge0.
have all j : part j (m * N + S).+1 = prob (cell j) A by apply: eq_bigl => z; rewrite ltn_ord andbT.
have p1 k : (k <= (m * N + S).+1)%N -> 0 <= part i.+1 k <= 1.
  by move=> hk; have := part_le i.+1 k hk; have := below_bounds (k - m * i.+1); linear.
(* while the next count has no cell yet, all is at most u 0 *)
have early k : (k <= (m * N + S).+1)%N -> (k <= m * i.+1)%N -> part i k <= u (part i.+1 k).
  move=> hk lo; have /andP[_ h] := part_le i k hk; apply: (le_trans h).
  apply: (@le_trans _ _ (u 0)); last by apply: (shape_mono su); case/andP: (p1 k hk).
  rewrite -(below0 tight) -(below_step tight) add0n; apply: below_mono; rewrite leq_subLR; lia.
suff h k : (k <= (m * N + S).+1)%N -> part i k <= u (part i.+1 k) by rewrite -!all h.
elim: k => [|k IH] hk; first exact: early.
case: (ltnP k (m * i.+1)) => lo; first exact: early.
have {}IH := IH (ltnW hk); pose z := Ordinal hk.
have [e0 e1] : part i k.+1 = part i k + (if z \in A then cell i z else 0) /\
    part i.+1 k.+1 = part i.+1 k + (if z \in A then cell i.+1 z else 0) by split; apply: (partS _ z).
rewrite e0 e1; case: ifP => _; last by rewrite !addr0.
have /andP[c0 c1] := part_le i.+1 k (ltnW hk).
have q0 := cell_ge0 i.+1 z; set P := below (k - m * i.+1) in c1.
have eP : below (k.+1 - m * i.+1) = P + cell i.+1 z by rewrite /cell /= addrC subrK.
have P1 : P + cell i.+1 z <= 1 by rewrite -eP; case/andP: (below_bounds (k.+1 - m * i.+1)).
have inc := shape_increments su c0 c1 q0 P1.
have -> : cell i z = u (P + cell i.+1 z) - u P.
  rewrite -eP -!(below_step tight) /cell /=; congr (below _ - below _); lia.
linear.
Qed.

(* yes below cell k, yes with probability t in it *)
Definition threshold (k : nat) (t : F) (z : Z) : F := if (z < k)%N then 1 else if z == k :> nat then t else 0.
Definition level i k t := (1 - t) * below (k - m * i) + t * below (k.+1 - m * i).
Definition mean i (g : Z -> F) := \sum_z cell i z * g z.

Lemma threshold_bounds k t z : 0 <= t <= 1 -> 0 <= threshold k t z <= 1.
Proof. by rewrite /threshold => ht; case: ifP => _; [|case: ifP => _ //]; rewrite ?lexx ?ler01. Qed.

Lemma mean_threshold i k t : (k <= m * N + S)%N -> mean i (threshold k t) = level i k t.
Proof.
move=> hk; have hk' : (k < (m * N + S).+1)%N by [].
rewrite /mean (bigID (fun z : Z => (z < k)%N)) /= [X in _ + X](bigD1 (Ordinal hk')) /= ?ltnn //.
rewrite [X in _ + (_ + X)]big1 ?addr0 => [|z /andP[zk zn]]; last first.
  by rewrite /threshold (negbTE zk) (_ : (z == k :> nat) = false) ?mulr0 //; apply: negbTE.
rewrite (eq_bigr (cell i)) => [|z zk]; last by rewrite /threshold zk mulr1.
rewrite (cell_prefix _ (ltnW hk')) /threshold /= ltnn eqxx /cell /level /=; linear.
Qed.

(* a threshold inside the noise of a count goes as far from it as privacy lets it *)
Lemma level_down i k t : 0 <= t <= 1 -> (m * i.+1 <= k)%N -> (k < m * i.+1 + S)%N ->
  level i k t = u (level i.+1 k t).
Proof.
move=> ht lo hi; rewrite /level (subSn lo) (below_affine tight) //; last by lia.
rewrite -!(below_step tight); congr (_ * below _ + _ * below _); lia.
Qed.

Lemma below_back j : (j <= S)%N -> 1 - below (j - m) = u (1 - below j).
Proof.
move=> jS; rewrite -(below_mirror tight jS) -(below_step tight).
case: (leqP m j) => mj; last by rewrite (_ : j - m = 0)%N ?(below0 tight) ?subr0 ?(below_all tight) //; lia.
rewrite -(below_mirror tight (j := (j - m)%N)); last by lia.
by congr below; lia.
Qed.

Lemma level_up i k t : 0 <= t <= 1 -> (k < m * i + S)%N -> 1 - level i.+1 k t = u (1 - level i k t).
Proof.
move=> ht hi; rewrite /level mulnS; case: (ltnP k (m * i)) => lo.
  have z x : (x <= m * i)%N -> below (x - m * i) = 0 /\ below (x - (m + m * i)) = 0.
    move=> h; have /eqP -> : (x - m * i == 0)%N by rewrite subn_eq0.
    have /eqP -> : (x - (m + m * i) == 0)%N by rewrite subn_eq0 (leq_trans h) ?leq_addl.
    by rewrite (below0 tight).
  have [-> ->] := z k (ltnW lo); have [-> ->] := z k.+1 lo.
  by rewrite !mulr0 addr0 subr0 shape1.
set x := (k - m * i)%N; have xS : (x < S)%N by rewrite /x; lia.
have e1 : (k.+1 - m * i = x.+1)%N by rewrite /x; lia.
have e2 : (k - (m + m * i) = x - m)%N by rewrite /x; lia.
have e3 : (k.+1 - (m + m * i) = x.+1 - m)%N by rewrite /x; lia.
rewrite e1 e2 e3; have ht' : 0 <= 1 - t <= 1 by linear.
have -> : 1 - ((1 - t) * below x + t * below x.+1) =
    (1 - (1 - t)) * below (S - x.+1) + (1 - t) * below (S - x.+1).+1.
  rewrite (_ : (S - x.+1).+1 = S - x)%N; last by lia.
  by rewrite !(below_mirror tight) ?(ltnW xS) //; linear.
rewrite (below_affine tight) //; last by lia.
rewrite (_ : (S - x.+1).+1 = S - x)%N; last by lia.
rewrite !(below_mirror tight) ?(ltnW xS) // -!below_back ?(ltnW xS) //; linear.
Qed.

Lemma level_iter_down k t v s : 0 <= t <= 1 -> (m * v <= k)%N -> (k < m * v + S)%N -> (s <= v)%N ->
  level (v - s) k t = iter s u (level v k t).
Proof.
move=> ht lo hi; elim: s => [|s IH] sv; first by rewrite subn0.
rewrite iterS -IH ?(ltnW sv) // -(subnSK sv); set w := (v - s.+1)%N.
have wv : (w.+1 <= v)%N by rewrite /w; lia.
case: (ltnP k (m * w.+1 + S)) => h.
  by apply: level_down => //; apply: leq_trans lo; rewrite leq_mul2l wv orbT.
have one i : (m * i + S <= k)%N -> level i k t = 1.
  by move=> a; rewrite /level !(below_all tight); [linear|lia|lia].
by rewrite !one ?shape1 // (leq_trans _ h) // leq_add2r leq_mul2l leqnSn orbT.
Qed.

Lemma level_iter_up k t v s : 0 <= t <= 1 -> (k < m * v + S)%N ->
  1 - level (v + s) k t = iter s u (1 - level v k t).
Proof.
move=> ht hi; elim: s => [|s IH]; first by rewrite addn0.
by rewrite addnS iterS -IH level_up // (leq_trans hi) // leq_add2r leq_mul2l leq_addr orbT.
Qed.

Hypothesis S0 : (0 < S)%N.

Lemma threshold_exists v s : 0 <= s <= 1 ->
  exists kt : nat * F, [/\ 0 <= kt.2 <= 1, (m * v <= kt.1)%N, (kt.1 < m * v + S)%N & level v kt.1 kt.2 = s].
Proof.
move=> /andP[s0 s1]; have ex : exists j, s <= below j.+1 by exists S; rewrite (below_all tight).
case: (ex_minnP ex) => j hj least.
have jS : (j < S)%N.
  rewrite ltnNge; apply/negP => Sj; have := least S.-1; rewrite prednK // (below_all tight) // => /(_ s1); lia.
have lo : below j <= s.
  case: j hj least jS => [|j] _ least jS; first by rewrite (below0 tight).
  by rewrite leNgt; apply/negP => /ltW /least; rewrite ltnn.
have gap := below_lt tight jS; pose t := (s - below j) / (below j.+1 - below j).
have te : t * (below j.+1 - below j) = s - below j by rewrite divfK // subr_eq0 gt_eqF.
exists ((m * v + j)%N, t); split=> /=; [|lia|lia|].
  have g0 : 0 < below j.+1 - below j by rewrite subr_gt0.
  apply/andP; split; first by apply: divr_ge0; [rewrite subr_ge0|apply: ltW].
  by rewrite /t ler_pdivr_mulr // mul1r ler_add2r.
rewrite /level -addnS !addKn; linear.
Qed.

(* ---- any private mechanism, and the post-processing that matches it ---- *)

Variable M : nat -> V -> F.
Hypothesis M_law : forall i, (i <= N)%N -> law (M i).
Hypothesis M_private : forall i, (i < N)%N -> within u (M i) (M i.+1).

Lemma M_down v s k : (v <= N)%N -> (s <= v)%N -> prefix (M (v - s)) k <= iter s u (prefix (M v) k).
Proof.
move=> vN; elim: s => [|s IH] sv; first by rewrite subn0.
have lt : (v - s.+1 < N)%N by lia.
have [_] := M_private lt [set z : V | (z < k)%N]; rewrite -!prefix_prob subnSK // => h.
rewrite iterS; apply: (le_trans h); apply: (shape_mono su) (IH (ltnW sv)) _.
  by case/andP: (prefix_bounds k (M_law (leq_trans (leq_subr s v) vN))).
by case/andP: (iter_bounds su s (prefix_bounds k (M_law vN))).
Qed.

Lemma M_up v s k : (v + s <= N)%N -> 1 - prefix (M (v + s)) k <= iter s u (1 - prefix (M v) k).
Proof.
elim: s => [|s IH] sv; first by rewrite addn0.
rewrite addnS in sv *; have l0 := M_law (ltnW sv); have l1 := M_law sv.
have lv : law (M v) by apply: M_law; lia.
have [h _] := M_private sv (~: [set z : V | (z < k)%N]); rewrite !prob_setC // -!prefix_prob in h.
have b0 := prefix_bounds k l0; have bv := prefix_bounds k lv.
have cv : 0 <= 1 - prefix (M v) k <= 1 by linear.
rewrite iterS; apply: (le_trans h); apply: (shape_mono su) (IH (ltnW sv)) _; first by linear.
by case/andP: (iter_bounds su s cv).
Qed.

Theorem universal_reading_any : exists R : Z -> V -> F,
  stochastic R /\ forall i, (i <= N)%N -> nearer i (processed R (cell i)) (M i).
Proof.
have leN (v : V) : (v <= N)%N by rewrite -ltnS.
have choice (v : V) : exists kt : nat * F,
    [/\ 0 <= kt.2 <= 1, (m * v <= kt.1)%N, (kt.1 < m * v + S)%N & level v kt.1 kt.2 = prefix (M v) v.+1].
  exact: threshold_exists (prefix_bounds v.+1 (M_law (leN v))).
have [kt hkt] := fin_all_exists choice; pose g (v : V) := threshold (kt v).1 (kt v).2.
have inside (v : V) : ((kt v).1 <= m * N + S)%N.
  have [_ _ /ltnW h _] := hkt v; apply: (leq_trans h); rewrite leq_add2r leq_mul2l leN orbT //.
have g01 v z : 0 <= g v z <= 1 by have [ht _ _ _] := hkt v; apply: threshold_bounds.
have gm i (v : V) : mean i (g v) = level i (kt v).1 (kt v).2 by apply: mean_threshold.
have star i (v : V) : (i <= N)%N ->
    if (i <= v)%N then prefix (M i) v.+1 <= mean i (g v) else mean i (g v) <= prefix (M i) v.+1.
  move=> iN; have vN := leN v; have [ht lo hi hm] := hkt v; rewrite gm; case: leqP => iv.
    have e : (v - (v - i) = i)%N by rewrite subKn.
    by rewrite -e (level_iter_down ht lo hi (leq_subr i v)) hm; apply: M_down; rewrite ?leq_subr.
  have e : (v + (i - v))%N = i by rewrite subnKC // ltnW.
  suff : 1 - prefix (M i) v.+1 <= 1 - level i (kt v).1 (kt v).2 by linear.
  by rewrite -e (level_iter_up _ ht hi) hm; apply: M_up; rewrite e.
have total (v w : V) : (forall z, g v z <= g w z) \/ (forall z, g w z <= g v z).
  have [/andP[a0 a1] _ _ _] := hkt v; have [/andP[b0 b1] _ _ _] := hkt w; rewrite /g /threshold.
  case: (ltngtP (kt v).1 (kt w).1) => h.
  - left=> z; case: (ltngtP z (kt v).1) => zv; case: (ltngtP z (kt w).1) => zw; rewrite ?lexx ?ler01 //; lia.
  - right=> z; case: (ltngtP z (kt v).1) => zv; case: (ltngtP z (kt w).1) => zw; rewrite ?lexx ?ler01 //; lia.
  - rewrite h; case: (leP (kt v).2 (kt w).2) => tt; [left|right] => z.
      by case: ifP => // _; case: ifP.
    by case: ifP => // _; case: ifP => // _; apply: ltW.
have mono (v w : V) z : w = v.+1 :> nat -> g v z <= g w z.
  move=> wv; case: (total v w) => h; first exact: h.
  have wN := leN w; have [/andP[b0 b1] lo _ _] := hkt w; have [/andP[a0 a1] _ hi _] := hkt v.
  case: (ltnP z (m * w)) => zw.
    by rewrite [leRHS]/g /threshold (leq_trans zw lo); case/andP: (g01 v z).
  case: (ltnP z (m * w + S)) => zS; last first.
    have far : ((kt v).1 < z)%N.
      apply: leq_trans hi (leq_trans _ zS); rewrite leq_add2r leq_mul2l wv leqnSn orbT //.
    rewrite [leLHS]/g /threshold ltnNge (ltnW far) /= (gtn_eqF far); by case/andP: (g01 w z).
  have le : mean w (g v) <= mean w (g w).
    have -> : mean w (g w) = prefix (M w) w.+1 by rewrite gm; case: (hkt w).
    have := star w v wN; rewrite wv ltnn => /le_trans; apply.
    by rewrite -wv prefixS ler_addl; case: (M_law wN).
  have ge y : 0 <= cell w y * (g v y - g w y).
    by apply: mulr_ge0; [apply: cell_ge0|rewrite subr_ge0; apply: h].
  have z0 : \sum_y cell w y * (g v y - g w y) = 0.
    apply/le_anti; rewrite sumr_ge0 // andbT.
    rewrite (eq_bigr (fun y => cell w y * g v y - cell w y * g w y)); last by move=> y _; rewrite mulrBr.
    by rewrite sumrB subr_le0.
  have /eqP : cell w z * (g v z - g w z) = 0 by apply: (psumr_eq0P (fun y _ => ge y) z0).
  by rewrite mulf_eq0 gt_eqF ?cell_gt0 //= subr_eq0 => /eqP ->.
pose up (k : nat) (z : Z) : F := if k is v.+1 then if (v < N)%N then g (inord v) z else 1 else 0.
have upS v z : up v z <= up v.+1 z.
  case: v => [|v] /=; first by case/andP: (g01 (inord 0) z).
  case: (ltnP v.+1 N) => h; last by case: ifP => _ //; case/andP: (g01 (inord v) z).
  by rewrite (ltnW h); apply: mono; rewrite !inordK // ltnS ltnW // ltnW.
pose R (z : Z) (v : V) := up v.+1 z - up v z.
have sR : stochastic R.
  move=> z; split=> [v|]; first by rewrite subr_ge0.
  rewrite /R -(big_mkord predT (fun v => up v.+1 z - up v z)) telescope_sumr //= ltnn subr0 //.
have prefixR i k : (k <= N.+1)%N -> prefix (processed R (cell i)) k = mean i (up k).
  elim: k => [|k IH] kN; first by rewrite prefix0 /mean big1 // => z _; rewrite mulr0.
  rewrite (prefixS _ (Ordinal kN)) /= IH ?(ltnW kN) // /processed /mean -big_split; apply: eq_bigr => z _ /=.
  by rewrite /R /= mulrBr addrC subrK.
exists R; split=> // i iN v vN; rewrite prefixR //.
case: (ltnP v N) => h.
  have -> : mean i (up v.+1) = mean i (g (inord v)) by apply: eq_bigr => z _; rewrite /= h.
  by have := star i (inord v) iN; rewrite inordK.
have -> : v = N by apply/eqP; rewrite eqn_leq vN h.
rewrite iN prefix_all (proj2 (M_law iN)) /mean (eq_bigr (cell i)) ?(proj2 (cell_law iN)) // => z _.
by rewrite /= ltnn mulr1.
Qed.

(* Theorem A: one post-processing for every count and every loss that never falls away from it *)
Theorem universality_any : exists R : Z -> V -> F, stochastic R /\ forall i l, (i <= N)%N -> never_falls l i ->
  expected l (processed R (cell i)) <= expected l (M i).
Proof.
have [R [sR near]] := universal_reading_any; exists R; split=> // i l iN.
exact: nearer_expected (processed_law sR (cell_law iN)) (M_law iN) (near i iN).
Qed.

End AnyShape.
