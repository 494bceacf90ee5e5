(* Mechanism files as terms, written by golden.py from tests/golden/mechanisms: not to be edited. *)
From Coq Require Import ZArith List.
From Iris Require Import Fractions Checker Certificates.
Import ListNotations.

Local Definition q (above below : Z) : fraction := (above, below).
Local Definition e (i j : nat) : N * N := (N.of_nat i, N.of_nat j).
Local Open Scope Z_scope.

Definition distance : file := File [(q 2 1, q 1 20)] 4
  [[q 21 40; q 19 80; q 5 48; q 2 15];
   [q 19 80; q 21 40; q 5 48; q 2 15];
   [q 19 80; q 19 80; q 5 24; q 19 60];
   [q 17 160; q 17 160; q 5 48; q 41 60]]
  [e 0 1; e 0 2; e 1 2; e 2 3].

Definition distance_goal : goal := Goal false [q 1 4; q 1 4; q 1 4; q 1 4]
  [[q 0 1; q 1 1; q 1 1; q 2 1];
   [q 1 1; q 0 1; q 1 1; q 2 1];
   [q 1 1; q 1 1; q 0 1; q 1 1];
   [q 2 1; q 2 1; q 1 1; q 0 1]]
  [true; true; true; true].
Definition distance_value : fraction := q 203 320.
Definition distance_bound : fraction := q 203 320.
Definition distance_prices : list entry :=
  [Entry (N.of_nat 0) false (N.of_nat 0) [q 1 32; q 0 1; q 0 1; q 0 1];
   Entry (N.of_nat 0) true (N.of_nat 0) [q 0 1; q 1 32; q 0 1; q 0 1];
   Entry (N.of_nat 1) false (N.of_nat 0) [q 5 32; q 0 1; q 0 1; q 0 1];
   Entry (N.of_nat 1) true (N.of_nat 0) [q 0 1; q 0 1; q 1 32; q 5 32];
   Entry (N.of_nat 2) false (N.of_nat 0) [q 0 1; q 5 32; q 0 1; q 0 1];
   Entry (N.of_nat 2) true (N.of_nat 0) [q 0 1; q 0 1; q 1 32; q 5 32];
   Entry (N.of_nat 3) false (N.of_nat 0) [q 1 8; q 1 8; q 0 1; q 0 1];
   Entry (N.of_nat 3) true (N.of_nat 0) [q 0 1; q 0 1; q 0 1; q 1 4]].

Definition geometric : file := File [(q 2 1, q 0 1)] 6
  [[q 2 3; q 1 6; q 1 12; q 1 24; q 1 48; q 1 48];
   [q 1 3; q 1 3; q 1 6; q 1 12; q 1 24; q 1 24];
   [q 1 6; q 1 6; q 1 3; q 1 6; q 1 12; q 1 12];
   [q 1 12; q 1 12; q 1 6; q 1 3; q 1 6; q 1 6];
   [q 1 24; q 1 24; q 1 12; q 1 6; q 1 3; q 1 3];
   [q 1 48; q 1 48; q 1 24; q 1 12; q 1 6; q 2 3]]
  [e 0 1; e 1 2; e 2 3; e 3 4; e 4 5].

Definition printed : file := File [(q 2 1, q 1 10)] 2
  [[q 1 2; q 1 2];
   [q 17 20; q 3 20]]
  [e 0 1].

Definition rainbow : file := File [(q 2 1, q 1 20)] 3
  [[q 147 160; q 19 320; q 7 320];
   [q 63 80; q 19 160; q 3 32];
   [q 21 40; q 19 80; q 19 80];
   [q 19 80; q 19 80; q 21 40];
   [q 3 32; q 19 160; q 63 80]]
  [e 0 1; e 1 2; e 2 3; e 3 4].

Definition response : file := File [(q 2 1, q 1 10)] 3
  [[q 11 20; q 9 40; q 9 40];
   [q 9 40; q 11 20; q 9 40];
   [q 9 40; q 9 40; q 11 20]]
  [e 0 1; e 0 2; e 1 2].

Definition two_pairs : file := File [(q 3 1, q 0 1); (q 2 1, q 1 10)] 2
  [[q 9 10; q 1 10];
   [q 7 10; q 3 10];
   [q 3 10; q 7 10];
   [q 1 10; q 9 10]]
  [e 0 1; e 1 2; e 2 3].
