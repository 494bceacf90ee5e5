(* Losses that fall somewhere: what can be read off a geometric count loses at most 2 / (1 + a^N) times what any private
   mechanism loses.  One reading does so at every count and for every loss that is not negative; at count i the factor
   is (2 - a^(2i) - a^(2(N-i))) / (1 - a^(2N)), which is 1 at both ends.                                           *)
From mathcomp Require Import all_ssreflect all_algebra zify.
From Iris Require Import Arithmetic Laws PostProcessing Geometric Derivability Obstacle.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section OtherLosses.
Variables (F : realFieldType) (n : nat) (a : F).
Hypotheses (a0 : 0 < a) (a1 : a < 1).
Notation N := n.+1.
Notation V := 'I_N.+1.
Notation G := (@geometric F n a).

(* on columns, one entry for each count *)
Definition lowered (w : V -> F) (i : V) : F := @sharp F n a (fun k => w (inord k)) i.

Lemma inord_of (i : V) k : i = k :> nat -> inord k = i. Proof. by move=> <-; exact: inord_val. Qed.

Lemma lowered_line : line_operator lowered.
Proof.
have aa : 0 < (1 - a) * (1 - a) by apply: mulr_gt0; linear.
split=> [c x y i|x y i e|w i w0 e|w i least e]; rewrite /lowered /sharp.
- by case: ifP => _; [|case: ifP => _]; linear.
- by rewrite !e.
- have p k : 0 <= a * w k by rewrite pmulr_rge0.
  case: ifP => [/eqP i0|_]; last case: ifP => [/eqP iN|_].
  + by have := p (inord 1); rewrite (inord_of i0) e; linear.
  + by have := p (inord n); rewrite (inord_of iN) e; linear.
  + by have := p (inord i.-1); have := p (inord i.+1); rewrite inord_val e; linear.
- have p k : 0 <= a * (w k - w i) by rewrite pmulr_rge0 // subr_ge0.
  case: ifP => [/eqP i0|_]; last case: ifP => [/eqP iN|_].
  + have := p (inord 1); rewrite (inord_of i0).
    have : 0 < (1 - a) * - w i by apply: mulr_gt0; linear.
    by linear.
  + have := p (inord n); rewrite (inord_of iN).
    have : 0 < (1 - a) * - w i by apply: mulr_gt0; linear.
    by linear.
  + have := p (inord i.-1); have := p (inord i.+1); rewrite inord_val.
    have : 0 < (1 - a) * (1 - a) * - w i by apply: mulr_gt0; linear.
    by linear.
Qed.

(* falling from one end, by a factor a at each step, or from both *)
Definition sagging (A B : F) (k : nat) : F := A * a ^+ k + B * a ^+ (N - k).

