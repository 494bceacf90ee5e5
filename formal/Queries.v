(* Depth of majority, at-least and at-most, for tables whose neighbours have one record more or less, or another.
   A table is a list of records, of which a condition says yes, no or nothing: nothing is counted beforehand.      *)
From mathcomp Require Import all_ssreflect zify.
From Iris Require Import Depth Shapes.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

(* how deep y stands on its side of n *)
Definition side y n := if n < y then y - n - 1 else n - y.

Section Sides.
Variables y n y' n' l : nat.

Lemma side_far : (n < y) <> (n' < y') -> y' + n <= l + (y + n') -> y + n' <= l + (y' + n) -> side y n < l.
Proof. by rewrite /side; case: (ltnP n y) => a; case: (ltnP n' y') => b c // d e; lia. Qed.

Lemma side_near : (n < y) = (n' < y') -> y' + n <= l + (y + n') -> y + n' <= l + (y' + n) ->
  side y n <= l + side y' n'.
Proof. by rewrite /side; case: (ltnP n y) => a; case: (ltnP n' y') => b c // d e; lia. Qed.

Hypothesis towards : if n < y then y + n' = l + (y' + n) else y' + n = l + (y + n').

Lemma side_towards : l <= side y n -> (n < y) = (n' < y') /\ side y n = l + side y' n'.
Proof.
by move: towards; rewrite /side; case: (ltnP n y) => a; case: (ltnP n' y') => b c d; try (split=> //); lia.
Qed.

Lemma side_over : side y n < l -> (n < y) <> (n' < y').
Proof. by move: towards; rewrite /side; case: (ltnP n y) => a; case: (ltnP n' y') => b c d //; lia. Qed.
End Sides.

Section Queries.
Variables (R : Type) (answer : R -> option bool).
Notation table := (seq R).
Implicit Types s t : table.

Definition add_remove t t' := exists s a s', (t = s ++ s' /\ t' = s ++ a :: s') \/ (t' = s ++ s' /\ t = s ++ a :: s').
Definition exchange t t' := exists s a b s', t = s ++ a :: s' /\ t' = s ++ b :: s'.

Definition says_yes a := if answer a is Some true then true else false.
Definition says_no a := if answer a is Some false then true else false.
Definition yes t := count says_yes t.
Definition no t := count says_no t.

Definition majority t := no t < yes t.
Definition at_least k t := k <= yes t.
Definition at_most k t := yes t <= k.

(* ---- what one record changes ---- *)

Lemma one_answer a : says_yes a + says_no a <= 1.
Proof. by rewrite /says_yes /says_no; case: (answer a) => [[]|]. Qed.

(* yes and the lead of yes over no move by so much at most *)
Definition moves k l t t' := [/\ yes t' <= k + yes t, yes t <= k + yes t',
  yes t' + no t <= l + (yes t + no t') & yes t + no t' <= l + (yes t' + no t)].

