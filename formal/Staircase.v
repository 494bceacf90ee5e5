(* Staircase noise on the counts 0..N, N >= 1, clamped: level near the truth, and a factor a = 1/r less at each further
   step of m places.  It is private for inputs that differ by up to m.                                          *)
From mathcomp Require Import all_ssreflect all_algebra zify.
From Iris Require Import Arithmetic Laws Geometric.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Staircase.
Variables (F : realFieldType) (n m level0 : nat) (a : F).
Hypotheses (a0 : 0 < a) (a1 : a < 1) (m0 : (0 < m)%N) (level00 : (0 < level0)%N).
Notation N := n.+1.
Notation V := 'I_N.+1.

(* how many steps down at distance k: none nearer than level0 *)
Definition level (k : nat) : nat := (if k < level0 then 0 else ((k - level0) %/ m).+1)%N.
(* the weight of a place at distance k, and of all places on one side at distance k or more *)
Definition weight (k : nat) : F := a ^+ level k.
Definition side : F := level0%:R + m%:R * a / (1 - a).
Definition beyond (k : nat) : F := side - \sum_(z < k) weight z.
Definition whole : F := 2%:R * side - 1.
Definition staircase (i : nat) (z : V) : F :=
  (if z == 0%N :> nat then beyond i else if z == N :> nat then beyond (N - i) else weight (distance i z)) / whole.

Lemma weight_gt0 k : 0 < weight k. Proof. exact: exprn_gt0. Qed.
Lemma weight0 : weight 0 = 1. Proof. by rewrite /weight /level level00. Qed.
Lemma beyondS k : beyond k = beyond k.+1 + weight k.
Proof. by rewrite /beyond big_ord_recr /=; linear. Qed.
Lemma beyond0 : beyond 0 = side. Proof. by rewrite /beyond big_ord0 subr0. Qed.

