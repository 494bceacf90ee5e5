(* Pull from the top, for three categories: which of them holds most records, under exchange of a record.
   f x y is the chance that a category is named which is x records behind the largest, where the third is y behind it.
   A loser that is 2 or more behind has 1/r of its chance after a record was moved to it from the top; one that is
   1 behind has 1/r of the top's chance; tops share what is left.  So it is private at every r >= 1.               *)
From mathcomp Require Import all_ssreflect all_algebra zify.
From Iris Require Import Arithmetic Laws.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Pull.
Variables (F : realFieldType) (r : F).
Hypothesis r1 : 1 <= r.

Record pulled (f : nat -> nat -> F) : Prop := Pulled {
  top_shares : forall y, 2%:R * f 0%N y = 1 - f y 0%N;            (* two tops *)
  near_top : forall y, (r + 1) * f 1%N y = 1 - f y 1%N;           (* one top, and f 1 y is 1/r of its chance *)
  one_top : forall x y, r * f x.+2 y.+1 = f x y;                  (* the top gives: it and the third come nearer *)
  two_tops : forall x, r * f x.+2 0%N = f x.+1 1%N                (* one of two tops gives, and falls 1 behind *)
}.

Variable f : nat -> nat -> F.
Hypothesis pf : pulled f.

(* the chance of a top, the others x and y behind *)
Definition top x y := 1 - f x y - f y x.

Lemma f00 : 3%:R * f 0%N 0%N = 1. Proof. by have := top_shares pf 0; linear. Qed.
Lemma f10 : (2%:R * r + 1) * f 1%N 0%N = 1.
Proof.
have h := top_shares pf 1; have k := near_top pf 0.
have e : f 0%N 1%N = 1 - (r + 1) * f 1%N 0%N by linear.
by rewrite e in h; linear.
Qed.
Lemma f11 : (r + 2%:R) * f 1%N 1%N = 1. Proof. by have := near_top pf 1; linear. Qed.

Let r0 : 0 < r. Proof. linear. Qed.
Lemma gt0_of (c x : F) : 0 <= c -> 0 < c * x -> 0 < x.
Proof. by move=> c0 cx; rewrite ltNge; apply/negP => x0; have := mulr_ge0_le0 c0 x0; linear. Qed.

Let rm : 0 <= r - 1. Proof. linear. Qed.
Let rr : 0 <= r * r - 1. Proof. by have := mulr_ge0 (ltW r0) rm; linear. Qed.

(* chances where the third is a top, or 1 behind *)
Definition near_bounded x := [/\ 0 < f x 0%N, 0 < f x 1%N &
  (0 < x)%N -> (2%:R * r + 1) * f x 0%N <= 1 /\ (r + 2%:R) * f x 1%N <= 1].

Lemma near_bounds x : near_bounded x.
Proof.
suff [h _] : near_bounded x /\ near_bounded x.+1 by [].
elim: x => [|x [[a0 a1 a] [b0 b1 b]]].
  have b0 : 0 < f 1%N 0%N by apply: (@gt0_of (2%:R * r + 1)); have := f10; linear.
  have b1 : 0 < f 1%N 1%N by apply: (@gt0_of (r + 2%:R)); have := f11; linear.
  have small := mulr_ge0 rm (ltW b0).
  split; last by split=> // _; rewrite f10 f11.
  by split=> //; [have := f00|have := top_shares pf 1; have := f10]; linear.
split=> //; have [c0 c1] := b isT; have e0 := two_tops pf x; have e1 := one_top pf x 0%N.
have p0 : 0 < f x.+2 0%N by apply: (@gt0_of r); [exact: ltW|rewrite e0].
have p1 : 0 < f x.+2 1%N by apply: (@gt0_of r); [exact: ltW|rewrite e1].
have q0 := mulr_ge0 rr (ltW p0); have q1 := mulr_ge0 rr (ltW p1); have q2 := mulr_ge0 rm (ltW p1).
split=> // _; split; first by rewrite -e0 in c1; linear.
case: x {b b0 b1 c0 c1 e0 p0 q0} a a0 a1 e1 p1 q1 q2 => [|x] a a0 a1 e1 p1 q1 q2.
  by have := f00; rewrite -e1; linear.
by have [d _] := a isT; rewrite -e1 in d; linear.
Qed.

Lemma f_bounds x y : 0 < f x y /\ ((0 < x)%N -> (r + 1) * f x y <= 1).
Proof.
have zero y' : 0 < f 0%N y' /\ 2%:R * f 0%N y' <= 1.
  have := top_shares pf y'; case: y' => [|y']; first by have := f00; linear.
  have [p _ b] := near_bounds y'.+1; have [c _] := b isT; have := mulr_ge0 rm (ltW p) => q.
  by linear.
have one y' : 0 < f 1%N y' /\ (r + 1) * f 1%N y' <= 1.
  have e := near_top pf y'; have [_ p b] := near_bounds y'.
  have s : f y' 1%N < 1.
    case: y' e p b => [|y'] e p b; first by have := zero 1%N; linear.
    by have [_ c] := b isT; have := mulr_ge0 rm (ltW p); linear.
  by split; [apply: (@gt0_of (r + 1))|]; linear.
suff h : (0 < f x y /\ ((0 < x)%N -> (r + 1) * f x y <= 1)) /\
    (forall z, 0 < f x.+1 z /\ (r + 1) * f x.+1 z <= 1) by case: h.
elim: x y => [|x IH] y; first by split; [have [] := zero y|apply: one].
split; first by have [_ /(_ y)[]] := IH y.
case=> [|z].
  have [p _ /(_ isT)[c _]] := near_bounds x.+2; split=> //.
  by have := mulr_ge0 (ltW r0) (ltW p); linear.
have e := one_top pf x z; have [[p b] _] := IH z.
have q : 0 < f x.+2 z.+1 by apply: (@gt0_of r); [exact: ltW|rewrite e].
split=> //; case: x e p b q {IH} => [|x] e p b q.
  by have [_] := zero z; rewrite -e; have := mulr_ge0 rm (ltW q); linear.
have := b isT; rewrite -e; have := mulr_ge0 rr (ltW q); have := mulr_ge0 rm (ltW q); linear.
Qed.

Lemma f_gt0 x y : 0 < f x y. Proof. by case: (f_bounds x y). Qed.
Lemma f_le x y : (0 < x)%N -> (r + 1) * f x y <= 1. Proof. by case: (f_bounds x y). Qed.

(* within a factor r *)
Definition alike (x y : F) := x <= r * y /\ y <= r * x.
(* from x to at most r times it *)
Definition grows (x y : F) := x <= y /\ y <= r * x.

(* one of two tops gives to a category x >= 2 behind: what the other top gains *)
Lemma gift_of_two x : (1 < x)%N -> grows (f 0%N x) (r * f 1%N x.-1).
Proof.
case: x => [|[|x]] // _; rewrite [_.-1]/=; have e := two_tops pf x.
have t := top_shares pf x.+2; have n := near_top pf x.+1.
have [p _ /(_ isT)[c _]] := near_bounds x.+2; set a := f x.+2 0%N in e t p c *.
rewrite -e in n; have q := mulr_ge0 rm (ltW p).
have k : 0 < r + 1 by linear.
have c' : 0 <= (r - 1) * (1 - (2%:R * r + 1) * a) by apply: mulr_ge0; linear.
have d' : 0 <= r * ((r - 1) * (1 + a)) by apply: mulr_ge0; [exact: ltW|apply: mulr_ge0; linear].
have -> : f 0%N x.+2 = (1 - a) / 2%:R by linear.
have m : (r + 1) * (r * f 1%N x.+1) = r * (1 - r * a) by rewrite mulrCA n.
by split; rewrite -(ler_pmul2l k) m; linear.
Qed.

(* the top gives to a category x >= 2 behind: what the third gains, y >= 1 behind *)
Lemma gift_third x y : (1 < x)%N -> (0 < y)%N -> grows (f y x) (f y.-1 x.-2).
Proof.
have next a b c d : r * a = c -> r * b = d -> grows c d -> grows a b.
  by move=> <- <-; rewrite /grows !(ler_pmul2l r0).
elim/ltn_ind: y x => y IH [|[|x]] // _; case: y IH => [|[|[|y]]] // IH _; rewrite [_.-2]/= [_.-1]/=.
- (* the third was 1 behind, and is a top afterwards *)
  have e := one_top pf x 0%N; have n := near_top pf x.+2; have t := top_shares pf x.
  have [_ p /(_ isT)[_ c]] := near_bounds x.+2; set a := f x.+2 1%N in e n p c *.
  have k : 0 < r + 1 by linear.
  have -> : f 0%N x = (1 - r * a) / 2%:R by linear.
  have c' : 0 <= (r - 1) * (1 - (r + 2%:R) * a) by apply: mulr_ge0; linear.
  have d' : 0 <= (r - 1) * (1 + r * a).
    by apply: mulr_ge0 => //; have := mulr_ge0 (ltW r0) (ltW p); linear.
  by split; rewrite -(ler_pmul2l k); [rewrite n|rewrite [X in _ <= X]mulrCA n]; linear.
- (* it was 2 behind *)
  have e := one_top pf 0 x.+1.
  case: x e => [|x] e.
    have h := f10; have t := top_shares pf 1; have q := f_gt0 1 0.
    have e1 : f 0%N 1%N = r * f 1%N 0%N by linear.
    rewrite e1 in e; have -> : f 2%N 2%N = f 1%N 0%N by apply: (mulfI (lt0r_neq0 r0)).
    by have := mulr_ge0 rm (ltW q); split; linear.
  apply: (next _ _ _ _ e erefl); exact: gift_of_two.
- have e := one_top pf y.+1 x.+1; case: x e => [|x] e.
    have e' := two_tops pf y; apply: (next _ _ _ _ e e'); split=> //.
    by have := mulr_ge0 rm (ltW (f_gt0 y.+1 1)); linear.
  have e' := one_top pf y x; apply: (next _ _ _ _ e e').
  exact: (IH y.+1 _ x.+2).
