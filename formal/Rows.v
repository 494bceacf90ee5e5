(* The operator T on fractions, rows at a depth, and whole designs on a graph: oracles for designs by depth. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra fingroup perm ssrZ zify.
From Iris Require Import Arithmetic Fractions Laws Shapes Operator RankOrder Depth Layers Graphs Oracles.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

(* u for several pairs (ratio, delta) at once *)
Definition step_all (pairs : seq (fraction * fraction)) (s : fraction) :=
  foldr (fun rd x => least (step rd.1 rd.2 s) x) unit pairs.
(* each prefix sum raised, and what this adds to the one before *)
Fixpoint raise (f : fraction -> fraction) (sum before : fraction) (row : seq fraction) : seq fraction :=
  if row is x :: row then
    let sum := add sum x in let after := f sum in sub after before :: raise f sum after row
  else [::].
Definition row_at pairs depth row := iter depth (raise (step_all pairs) zero zero) row.

(* a row of a design at a node: at its depth, its class's law, whose entries belong to the answers of its ranking *)
Definition certain (row : seq fraction) := if row is x :: row then unit :: [seq zero | _ <- row] else [::].
Definition placed (ranking : seq nat) (row : seq fraction) :=
  [seq nth zero row (find (fun w => eqn w v) ranking) | v <- iota 0 (size row)].
Definition design pairs size edges classes rankings laws : seq (seq fraction) :=
  let ds := depths size edges classes in
  [seq let k := nth 0 ds x in let c := nth 0 classes x in
       let law := nth [::] laws c in
       placed (nth [::] rankings c) (if k < size then row_at pairs k law else certain law) | x <- iota 0 size].

Local Open Scope ring_scope.

Section Meaning.
Variable F : realFieldType.
Notation number := (@number F).

Section Raised.
Variables (g : F -> F) (f : fraction -> fraction).
Hypotheses (fp : forall s, proper s -> proper (f s)) (fg : forall s, proper s -> number (f s) = g (number s)).
Notation entry row := (fun i => number (nth zero row i)).

Lemma proper_raise s b row : proper s -> proper b -> all proper row -> all proper (raise f s b row).
Proof.
elim: row s b => //= x row IH s b ps pb /andP[px pr]; have pa := proper_add ps px.
by rewrite proper_sub ?fp //= IH ?fp.
Qed.

Lemma size_raise s b row : size (raise f s b row) = size row.
Proof. by elim: row s b => //= x row IH s b; rewrite IH. Qed.

Lemma nth_raise s b row i : proper s -> proper b -> all proper row -> (i < size row)%N ->
  number (nth zero (raise f s b row) i) = g (number s + \sum_(j < i.+1) number (nth zero row j))
    - (if i is 0%N then number b else g (number s + \sum_(j < i) number (nth zero row j))).
Proof.
elim: row s b i => //= x row IH s b i ps pb /andP[px pr] hi; have pa := proper_add ps px.
case: i hi => [|i] hi; first by rewrite big_ord1 /= number_sub ?fp // fg // number_add.
have e k : number s + \sum_(j < k.+1) number (nth zero (x :: row) j) =
           number s + number x + \sum_(j < k) number (nth zero row j) by rewrite big_ord_recl addrA.
by rewrite /= IH ?fp // !e number_add //; case: i hi => [|i] hi; rewrite ?fg ?number_add ?big_ord0 ?addr0.
Qed.

Variable n : nat.
Notation V := 'I_n.+1.

Theorem raise_correct row : all proper row -> size row = n.+1 ->
  (fun i : V => number (nth zero (raise f zero zero row) i)) =1 T g (fun i : V => number (nth zero row i)).
Proof.
move=> pr sr i; rewrite nth_raise ?sr // number0 !add0r /T.
have e k : (k <= n.+1)%N ->
    \sum_(j < k) number (nth zero row j) = prefix (fun i : V => number (nth zero row i)) k.
  by move=> kn; rewrite /prefix (big_ord_widen _ (fun j => number (nth zero row j)) kn).
by rewrite (e i.+1) //; case: i => -[|i] hi //=; rewrite e // ltnW.
Qed.

Lemma T_eq (p q : V -> F) : p =1 q -> T g p =1 T g q.
Proof.
move=> h i; have e k : prefix p k = prefix q k by apply: eq_bigr.
by rewrite /T /raised !e; case: (nat_of_ord i).
Qed.

Lemma iter_raise_correct k row : all proper row -> size row = n.+1 ->
  (fun i : V => number (nth zero (iter k (raise f zero zero) row) i)) =1
  iter k (T g) (fun i : V => number (nth zero row i)).
Proof.
move=> pr sr; have [pk sk] : all proper (iter k (raise f zero zero) row) /\
    size (iter k (raise f zero zero) row) = n.+1.
  by elim: k => //= k [pk sk]; split; [apply: proper_raise|rewrite size_raise].
elim: k pk sk => [|k IH] // _ _ i.
have [pk sk] : all proper (iter k (raise f zero zero) row) /\ size (iter k (raise f zero zero) row) = n.+1.
  by elim: (k) => //= j [pj sj]; split; [apply: proper_raise|rewrite size_raise].
by rewrite !iterS raise_correct //; apply: T_eq; apply: IH.
Qed.

End Raised.

(* what pairs must be for their operator to be one *)
Definition are_pairs (pairs : seq (fraction * fraction)) := forall rd, rd \in pairs ->
  [/\ proper rd.1, proper rd.2, 1 <= number rd.1 & 0 <= number rd.2].
Definition u_all (pairs : seq (fraction * fraction)) (s : F) :=
  foldr (fun rd x => Num.min (u (number rd.1) (number rd.2) s) x) 1 pairs.

Lemma step_all_both pairs s : are_pairs pairs -> proper s ->
  proper (step_all pairs s) /\ number (step_all pairs s) = u_all pairs (number s).
Proof.
move=> h ps; elim: pairs h => [|rd pairs IH] h; first by split; last exact: number1.
have [p1 p2 r1 _] := h rd (mem_head _ _); have r0 : 0 < number rd.1 by linear.
have [|pt et] := IH; first by move=> x xs; apply: h; rewrite inE xs orbT.
have pp := proper_step p1 p2 r0 ps; rewrite /step_all /= -!/(step_all _ _).
by split; [apply: proper_least|rewrite number_least // (step_correct p1 p2 r0) // et].
Qed.

Theorem step_all_correct pairs s : are_pairs pairs -> proper s ->
  number (step_all pairs s) = u_all pairs (number s).
Proof. by move=> h ps; have [] := step_all_both h ps. Qed.

Theorem u_all_shape pairs : are_pairs pairs -> shape (u_all pairs).
Proof.
elim: pairs => [|rd pairs IH] h; first by split=> *; rewrite /u_all /=; linear.
have [_ _ r1 d0] := h rd (mem_head _ _); apply: shape_min; first exact: u_shape.
by apply: IH => x xs; apply: h; rewrite inE xs orbT.
Qed.

Theorem row_at_correct n pairs k row : are_pairs pairs -> all proper row -> size row = n.+1 ->
  (fun i : 'I_n.+1 => number (nth zero (row_at pairs k row) i)) =1
  iter k (T (u_all pairs)) (fun i : 'I_n.+1 => number (nth zero row i)).
Proof. by move=> h pr sr; apply: iter_raise_correct => // s ps; have [] := step_all_both h ps. Qed.

(* ---- a whole design ---- *)

Section Design.
Variables (n nodes : nat) (pairs : seq (fraction * fraction)) (edges : seq (nat * nat)).
Variables (classes : seq nat) (rankings : seq (seq nat)) (given : seq (seq fraction)).
Notation V := 'I_n.+1.
Notation node := 'I_nodes.
Variables (f : node -> {perm V}) (m : {perm V} -> V -> F).
Hypotheses (pairsP : are_pairs pairs) (inside : all (fun e => (e.1 < nodes) && (e.2 < nodes))%N edges).
(* the lists say what the functions of Graphs.v are *)
Hypotheses (ranks : forall (x : node) (k : V), nth 0%N (nth [::] rankings (class classes x)) k = f x k :> nat)
  (ranked : forall x : node, size (nth [::] rankings (class classes x)) = n.+1)
  (apart : forall x y : node, (f x == f y) = (class classes x == class classes y))
  (lists : forall x : node,
     size (nth [::] given (class classes x)) = n.+1 /\ all proper (nth [::] given (class classes x)))
  (says : forall (x : node) (k : V), number (nth zero (nth [::] given (class classes x)) k) = m (f x) k).

Lemma is_depth_f : is_depth (fun x y => is_true (joined edges x y)) f (@depth_of nodes edges classes).
Proof.
apply: (is_depth_class _ (depths_correct classes inside)) => x y; rewrite /class_of.
by split=> /eqP w; apply/eqP; rewrite ?apart // -apart.
Qed.

Theorem design_correct (x : node) (v : V) :
  number (nth zero (nth [::] (design pairs nodes edges classes rankings given) x) v) =
  optimal (u_all pairs) f (@depth_of nodes edges classes) m x v.
Proof.
rewrite /design (nth_nodes _ _ x) -/(class classes x) /optimal /unranked /best /depth_of.
have [sl pl] := lists x; set law := nth [::] given _ in sl pl *.
set ranking := nth [::] rankings _; set depth := nth 0%N (depths _ _ _) x.
have place row : size row = n.+1 -> nth zero (placed ranking row) v = nth zero row ((f x)^-1%g v).
  move=> sr; rewrite /placed sr (nth_nodes _ _ v); congr nth.
  have sk : size ranking = n.+1 := ranked x; have kE : nth 0%N ranking ((f x)^-1%g v) = v by rewrite ranks permKV.
  have hs : has (fun w => eqn w v) ranking.
    by apply/(has_nthP 0%N); exists ((f x)^-1%g v); rewrite ?sk // kE; apply/eqnP.
  have fl : (find (fun w => eqn w v) ranking < n.+1)%N by have := hs; rewrite has_find sk.
  have /eqnP := nth_find 0%N hs; rewrite -[find _ _]/(nat_of_ord (Ordinal fl)) ranks => /val_inj e.
  rewrite -[LHS]/(nat_of_ord (Ordinal fl)) (_ : Ordinal fl = (f x)^-1%g v) //.
  by apply: (@perm_inj _ (f x)); rewrite permKV.
case: ifP => _.
  have sr : size (row_at pairs depth law) = n.+1.
    by rewrite /row_at; elim: (depth) => //= k; rewrite size_raise.
  have rowE k : (fun i : V => number (nth zero (row_at pairs k law) i)) =1 iter k (T (u_all pairs)) (m (f x)).
    elim: k => [|k IH] i; first exact: says.
    by rewrite (row_at_correct k.+1 pairsP pl sl) !iterS; apply: T_eq => j; rewrite -(row_at_correct k pairsP pl sl).
  by rewrite place // rowE.
rewrite place; last by rewrite /certain -sl; case: (law) => //= *; rewrite size_map.
rewrite /truth /certain; case: (law) sl => // y ys [sy]; set k := _ v; case: k => -[|k] hk /=; first exact: number1.
by rewrite (nth_map zero) ?number0 ?sy.
Qed.
End Design.
End Meaning.