Lemma add_remove_moves t t' : add_remove t t' -> moves 1 1 t t'.
Proof.
by case=> s [a [s' h]]; have := one_answer a; rewrite /moves /yes /no;
  case: h => -[-> ->]; rewrite !count_cat /= => o; split; lia.
Qed.

Lemma exchange_moves t t' : exchange t t' -> [/\ moves 1 2 t t', 0 < size t & size t = size t'].
Proof.
case=> s [a [b [s' [-> ->]]]]; have := one_answer a; have := one_answer b; rewrite /moves /yes /no.
by rewrite !count_cat /= !size_cat /= => o o'; split; [split|..]; lia.
Qed.

Lemma added t a : exists2 t', add_remove t t' & yes t' = says_yes a + yes t /\ no t' = says_no a + no t.
Proof. by exists (a :: t) => //; exists [::], a, t; left. Qed.

(* a record of some kind, if there is one, and what stands around it *)
Lemma found (p : pred R) t : 0 < count p t -> exists s a s', p a /\ t = s ++ a :: s'.
Proof.
elim: t => //= x t IH; case px: (p x) => h; first by exists [::], x, t.
by have [s [a [s' [pa ->]]]] := IH h; exists (x :: s), a, s'.
Qed.

Lemma removed p t : 0 < count p t -> exists a, p a /\
  exists2 t', add_remove t t' & yes t = says_yes a + yes t' /\ no t = says_no a + no t'.
Proof.
case/found => s [a [s' [pa ->]]]; exists a; split=> //; exists (s ++ s'); first by exists s, a, s'; right.
by rewrite /yes /no !count_cat /=; lia.
Qed.

Lemma exchanged p t b : 0 < count p t -> exists a, p a /\
  exists t', [/\ exchange t t', size t = size t', says_yes a + yes t' = says_yes b + yes t &
                 says_no a + no t' = says_no b + no t].
Proof.
case/found => s [a [s' [pa ->]]]; exists a; split=> //; exists (s ++ b :: s').
by split; [exists s, a, b, s'|rewrite !size_cat|rewrite /yes !count_cat /=; lia|rewrite /no !count_cat /=; lia].
Qed.

(* ---- majority ---- *)

Notation lead_depth t := (side (yes t) (no t)).

Lemma exchange_somewhere (d : table -> nat) t j : 0 < size t ->
  (if size t is 0 then None else Some (d t)) = Some j <-> d t = j.
Proof. by case: (size t) => // m _; split=> [[]|->]. Qed.

Section Both.
Variables yea nay : R.
Hypotheses (y1 : says_yes yea) (n1 : says_no nay).

Let y0 : says_no yea = false. Proof. by have := one_answer yea; rewrite y1; case: says_no. Qed.
Let n0 : says_yes nay = false. Proof. by have := one_answer nay; rewrite n1; case: says_yes. Qed.

Theorem majority_add_remove : is_depth add_remove majority (fun t => Some (lead_depth t)).
Proof.
have towards t : exists2 t', add_remove t t' &
    if no t < yes t then yes t + no t' = 1 + (yes t' + no t) else yes t' + no t = 1 + (yes t + no t').
  case: (ltnP (no t) (yes t)) => _; [have [t' e []] := added t nay|have [t' e []] := added t yea];
    by rewrite ?y1 ?n1 ?y0 ?n0 => h h'; exists t'; rewrite // h h' /= ?add0n ?add1n ?addnS ?addSn.
apply: depth_local => [t|t t' k|t k].
- split=> [[t' [/add_remove_moves[_ _ a b] ne]]|[d0]].
    by congr Some; apply/eqP; rewrite -leqn0 -ltnS; apply: side_far ne a b.
  by have [t' e h] := towards t; exists t'; split=> //; apply: (side_over h); rewrite d0.
- move=> /add_remove_moves[_ _ a b] c [dk]; exists (lead_depth t) => //.
  by rewrite -dk; apply: side_near c a b.
- move=> [dk]; have [t' e h] := towards t; have [|c] := side_towards h; first by rewrite dk.
  by rewrite dk => -[dk']; exists t'; split=> //; rewrite -dk'.
Qed.

Theorem majority_exchange : is_depth exchange majority
  (fun t => if size t is 0 then None else Some (lead_depth t)./2).
Proof.
have towards t : no t < yes t \/ 0 < no t -> exists t', [/\ exchange t t', size t = size t' &
    if no t < yes t then yes t + no t' = 2 + (yes t' + no t) else yes t' + no t = 2 + (yes t + no t')].
  case: ltnP => [yt _|_ [//|nt]].
    have [a [pa [t' [e st]]]] := exchanged nay (leq_ltn_trans (leq0n _) yt).
    have := one_answer a; rewrite pa n0 n1; case: (says_no a) => // _ h h'; exists t'; split=> //.
    have [-> ->] : yes t = (yes t').+1 /\ no t' = (no t).+1 by []. by rewrite !addSn addnS.
  have [a [pa [t' [e st]]]] := exchanged yea nt.
  have := one_answer a; rewrite pa y0 y1; case: (says_yes a) => // _ h h'; exists t'; split=> //.
  have [-> ->] : no t = (no t').+1 /\ yes t' = (yes t).+1 by []. by rewrite !addSn addnS.
apply: depth_local => [t|t t' k|t k].
- split=> [[t' [/exchange_moves[[_ _ a b] t0 _] ne]]|].
    apply/(exchange_somewhere (fun t => (lead_depth t)./2)) => //.
    by have := side_far ne a b; case: (lead_depth t) => [|[|]].
  case: (posnP (size t)) => [->|t0] // /(exchange_somewhere (fun t => (lead_depth t)./2)) d0.
  have {}d0 : lead_depth t < 2 by move: (d0 t0); case: (lead_depth t) => [|[|]].
  case: (ltnP (no t) (yes t)) => m.
    by have [t' [e _ h]] := towards t (or_introl m); exists t'; split=> //; apply: (side_over h).
  case: (posnP (no t)) => nt; last first.
    by have [t' [e _ h]] := towards t (or_intror nt); exists t'; split=> //; apply: (side_over h).
  have yt : yes t = 0 by apply/eqP; rewrite -leqn0 -nt.
  have c : 0 < count (predC says_yes) t by have := count_predC says_yes t; rewrite -/(yes t) yt add0n => ->.
  have [a [/negbTE pa [t' [e _]]]] := exchanged yea c; rewrite pa y0 y1 nt yt add0n addn0 => h h'.
  exists t'; split=> //; rewrite /majority nt yt h.
  by have -> : no t' = 0 by apply/eqP; rewrite -leqn0 -[X in _ <= X]h' leq_addl.
- case/exchange_moves => -[_ _ a b] t0 st c; rewrite st in t0.
  move/(exchange_somewhere (fun t => (lead_depth t)./2)) => dk.
  exists (lead_depth t)./2; first by apply/(exchange_somewhere (fun t => (lead_depth t)./2)); rewrite ?st.
  by rewrite -dk //; apply: (half_leq (side_near c a b)).
- case: (posnP (size t)) => [->|t0] // /(exchange_somewhere (fun t => (lead_depth t)./2)) dk.
  have {}dk := dk t0; have d2 : 2 <= lead_depth t by move: dk; case: (lead_depth t) => [|[|]].
  have [|t' [e st h]] := towards t.
    case: (ltnP (no t) (yes t)) => m; [by left|right]; rewrite lt0n; apply: contraTneq d2 => nt.
    by move: m; rewrite /side nt leqn0 => /eqP ->.
  have [c d] := side_towards h d2; exists t'; split=> //.
  by apply/(exchange_somewhere (fun t => (lead_depth t)./2)); rewrite -?st //; move: dk; rewrite d => -[].
Qed.
End Both.

(* ---- at least k, at most k ---- *)

Notation count_depth k t := (side (yes t) k).  (* of at least k + 1 *)

Lemma always_yes E : is_depth E (at_least 0) (fun=> None).
Proof. by apply: depth_local => [t|//|//]; split=> // -[t' [_]]. Qed.

Theorem at_least_add_remove yea k : says_yes yea ->
  is_depth add_remove (at_least k) (fun t => if k is k.+1 then Some (count_depth k t) else None).
Proof.
move=> y1; case: k => [|k]; first exact: always_yes.
have towards t : exists2 t', add_remove t t' &
    if k < yes t then yes t + k = 1 + (yes t' + k) else yes t' + k = 1 + (yes t + k).
  case: (ltnP k (yes t)) => [kt|_]; last by have [t' e [h _]] := added t yea; exists t'; rewrite // h y1 addnA.
  have [a [pa [t' e [h _]]]] := removed (leq_ltn_trans (leq0n _) kt).
  by exists t'; rewrite // h pa addnA.
apply: depth_local => [t|t t' j|t j].
- split=> [[t' [/add_remove_moves[a b _ _] ne]]|[d0]].
    by congr Some; apply/eqP; rewrite -leqn0 -ltnS; apply: (side_far ne); rewrite addnA leq_add2r.
  by have [t' e h] := towards t; exists t'; split=> //; apply: (side_over h); rewrite d0.
- move=> /add_remove_moves[a b _ _] c [dj]; exists (count_depth k t) => //.
  by rewrite -dj; apply: (side_near (l := 1) c); rewrite addnA leq_add2r.
- move=> [dj]; have [t' e h] := towards t; have [|c] := side_towards h; first by rewrite dj.
  by rewrite dj => -[dj']; exists t'; split=> //; rewrite -dj'.
Qed.

Theorem at_least_exchange yea other k : says_yes yea -> says_yes other = false ->
  is_depth exchange (at_least k)
    (fun t => if k is k.+1 then if k < size t then Some (count_depth k t) else None else None).
Proof.
move=> y1 o0; case: k => [|k]; first exact: always_yes.
have towards t : k < size t -> exists t', [/\ exchange t t', size t = size t' &
    if k < yes t then yes t + k = 1 + (yes t' + k) else yes t' + k = 1 + (yes t + k)].
  move=> kt; case: ltnP => h.
    have [a [pa [t' [e st]]]] := exchanged other (leq_ltn_trans (leq0n _) h).
    by rewrite pa o0 => g _; exists t'; rewrite -[yes t]g addnA.
  have c : 0 < count (predC says_yes) t.
    by rewrite -(ltn_add2l (count says_yes t)) addn0 count_predC; apply: leq_ltn_trans h kt.
  by have [a [/negbTE pa [t' [e st]]]] := exchanged yea c; rewrite pa y1 add0n => g _; exists t'; rewrite g addnA.
have someE t j : (if k < size t then Some (count_depth k t) else None) = Some j <-> k < size t /\ count_depth k t = j.
  by case: ifP => _; [split=> [[->]|[_ ->]]|split=> // -[]].
have le t : yes t <= size t by apply: count_size.
apply: depth_local => [t|t t' j|t j].
- split=> [[t' [/exchange_moves[[a b _ _] t0 st] ne]]|/someE[kt d0]].
    apply/someE; split.
      rewrite ltnNge; apply: contra_notN ne => h; rewrite /at_least !ltnNge.
      by rewrite (leq_trans (le t) h) (leq_trans (le t')) // -st.
    by apply/eqP; rewrite -leqn0 -ltnS; apply: (side_far ne); rewrite addnA leq_add2r.
  by have [t' [e st h]] := towards t kt; exists t'; split=> //; apply: (side_over h); rewrite d0.
- case/exchange_moves => -[a b _ _] t0 st c /someE[kt dj]; exists (count_depth k t).
    by apply/someE; rewrite st.
  by rewrite -dj; apply: (side_near (l := 1) c); rewrite addnA leq_add2r.
- case/someE => kt dj; have [t' [e st h]] := towards t kt; have [|c] := side_towards h; first by rewrite dj.
  by rewrite dj => -[dj']; exists t'; split=> //; apply/someE; rewrite -st -dj'.
Qed.

(* without a condition every record is a yes, and under exchange nothing ever changes *)
Theorem at_least_certain k : (forall a, says_yes a) -> is_depth exchange (at_least k) (fun=> None).
Proof.
move=> all_yes; have e t : yes t = size t by rewrite /yes; elim: t => //= a t ->; rewrite all_yes.
apply: depth_local => [t|//|//]; split=> // -[t' [/exchange_moves[_ _ st]]].
by rewrite /at_least !e st.
Qed.

(* at most k is the other answer to at least k + 1 *)
Theorem at_most_depth E k depth : is_depth E (at_least k.+1) depth -> is_depth E (at_most k) depth.
Proof.
apply: is_depth_class => s t; have e r : at_most k r = ~~ at_least k.+1 r by rewrite /at_most /at_least -leqNgt.
by rewrite !e; split=> [->|/negb_inj].
Qed.
End Queries.
