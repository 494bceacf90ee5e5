(* Mechanism files that the library writes, proved private inside Coq by computing `check` of them; and one that is
   not: rows as one paper prints the operator.  GoldenTerms.v holds the files as terms.                           *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect all_algebra ssrZ zify.
From Iris Require Import Arithmetic Laws Fractions Checker Certificates GoldenTerms.
Import Order.TTheory GRing.Theory Num.Theory.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Golden.
Variable F : realFieldType.
Notation number := (@number F).

Definition promise_kept f :=
  forall rd, rd \in pairs f -> private (number rd.1) (number rd.2) (@neighbours f) (@mechanism F f).
Definition kept f := laws (@mechanism F f) /\ promise_kept f.
Definition refused f := laws (@mechanism F f) /\ ~ promise_kept f.

Lemma kept_if f : check f -> kept f.
Proof. by case/(check_correct F f). Qed.

(* the rows are laws if the file without its edges is accepted *)
Lemma refused_if f : check (File (pairs f) (width f) (rows f) [::]) ->
  all (fun e => (N.to_nat e.1 < size (rows f)) && (N.to_nat e.2 < size (rows f)))%N (edges f) ->
  check f = false -> refused f.
Proof.
case/(check_correct F (File _ _ _ _)) => -[wp wr _] lf _ /allP inside no; split=> // pf.
by have : check f = true; [apply/(check_correct F f); split=> //; split=> // e /inside /andP|rewrite no].
Qed.

Theorem geometric_kept : kept geometric. Proof. by apply: kept_if; vm_compute. Qed.
Theorem response_kept : kept response. Proof. by apply: kept_if; vm_compute. Qed.
Theorem rainbow_kept : kept rainbow. Proof. by apply: kept_if; vm_compute. Qed.
Theorem two_pairs_kept : kept two_pairs. Proof. by apply: kept_if; vm_compute. Qed.
Theorem distance_kept : kept distance. Proof. by apply: kept_if; vm_compute. Qed.
Theorem printed_refused : refused printed. Proof. by apply: refused_if; vm_compute. Qed.

(* its mean distance from the truth is 203/320, and that of no private mechanism is less *)
Theorem distance_best : at_most distance_goal (number distance_value) (@mechanism F distance) /\
  forall (M : input distance -> output distance -> F) t,
    laws M -> private_under M -> at_most distance_goal t M -> number distance_value <= t.
Proof.
have [|_ _ reached least] :=
  @certificate_correct F distance distance_goal distance_value distance_bound distance_prices.
  by vm_compute.
by split=> [|M t]; [apply/reached|apply: least].
Qed.
End Golden.
