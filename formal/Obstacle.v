(* The least majorant that an operator does not lower anywhere.  L is as on a line of counts: linear, at most 0 where
   something non-negative touches 0, and below 0 where something is least and below 0.                             *)
From mathcomp Require Import all_ssreflect all_algebra.
From Iris Require Import Arithmetic.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Obstacle.
Variables (F : realFieldType) (n : nat).
Notation V := 'I_n.
Implicit Types (f s t x y w : V -> F) (S : {set V}).

Record line_operator (L : (V -> F) -> V -> F) : Prop := LineOperator {
  L_linear : forall c x y i, L (fun j => c * x j + y j) i = c * L x i + L y i;
  L_eq : forall x y i, x =1 y -> L x i = L y i;
  L_touch : forall w i, (forall j, 0 <= w j) -> w i = 0 -> L w i <= 0;
  L_least : forall w i, (forall j, w i <= w j) -> w i < 0 -> L w i < 0
}.

Variable L : (V -> F) -> V -> F.
Hypothesis hL : line_operator L.

Definition superharmonic y := forall i, 0 <= L y i.

Lemma L_sub x y i : L (fun j => x j - y j) i = L x i - L y i.
Proof.
have -> : L (fun j => x j - y j) i = L (fun j => - 1 * y j + x j) i.
  by apply: (L_eq hL) => j; linear.
by rewrite (L_linear hL); linear.
Qed.

(* what is not negative on S, and not lowered elsewhere, is not negative *)
Lemma nonnegative S w : (forall i, i \in S -> 0 <= w i) -> (forall i, i \notin S -> 0 <= L w i) -> forall i, 0 <= w i.
Proof.
move=> on off i; case: (@arg_minP _ F _ i predT w isT) => m _ least.
apply: le_trans (least i isT); rewrite leNgt; apply/negP => w0.
have mS : m \notin S by apply/negP => /on; linear.
by have := off m mS; have := L_least hL (fun j => least j isT) w0; linear.
Qed.

Lemma positive y : superharmonic y -> forall i, 0 <= y i.
Proof. by move=> hy; apply: (@nonnegative set0) => i; rewrite ?inE. Qed.

