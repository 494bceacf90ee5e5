(* No mechanism that is private under exchange of a record errs less often at its worst counts than pull from the top does.
   What any mechanism must do holds for every number of categories; what pull does is said here of three.                *)
From mathcomp Require Import all_ssreflect all_algebra zify.
From Iris Require Import Arithmetic Laws Pull.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section AnyMechanism.
Variables (F : realFieldType) (r : F).
Hypothesis r1 : 1 <= r.

(* counts of which one record was moved to another category, or none *)
Definition moved q (h k : 'I_q -> nat) := exists a b : 'I_q, forall i, (h i + (i == a) = k i + (i == b))%N.
Definition loses q (h : 'I_q -> nat) (i : 'I_q) := [exists j, (h i < h j)%N].
(* the chance that a category is named which does not hold most records *)
Definition wrong q (h : 'I_q -> nat) (p : 'I_q -> F) := \sum_(i | loses h i) p i.

(* of q + 1 categories; the counts are of a single record *)
Theorem error_needed q (M : ('I_q.+1 -> nat) -> 'I_q.+1 -> F) : laws M -> private r 0 (@moved q.+1) M ->
  exists h, q%:R / (r + q%:R) <= wrong h (M h).
Proof.
move=> lM pM; pose h (i j : 'I_q.+1) : nat := (j == i).
have near i j : M (h i) i <= r * M (h j) i.
  have /pM/andP[/(hockey_stickP _ _ _ (lexx 0))/(_ [set i]) + _] : moved (h i) (h j).
    by exists j, i => k; rewrite /h addnC.
  by rewrite !prob_set1 addr0.
have wrongE i : wrong (h i) (M (h i)) = 1 - M (h i) i.
  have [_ <-] := lM (h i); rewrite [X in _ = X - _](bigD1 i) //= addrAC subrr add0r; apply: eq_bigl => k.
  apply/existsP/idP => [[j]|ki]; first by rewrite /h; case: (k =P i) => //; case: (j == i).
  by exists i; rewrite /h eqxx (negbTE ki).
have q0 : 0 <= q%:R :> F by apply: ler0n.
have rq : 0 < r + q%:R by linear.
case: (pickP (fun i => q%:R / (r + q%:R) <= wrong (h i) (M (h i)))) => [i le|none]; first by exists (h i).
exfalso; pose c := (r + q%:R)^-1; have cE : (r + q%:R) * c = 1 by rewrite divff // lt0r_neq0.
have right i : r * c < M (h i) i.
  by have /negbT := none i; rewrite wrongE -/c -ltNge; linear.
have each i : c <= M (h ord0) i.
  by rewrite -(ler_pmul2l (_ : 0 < r)); [have := right i; have := near i ord0|]; linear.
have [_ one] := lM (h ord0).
have : \sum_(i < q) c <= \sum_(i < q) M (h ord0) (lift ord0 i) by apply: ler_sum.
rewrite sumr_const card_ord -mulr_natl => rest; move: one; rewrite big_ord_recl.
by have := right ord0; linear.
Qed.

End AnyMechanism.

Section Pull.
Variables (F : realFieldType) (r : F).
Hypothesis r1 : 1 <= r.
Variable f : nat -> nat -> F.
Hypothesis pf : pulled r f.

(* a loser has at most 1/r of the top's chance *)
Lemma loser_le x y : (0 < x)%N -> r * f x y <= top f x y.
Proof.
have rm : 0 <= r - 1 by linear.
elim/ltn_ind: x y => -[|[|x]] IH y // _; first by rewrite (top1 r1 pf).
case: y => [|y].
  have t := top_shares pf x.+2; have [_ _ /(_ isT)[c _]] := near_bounds r1 pf x.+2.
  by rewrite /top; linear.
have e := one_top pf x y; have [g _] := gift_top r1 pf (isT : (1 < x.+2)%N) (isT : (0 < y.+1)%N).
rewrite e; apply: le_trans (g : top f x y <= _).
case: x e IH {g} => [|x] e IH; first by rewrite (top0 r1 pf).
by have := IH x.+1 (leqnSn _) y isT; have := mulr_ge0 rm (ltW (f_gt0 r1 pf x.+1 y)); linear.
Qed.

Definition counts (a b c : nat) : 'I_3 -> nat := fun i => nth 0%N [:: a; b; c] i.
Definition pulls (a b c : nat) : 'I_3 -> F := fun i => nth 0 [:: chance f a b c; chance f b a c; chance f c a b] i.

Lemma under_top x y z : (y < x)%N -> (z <= x)%N -> r * chance f y x z <= chance f x y z.
Proof.
move=> yx zx; rewrite (chance_loser r1) ?(chance_top r1) ?(ltnW yx) //.
by apply: loser_le; lia.
Qed.

Lemma pulls_loser a b c (l m : 'I_3) : (forall j, (counts a b c j <= counts a b c m)%N) ->
  (counts a b c l < counts a b c m)%N -> r * pulls a b c l <= pulls a b c m.
Proof.
move=> all; have a_m := all (@Ordinal 3 0 isT); have b_m := all (@Ordinal 3 1 isT); have c_m := all (@Ordinal 3 2 isT).
have C x y z : chance f x y z = chance f x z y by apply: (chanceC r1).
move: a_m b_m c_m {all}; case: m => -[|[|[|//]]] m3; case: l => -[|[|[|//]]] l3; rewrite /counts /pulls /= => am bm cm lm.
- by rewrite ltnn in lm.
- exact: under_top.
- by rewrite (C a); apply: under_top.
- exact: under_top.
- by rewrite ltnn in lm.
- by rewrite (C c) (C b); apply: under_top.
- by rewrite (C a); apply: under_top.
- by rewrite (C b) (C c); apply: under_top.
- by rewrite ltnn in lm.
Qed.

Theorem pull_error a b c : wrong (counts a b c) (pulls a b c) <= 2%:R / (r + 2%:R).
Proof.
have [p0 p1 p2 total] := chance_law r1 pf a b c.
have pos i : 0 <= pulls a b c i by case: i => -[|[|[|]]].
have one : \sum_i pulls a b c i = 1 by rewrite !big_ord_recl big_ord0 addr0 /= addrA.
have [m _ most] := @arg_maxnP _ ord0 xpredT (counts a b c) isT.
have {}most j : (counts a b c j <= counts a b c m)%N by apply: most.
have mtop : ~~ loses (counts a b c) m by apply/existsP => -[j]; rewrite ltnNge most.
have few : wrong (counts a b c) (pulls a b c) * r <= 2%:R * pulls a b c m.
  rewrite /wrong mulr_suml; apply: (@le_trans _ _ (\sum_(i | i != m) pulls a b c m)).
    rewrite [leRHS](bigID (loses (counts a b c))) /= -[leLHS]addr0; apply: ler_add; last by apply: sumr_ge0.
    rewrite [leRHS](eq_bigl (loses (counts a b c))) => [|i].
      by apply: ler_sum => i /existsP[j ij]; rewrite mulrC; apply: pulls_loser => //; apply: leq_trans ij (most j).
    by case: eqP => [->|]; rewrite ?(negbTE mtop).
  by rewrite sumr_const cardC1 card_ord mulr_natl.
have share : wrong (counts a b c) (pulls a b c) + pulls a b c m <= 1.
  rewrite -one [leRHS](bigID (loses (counts a b c))) /=; apply: ler_add => //.
  by rewrite (bigD1 m) //= -[leLHS]addr0; apply: ler_add => //; apply: sumr_ge0.
by rewrite ler_pdivl_mulr; linear.
Qed.

(* the worst error of pull is no larger than that of any mechanism that is private *)
Corollary pull_best (M : ('I_3 -> nat) -> 'I_3 -> F) : laws M -> private r 0 (@moved 3) M ->
  exists h, forall a b c, wrong (counts a b c) (pulls a b c) <= wrong h (M h).
Proof.
move=> lM pM; have [h le] := error_needed r1 lM pM.
by exists h => a b c; apply: le_trans (pull_error a b c) le.
Qed.

End Pull.