Qed.

(* the top gives to a category x >= 2 behind: what the top itself loses, the third y >= 1 behind *)
Lemma gift_top x y : (1 < x)%N -> (0 < y)%N -> grows (top x.-2 y.-1) (top x y).
Proof.
move=> x2 y1; have [g0 _] := gift_third x2 y1.
have e : r * f x y = f x.-2 y.-1 by case: x x2 {g0} => [|[|x]] //; case: y y1 => // y _ _; apply: (one_top pf).
split; first by have := mulr_ge0 rm (ltW (f_gt0 x y)); rewrite /top -e; linear.
suff h : r * f y.-1 x.-2 - f y x + (r * r - 1) * f x y <= r - 1.
  by rewrite /top -e; linear.
elim/ltn_ind: y x x2 y1 {g0 e} => y IH [|[|x]] // _; case: y IH => [|[|[|y]]] // IH _; rewrite [_.-2]/= [_.-1]/=.
- have e := one_top pf x 0%N; have n := near_top pf x.+2; have t := top_shares pf x.
  have [_ p /(_ isT)[_ c]] := near_bounds x.+2; set a := f x.+2 1%N in e n p c *.
  have -> : f 0%N x = (1 - r * a) / 2%:R by linear.
  have k : 0 < r + 1 by linear.
  have c' : 0 <= r * ((r - 1) * (1 - (r + 2%:R) * a)).
    by apply: mulr_ge0; [exact: ltW|apply: mulr_ge0; linear].
  rewrite -(ler_pmul2l k); set b := f 1%N _ in n *.
  have -> : (r + 1) * (r * ((1 - r * a) / 2%:R) - b + (r * r - 1) * a) =
    (r + 1) * (r * ((1 - r * a) / 2%:R)) - (r + 1) * b + (r + 1) * ((r * r - 1) * a) by linear.
  by rewrite n; linear.
