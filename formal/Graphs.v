(* A graph whose nodes rank the answers: T^depth of a valid boundary is private, dominates every private
   mechanism with that boundary, and is the only one that does.  The graph may be infinite.            *)
From mathcomp Require Import all_ssreflect all_algebra fingroup perm.
From Iris Require Import Arithmetic Laws Shapes Operator RankOrder Depth.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Graphs.
Variables (F : realFieldType) (n : nat) (u : F -> F).
Hypothesis su : shape u.
Notation V := 'I_n.+1.
Variables (D : Type) (E : D -> D -> Prop) (f : D -> {perm V}).  (* f x k: the answer that x ranks k-th *)
Hypothesis E_symmetric : forall x y, E x y -> E y x.
Variable depth : D -> option nat.
Hypothesis depthP : is_depth E f depth.
Variable m : {perm V} -> V -> F.  (* the boundary law of every ranking, listed in rank order *)
Hypothesis m_law : forall c, law (m c).

Definition unranked (c : {perm V}) (p : V -> F) : V -> F := fun v => p ((c^-1)%g v).
Definition ranked (M : D -> V -> F) x : V -> F := fun k => M x (f x k).
Definition valid_boundary := forall x y, E x y -> f x <> f y ->
  within u (unranked (f x) (m (f x))) (unranked (f y) (m (f y))).
Hypothesis m_valid : valid_boundary.

(* where no boundary can be reached the truth may be told *)
Definition truth : V -> F := fun k => (k == ord0)%:R.
Definition best x : V -> F := if depth x is Some k then iter k (T u) (m (f x)) else truth.
Definition optimal x : V -> F := unranked (f x) (best x).
Definition has_boundary (M : D -> V -> F) := forall x, boundary E f x -> ranked M x =1 m (f x).

Lemma perm_bijective (c : {perm V}) : bijective c.
Proof. exact: (Bijective (permK c) (permKV c)). Qed.

Lemma truth_law : law truth.
Proof.
split=> [k|]; first by rewrite ler0n.
by rewrite (bigD1 ord0) //= big1 ?addr0 // => k /negbTE; rewrite /truth => ->.
Qed.

Lemma best_law x : law (best x).
Proof. by rewrite /best; case: (depth x) => [k|]; [apply: iter_T_law|apply: truth_law]. Qed.

Theorem optimal_laws : laws optimal.
Proof. by move=> x; apply: law_rename (best_law x); apply: perm_bijective. Qed.

Lemma ranked_optimal x : ranked optimal x =1 best x.
Proof. by move=> k; rewrite /ranked /optimal /unranked permK. Qed.

Theorem optimal_boundary : has_boundary optimal.
Proof. by move=> x bx k; rewrite ranked_optimal /best (depth_boundary depthP bx). Qed.

Theorem optimal_private : private_within u E optimal.
Proof.
move=> x y exy; case: (boolP (f x == f y)) => [/eqP fxy|/eqP fxy]; last first.
  rewrite /optimal /best (depth_boundary depthP (x := x)); last by exists y.
  rewrite (depth_boundary depthP (x := y)); last by exists x; split; [exact: E_symmetric|exact/nesym].
  exact: m_valid.
rewrite /optimal -fxy; apply: within_rename; first exact: perm_bijective.
have step k : within u (iter k (T u) (m (f x))) (iter k.+1 (T u) (m (f x))).
  by rewrite iterS; apply: T_within => //; apply: iter_T_law.
