(* What can be read off a geometric count: exactly the private mechanisms whose columns satisfy a three-term
   inequality.  Hence a coarser count can be drawn from a finer one.                                         *)
From mathcomp Require Import all_ssreflect all_algebra zify.
From Iris Require Import Arithmetic Laws PostProcessing Geometric.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Derivability.
Variables (F : realFieldType) (n : nat) (a : F).
Hypotheses (a0 : 0 < a) (a1 : a < 1).
Notation N := n.+1.
Notation V := 'I_N.+1.
Notation G := (@geometric F n a).

Let b0 : 0 < 1 - a. Proof. linear. Qed.
Let c0 : 0 < 1 + a. Proof. linear. Qed.
Let b1 : 1 - a != 0. Proof. exact: lt0r_neq0. Qed.
Let c1 : 1 + a != 0. Proof. exact: lt0r_neq0. Qed.
Let k0 : (1 + a) * (1 - a) != 0. Proof. exact: mulf_neq0. Qed.

(* the inverse of the geometric matrix, applied to a column: `sharp` over (1 - a) at the ends, (1 - a)^2 inside *)
Definition sharp (x : nat -> F) (z : nat) : F :=
  if z == 0%N then x 0%N - a * x 1%N else if z == N then x N - a * x n else
  (1 + a * a) * x z - a * (x z.-1 + x z.+1).
Definition inverted (x : nat -> F) (z : nat) : F := sharp x z / ((1 - a) * end_or_inside n a z).

Lemma geometric_inverted x i (z : V) : G i z * inverted x z * ((1 + a) * (1 - a)) = a ^+ distance i z * sharp x z.
Proof.
have e0 : end_or_inside n a z != 0 by apply/lt0r_neq0/end_or_inside_gt0.
rewrite /geometric /inverted; set e := end_or_inside n a z in e0 *; set s := sharp x z; set p := a ^+ _.
have h : s / ((1 - a) * e) * ((1 - a) * e) = s by rewrite divfK // mulf_neq0.
rewrite -[in RHS]h; set q := s / _.
have -> : p * e / (1 + a) * q * ((1 + a) * (1 - a)) = p * e / (1 + a) * (1 + a) * q * (1 - a) by linear.
by rewrite divfK //; linear.
Qed.

(* sums over the answers below k, times (1 + a) (1 - a) *)
Definition partial (x : nat -> F) (i k : nat) : F :=
  if k == 0%N then 0 else if k == N.+1 then (1 + a) * (1 - a) * x i else
  if (k <= i)%N then a ^+ (i - k).+1 * (x k.-1 - a * x k) else
  (1 + a) * (1 - a) * x i - a ^+ (k - i) * (x k - a * x k.-1).

Lemma partial_step x i (z : V) : (i <= N)%N ->
  a ^+ distance i z * sharp x z = partial x i z.+1 - partial x i z.
Proof.
move=> iN; have zN : (z <= N)%N by rewrite -ltnS.
rewrite /sharp /partial /distance eqSS (ltn_eqF (ltn_ord z)).
case: (nat_of_ord z) zN => [|k] kN /=.
  case: i iN => [|i] iN; first by rewrite expr0 expr1 /=; linear.
  by rewrite subSS !subn0 sub0n addn0 /=; linear.
rewrite eqSS; case: (altP (k =P n)) => [->|kn].
  case: (ltngtP N i) iN => // [iN _|<- _]; last by rewrite subnn expr0 expr1 /=; linear.
  by rewrite (_ : i - N = 0)%N ?add0n /=; [linear|lia].
case: (ltngtP k.+1 i) => [zi|zi|zi].
- rewrite (_ : k.+1 - i = 0)%N ?addn0; last by lia.
  have -> : (i - k.+1 = (i - k.+2).+1)%N by lia.
  by rewrite !exprS; linear.
- rewrite (_ : i - k.+1 = 0)%N ?add0n; last by lia.
  have -> : (k.+2 - i = (k.+1 - i).+1)%N by lia.
  by rewrite exprS; linear.
- by rewrite -zi subnn subSnn expr0 expr1; linear.
Qed.

Theorem inverted_correct x i : (i <= N)%N -> \sum_(z : V) G i z * inverted x z = x i.
Proof.
move=> iN; apply: (mulIf k0); rewrite mulr_suml.
rewrite (eq_bigr (fun z : V => partial x i z.+1 - partial x i z)) => [|z _].
  rewrite -(big_mkord predT (fun z => partial x i z.+1 - partial x i z)) telescope_sumr //=.
  by rewrite /partial /= eqxx subr0 mulrC.
by rewrite geometric_inverted partial_step.
Qed.

Definition three_term (M : nat -> V -> F) := forall (v : V) i, (0 < i)%N -> (i < N)%N ->
  a * (M i.-1 v + M i.+1 v) <= (1 + a * a) * M i v.

Lemma pointwise (W : finType) r (p q : W -> F) v : hockey_stick r p q <= 0 -> p v <= r * q v.
Proof.
move=> h; rewrite -subr_le0; apply: le_trans h; rewrite /hockey_stick (bigD1 v) //= -[leLHS]addr0.
by apply: ler_add (max_ge _) _; apply: sumr_ge0 => w _; apply: max_ge0.
Qed.

(* columns that are nowhere lowered can be read off *)
Lemma read_off (W : finType) (y : nat -> W -> F) : (forall i, (i <= N)%N -> \sum_v y i v = 1) ->
  (forall v (z : V), 0 <= sharp (fun i => y i v) z) ->
  exists R : V -> W -> F, stochastic R /\ forall i, (i <= N)%N -> processed R (G i) =1 y i.
