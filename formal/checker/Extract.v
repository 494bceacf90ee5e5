(* The program of `check`.  Whole numbers become zarith's; Z.gcd alone is added to what Coq's library maps to them. *)
From Coq Require Import ZArith Extraction ExtrOcamlBasic ExtrOcamlZBigInt ExtrOcamlNatBigInt.
From Iris Require Import Checker.
Extract Constant Z.gcd => "Big_int_Z.gcd_big_int".
Extraction "checker.ml" check.