- (* the third was 2 behind *)
  have e := one_top pf 0 x.+1; have e2 := one_top pf x 1; case: x e e2 => [|x] e e2.
    have h := f10; have t := top_shares pf 1; have q := f_gt0 1 0.
    have eb : f 2%N 2%N = f 1%N 0%N by apply: (mulfI (lt0r_neq0 r0)); rewrite e; linear.
    rewrite eb; have q' := mulr_ge0 rm (ltW q).
    have : 0 <= (r - 1) * (1 - (r + 2%:R) * f 1%N 0%N) by apply: mulr_ge0; linear.
    by linear.
  set b := f 2%N x.+3 in e *; set a := f x.+3 2%N in e2 *.
  have n := near_top pf x.+1; have t := top_shares pf x.+2; have d := two_tops pf x; rewrite -e2 in n d.
  have ea : f x.+2 0%N = a by apply: (mulfI (lt0r_neq0 r0)).
  have a0 : 0 < a := f_gt0 _ _.
  have [_ _ /(_ isT)[_ c]] := near_bounds x.+1; rewrite -e2 in c.
  have eb : r * b = (1 - a) / 2%:R by rewrite e; linear.
  have s1 : 0 <= (2%:R * (r * r) - 1) * (1 - (r * r + 2%:R * r) * a) by apply: mulr_ge0; linear.
  have s2 : 0 <= 2%:R * (r * r * r) + 4%:R * (r * r) + r - 1.
    by have := mulr_ge0 (ltW r0) rr; linear.
  have s3 := mulr_ge0 (mulr_ge0 rm s2) (ltW a0).
  have s4 : 0 <= (r - 1) * ((2%:R * (r * r) - 1) - a * (2%:R * (r * r * r) + 2%:R * (r * r) - 1)).
    by apply: mulr_ge0 => //; linear.
  have k : 0 < 2%:R * r * (r + 1) by apply: mulr_gt0; linear.
  rewrite -(ler_pmul2l k); set g := f 1%N _ in n *.
  have -> : 2%:R * r * (r + 1) * (r * g - b + (r * r - 1) * a) =
    2%:R * (r * r) * ((r + 1) * g) - 2%:R * (r + 1) * (r * b) + 2%:R * r * (r + 1) * ((r * r - 1) * a) by linear.
  by rewrite n eb; linear.