Proof.
move=> one lowered; exists (fun z v => inverted (fun i => y i v) z); split; last first.
  by move=> i iN v; rewrite /processed inverted_correct.
move=> z; have zN : (z <= N)%N by rewrite -ltnS.
have e0 := end_or_inside_gt0 n a0 a1 z.
split=> [v|]; first by apply: divr_ge0 => //; apply: mulr_ge0; apply: ltW.
rewrite /inverted -mulr_suml; set s := \sum_v _; suff -> : s = (1 - a) * end_or_inside n a z.
  by rewrite divff // mulf_neq0 // lt0r_neq0.
rewrite /s /sharp /end_or_inside; case: eqP => [_|/eqP z0] /=.
  by rewrite sumrB -mulr_sumr !one //; linear.
case: eqP => [_|/eqP zn]; first by rewrite sumrB -mulr_sumr !one //; linear.
rewrite sumrB -!mulr_sumr big_split /= !one; try lia; linear.
Qed.

Theorem derivable (M : nat -> V -> F) : (forall i, (i <= N)%N -> law (M i)) ->
  (forall i, (i < N)%N -> close a^-1 0 (M i) (M i.+1)) -> three_term M ->
  exists R : V -> V -> F, stochastic R /\ forall i, (i <= N)%N -> processed R (G i) =1 M i.
Proof.
move=> lM pM tM; apply: read_off => [i iN|v z]; first by case: (lM i iN).
have near i : (i < N)%N -> a * M i v <= M i.+1 v /\ a * M i.+1 v <= M i v.
  move=> iN; have /andP[h1 h2] := pM i iN; split; rewrite -ler_pdivl_mull //; exact: pointwise.
have zN : (z <= N)%N by rewrite -ltnS.
rewrite /sharp; case: eqP => [_|/eqP z0]; first by rewrite subr_ge0; case: (near 0%N isT).
case: eqP => [_|/eqP zn]; first by rewrite subr_ge0; case: (near n (ltnSn _)).
by rewrite subr_ge0; apply: tM; [rewrite lt0n|rewrite ltn_neqAle zn].
Qed.

Theorem derived_three_term (M : nat -> V -> F) (R : V -> V -> F) : stochastic R ->
  (forall i, (i <= N)%N -> processed R (G i) =1 M i) -> three_term M.
Proof.
move=> sR hM v [|i] // _ iN; rewrite -!hM ?(ltnW iN) // ?(ltnW (ltnW iN)) // /processed.
rewrite -big_split !mulr_sumr; apply: ler_sum => z _ /=.
have R0 : 0 <= R z v by case: (sR z).
rewrite -mulrDl [leLHS]mulrA [leRHS]mulrA; apply: ler_wpmul2r => //.
have aa : 0 <= 1 - a * a by have := mulr_ge0 (ltW b0) (ltW c0); linear.
case: (ltngtP z i.+1) => h.
- rewrite ltnS in h; rewrite (geometric_left a0 a1 (leqW h)) (geometric_left a0 a1 h); linear.
- have hi := ltnW h; rewrite (geometric_right a0 a1 hi) (geometric_right a0 a1 h); linear.
- have hi : (i < z)%N by rewrite h.
  rewrite (geometric_right a0 a1 hi) (@geometric_left F n a a0 a1 i.+1 z) ?h //.
  have g0 := geometric_gt0 a0 a1 i.+1 z; set g := geometric _ _ _ in g0 *.
  by have := mulr_ge0 (ltW g0) aa; linear.
Qed.

(* a coarser count is drawn from a finer one *)
Theorem coarser_count (b : F) : a <= b -> b < 1 -> exists R : V -> V -> F, stochastic R /\
  forall i, (i <= N)%N -> processed R (G i) =1 @geometric F n b i.
Proof.
move=> ab b2; have pb : 0 < b := lt_le_trans a0 ab.
have w : 0 <= (b - a) * (1 - a * b).
  apply: mulr_ge0; rewrite subr_ge0 //; apply: mulr_ile1; exact: ltW.
apply: derivable => [i|i iN|v [|i] // _ iN].
- exact: geometric_law.
- apply: (close_weaker (r := b^-1) (d := 0)) (geometric_private pb b2 iN) => //.
  + by apply: geometric_law => //; apply: ltnW.
  + exact: geometric_law.
  + by rewrite lef_pinv.
- case: (ltngtP v i.+1) => h.
  + rewrite ltnS in h; rewrite (geometric_left pb b2 (leqW h)) (geometric_left pb b2 h) [i.+1.-1]/=.
    have g0 := geometric_gt0 pb b2 i v; set g := geometric b i v in g0 *.
    by have := mulr_ge0 (ltW g0) w; linear.
  + have hi : (i < v)%N by apply: ltnW.
    rewrite [i.+1.-1]/= (geometric_right pb b2 hi) (geometric_right pb b2 h).
    have g0 := geometric_gt0 pb b2 i.+2 v; set g := geometric b i.+2 v in g0 *.
    by have := mulr_ge0 (ltW g0) w; linear.
  + have hi : (i < v)%N by rewrite h.
    rewrite [i.+1.-1]/= (geometric_right pb b2 hi) (@geometric_left F n b pb b2 i.+1 v) ?h //.
    have g0 := geometric_gt0 pb b2 i.+1 v; set g := geometric b i.+1 v in g0 *.
    have w1 : 0 <= a * (1 - b) by apply: mulr_ge0; [exact: ltW|rewrite subr_ge0 ltW].
    have w2 : 0 <= (1 - a) * (1 - a) by apply: mulr_ge0; apply: ltW.
    by have := mulr_ge0 (ltW g0) w1; have := mulr_ge0 (ltW g0) w2; linear.
Qed.

End Derivability.