(* given on S, harmonic elsewhere *)
Lemma extension S f : exists h, forall i, if i \in S then h i = f i else L h i = 0.
Proof.
pose phi (w : 'rV[F]_n) : 'rV[F]_n := \row_i (if i \in S then w 0 i else L (w 0) i).
have phi_linear : linear phi.
  move=> c x y; apply/rowP => i; rewrite !mxE; case: ifP => _ //.
  by rewrite -(L_linear hL); apply: (L_eq hL) => j; rewrite !mxE.
pose A := lin1_mx (Linear phi_linear).
have phiA (w : 'rV[F]_n) : w *m A = phi w by rewrite mul_rV_lin1.
have unitA : A \in unitmx.
  rewrite -row_free_unit; apply: inj_row_free => z; rewrite phiA => h.
  pose w i := z 0 i.
  have at_ i : (if i \in S then w i else L w i) = 0.
    by have /rowP/(_ i) := h; rewrite !mxE.
  apply/rowP => i; rewrite mxE -/(w i); apply/le_anti/andP; split; last first.
    by apply: (@nonnegative S) => j jS; have := at_ j; rewrite ?jS ?(negbTE jS) => ->.
  rewrite -oppr_ge0; move: i; apply: (@nonnegative S) => j jS; have := at_ j; rewrite ?jS ?(negbTE jS) => e.
    by rewrite e oppr0.
  have -> : L (fun i => - w i) j = L (fun i => (fun=> 0) i - w i) j.
    by apply: (L_eq hL) => i; rewrite sub0r.
  have -> : L (fun i => (fun=> 0) i - w i) j = L (fun i => w i - w i) j - L w j.
    by rewrite -L_sub; apply: (L_eq hL) => i; rewrite subrr.
  by rewrite L_sub e; linear.
pose target : 'rV[F]_n := \row_i (if i \in S then f i else 0).
exists ((target *m invmx A) 0) => i; have /rowP/(_ i) : phi (target *m invmx A) = target.
  by rewrite -phiA mulmxKV.
by rewrite !mxE; case: ifP.
Qed.

(* above f, not lowered anywhere, and harmonic where it is above f *)
Definition majorant f s := [/\ forall i, f i <= s i, superharmonic s & forall i, s i = f i \/ L s i = 0].

Theorem majorant_exists f : exists s, majorant f s.
Proof.
have [h hh] := fin_all_exists (fun S => extension S f).
have on S i : i \in S -> h S i = f i by move=> iS; have := hh S i; rewrite iS.
have off S i : i \notin S -> L (h S) i = 0 by move=> /negbTE iS; have := hh S i; rewrite iS.
pose total S := \sum_i h S i.
have grow S T : (forall i, h S i <= h T i) -> (exists i, h S i < h T i) -> total S < total T.
  move=> le [i lt]; rewrite /total (bigD1 i) //= [ltRHS](bigD1 i) //=.
  by apply: ltr_le_add => //; apply: ler_sum.
case: (@arg_maxP _ F _ set0 predT total isT) => S _ most.
have {}most T : total T <= total S by apply: most.
exists (h S); split=> i.
- case: (boolP (i \in S)) => [/on ->//|iS]; rewrite leNgt; apply/negP => lt.
  have := most (i |: S); rewrite leNgt => /negP; apply; apply: grow; last first.
    by exists i; rewrite (on (i |: S)) ?setU11.
  move=> j; rewrite -subr_ge0; move: j; apply: (@nonnegative (i |: S)) => j; rewrite in_setU1.
    case/orP=> [/eqP ->|jS]; first by rewrite (on (i |: S)) ?setU11 // subr_ge0 ltW.
    by rewrite !on ?subrr // in_setU1 jS orbT.
  by move=> jS; rewrite L_sub !off ?subrr // ?in_setU1 //; apply: contra jS => ->; rewrite orbT.
- case: (boolP (i \in S)) => [iS|/off -> //]; rewrite leNgt; apply/negP => lt.
  have := most (S :\ i); rewrite leNgt => /negP; apply.
  have le j : h S j <= h (S :\ i) j.
    rewrite -subr_ge0; move: j; apply: (@nonnegative (S :\ i)) => j; rewrite in_setD1.
      by case/andP=> ji jS; rewrite !on ?subrr // in_setD1 ji.
    rewrite negb_and negbK L_sub; case: (altP (j =P i)) => [-> _|ji /= jS].
      by rewrite (off (S :\ i)) ?in_setD1 ?eqxx // sub0r oppr_ge0 ltW.
    by rewrite !off ?subrr // in_setD1 ji.
  apply: grow => //; exists i; rewrite lt_neqAle le andbT; apply/eqP => e.
  have : L (fun j => h (S :\ i) j - h S j) i <= 0.
    by apply: (L_touch hL) => [j|]; [rewrite subr_ge0|rewrite e subrr].
  by rewrite L_sub (off (S :\ i)) ?in_setD1 ?eqxx //; linear.
- by case: (boolP (i \in S)) => [/on|/off]; [left|right].
Qed.

Theorem majorant_least f s t : majorant f s -> (forall i, f i <= t i) -> superharmonic t -> forall i, s i <= t i.
Proof.
move=> [_ _ either] ft st i; rewrite -subr_ge0; move: i.
apply: (@nonnegative [set i | s i == f i]) => i; rewrite inE; first by move/eqP ->; rewrite subr_ge0.
by case: (either i) => [->|e _]; rewrite ?eqxx // L_sub e subr0.
Qed.

(* what lies below a sum of superharmonic functions is a sum of superharmonic functions below them *)
Theorem decomposition (W : finType) x (t : W -> V -> F) : superharmonic x -> (forall v, superharmonic (t v)) ->
  (forall i, x i <= \sum_v t v i) ->
  exists y : W -> V -> F, [/\ forall v, superharmonic (y v), forall v i, y v i <= t v i & forall i, \sum_v y v i = x i].
Proof.
move=> hx ht hxt.
suff [y [hy yt e]] : exists y : W -> V -> F, [/\ forall v, superharmonic (y v), forall v i, y v i <= t v i &
    forall i, \sum_(v <- index_enum W) y v i = x i] by exists y.
elim: (index_enum W) (index_enum_uniq W) x hx hxt => [_|v0 r IH /= /andP[v0r ur]] x hx hxt.
  exists (fun=> fun=> 0); split=> [v i|v i|i]; last 1 first.
  - by rewrite big_nil; apply/le_anti; rewrite positive //=; have := hxt i; rewrite big_nil.
  - have -> : L (fun=> 0) i = L (fun j => x j - x j) i by apply: (L_eq hL) => j; rewrite subrr.
    by rewrite L_sub subrr.
  - exact: positive.
pose rest i := \sum_(v <- r) t v i.
have hrest : superharmonic rest.
  rewrite /rest; elim: r {v0r ur IH hxt rest} => [|v r IH] i.
    have -> : L (fun j => \sum_(v <- [::]) t v j) i = L (fun j => x j - x j) i.
      by apply: (L_eq hL) => j; rewrite big_nil subrr.
    by rewrite L_sub subrr.
  have -> : L (fun j => \sum_(v' <- v :: r) t v' j) i = L (fun j => 1 * t v j + \sum_(v' <- r) t v' j) i.
    by apply: (L_eq hL) => j; rewrite big_cons mul1r.
  by rewrite (L_linear hL) mul1r; apply: addr_ge0; [apply: ht|apply: IH].
have {}hxt i : x i - rest i <= t v0 i by have := hxt i; rewrite big_cons -/(rest i); linear.
have [s ms] := majorant_exists (fun i => x i - rest i); have [above hs either] := ms.
have st := majorant_least ms hxt (ht v0).
have le i : x i - s i <= rest i by have := above i; linear.
have hxs : superharmonic (fun i => x i - s i).
  move=> i; rewrite L_sub; case: (either i) => [e|->]; last by rewrite subr0; apply: hx.
  have : L (fun j => s j - (x j - rest j)) i <= 0.
    by apply: (L_touch hL) => [j|]; [rewrite subr_ge0|rewrite e subrr].
  by rewrite L_sub L_sub; have := hrest i; linear.
have [y [hy yt ey]] := IH ur _ hxs le.
exists (fun v => if v == v0 then s else y v); split=> [v|v i|i]; first by case: ifP.
  by case: eqP => [->|_].
rewrite big_cons eqxx (eq_big_seq (fun v => y v i)) => [|v vr]; first by rewrite ey; linear.
by case: eqP vr v0r => [->|] // ->.
Qed.

End Obstacle.