rewrite /best -fxy; case dx: (depth x) => [k|]; case dy: (depth y) => [j|].
- have [j' e1 l1] := depth_step depthP (E_symmetric exy) (esym fxy) dx.
  have [k' e2 l2] := depth_step depthP exy fxy dy.
  move: e1 e2; rewrite dx dy => -[ej] [ek]; subst j' k'.
  case: (ltngtP k j) => h.
  + by have -> : j = k.+1; [apply/eqP; rewrite eqn_leq l1|apply: step].
  + by have -> : k = j.+1; [apply/eqP; rewrite eqn_leq l2|apply/withinC/step].
  + by rewrite h; apply: within_refl => //; apply: iter_T_law.
- by have [j] := depth_step depthP (E_symmetric exy) (esym fxy) dx; rewrite dy.
- by have [j'] := depth_step depthP exy fxy dy; rewrite dx.
- by apply: within_refl => //; apply: truth_law.
Qed.

Lemma ranked_law M x : laws M -> law (ranked M x).
Proof. by move=> lM; apply: law_rename (lM x); apply: perm_bijective. Qed.

Theorem optimal_dominates (M : D -> V -> F) : laws M -> private_within u E M -> has_boundary M ->
  forall x, dominates (ranked optimal x) (ranked M x).
Proof.
move=> lM pM bM x k hk.
have -> : prefix (ranked optimal x) k = prefix (best x) k by apply: eq_bigr => i _; apply: ranked_optimal.
rewrite /best; have := depthP x; case: (depth x) => [t|] hx; last first.
  case: k hk => [|k] hk; first by rewrite !prefix0.
  have -> : prefix truth k.+1 = 1.
    by rewrite /prefix (bigD1 ord0) //= big1 ?addr0 // => i /andP[_ /negbTE]; rewrite /truth => ->.
  by case/andP: (prefix_bounds k.+1 (ranked_law x lM)).
case: hx => hx _; elim: hx k hk => {x t} [x bx|t x y exy fxy _ IH] k hk.
  by apply: ler_sum => i _; rewrite bM.
have near : within u (ranked M y) (ranked M x).
  rewrite /ranked fxy; apply: within_rename; first exact: perm_bijective.
  exact/withinC/pM.
apply: le_trans (T_dominates (ranked_law y lM) (ranked_law x lM) near hk) _.
rewrite iterS fxy; apply: (T_monotone su (iter_T_law su t (m_law _)) (ranked_law y lM)) => //; exact: IH.
Qed.

Theorem optimal_unique (M : D -> V -> F) : laws M -> private_within u E M -> has_boundary M ->
  (forall x, dominates (ranked M x) (ranked optimal x)) -> forall x, M x =1 optimal x.
Proof.
move=> lM pM bM h x v; rewrite -[v](permKV (f x)); set k := _ v.
apply: (prefix_eq (p := ranked M x) (q := ranked optimal x)) => j hj.
by apply/le_anti; rewrite optimal_dominates ?h.
Qed.

End Graphs.

(* for one pair (epsilon, delta) *)
Theorem optimal_epsilon_delta (F : realFieldType) (n : nat) (r d : F) (D : Type) (E : D -> D -> Prop)
    (f : D -> {perm 'I_n.+1}) depth m : 1 <= r -> 0 <= d -> (forall x y, E x y -> E y x) ->
  is_depth E f depth -> (forall c, law (m c)) ->
  (forall x y, E x y -> f x <> f y ->
     close r d (unranked (f x) (m (f x))) (unranked (f y) (m (f y)))) ->
  let M := optimal (u r d) f depth m in
  [/\ laws M, private r d E M & forall M', laws M' -> private r d E M' -> has_boundary E f m M' ->
        forall x, dominates (ranked f M x) (ranked f M' x)].
Proof.
move=> r1 d0 symE depthP m_law m_valid M; have su := u_shape r1 d0.
have lu c : law (unranked c (m c)) by apply: law_rename (m_law c); apply: perm_bijective.
have val : valid_boundary (u r d) E f m by move=> x y e ne; apply/close_within => //; apply: m_valid.
have lM : laws M by apply: optimal_laws.
split=> // [x y e|M' lM' pM' bM'].
  apply/(close_within r1 d0 (lM x) (lM y)); exact: (optimal_private su symE depthP m_law val).
apply: (optimal_dominates su depthP m_law) => // x y e; apply/(close_within r1 d0) => //; exact: pM'.
Qed.