Lemma level_far k : (level0 <= k)%N -> level (k + m) = (level k).+1.
Proof.
move=> h; rewrite /level !ltnNge h (leq_trans h (leq_addr _ _)) /=.
by rewrite -addnBAC // divnDr // divnn m0 addn1.
Qed.
Lemma level_mono j k : (j <= k)%N -> (level j <= level k)%N.
Proof.
move=> jk; rewrite /level; case: (ltnP j level0) => // h; rewrite [(k < level0)%N]ltnNge (leq_trans h jk) /= ltnS.
by apply: leq_div2r; apply: leq_sub2r.
Qed.
Lemma level_step k : (level (k + m) <= (level k).+1)%N.
Proof.
case: (leqP level0 k) => h; first by rewrite level_far.
apply: (@leq_trans (level (level0 + m).-1)); first by apply: level_mono; lia.
rewrite {1}/level; case: ifP => // _; rewrite ltnS.
by rewrite (_ : (level0 + m).-1 - level0 = m.-1)%N; [rewrite divn_small // prednK|lia].
Qed.

Lemma weight_near j k : (j <= k)%N -> (k <= j + m)%N -> weight k <= weight j /\ a * weight j <= weight k.
Proof.
move=> jk kj; rewrite /weight -exprS; split; apply: ler_wiexpn2l; try exact: ltW; first exact: level_mono.
exact: leq_trans (level_mono kj) (level_step j).
Qed.

Lemma side_far : beyond level0 = m%:R * a / (1 - a).
Proof.
rewrite /beyond (eq_bigr (fun=> 1)) => [|z _]; last by rewrite /weight /level ltn_ord.
by rewrite sumr_const card_ord /side addrC addKr.
Qed.

Lemma beyond_far k : (level0 <= k)%N -> beyond (k + m) = a * beyond k.
Proof.
elim: k => [|k IH]; first by rewrite leqNgt level00.
rewrite leq_eqVlt => /orP[/eqP <-|h]; last first.
  have := IH h; rewrite (beyondS (k + m)) (beyondS k) -addSn /weight (level_far h) exprS; linear.
have flat j : (j <= m)%N -> beyond (level0 + j) = beyond level0 - j%:R * a.
  elim: j => [|j IHj] jm; first by rewrite addn0 mul0r subr0.
  have := IHj (ltnW jm); have ej : j.+1%:R = j%:R + 1 :> F by rewrite -addn1 natrD.
  rewrite (beyondS (level0 + j)) addnS ej /weight.
  have -> : level (level0 + j) = 1%N by rewrite /level ltnNge leq_addr addKn /= divn_small.
  by rewrite expr1; linear.
rewrite flat // side_far; set x := _ / (1 - a).
have e : x * (1 - a) = m%:R * a by rewrite divfK ?lt0r_neq0 ?subr_gt0.
by linear.
Qed.

Lemma beyond_mono j d : beyond (j + d) <= beyond j.
Proof.
elim: d => [|d IH]; first by rewrite addn0.
by rewrite addnS; have := beyondS (j + d); have := weight_gt0 (j + d); linear.
Qed.

Lemma beyond_step k : a * beyond k <= beyond (k + m).
Proof.
case: (leqP level0 k) => [/beyond_far -> //|/ltnW h]; rewrite -(subKn h).
elim: (level0 - k)%N (leq_subr k level0) => [|d IH] hd; first by rewrite subn0 beyond_far.
have e : (level0 - d = (level0 - d.+1).+1)%N by lia.
have := IH (ltnW hd); rewrite e addSn; set j := (level0 - d.+1)%N.
have [_ w] := weight_near (leq_addr m j) (leqnn _).
by rewrite (beyondS j) (beyondS (j + m)); linear.
Qed.

Lemma beyond_gt0 k : 0 < beyond k.
Proof.
have far : 0 < beyond level0.
  rewrite side_far divr_gt0 ?subr_gt0 // mulr_gt0 // ltr0n //.
have many q : 0 < beyond (level0 + q * m).
  elim: q => [|q IH]; first by rewrite mul0n addn0.
  by rewrite mulSn addnCA addnC beyond_far ?leq_addr // mulr_gt0.
apply: lt_le_trans (many k) _; have k1 : (k <= level0 + k * m)%N.
  by apply: leq_trans (leq_addl _ _); rewrite leq_pmulr.
by rewrite -(subnKC k1); apply: beyond_mono.
Qed.

Lemma whole_gt0 : 0 < whole.
Proof.
have := beyondS 0; rewrite beyond0 weight0; have := beyond_gt0 1; rewrite /whole; linear.
Qed.

(* the weight of the answers below k *)
Definition under (i k : nat) : F :=
  if k == 0%N then 0 else if k == N.+1 then whole else
  if (k <= i)%N then beyond (i - k).+1 else whole - beyond (k - i).

Lemma staircase_under i (z : V) : (i <= N)%N -> staircase i z * whole = under i z.+1 - under i z.
Proof.
move=> iN; have zN : (z <= N)%N by rewrite -ltnS.
have b1 : beyond 1 = side - 1 by have := beyondS 0; rewrite beyond0 weight0; linear.
rewrite /staircase divfK ?lt0r_neq0 ?whole_gt0 // /under /distance eqSS (ltn_eqF (ltn_ord z)).
case: (posnP z) => [->|z0] /=.
  case: i {iN} => [|i]; first by rewrite /= subn0 beyond0 b1 /whole; linear.
  by rewrite /= subSS subn0 subr0.
case: (altP (z =P N :> nat)) => [->|zn].
  case: (ltngtP N i) iN => // [iN _|<- _]; first by rewrite opprB addrC subrK.
  by rewrite subnn beyond0 b1 /whole; linear.
case: (ltngtP z i) => [zi|zi|zi].
- have -> : (i - z + (z - i) = i - z)%N by lia.
  by rewrite subnSK //; have := beyondS (i - z); linear.
- have -> : (i - z + (z - i) = z - i)%N by lia.
  by rewrite subSn ?(ltnW zi) //; have := beyondS (z - i); linear.
- by rewrite -zi subnn subSnn addn0 weight0 b1 /whole; linear.
Qed.

Theorem staircase_law i : (i <= N)%N -> law (staircase i).
Proof.
move=> iN; split=> [z|].
  apply: divr_ge0; last exact/ltW/whole_gt0.
  by case: ifP => _; [|case: ifP => _]; apply: ltW; rewrite ?beyond_gt0 ?weight_gt0.
have w := whole_gt0; apply: (mulIf (lt0r_neq0 w)).
rewrite mulr_suml (eq_bigr (fun z : V => under i z.+1 - under i z)) => [|z _].
  rewrite -(big_mkord predT (fun z => under i z.+1 - under i z)) telescope_sumr //= /under /= eqxx; linear.
exact: staircase_under.
Qed.

(* inputs up to m apart *)
Theorem staircase_private i j : (i <= N)%N -> (j <= N)%N -> (distance i j <= m)%N ->
  close a^-1 0 (staircase i) (staircase j).
Proof.
have one x y : (x <= N)%N -> (y <= N)%N -> (distance x y <= m)%N ->
    hockey_stick a^-1 (staircase x) (staircase y) <= 0.
  move=> xN yN; rewrite /distance => xy; rewrite /hockey_stick big1 // => z _; apply/max_idPl.
  rewrite subr_le0 -ler_pdivr_mull ?invr_gt0 // invrK mulrA ler_pmul2r ?invr_gt0 ?whole_gt0 //.
  have zN : (z <= N)%N by rewrite -ltnS.
  have less (f : nat -> F) : (forall k d, f (k + d)%N <= f k) -> (forall k, 0 < f k) ->
      (forall k, a * f k <= f (k + m)%N) -> forall k l, (k <= l + m)%N -> (l <= k + m)%N -> a * f k <= f l.
    move=> mono pos step k l kl lk; case: (leqP l k) => h.
      have := mono l (k - l)%N; rewrite subnKC // => le; apply: le_trans le.
      by rewrite ger_pmull ?pos // ltW.
    apply: le_trans (step k) _; rewrite -(subnKC lk); exact: mono.
  have weight_mono k d : weight (k + d) <= weight k.
    by apply: ler_wiexpn2l; rewrite ?ltW //; apply: level_mono; apply: leq_addr.
  have weight_step k : a * weight k <= weight (k + m) by case: (weight_near (leq_addr m k) (leqnn _)).
  case: ifP => _; last case: ifP => _.
  - by apply: (less beyond beyond_mono beyond_gt0 beyond_step); lia.
  - by apply: (less beyond beyond_mono beyond_gt0 beyond_step); lia.
  - by apply: (less weight weight_mono weight_gt0 weight_step); rewrite /distance; lia.
move=> iN jN ij; apply/andP; split; apply: one => //.
by rewrite /distance addnC.
Qed.

End Staircase.
