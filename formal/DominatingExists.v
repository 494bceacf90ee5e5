(* Every finite family of pairs of laws has a dominating pair whose profile is theirs and no more: at each ratio it is that of
   the worst of them.  A test of one of the pairs is a point: how likely it is under each law.  The outcomes of the dominating
   pair are the edges of the upper hull of these points, walked from the left by the steepest edge.                       *)
From mathcomp Require Import all_ssreflect all_algebra.
From Iris Require Import Arithmetic Laws PostProcessing Composition Dominating.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Hull.
Variables (F : realFieldType) (T : finType) (a b : T -> F).

(* what test x gains at ratio r *)
Definition gain r x := a x - r * b x.

(* edges (rise, run) of a hull, each counted where it rises by more than r *)
Definition profile r (es : seq (F * F)) := \sum_(e <- es) Num.max 0 (e.1 - r * e.2).
Definition positive (es : seq (F * F)) := forall e, e \in es -> 0 <= e.1 /\ 0 <= e.2.

Lemma profile_ge0 r es : 0 <= profile r es.
Proof. by apply: sumr_ge0 => e _; apply: max_ge0. Qed.

(* the hull es to the right of a point x that is on it; z is its right end *)
Definition hull x z es := [/\ positive es, \sum_(e <- es) e.1 = a z - a x, \sum_(e <- es) e.2 = b z - b x &
  forall r, 0 <= r -> (forall y, b x <= b y -> gain r y <= gain r x + profile r es) /\
    exists2 y, b x <= b y & gain r y = gain r x + profile r es].

Lemma hull_from z : (forall y, b y <= b z /\ a y <= a z) -> forall x, (forall y, b y = b x -> a y <= a x) ->
  exists es, hull x z es.
