(* The geometric mechanism on 0..N, N >= 1: noise that falls by a factor a = 1/r at each step, clamped. *)
From mathcomp Require Import all_ssreflect all_algebra zify.
From Iris Require Import Arithmetic Laws.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Geometric.
Variables (F : realFieldType) (n : nat) (a : F).
Hypotheses (a0 : 0 < a) (a1 : a < 1).
Notation N := n.+1.
Notation V := 'I_N.+1.

Definition distance (i z : nat) := ((i - z) + (z - i))%N.
Definition end_or_inside (z : nat) : F := if (z == 0)%N || (z == N) then 1 else 1 - a.
Definition geometric (i : nat) (z : V) : F := a ^+ distance i z * end_or_inside z / (1 + a).

Lemma one_a_gt0 : 0 < 1 + a. Proof. linear. Qed.
Lemma one_a_neq0 : 1 + a != 0. Proof. exact/lt0r_neq0/one_a_gt0. Qed.
Lemma inverse_ge1 : 1 <= a^-1. Proof. by rewrite invf_ge1 // ltW. Qed.
Hint Resolve one_a_gt0 one_a_neq0 : core.

Lemma end_or_inside_gt0 z : 0 < end_or_inside z.
Proof. by rewrite /end_or_inside; case: ifP => _; linear. Qed.

Lemma geometric_gt0 i z : 0 < geometric i z.
Proof. by rewrite divr_gt0 // mulr_gt0 ?exprn_gt0 ?end_or_inside_gt0. Qed.

(* the probability of an answer below k, times 1 + a *)
Definition below (i k : nat) : F :=
  if k == 0%N then 0 else if k == N.+1 then 1 + a else
  if (k <= i)%N then a ^+ (i - k).+1 else 1 + a - a ^+ (k - i).

Lemma geometric_below i (z : V) : (i <= N)%N -> geometric i z * (1 + a) = below i z.+1 - below i z.
Proof.
move=> iN; have zN : (z <= N)%N by rewrite -ltnS.
rewrite /geometric divfK // /below /distance /end_or_inside eqSS (ltn_eqF (ltn_ord z)).
case: (posnP z) => [->|z0] /=.
  rewrite subr0 mulr1 subn0; case: i {iN} => [|i]; first by rewrite expr0 expr1; linear.
  by rewrite ltnS leq0n subSS subn0 addn0.
case: (altP (z =P N :> nat)) => [->|zn].
  case: (ltngtP N i) iN => // [iN _|<- _]; last by rewrite subnn expr0 expr1; linear.
  by rewrite (_ : i - N = 0)%N ?add0n; [linear|lia].
case: (ltngtP z i) => [zi|zi|zi].
- rewrite (_ : z - i = 0)%N ?addn0; last by lia.
  by rewrite subnSK // exprS; linear.
- rewrite (_ : i - z = 0)%N ?add0n; last by lia.
  by rewrite subSn ?(ltnW zi) // exprS; linear.
- by rewrite -zi subnn subSnn expr0 expr1; linear.
Qed.

Theorem geometric_law i : (i <= N)%N -> law (geometric i).
Proof.
move=> iN; split=> [z|]; first exact/ltW/geometric_gt0.
apply: (mulIf one_a_neq0); rewrite mulr_suml (eq_bigr (fun z : V => below i z.+1 - below i z)) => [|z _].
  rewrite -(big_mkord predT (fun z => below i z.+1 - below i z)) telescope_sumr //= /below /= eqxx; linear.
exact: geometric_below.
Qed.

(* from i to i+1: a factor a on the left, 1/a on the right *)
Lemma geometric_left i (z : V) : (z <= i)%N -> geometric i.+1 z = a * geometric i z.
Proof. by move=> h; rewrite /geometric !mulrA -exprS; congr (a ^+ _ * _ / _); rewrite /distance; lia. Qed.
Lemma geometric_right i (z : V) : (i < z)%N -> geometric i z = a * geometric i.+1 z.
Proof. by move=> h; rewrite /geometric !mulrA -exprS; congr (a ^+ _ * _ / _); rewrite /distance; lia. Qed.

Theorem geometric_private i : (i < N)%N -> close a^-1 0 (geometric i) (geometric i.+1).
Proof.
move=> _; have one (x y : V -> F) : (forall z, a * x z <= y z) -> hockey_stick a^-1 x y <= 0.
  move=> h; rewrite /hockey_stick big1 // => z _; apply/max_idPl.
  by rewrite subr_le0 -ler_pdivr_mull ?invr_gt0 // invrK.
have shrink z j : a * geometric j z <= geometric j z.
  by have := ler_wpmul2r (ltW (geometric_gt0 j z)) (ltW a1); rewrite mul1r.
have twice z j : a * (a * geometric j z) <= geometric j z.
  by apply: le_trans (shrink z j); apply: ler_wpmul2l (shrink z j); apply: ltW.
by apply/andP; split; apply: one => z; case: (leqP z i) => h;
   rewrite ?(geometric_left h) ?(geometric_right h) ?lexx ?shrink ?twice.
Qed.

End Geometric.
