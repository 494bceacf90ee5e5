(* Linear arithmetic over every ordered field.
   Coq's own `micromega` finds, for inequalities of polynomials, a witness (a sum of products of them that is
   absurd) and has a proved checker of witnesses for any ordered ring.  This file is the bridge: terms are read
   into `expr`, whose value is the term itself, and the checker's theorem is stated over mathcomp's fields.
     linear     closes what follows linearly from the context (`<=`, `<`, `=`, also inside `&&` and `/\`)
     nonlinear  also multiplies pairs of hypotheses                                                          *)
From Coq Require Import QArith.
From Coq.micromega Require Import OrderedRing RingMicromega EnvRing Refl Tauto Lqa.
From mathcomp Require Import all_ssreflect all_algebra ssrZ zify.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Inductive expr :=
  | Var of positive | Numeral of nat | Inverse of nat
  | Add of expr & expr | Opp of expr | Mul of expr & expr | Power of expr & nat | Times of expr & nat.
Inductive claim := Le of expr & expr | Lt of expr & expr | Eq of expr & expr.

(* what micromega reads *)
Definition whole (n : nat) : Q := Qmake (Z.of_nat n) 1.
Definition part (n : nat) : Q := Qmake 1 (Pos.of_succ_nat n).
Fixpoint to_pexpr (e : expr) : PExpr Q :=
  match e with
  | Var i => PEX i
  | Numeral n => PEc (whole n)
  | Inverse n => PEc (if n is n.+1 then part n else whole 0)
  | Add a b => PEadd (to_pexpr a) (to_pexpr b)
  | Opp a => PEopp (to_pexpr a)
  | Mul a b => PEmul (to_pexpr a) (to_pexpr b)
  | Power a n => PEpow (to_pexpr a) (N.of_nat n)
  | Times a n => PEmul (PEc (whole n)) (to_pexpr a)
  end.
Definition to_formula (c : claim) : Formula Q :=
  match c with
  | Le a b => Build_Formula (to_pexpr a) OpLe (to_pexpr b)
  | Lt a b => Build_Formula (to_pexpr a) OpLt (to_pexpr b)
  | Eq a b => Build_Formula (to_pexpr a) OpEq (to_pexpr b)
  end.
Fixpoint absurd (hs : seq claim) : BFormula (Formula Q) isProp :=
  if hs is h :: hs then IMPL (A isProp (to_formula h) tt) None (absurd hs) else FF isProp.

Section Field.
Variable F : realFieldType.

Definition of_Z (z : Z) : F := (int_of_Z z)%:~R.
Definition of_Q (q : Q) : F := of_Z (Qnum q) / of_Z (Zpos (Qden q)).

Lemma of_ZD x y : of_Z (Z.add x y) = of_Z x + of_Z y.
Proof. by rewrite /of_Z -rmorphD; congr _%:~R; lia. Qed.
Lemma of_ZM x y : of_Z (Z.mul x y) = of_Z x * of_Z y.
Proof. by rewrite /of_Z -rmorphM; congr _%:~R; lia. Qed.
Lemma of_ZN x : of_Z (Z.opp x) = - of_Z x.
Proof. by rewrite /of_Z -rmorphN; congr _%:~R; lia. Qed.
Lemma of_Z_le x y : (of_Z x <= of_Z y) = Z.leb x y.
Proof. by rewrite /of_Z ler_int; lia. Qed.
Lemma of_Z_inj : injective of_Z.
Proof. by move=> x y /eqP; rewrite eq_le !of_Z_le; lia. Qed.
Lemma of_Z_gt0 p : 0 < of_Z (Zpos p).
Proof. by rewrite lt_neqAle -[0]/(of_Z 0) of_Z_le (inj_eq of_Z_inj); lia. Qed.
Lemma of_Z_neq0 p : of_Z (Zpos p) != 0.
Proof. exact/lt0r_neq0/of_Z_gt0. Qed.
Hint Resolve of_Z_gt0 of_Z_neq0 : core.
Lemma of_Z_nat n : of_Z (Z.of_nat n) = n%:R.
Proof. by rewrite /of_Z (_ : int_of_Z _ = n :> int) ?pmulrn //; lia. Qed.

Lemma of_Q_cross p q : (of_Q p = of_Q q) <-> of_Z (Z.mul (Qnum p) (QDen q)) = of_Z (Z.mul (Qnum q) (QDen p)).
Proof.
rewrite !of_ZM /of_Q; split=> [/eqP|/eqP] h; apply/eqP; first by rewrite eqr_div in h.
by rewrite eqr_div.
Qed.

Lemma field_ordered : SOR (0 : F) 1 +%R *%R (fun x y => x - y) -%R eq
  (fun x y : F => x <= y) (fun x y : F => x < y).
Proof.
constructor.
- exact: RelationClasses.eq_equivalence.
- by move=> x y -> u v ->.
- by move=> x y -> u v ->.
- by move=> x y ->.
- by move=> x y -> u v ->.
- by move=> x y -> u v ->.
- by split=> //; [exact: add0r|exact: addrC|exact: addrA|exact: mul1r|exact: mulrC|exact: mulrA
                 |exact: mulrDl|exact: subrr].
- exact: lexx.
- by move=> x y h k; apply/le_anti; rewrite h k.
- by move=> x y z; apply: le_trans.
- by move=> x y; rewrite lt_neqAle; split=> [/andP[/eqP ? ?]|[-> /eqP ->]].
- by move=> x y; case: (ltgtP x y) => [?|?|->]; [left|right; right|right; left].
- by move=> x y z; rewrite ler_add2l.
- by move=> x y; apply: mulr_gt0.
- by move/eqP; rewrite eq_sym oner_eq0.
Qed.

Lemma field_numbers : SORaddon (0 : F) 1 +%R *%R (fun x y => x - y) -%R eq (fun x y : F => x <= y)
  (Qmake 0 1) (Qmake 1 1) Qplus Qmult Qminus Qopp Qeq_bool Qle_bool of_Q
  N.to_nat (fun x n => x ^+ n).
Proof.
split.
- split.
  + by rewrite /of_Q mul0r.
  + by apply: divff; rewrite oner_eq0.
  + by move=> [a b] [c d]; rewrite /of_Q /= Pos2Z.inj_mul of_ZD !of_ZM addf_div.
  + by move=> [a b] [c d]; rewrite /of_Q /= Pos2Z.inj_mul of_ZD !of_ZM of_ZN -mulNr addf_div.
  + by move=> [a b] [c d]; rewrite /of_Q /= Pos2Z.inj_mul !of_ZM mulf_div.
  + by move=> [a b]; rewrite /of_Q /= of_ZN mulNr.
  + by move=> p q /Qeq_bool_eq h; apply/of_Q_cross; congr of_Z; exact: h.
- split=> x [|n] //=; elim: n => [n IH|n IH|] //=; rewrite -IH -exprD -?exprS; congr (x ^+ _); lia.
- by move=> p q /Qeq_bool_neq h /of_Q_cross /of_Z_inj.
- move=> [a b] [c d] /Qle_bool_imp_le; rewrite /Qle /of_Q /= => h.
  by rewrite ler_pdivr_mulr // mulrAC ler_pdivl_mulr // -!of_ZM of_Z_le; lia.
Qed.

Definition value_pexpr := eval_pexpr +%R *%R (fun x y => x - y) -%R of_Q N.to_nat (fun x n => x ^+ n).
Definition value_formula :=
  eval_formula +%R *%R (fun x y => x - y) -%R eq (fun x y : F => x <= y) (fun x y : F => x < y) of_Q
    N.to_nat (fun x n => x ^+ n).
Definition value_normal :=
  eval_nformula 0 +%R *%R eq (fun x y : F => x <= y) (fun x y : F => x < y) of_Q.

Definition checker (hs : seq claim) (w : seq (Psatz Q)) : bool :=
  @tauto_checker (Formula Q) (NFormula Q) unit
    (check_inconsistent (Qmake 0 1) Qeq_bool Qle_bool) (nformula_plus_nformula (Qmake 0 1) Qplus Qeq_bool)
    (@cnf_normalise Q (Qmake 0 1) (Qmake 1 1) Qplus Qmult Qminus Qopp Qeq_bool Qle_bool unit)
    (@cnf_negate Q (Qmake 0 1) (Qmake 1 1) Qplus Qmult Qminus Qopp Qeq_bool Qle_bool unit) (Psatz Q)
    (fun cl => check_normalised_formulas (Qmake 0 1) (Qmake 1 1) Qplus Qmult Qeq_bool Qle_bool (List.map fst cl))
    (absurd hs) w.

(* what a claim says of the field's elements *)
Fixpoint value (env : positive -> F) (e : expr) : F :=
  match e with
  | Var i => env i
  | Numeral n => n%:R
  | Inverse n => n%:R^-1
  | Add a b => value env a + value env b
  | Opp a => - value env a
  | Mul a b => value env a * value env b
  | Power a n => value env a ^+ n
  | Times a n => value env a *+ n
  end.
Definition holds (env : positive -> F) (c : claim) : Prop :=
  match c with
  | Le a b => value env a <= value env b
  | Lt a b => value env a < value env b
  | Eq a b => value env a = value env b
  end.
Fixpoint refuted env (hs : seq claim) : Prop := if hs is h :: hs then holds env h -> refuted env hs else False.

Lemma to_pexprP env e : value_pexpr env (to_pexpr e) = value env e.
Proof.
have wholeE n : of_Q (whole n) = n%:R by rewrite /of_Q /= of_Z_nat divr1.
elim: e => //=.
- case=> [|n]; first by rewrite /= wholeE invr0.
  by rewrite -of_Z_nat /value_pexpr /= /of_Q /= (_ : of_Z 1 = 1) // mul1r.
- by move=> a <- b <-.
- by move=> a <-.
- by move=> a <- b <-.
- by move=> a <- n; congr (_ ^+ _); lia.
- by move=> a <- n; rewrite -mulr_natl -wholeE.
Qed.

Definition compare (o : Op2) (x y : F) : bool :=
  match o with
  | OpEq => x == y | OpNEq => x != y | OpLe => x <= y | OpGe => y <= x | OpLt => x < y | OpGt => y < x
  end.
Definition value_as env (k : kind) (f : Formula Q) : rtyp k :=
  match k with
  | isProp => value_formula env f
  | isBool => compare (Fop f) (value_pexpr env (Flhs f)) (value_pexpr env (Frhs f))
  end.

Lemma value_asP env k f : hold k (value_as env k f) <-> value_formula env f.
Proof.
case: k => //=; case: f => a [] b; rewrite /value_formula /value_pexpr //=; first by split=> /eqP.
by split=> /eqP.
Qed.

Theorem checker_sound hs w : checker hs w -> forall env, refuted env hs.
Proof.
move=> hw env; have : eval_bf (value_as env) (absurd hs).
  move: env; move: hw; rewrite /checker; move: (absurd hs) w => {hs} f w.
  apply tauto_checker_sound with (eval := value_as) (eval' := value_normal).
  - by move=> e d; apply: (eval_nformula_dec field_ordered).
  - by move=> [p o] h e; apply (check_inconsistent_sound field_ordered field_numbers).
  - move=> t t' u h e d d'; move: d d' h; apply (nformula_plus_nformula_correct field_ordered field_numbers).
  - move=> e b t tg h; apply/value_asP; eapply (cnf_normalise_correct field_ordered field_numbers); exact: h.
  - move=> e b t tg h; rewrite hold_eNOT value_asP; eapply (cnf_negate_correct field_ordered field_numbers); exact: h.
  - move=> t v h e; rewrite /eval_tt (make_impl_map (value_normal e)) //.
    by apply (checker_nf_sound field_ordered field_numbers) with (cm := v).
elim: hs {hw} => //= h hs IH k hh; apply: IH; apply: k.
by case: h hh => a b /=; rewrite -!to_pexprP.
Qed.
End Field.

(* ---- the tactics ---- *)

(* the variable that stands for an atom; atoms are a list, later ones in front *)
Fixpoint nth_atom (T : Type) (x : T) (env : seq T) (i : positive) : T :=
  match env with
  | [::] => x
  | y :: env => if i is xH then y else nth_atom x env (Pos.pred i)
  end.

(* the same term, but for how mathcomp's structures are inferred *)
Ltac same x y :=
  first
  [ constr_eq x y
  | lazymatch x with ?f ?a => lazymatch y with ?g ?b => same f g; same a b end end
  | let T := type of x in
    first [ is_const T | is_ind T | lazymatch T with Order.POrder.type _ => idtac | Order.Lattice.type _ => idtac end ];
    unify x y ].
Ltac place x env :=
  lazymatch env with
  | ?y :: ?env =>
    match goal with
    | _ => let done := match goal with _ => same x y end in constr:(xH)
    | _ => let i := place x env in eval compute in (Pos.succ i)
    end
  end.
(* atoms of a term, added to those found before *)
Ltac atoms x env :=
  let other _ :=
    match goal with
    | _ => let i := place x env in env
    | _ => constr:(x :: env)
    end in
  lazymatch x with
  | (?a + ?b) => let env := atoms a env in atoms b env
  | (- ?a) => atoms a env
  | (?a * ?b) => let env := atoms a env in atoms b env
  | (?a ^+ ?n) => let n := eval compute in n in lazymatch isnum n with true => atoms a env | false => other tt end
  | (?a *+ ?n) => let n := eval compute in n in lazymatch isnum n with true => atoms a env | false => other tt end
  | ?a^-1 => lazymatch a with 1 *+ ?n => lazymatch isnum n with true => env | false => other tt end | _ => other tt end
  | 0 => env
  | 1 => env
  | _ => other tt
  end
with isnum n :=
  lazymatch n with
  | O => constr:(true)
  | S ?m => isnum m
  | _ => constr:(false)
  end.

Ltac read env x :=
  let other _ := let i := place x env in constr:(Var i) in
  lazymatch x with
  | (?a + ?b) => let a := read env a in let b := read env b in constr:(Add a b)
  | (- ?a) => let a := read env a in constr:(Opp a)
  | (?a * ?b) => let a := read env a in let b := read env b in constr:(Mul a b)
  | (?a ^+ ?n) =>
    let n := eval compute in n in
    lazymatch isnum n with true => let a := read env a in constr:(Power a n) | false => other tt end
  | (1 *+ ?n) =>
    let n := eval compute in n in
    lazymatch isnum n with true => constr:(Numeral n) | false => other tt end
  | (?a *+ ?n) =>
    let n := eval compute in n in
    lazymatch isnum n with true => let a := read env a in constr:(Times a n) | false => other tt end
  | ?a^-1 =>
    lazymatch a with 1 *+ ?n => lazymatch isnum n with true => constr:(Inverse n) | false => other tt end
    | _ => other tt end
  | 0 => constr:(Numeral 0%N)
  | 1 => constr:(Numeral 1%N)
  | _ => other tt
  end.

Ltac claim_atoms T env :=
  lazymatch T with
  | is_true (?a <= ?b) => let env := atoms a env in atoms b env
  | is_true (?a < ?b) => let env := atoms a env in atoms b env
  | ?a = ?b => let env := atoms a env in atoms b env
  end.
Ltac all_atoms G env :=
  lazymatch G with
  | ?T -> ?G => let env := claim_atoms T env in all_atoms G env
  | False => env
  end.
Ltac claim_of env T :=
  lazymatch T with
  | is_true (?a <= ?b) => let a := read env a in let b := read env b in constr:(Le a b)
  | is_true (?a < ?b) => let a := read env a in let b := read env b in constr:(Lt a b)
  | ?a = ?b => let a := read env a in let b := read env b in constr:(Eq a b)
  end.
Ltac all_claims env G :=
  lazymatch G with
  | ?T -> ?G => let c := claim_of env T in let cs := all_claims env G in constr:(c :: cs)
  | False => constr:(@nil claim)
  end.

Lemma not_lt (F : realFieldType) (x y : F) : (y < x -> False) -> x <= y.
Proof. by move=> h; rewrite leNgt; apply/negP. Qed.
Lemma not_le (F : realFieldType) (x y : F) : (y <= x -> False) -> x < y.
Proof. by move=> h; rewrite ltNge; apply/negP. Qed.
Lemma both_le (F : realFieldType) (x y : F) : x <= y -> y <= x -> x = y.
Proof. by move=> h k; apply/le_anti; rewrite h. Qed.
Lemma not_leE (F : realFieldType) (x y : F) : ~~ (x <= y) -> y < x.
Proof. by rewrite -ltNge. Qed.
Lemma not_ltE (F : realFieldType) (x y : F) : ~~ (x < y) -> y <= x.
Proof. by rewrite -leNgt. Qed.

(* `case: h` would keep a section's hypothesis, to be split again and again; `revert` takes it out of the context *)
Ltac split_hypotheses :=
  repeat match goal with
  | h : is_true (andb _ _) |- _ => let a := fresh in let b := fresh in revert h; case/andP=> a b
  | h : and _ _ |- _ => let a := fresh in let b := fresh in revert h; case=> a b
  | h : and3 _ _ _ |- _ => let a := fresh in let b := fresh in let c := fresh in revert h; case=> a b c
  | h : is_true (_ == _) |- _ => revert h; move/eqP=> h
  | h : is_true (~~ (_ <= _)) |- _ => move/not_leE in h
  | h : is_true (~~ (_ < _)) |- _ => move/not_ltE in h
  end.

Ltac in_field F a := let T := type of a in unify T (Num.RealField.sort F).

(* bring what is known of F in front of the goal False *)
Ltac bring F :=
  repeat match goal with
  | h : is_true (?a <= _) |- _ => in_field F a; revert h
  | h : is_true (?a < _) |- _ => in_field F a; revert h
  | h : ?a = _ |- _ => in_field F a; revert h
  end.

Ltac refute_in F find :=
  split_hypotheses; bring F;
  lazymatch goal with |- ?G =>
    let env := all_atoms G constr:(@nil (Num.RealField.sort F)) in
    let hs := all_claims env G in
    let ff := eval compute in (absurd hs) in
    let w := fresh "w" in
    find w ff;
    change (refuted (nth_atom (0 : Num.RealField.sort F) env) hs);
    exact (@checker_sound F hs w (eq_refl true <: checker hs w = true) (nth_atom 0 env))
  end.

Ltac field_of a find :=
  let T := type of a in
  let F := open_constr:(_ : realFieldType) in
  unify (Num.RealField.sort F) T;
  find F.

Ltac prove_by find :=
  lazymatch goal with
  | |- is_true (andb _ _) => apply/andP; split; prove_by find
  | |- is_true true => exact: isT
  | |- and _ _ => split; prove_by find
  | |- and3 _ _ _ => split; prove_by find
  | |- ?a = _ => field_of a ltac:(fun F => refine (@both_le F _ _ _ _); prove_by find)
  | |- is_true (_ == _) => apply/eqP; prove_by find
  | |- is_true (?a <= _) => field_of a ltac:(fun F => refine (@not_lt F _ _ _); intro; refute_in F find)
  | |- is_true (?a < _) => field_of a ltac:(fun F => refine (@not_le F _ _ _); intro; refute_in F find)
  | |- is_true (~~ _) => apply/negP => ?; prove_by find
  | |- not _ => intro; prove_by find
  | |- False =>
    split_hypotheses;
    match goal with
    | h : is_true (?a <= _) |- _ => field_of a ltac:(fun F => refute_in F find)
    | h : is_true (?a < _) |- _ => field_of a ltac:(fun F => refute_in F find)
    | h : ?a = _ |- _ => field_of a ltac:(fun F => refute_in F find)
    end
  end.

Ltac find_linear w ff := wlra_Q w ff.
Ltac find_nonlinear w ff := wnra_Q w ff.
Ltac linear := intros; prove_by find_linear.
Ltac nonlinear := intros; prove_by find_nonlinear.

Section Examples.
Variable F : realFieldType.
Variable r : F.
Hypothesis r1 : 1 <= r.
Goal forall x y z : F, x <= y -> 0 <= z <= 1 -> x <= y + 2%:R * z /\ x / 2%:R + x / 2%:R = x + 0.
Proof. linear. Qed.
Goal forall s d : F, 0 <= s -> 0 <= d -> s <= r * s + d.
Proof. nonlinear. Qed.
Goal forall s d : F, s + d = d -> s = 0. Proof. linear. Qed.
Goal forall s d : F, 0 <= s -> (s + d) ^+ 2 = s ^+ 2 + d ^+ 2 + 2%:R * s * d.
Proof. linear. Qed.
Goal forall x : F, x <= 1. Proof. Fail linear. Abort.
Goal 0 < r. Proof. linear. Qed.
Variables x y z : F.
Hypothesis xy : 0 <= x <= y.
Hypothesis yz : x <= y /\ y == z.
Let y0 : 0 <= y. Proof. linear. Qed.
Goal x <= z. Proof. linear. Qed.
Hypothesis zx : z == x.
Goal y = x. Proof. linear. Qed.
End Examples.