Lemma sagging_lowered A B (i : V) : 0 <= A -> 0 <= B -> 0 <= lowered (fun j => sagging A B j) i.
Proof.
move=> A0 B0; have iN : (i <= N)%N by rewrite -ltnS.
have b0 : 0 <= 1 - a * a by have : 0 < (1 - a) * (1 + a); [apply: mulr_gt0|]; linear.
rewrite /lowered /sharp /sagging; case: ifP => [/eqP i0|/negbT i0]; last case: ifP => [/eqP e|/negbT iN'].
- rewrite !inordK // expr0 expr1 subn0 subn1 [a ^+ N]exprS /=.
  by have := mulr_ge0 A0 b0; linear.
- rewrite !inordK // subnn expr0 subSnn expr1 exprS.
  by have := mulr_ge0 B0 b0; linear.
- rewrite !inordK; try lia; case: (nat_of_ord i) i0 iN iN' => [|k] // _ kN kN' /=.
  have -> : (N - k = (N - k.+2).+2)%N by lia.
  have -> : (N - k.+1 = (N - k.+2).+1)%N by lia.
  by rewrite !exprS; set P := a ^+ k; set Q := a ^+ _; linear.
Qed.

Lemma power_pos k : 0 < a ^+ k. Proof. exact: exprn_gt0. Qed.
Lemma power_le1 k : a ^+ k <= 1. Proof. by apply: exprn_ile1; apply: ltW. Qed.
Lemma square k : a ^+ (2 * k) = a ^+ k * a ^+ k. Proof. by rewrite mul2n -addnn exprD. Qed.
Lemma square_le1 k : 0 <= 1 - a ^+ k * a ^+ k.
Proof. by rewrite subr_ge0; apply: mulr_ile1; rewrite ?power_le1 // ltW ?power_pos. Qed.

Lemma sagging_enough i j b c : (i <= N)%N -> (j <= N)%N -> b = a ^+ i -> c = a ^+ (N - i) ->
  (1 - a ^+ N * a ^+ N) * a ^+ N <=
  a ^+ distance i j * ((1 - b * b) * c * a ^+ j + (1 - c * c) * b * a ^+ (N - j)).
Proof.
move=> iN jN hb hc; have bc : b * c = a ^+ N by rewrite hb hc -exprD subnKC.
have pb : 0 < b by rewrite hb power_pos. have pc : 0 < c by rewrite hc power_pos.
rewrite /distance -bc; case: (leqP j i) => ji.
  have -> : (i - j + (j - i) = i - j)%N by move/eqP: ji => ->; rewrite addn0.
  have eb : b = a ^+ (i - j) * a ^+ j by rewrite hb -exprD subnK.
  have -> : a ^+ (N - j) = c * a ^+ (i - j) by rewrite hc -exprD addnBA // subnK.
  set P := a ^+ (i - j) in eb *; set Q := a ^+ j in eb *.
  have h : 0 <= P * Q * c * (P * P * ((1 - c * c) * (1 - Q * Q))).
    by rewrite !mulr_ge0 ?(ltW (power_pos _)) ?(ltW pc) // ?hc square_le1.
  by rewrite eb; linear.
have -> : (i - j + (j - i) = j - i)%N by move/ltnW/eqP: ji => ->.
have ec : c = a ^+ (j - i) * a ^+ (N - j) by rewrite hc -exprD addnC addnBA ?(ltnW ji) // subnK.
have -> : a ^+ j = b * a ^+ (j - i) by rewrite hb -exprD subnKC // ltnW.
set P := a ^+ (j - i) in ec *; set Q := a ^+ (N - j) in ec *.
have h : 0 <= P * Q * b * (P * P * ((1 - b * b) * (1 - Q * Q))).
  by rewrite !mulr_ge0 ?(ltW (power_pos _)) ?(ltW pb) // ?hb square_le1.
by rewrite ec; linear.
Qed.

(* the least majorant of a private column is not far above it *)
Lemma majorant_near (x s : V -> F) : (forall i, 0 <= x i) ->
  (forall i j : V, a ^+ distance i j * x j <= x i) -> majorant lowered x s ->
  forall i : V, (1 - a ^+ (2 * N)) * s i <= (2%:R - a ^+ (2 * i) - a ^+ (2 * (N - i))) * x i.
Proof.
move=> x0 near ms i; have iN : (i <= N)%N by rewrite -ltnS.
rewrite !square; set b := a ^+ i; set c := a ^+ (N - i).
have bc : b * c = a ^+ N by rewrite -exprD subnKC.
have b2 : 0 <= 1 - b * b := square_le1 i.
have c2 : 0 <= 1 - c * c := square_le1 (N - i).
have N2 : 0 < 1 - a ^+ N * a ^+ N.
  rewrite subr_gt0 -exprD; apply: exprn_ilt1 => //; exact: ltW.
have pb : 0 < b := power_pos _. have pc : 0 < c := power_pos _.
have D0 : 0 < (1 - a ^+ N * a ^+ N) * a ^+ N by rewrite mulr_gt0 ?power_pos.
have A0 : 0 <= x i * ((1 - b * b) * c) by apply: mulr_ge0 => //; apply: mulr_ge0 => //; exact: ltW.
have B0 : 0 <= x i * ((1 - c * c) * b) by apply: mulr_ge0 => //; apply: mulr_ge0 => //; exact: ltW.
pose D := ((1 - a ^+ N * a ^+ N) * a ^+ N).
pose t j := sagging (x i * ((1 - b * b) * c) / D) (x i * ((1 - c * c) * b) / D) j.
have tD j : D * t j = x i * ((1 - b * b) * c * a ^+ j + (1 - c * c) * b * a ^+ (N - j)).
  have dD y : D * (y / D) = y by rewrite mulrC divfK ?lt0r_neq0.
  by rewrite /t /sagging mulrDr ![D * (_ / D * _)]mulrA !dD; linear.
have st : s i <= t i.
  apply: (majorant_least lowered_line ms (t := fun j : V => t j)) => j; last first.
    by apply: sagging_lowered; apply: divr_ge0 => //; apply: ltW.
  have jN : (j <= N)%N by rewrite -ltnS.
  rewrite -(ler_pmul2l D0) -/D tD; have := near i j; set p := a ^+ distance i j => le.
  set E := _ + _; have pp : 0 < p := power_pos _.
  have E0 : 0 <= E.
    have h1 : 0 <= (1 - b * b) * c * a ^+ j by rewrite !mulr_ge0 // ltW // power_pos.
    have h2 : 0 <= (1 - c * c) * b * a ^+ (N - j) by rewrite !mulr_ge0 // ltW // power_pos.
    exact: addr_ge0.
  have key : D <= p * E := sagging_enough iN jN erefl erefl.
  by have := ler_wpmul2r E0 le; have := ler_wpmul2r (x0 j) key; linear.
rewrite -(ler_pmul2r (power_pos N)); have := ler_wpmul2l (ltW D0) st.
by rewrite -/D tD -/b -/c => h; rewrite /D -bc in h; rewrite -bc; linear.
Qed.

Section Mechanism.
Variables (W : finType) (M : nat -> W -> F).
Hypothesis M_law : forall i, (i <= N)%N -> law (M i).
Hypothesis M_private : forall i, (i < N)%N -> close a^-1 0 (M i) (M i.+1).

Lemma private_near (i j : V) v : a ^+ distance i j * M j v <= M i v.
Proof.
have near k : (k < N)%N -> a * M k v <= M k.+1 v /\ a * M k.+1 v <= M k v.
  move=> kN; have /andP[h1 h2] := M_private kN; split; rewrite -ler_pdivl_mull //; exact: pointwise.
have iN : (i <= N)%N by rewrite -ltnS. have jN : (j <= N)%N by rewrite -ltnS.
have walk k t : (k + t <= N)%N -> a ^+ t * M (k + t)%N v <= M k v /\ a ^+ t * M k v <= M (k + t)%N v.
  elim: t => [|t IH]; first by rewrite addn0 expr0 !mul1r.
  rewrite addnS => kt; have [h1 h2] := IH (ltnW kt); have [h3 h4] := near _ kt.
  have h5 := ler_wpmul2l (ltW (power_pos t)) h4; have h6 := ler_wpmul2l (ltW a0) h2.
  by rewrite exprS; split; linear.
rewrite /distance; case: (leqP j i) => ji.
  have := walk j (i - j)%N; rewrite subnKC // => /(_ iN)[_].
  by move/eqP: ji => ->; rewrite addn0.
have := walk i (j - i)%N; rewrite subnKC ?(ltnW ji) // => /(_ jN)[h _].
by move/ltnW/eqP: ji => ->.
Qed.

Theorem near_reading : exists R : V -> W -> F, stochastic R /\ forall i v, (i <= N)%N ->
  (1 - a ^+ (2 * N)) * processed R (G i) v <= (2%:R - a ^+ (2 * i) - a ^+ (2 * (N - i))) * M i v.
Proof.
have [s ms] := fin_all_exists (fun v => majorant_exists lowered_line (fun i : V => M i v)).
have leN (i : V) : (i <= N)%N by rewrite -ltnS.
have one_harmonic : superharmonic lowered (fun=> 1).
  move=> i; rewrite /lowered /sharp; have : 0 <= (1 - a) * (1 - a) by apply: mulr_ge0; linear.
  by case: ifP => _; [|case: ifP => _]; linear.
have above (i : V) : 1 <= \sum_v s v i.
  rewrite -(proj2 (M_law (leN i))); apply: ler_sum => v _; by case: (ms v).
have [y [hy ys y1]] := decomposition lowered_line one_harmonic (fun v => let: And3 _ h _ := ms v in h) above.
have [||R [sR eR]] := @read_off F n a a0 a1 W (fun i v => y v (inord i)).
- by move=> i iN; apply: y1.
- by move=> v z; apply: hy.
exists R; split=> // i v iN; rewrite eR //; pose j : V := inord i.
have ej : j = i :> nat by rewrite inordK.
have x0 k : 0 <= M (nat_of_ord (k : V)) v by case: (M_law (leN k)).
have := majorant_near x0 (fun k l => private_near k l v) (ms v) j; rewrite ej; apply: le_trans.
by apply: ler_wpmul2l (ys v j); rewrite square; apply: square_le1.
Qed.

(* at every count, for every loss, one reading loses at most 2 / (1 + a^N) times as much *)
Theorem factor_two : exists R : V -> W -> F, stochastic R /\ forall i (l : W -> F), (i <= N)%N ->
  (forall v, 0 <= l v) -> (1 + a ^+ N) * (\sum_v l v * processed R (G i) v) <= 2%:R * (\sum_v l v * M i v).
Proof.
have [R [sR near]] := near_reading; exists R; split=> // i l iN l0.
rewrite !mulr_sumr; apply: ler_sum => v _; rewrite !(mulrCA _ (l v)); apply: ler_wpmul2l => //.
have m0 : 0 <= M i v by case: (M_law iN).
have := near i v iN; rewrite !square; set b := a ^+ i; set c := a ^+ (N - i).
have bc : b * c = a ^+ N by rewrite -exprD subnKC.
have p0 : 0 < 1 - a ^+ N by rewrite subr_gt0; apply: exprn_ilt1 => //; exact: ltW.
have sq : 0 <= (b - c) ^+ 2 * M i v by apply: mulr_ge0 => //; apply: sqr_ge0.
move=> h; rewrite -(ler_pmul2l p0); rewrite -bc in h *.
by linear.
Qed.

End Mechanism.
End OtherLosses.