Proof.
move=> end_z x; have [k] := ubnP #|[pred y | (b x < b y)%R]|; elim: k x => // k IH x hk top_x.
have [x1 x2] := end_z x; case: (pickP [pred y | b x < b y]) => [w /= xw|none]; last first.
  have left y : b y <= b x by rewrite leNgt; apply/negP => xy; have := none y; rewrite /= xy.
  have z1 := left z; have z2 := top_x z ltac:(linear).
  exists [::]; rewrite /hull !big_nil; split=> [//|||r r0]; [linear|linear|].
  rewrite /profile big_nil addr0; split=> [y xy|]; last by exists x.
  by have y1 := left y; have e : b y = b x by [linear]; have := top_x y e; rewrite /gain e; linear.
(* y is where the steepest edge from x ends, and m is its slope *)
case: (@arg_maxP _ F _ w (fun y => b x < b y) (fun y => (a y - a x) / (b y - b x)) xw) => y xy {w xw}.
set m := _ / _ => best; have xy0 : 0 < b y - b x by linear.
have edge : a y - a x = m * (b y - b x) by rewrite /m divfK // lt0r_neq0.
have {}best w : b x <= b w -> a w - a x <= m * (b w - b x).
  rewrite le_eqVlt => /orP[/eqP e|xw]; first by rewrite e subrr mulr0; have := top_x w (esym e); linear.
  have : (a w - a x) / (b w - b x) <= m := best w xw; rewrite ler_pdivr_mulr; linear.
have [y1 y2] := end_z y.
have m0 : 0 <= m.
  have xz : 0 < b z - b x by linear.
  by rewrite -(pmulr_lge0 _ xz); apply: le_trans (best z _); linear.
have [||es [pos rise run prof]] := IH y.
- move: hk; rewrite ltnS; apply: leq_trans; apply: proper_card; apply/properP; split.
    by apply/subsetP => w; rewrite !inE; apply: lt_trans.
  by exists y; rewrite inE ?ltxx.
- by move=> w e; have := best w ltac:(linear); rewrite e -edge; linear.
exists ((a y - a x, b y - b x) :: es); rewrite /hull !big_cons; split=> [e|||r r0].
- by rewrite inE => /orP[/eqP -> /=|/pos //]; split; [rewrite edge mulr_ge0 //|]; linear.
- by rewrite rise /=; linear.
- by rewrite run /=; linear.
have [all [w yw ew]] := prof r r0; have p0 := profile_ge0 r es.
have g v : b x <= b v -> gain r v - gain r x <= (m - r) * (b v - b x) by move/best; rewrite /gain; linear.
have gy : gain r y - gain r x = (m - r) * (b y - b x) by rewrite /gain; linear.
rewrite /profile big_cons /= -/(profile r es).
have -> : a y - a x - r * (b y - b x) = gain r y - gain r x by rewrite /gain; linear.
case: (lerP r m) => rm.
  have up : 0 <= gain r y - gain r x by rewrite gy; apply: mulr_ge0; linear.
  rewrite (max_idPr up); split=> [v xv|]; last by exists w; linear.
  case: (lerP (b y) (b v)) => [/all|vy]; first by linear.
  have : (m - r) * (b v - b x) <= (m - r) * (b y - b x) by apply: ler_wpmul2l; linear.
  by have := g v xv; linear.
have down v : b x <= b v -> gain r v <= gain r x.
  move=> xv; suff : (m - r) * (b v - b x) <= 0 by have := g v xv; linear.
  by apply: mulr_le0_ge0; linear.
have flat : profile r es = 0.
  have : (m - r) * (b w - b x) <= (m - r) * (b y - b x) by apply: ler_wnmul2l; linear.
  by have := g w ltac:(linear); linear.
have := down y ltac:(linear) => yx; rewrite flat (max_idPl _) ?addr0; last by linear.
by split=> //; exists x.
Qed.

End Hull.

Section Exists.
Variables (F : realFieldType) (I V : finType) (i0 : I) (p q : I -> V -> F).
Hypothesis lp : forall i, law (p i).
Hypothesis lq : forall i, law (q i).

(* (A, B) has at every ratio the profile of the worst pair *)
Definition worst (W : finType) (A B : W -> F) := forall r, 0 <= r ->
  (forall i, hockey_stick r (p i) (q i) <= hockey_stick r A B) /\
  exists i, hockey_stick r (p i) (q i) = hockey_stick r A B.

Theorem dominating_exists : exists k (A B : 'I_k -> F), [/\ law A, law B & worst A B].
Proof.
pose a (x : I * {set V}) := prob (p x.1) x.2; pose b (x : I * {set V}) := prob (q x.1) x.2.
have a01 x : 0 <= a x <= 1 by apply: prob_bounds.
have b01 x : 0 <= b x <= 1 by apply: prob_bounds.
have full (c : V -> F) : law c -> prob c setT = 1 by case=> _ <-; apply: eq_bigl => v; rewrite inE.
have b0 : b (i0, set0) == 0 by rewrite /b /prob big_set0.
case: (@arg_maxP _ F _ _ (fun x => b x == 0) a b0) => x /eqP bx top.
have [y|y|es [pos rise run prof]] := @hull_from F _ a b (i0, setT) _ x.
- rewrite /a /b /= !full //; have := a01 y; have := b01 y; rewrite /a /b /=; linear.
- by rewrite bx => /eqP; apply: top.
pose edges := (a x, 0) :: es.
have ge0 e : e \in edges -> 0 <= e.1 /\ 0 <= e.2.
  by rewrite inE => /orP[/eqP -> /=|/pos //]; split=> //; have := a01 x; linear.
have sum (g : F * F -> F) : \sum_(j < size edges) g (nth (0, 0) edges j) = \sum_(e <- edges) g e.
  by rewrite [RHS](big_nth (0, 0)) big_mkord.
exists (size edges), (fun j => (nth (0, 0) edges j).1), (fun j => (nth (0, 0) edges j).2).
have hs r : hockey_stick r (fun j : 'I_(size edges) => (nth (0, 0) edges j).1) (fun j => (nth (0, 0) edges j).2)
    = gain a b r x + profile r es.
  rewrite /hockey_stick (sum (fun e => Num.max 0 (e.1 - r * e.2))) big_cons; congr (_ + _).
  by rewrite /gain bx mulr0 subr0; apply/max_idPr; have := a01 x; rewrite /=; linear.
have az : a (i0, setT) = 1 by rewrite /a /= full.
have bz : b (i0, setT) = 1 by rewrite /b /= full.
split=> [||r r0].
- split=> [j|]; first by have [] := ge0 _ (mem_nth (0, 0) (ltn_ord j)).
  by rewrite (sum fst) big_cons rise az /=; linear.
- split=> [j|]; first by have [] := ge0 _ (mem_nth (0, 0) (ltn_ord j)).
  by rewrite (sum snd) big_cons run bx bz /=; linear.
have [most [y _ ey]] := prof r r0; rewrite hs in ey *.
have h0 (W : finType) (c d : W -> F) : 0 <= hockey_stick r c d by apply: sumr_ge0 => v _; apply: max_ge0.
have below i : hockey_stick r (p i) (q i) <= gain a b r x + profile r es.
  have d0 : 0 <= gain a b r x + profile r es by rewrite -hs.
  apply/(hockey_stickP _ _ _ d0) => S; have := most (i, S); rewrite bx.
  by have := b01 (i, S); move=> /andP[-> _] /(_ isT); rewrite /gain /a /b /=; linear.
split=> //; exists y.1; apply/le_anti; rewrite below /= -ey.
by have /(hockey_stickP _ _ _ (h0 _ _ _))/(_ y.2) := lexx (hockey_stick r (p y.1) (q y.1)); rewrite /gain /a /b; linear.
Qed.

(* whatever earlier answers made one choose next, this pair bounds all answers together *)
Corollary worst_bounds_rounds : exists k (A B : 'I_k -> F), [/\ law A, law B, worst A B &
  forall (choose : seq V -> I) n, dominated (played (fun h => p (choose h)) n [::])
    (played (fun h => q (choose h)) n [::]) (independent (fun _ => A) n 0) (independent (fun _ => B) n 0)].
Proof.
have [k [A [B [lA lB w]]]] := dominating_exists; exists k, A, B; split=> // choose n.
by apply: dominating_rounds => // h r r0; case: (w r r0).
Qed.

End Exists.