- have e := one_top pf y.+1 x.+1; have le := f_le y.+3 (isT : (0 < x.+2)%N); have p := f_gt0 x.+2 y.+3.
  case: x e le p => [|x] e le p.
    have e' := two_tops pf y; have t := top_shares pf y.+2; have e3 := one_top pf 0 y.+2.
    have eb : f y.+3 2%N = f y.+2 0%N by apply: (mulfI (lt0r_neq0 r0)); rewrite e e'.
    rewrite eb; have q := mulr_ge0 rm (ltW p).
    have : 0 <= (r - 1) * (1 - f y.+2 0%N - (r + 1) * f 2%N y.+3) by apply: mulr_ge0; linear.
    by linear.
  have e' := one_top pf y x.
  have ih := IH y.+1 (leqnSn _ : (y.+1 < y.+3)%N) x.+2 isT isT; rewrite [_.-1]/= [_.-2]/= in ih.
  have [mono _] := @gift_third y.+3 x.+3 isT isT; rewrite [_.-1]/= [_.-2]/= in mono.
  have h1 : 0 <= (r * r - 1) * (f x.+2 y.+1 - f x.+3 y.+3) by apply: mulr_ge0 => //; linear.
  have h2 : 0 <= (r - 1) * ((r - 1) * (1 - (r + 1) * f x.+3 y.+3)).
    by apply: mulr_ge0 => //; apply: mulr_ge0; linear.
  rewrite e' -(ler_pmul2l r0); rewrite -e in ih.
  by linear.
Qed.

(* ---- counts of three categories ---- *)

(* the chance that a category with `own` records is named, the others having a and b *)
Definition chance (own a b : nat) : F :=
  let m := maxn own (maxn a b) in
  if own == m then top (m - a) (m - b) else f (m - own) ((m - a) + (m - b)).

Lemma topC x y : top x y = top y x. Proof. rewrite /top; linear. Qed.
Lemma top0 y : top 0 y = f 0%N y. Proof. by have := top_shares pf y; rewrite /top; linear. Qed.
Lemma top1 y : top 1 y = r * f 1%N y. Proof. by have := near_top pf y; rewrite /top; linear. Qed.

Lemma chanceC own a b : chance own a b = chance own b a.
Proof. by rewrite /chance (maxnC a) addnC topC. Qed.

Lemma chance_top own a b : (a <= own)%N -> (b <= own)%N -> chance own a b = top (own - a) (own - b).
Proof. by move=> ha hb; rewrite /chance (_ : maxn own _ = own) ?eqxx //; lia. Qed.

Lemma chance_loser own a b : (own < a)%N -> (b <= a)%N -> chance own a b = f (a - own) (a - b).
Proof.
by move=> ha hb; rewrite /chance (_ : maxn own _ = a) ?subnn ?(ltn_eqF ha) //; lia.
Qed.

(* a loser may have become a top *)
Lemma chance_near own a b : (own <= a)%N -> (b <= a)%N -> chance own a b = f (a - own) (a - b).
Proof.
rewrite leq_eqVlt => /orP[/eqP -> hb|]; last exact: chance_loser.
by rewrite chance_top // subnn top0.
Qed.

Theorem chance_law a b c : [/\ 0 <= chance a b c, 0 <= chance b a c, 0 <= chance c a b &
  chance a b c + chance b a c + chance c a b = 1].
