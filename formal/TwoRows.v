(* When two given rows belong to one private mechanism: if and only if no event tells them further apart than u
   applied once for each step between them.                                                                   *)
From mathcomp Require Import all_ssreflect all_algebra.
From Iris Require Import Arithmetic Laws Shapes PostProcessing PostProcessingShapes RankOrder.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

(* ---- two answers exchanged in part: i becomes j with probability a, and j becomes i with probability b ---- *)

Section Exchange.
Variables (F : realFieldType) (V : finType) (i j : V) (a b : F).
Hypotheses (ij : i != j) (a0 : 0 <= a) (a1 : a <= 1) (b0 : 0 <= b) (b1 : b <= 1).

Definition moved v := if v == i then a else if v == j then b else 0.
Definition other v := if v == i then j else i.
Definition exchanged v : V -> F := fun w => (1 - moved v) * (w == v)%:R + moved v * (w == other v)%:R.

Lemma moved_bounds v : 0 <= moved v <= 1.
Proof. by rewrite /moved; case: eqP => [_|_]; [|case: eqP => _]; rewrite ?a0 ?b0 ?lexx ?ler01. Qed.

Lemma exchanged_stochastic : stochastic exchanged.
Proof.
move=> v; have [c0 c1] : 0 <= moved v /\ 0 <= 1 - moved v by have := moved_bounds v; linear.
have at1 (x : V) : \sum_w (w == x)%:R = 1 :> F by rewrite (bigD1 x) //= eqxx big1 ?addr0 // => w /negbTE ->.
split=> [w|]; first by apply: addr_ge0; apply: mulr_ge0 => //; apply: ler0n.
have -> : \sum_w exchanged v w = (1 - moved v) * (\sum_w (w == v)%:R) + moved v * (\sum_w (w == other v)%:R).
  by rewrite !mulr_sumr -big_split.
by rewrite !at1 !mulr1 subrK.
Qed.

Lemma sum_two (f : V -> F) : (forall v, v != i -> v != j -> f v = 0) -> \sum_v f v = f i + f j.
Proof.
move=> h; rewrite (bigD1 i) //= (bigD1 j) ?(eq_sym j) //= big1 ?addr0 // => v /andP[vi vj]; exact: h.
Qed.

(* what is added to the law *)
Lemma processed_exchanged (p : V -> F) w :
  processed exchanged p w = p w + (b * p j - a * p i) * ((w == i)%:R - (w == j)%:R).
Proof.
have split v : p v * exchanged v w = p v * (w == v)%:R + p v * moved v * ((w == other v)%:R - (w == v)%:R).
  by rewrite /exchanged; linear.
have one : \sum_v p v * (w == v)%:R = p w.
  rewrite (bigD1 w) //= eqxx mulr1 big1 ?addr0 // => v; rewrite eq_sym => /negbTE ->; exact: mulr0.
rewrite /processed (eq_bigr _ (fun v _ => split v)) big_split /= one sum_two => [|v vi vj]; last first.
  by rewrite /moved (negbTE vi) (negbTE vj) mulr0 mul0r.
have ji : (j == i) = false by rewrite eq_sym (negbTE ij).
clear split one; rewrite /moved /other !eqxx ji.
by move: (p i) (p j) (p w) (w == i)%:R (w == j)%:R => x y z s t; linear.
Qed.
End Exchange.

(* ---- how much of two answers to exchange ---- *)