Proof.
have top_ge0 x y : 0 <= top x y.
  case: x => [|x]; first by rewrite top0 ltW ?f_gt0.
  case: y => [|y]; first by rewrite topC top0 ltW ?f_gt0.
  have p := f_le y.+1 (isT : (0 < x.+1)%N); have q := f_le x.+1 (isT : (0 < y.+1)%N).
  have h := mulr_ge0 rm (ltW (f_gt0 x.+1 y.+1)); have k := mulr_ge0 rm (ltW (f_gt0 y.+1 x.+1)).
  by rewrite /top; linear.
have sorted x y z : (y <= x)%N -> (z <= x)%N ->
    [/\ 0 <= chance x y z, 0 <= chance y x z, 0 <= chance z x y & chance x y z + chance y x z + chance z x y = 1].
  move=> xy xz; rewrite chance_top // !chance_near //.
  split; [exact: top_ge0|exact/ltW/f_gt0|exact/ltW/f_gt0|by rewrite /top; linear].
have [[h k]|[[h k]|[h k]]] : (b <= a /\ c <= a \/ (a <= b /\ c <= b \/ a <= c /\ b <= c))%N by lia.
- exact: sorted.
- have [p q s t] := sorted b a c h k.
  by rewrite (chanceC c a b) [chance a b c + _]addrC; split.
- have [p q s t] := sorted c a b h k.
  by rewrite (chanceC a b) (chanceC b a) addrC addrA; split.
Qed.

Lemma alikeC x y : alike x y -> alike y x. Proof. by case. Qed.
Lemma alike_refl x : 0 <= x -> alike x x.
Proof. by move=> x0; have := mulr_ge0 rm x0; split; linear. Qed.
Lemma grows_alike x y : 0 <= x -> grows x y -> alike x y.
Proof. by move=> x0 [h k]; have := mulr_ge0 rm (le_trans x0 h); split; linear. Qed.
Lemma times_alike x y : 0 <= x -> r * x = y -> alike x y.
Proof.
move=> x0 <-; split; last by [].
by have := mulr_ge0 rr x0; linear.
Qed.

(* both lose; one of them gains a record from the other *)
Lemma losers x y : (0 < x)%N -> (0 < y)%N -> alike (f x y) (f x.-1 y.+1).
Proof.
case: x => [|[|x]] // _; case: y => [|y] // _; rewrite [_.-1]/=.
  have [h k] := @gift_of_two y.+2 isT; rewrite [_.-1]/= in h k.
  have {}k : f 1%N y.+1 <= f 0%N y.+2 by rewrite -(ler_pmul2l r0).
  by split=> //; have := mulr_ge0 rm (ltW (f_gt0 0 y.+2)); linear.
have e := one_top pf x y; have [h k] := @gift_third y.+2 x.+1 isT isT.
rewrite [_.-1]/= [_.-2]/= -e in h k.
have {}k : f x.+2 y.+1 <= f x.+1 y.+2 by rewrite -(ler_pmul2l r0).
by split=> //; apply: (le_trans k); have := mulr_ge0 rm (ltW (f_gt0 x.+1 y.+2)); linear.
Qed.

(* a category gains a record from another *)
Lemma exchange_own u v w : alike (chance u v.+1 w) (chance u.+1 v w).
Proof.
case: (leqP w u) => wu.
  case: (leqP v.+1 u) => vu.
    (* it is the top already *)
    rewrite !chance_top //; try lia.
    have [h k] := @gift_top (u - v.+1).+2 (u - w).+1 isT isT.
    have -> : (u.+1 - v = (u - v.+1).+2)%N by lia.
    have -> : (u.+1 - w = (u - w).+1)%N by lia.
    apply: grows_alike; last by split.
    have [_ _ _ _] := chance_law u v.+1 w.
    by have [p _ _ _] := chance_law u v.+1 w; rewrite chance_top in p.
  rewrite (@chance_near u) //; try lia.
  case: (ltngtP u v) => uv; last 1 first.
  - rewrite chance_top; try lia.
    have -> : (v.+1 - u = 1)%N by lia.
    have -> : (u.+1 - v = 1)%N by lia.
    by rewrite top1 uv; apply: times_alike => //; exact/ltW/f_gt0.
  - rewrite (@chance_near u.+1); try lia.
    apply: times_alike; first exact/ltW/f_gt0.
    have -> : (v.+1 - u = (v - u.+1).+2)%N by lia.
    have -> : (v.+1 - w = (v - w).+1)%N by lia.
    exact: (one_top pf).
  - lia.
case: (leqP w v) => wv.
  rewrite !chance_near //; try lia; apply: times_alike; first exact/ltW/f_gt0.
  have -> : (v.+1 - u = (v - u.+1).+2)%N by lia.
  have -> : (v.+1 - w = (v - w).+1)%N by lia.
  exact: (one_top pf).
rewrite !(chanceC _ _ w) !chance_near //; try lia.
case: (ltngtP w v.+1) => wv1; [lia| |].
  have -> : (w - v = (w - v.+1).+1)%N by lia.
  have -> : (w - u.+1 = (w - u).-1)%N by lia.
  by apply: losers; lia.
have d1 : (v.+1 - v = 1)%N by lia.
rewrite wv1 subnn d1.
apply: times_alike; first exact/ltW/f_gt0.
case e: (v.+1 - u)%N => [|[|x]]; first by lia.
  have -> : (v.+1 - u.+1 = 0)%N by lia.
  by have h := f10; have t := top_shares pf 1; have n := near_top pf 0; linear.
have -> : (v.+1 - u.+1 = x.+1)%N by lia.
exact: (two_tops pf).
Qed.

(* the two others exchange a record *)
Lemma exchange_others u v w : alike (chance u v.+1 w) (chance u v w.+1).
Proof.
wlog wv : v w / (w <= v)%N.
  move=> h; case: (leqP w v) => [/h //|/ltnW /h]; rewrite [chance u w.+1 v]chanceC [chance u w v.+1]chanceC.
  exact: alikeC.
have pos a b c : 0 <= chance a b c by case: (chance_law a b c).
case: (ltngtP w v) wv => // [wv _|-> _]; last by rewrite chanceC; apply: alike_refl.
case: (leqP u v) => uv.
  (* the giver is the only top *)
  rewrite !chance_near //; try lia.
  have [h k] := @gift_third (v.+1 - w) (v.+1 - u) ltac:(lia) ltac:(lia).
  have -> : (v - u = (v.+1 - u).-1)%N by lia.
  have -> : (v - w.+1 = (v.+1 - w).-2)%N by lia.
  by apply: grows_alike; [exact/ltW/f_gt0|split].
rewrite !chance_top //; try lia.
case e: (u - v.+1)%N => [|x].
  have -> : (u - v = 1)%N by lia.
  have -> : (u - w.+1 = (u - w).-1)%N by lia.
  rewrite top0 top1.
  by apply: grows_alike; [exact/ltW/f_gt0|apply: gift_of_two; lia].
have [h k] := @gift_top (u - w) x.+1 ltac:(lia) isT.
have [h' k'] := @gift_top x.+2 (u - w).-1 isT ltac:(lia).
have -> : (u - v = x.+2)%N by lia.
have -> : (u - w.+1 = (u - w).-1)%N by lia.
rewrite [_.-1]/= [_.-2]/= (topC _ x) (topC (u - w)) in h k h' k'.
by have := ler_wpmul2l (ltW r0) h; have := ler_wpmul2l (ltW r0) h'; split; linear.
Qed.

(* every exchange of a record is one of these, seen from each of the three categories *)
Theorem pull_private a b c :
  let p := fun i : 'I_3 => nth 0 [:: chance a b.+1 c; chance b.+1 a c; chance c a b.+1] i in
  let q := fun i : 'I_3 => nth 0 [:: chance a.+1 b c; chance b a.+1 c; chance c a.+1 b] i in
  [/\ law p, law q & close r 0 p q].
Proof.
have laws x y z : law (fun i : 'I_3 => nth 0 [:: chance x y z; chance y x z; chance z x y] i).
  have [h0 h1 h2 h3] := chance_law x y z.
  by split; [case=> -[|[|[|]]]|rewrite !big_ord_recl big_ord0 addr0 /= addrA].
move=> p q; split; [exact: laws|exact: laws|].
have near i : alike (p i) (q i).
  case: i => k hk; rewrite /p /q /=; case: k hk => [|[|[|k]]] hk //=; first exact: exchange_own.
    exact/alikeC/exchange_own.
  by rewrite (chanceC c a b.+1) (chanceC c a.+1 b); apply: exchange_others.
have one (x y : 'I_3 -> F) : (forall i, x i <= r * y i) -> hockey_stick r x y <= 0.
  by move=> h; rewrite /hockey_stick big1 // => i _; apply/max_idPl; rewrite subr_le0.
by apply/andP; split; apply: one => i; case: (near i).
Qed.

End Pull.