(* p stays as it is, and x moves from c to c' *)
Lemma shares (F : realFieldType) (p p' c c' q q' : F) : 0 <= p -> 0 <= p' -> 0 <= c' -> 0 <= q -> 0 <= q' ->
  q' * p <= q * p' -> q < c -> c' < q' -> exists a b, [/\ 0 <= a <= 1, 0 <= b <= 1, b * p' = a * p &
    a * c - b * c' = Num.min (c - q) (q' - c')].
Proof.
move=> p0 p0' c0' q0 q0' ratio qc cq; set x := Num.min _ _.
have [x0 x1 x2] : [/\ 0 < x, x <= c - q & x <= q' - c'].
  by rewrite /x; case: (leP (c - q) (q' - c')) => h; split; linear.
pose D := p' * c - p * c'.
have h1 : p' * q <= p' * (c - x) by apply: ler_wpmul2l => //; linear.
have h2 : p * (c' + x) <= p * q' by apply: ler_wpmul2l => //; linear.
have d1 : p' * x <= D by rewrite /D; have := ler_wpmul2l p0 (ltW cq); linear.
have d2 : p * x <= D by rewrite /D; have := ler_wpmul2l p0' (ltW qc); linear.
have [m0 m0'] : 0 <= p * x /\ 0 <= p' * x by split; apply: mulr_ge0 => //; apply: ltW.
case: (ltrP 0 D) => [Dpos|Dneg].
  exists (p' * x / D), (p * x / D); split.
  - by rewrite divr_ge0 ?ler_pdivr_mulr ?mul1r // ltW.
  - by rewrite divr_ge0 ?ler_pdivr_mulr ?mul1r // ltW.
  - by rewrite mulrAC [in RHS]mulrAC [p * x]mulrC [p' * x]mulrC; congr (_ / _); rewrite mulrAC.
  - have -> : p' * x / D * c - p * x / D * c' = x * (D / D) by rewrite {3}/D; linear.
    by rewrite divff ?mulr1 // gt_eqF.
have [e e'] : p * x = 0 /\ p' * x = 0 by split; apply/le_anti/andP; split=> //; linear.
have z (y : F) : y * x = 0 -> y = 0 by move/eqP; rewrite mulf_eq0 (gt_eqF x0) orbF => /eqP.
have c0 : 0 < c by linear.
exists (x / c), 0; rewrite (z _ e) (z _ e') !mulr0 mul0r subr0 divfK ?gt_eqF //; split=> //; last by rewrite lexx ler01.
by apply/andP; split; [apply: divr_ge0; apply: ltW|rewrite ler_pdivr_mulr // mul1r; linear].
Qed.

(* ---- chains of laws, each within u of the next ---- *)

Section Chains.
Variables (F : realFieldType) (n : nat) (u : F -> F).
Hypothesis su : shape u.
Notation V := 'I_n.+1.
Implicit Types p q : V -> F.

Definition chain (M : nat -> V -> F) := (forall k, law (M k)) /\ (forall k, within u (M k) (M k.+1)).

(* listed by falling likelihood ratio of q to p, as any two laws can be *)
Definition by_ratio p q := forall i j : V, (i < j)%N -> q j * p i <= q i * p j.

Lemma prefix_add (a : V -> F) (i j : V) x k :
  prefix (fun w => a w - x * ((w == i)%:R - (w == j)%:R)) k =
  prefix a k - x * ((i < k)%N%:R - (j < k)%N%:R).
Proof.
have at1 (v : V) : \sum_(w < n.+1 | (w < k)%N) (w == v)%:R = (v < k)%N%:R :> F.
  rewrite big_mkcond (bigD1 v) //= eqxx big1 ?addr0; first by case: ifP.
  by move=> w /negbTE ->; case: ifP.
by rewrite /prefix sumrB -mulr_sumr sumrB !at1.
Qed.

Lemma chain_settled t p q (M : nat -> V -> F) : law p -> law q -> by_ratio p q -> chain M -> M 0%N =1 p ->
  dominates (M t) q -> exists M', [/\ chain M', M' 0%N =1 p & M' t =1 q].
Proof.
move=> lp lq sorted; have [c] := ubnP #|[set v | M t v != q v]|; elim: c M => // c IH M small [lM wM] M0 dom.
pose a := M t; have [a0 a1] := lM t; have [q0 q1] := lq; have [p0 p1] := lp.
have sum0 : \sum_w (a w - q w) = 0 by rewrite sumrB a1 q1 subrr.
case: (pickP (fun j => a j < q j)) => [j0 hj0|none]; last first.
  exists M; split=> // v; apply/eqP; rewrite -subr_eq0; apply/eqP.
  by apply: (psumr_eq0P _ sum0) => // w _; rewrite subr_ge0 leNgt none.
(* the first answer that has too little, and one before it that has too much *)
case: (@arg_minnP _ j0 (fun j => a j < q j) (@nat_of_ord _) hj0) => j hj first_j.
have before (w : V) : (w < j)%N -> 0 <= a w - q w.
  by move=> wj; rewrite subr_ge0 leNgt; apply/negP => /first_j; rewrite leqNgt wj.
have gap k : prefix a k - prefix q k = \sum_(w < n.+1 | (w < k)%N) (a w - q w) by rewrite /prefix sumrB.
have [i [ij hi]] : exists i : V, (i < j)%N /\ q i < a i.
  case: (pickP (fun i : V => (i < j)%N && (q i < a i))) => [i /andP[ij hi]|no]; first by exists i.
  have z : prefix a j - prefix q j = 0.
    rewrite gap big1 // => w wj; apply/le_anti; rewrite before // subr_le0 leNgt andbT.
    by have := no w; rewrite wj /= => ->.
  have := dom j.+1 (ltn_ord j); rewrite (prefixS a) (prefixS q) => le.
  suff : q j <= a j by rewrite leNgt hj.
  by clear - z le; linear.
have [x [y [hx hy keep move_x]]] := shares (p0 i) (p0 j) (a0 j) (q0 i) (q0 j) (sorted _ _ ij) hi hj.
have ne : i != j by rewrite -val_eqE /= ltn_eqF.
have [[x0 x1] [y0 y1]] : (0 <= x /\ x <= 1) /\ (0 <= y /\ y <= 1) by split; apply/andP.
have sK := exchanged_stochastic i j x0 x1 y0 y1; set K := exchanged i j x y in sK.
have KE b w : processed K b w = b w + (y * b j - x * b i) * ((w == i)%:R - (w == j)%:R).
  exact: processed_exchanged.
set z := Num.min _ _ in move_x.
have KM w : processed K a w = a w - z * ((w == i)%:R - (w == j)%:R).
  by rewrite KE -move_x -opprB mulNr.
apply: (IH (fun k => processed K (M k))).
- have zi : z = a i - q i \/ z = q j - a j by rewrite /z; case: (leP (a i - q i) (q j - a j)); [left|right].
  have [v [vd vn]] : exists v, v \in [set v | a v != q v] /\ processed K a v = q v.
    have ji : (j == i) = false by rewrite eq_sym (negbTE ne).
    case: zi => ez; [exists i|exists j]; rewrite KM inE ez ?eqxx ?ji ?(negbTE ne).
      by split; [rewrite gt_eqF|rewrite subr0 mulr1 opprB addrCA subrr addr0].
    by split; [rewrite lt_eqF|rewrite sub0r mulrN1 opprK addrCA subrr addr0].
  rewrite ltnS in small; apply: leq_trans small; apply: proper_card; apply/properP; split; last first.
    by exists v => //; rewrite inE vn eqxx.
  apply/subsetP => w; rewrite !inE KM; case: (eqVneq w i) => [-> _|wi]; first by rewrite gt_eqF.
  case: (eqVneq w j) => [-> _|wj]; first by rewrite lt_eqF.
  by rewrite subrr mulr0 subr0.
- split=> k; first exact: processed_law.
  by apply: processed_within => //; apply: lM.
- move=> w; rewrite -(M0 w) KE !M0 keep subrr mul0r addr0 //.
- move=> k hk; rewrite (_ : prefix (processed K a) k = prefix a k - z * ((i < k)%N%:R - (j < k)%N%:R)); last first.
    by rewrite -prefix_add; apply: eq_bigr => w _; rewrite KM.
  have dk := dom k hk; case: (ltnP j k) => jk; first by rewrite (ltn_trans ij jk) subrr mulr0 subr0.
  case: (ltnP i k) => ik; last by rewrite subrr mulr0 subr0.
  rewrite subr0 mulr1.
  have zle : z <= a i - q i by rewrite /z le_minl lexx.
  have : a i - q i <= prefix a k - prefix q k.
    rewrite gap (bigD1 i) //= ler_addl; apply: sumr_ge0 => w /andP[wk _].
    by apply: before; apply: leq_trans jk.
  by clear - zle; linear.
Qed.

Lemma chain_exists t p q : law p -> law q -> by_ratio p q ->
  (forall k, (k <= n.+1)%N -> prefix q k <= iter t u (prefix p k)) ->
  exists M, [/\ chain M, M 0%N =1 p & M t =1 q].
Proof.
move=> lp lq sorted h; apply: (chain_settled lp lq sorted (M := fun k => iter k (T u) p)) => //.
  by split=> k; [apply: iter_T_law|rewrite iterS; apply: T_within; [|apply: iter_T_law]].
move=> k hk; case: k hk => [|k] hk; first by rewrite !prefix0.
by rewrite prefix_iter_T //; apply: h.
Qed.

(* on any graph: a and b are t steps apart, since a walk is no longer and h says that none is shorter *)
Section TwoNodes.
Variables (D : Type) (E : D -> D -> Prop) (h : D -> nat) (t : nat) (a b : D).
Hypotheses (ab : walk E t a b) (ha : h a = 0%N) (hb : h b = t)
  (near : forall x y, E x y -> (h x <= (h y).+1)%N /\ (h y <= (h x).+1)%N).

Definition possible p q := exists M, [/\ laws M, private_within u E M, M a =1 p & M b =1 q].

Theorem two_rows_needed p q S : possible p q -> prob q S <= iter t u (prob p S).
Proof.
move=> [M [lM pM Ma Mb]]; have e (c d : V -> F) : c =1 d -> prob c S = prob d S by move=> cd; apply: eq_bigr.
by rewrite -(e _ _ Ma) -(e _ _ Mb); apply: (node_bound su S lM pM ab).
Qed.

(* the prefixes by falling likelihood ratio are enough *)
Theorem two_rows_enough p q : law p -> law q -> by_ratio p q ->
  (forall k, (k <= n.+1)%N -> prefix q k <= iter t u (prefix p k)) -> possible p q.
Proof.
move=> lp lq sorted /(chain_exists lp lq sorted)[M [[lM wM] M0 Mt]].
exists (fun x => M (h x)); rewrite ha hb; split=> // x y /near[xy yx].
case: (ltngtP (h x) (h y)) => [lt|lt|->]; last by apply: within_refl.
  by have -> : h y = (h x).+1; [apply/eqP; rewrite eqn_leq yx|apply: wM].
by have -> : h x = (h y).+1; [apply/eqP; rewrite eqn_leq xy|apply/withinC/wM].
Qed.

Theorem two_rows p q : law p -> law q -> by_ratio p q ->
  possible p q <-> (forall S, prob q S <= iter t u (prob p S)).
Proof.
move=> lp lq sorted; split=> [m S|ev]; first exact: two_rows_needed.
by apply: two_rows_enough => // k _; rewrite !prefix_prob; apply: ev.
Qed.
End TwoNodes.
End Chains.
