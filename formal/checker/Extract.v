(* The programs of `check` and of what checks certificates.  Whole numbers become zarith's; Z.gcd alone is added to what
   Coq's library maps to them.                                                                                  *)
From Coq Require Import ZArith Extraction ExtrOcamlBasic ExtrOcamlZBigInt ExtrOcamlNatBigInt.
From Iris Require Import Checker Certificates FirstChoices Readings Oracles Layers Rows.
Extract Constant Z.gcd => "Big_int_Z.gcd_big_int".
Extraction "checker.ml" check lower_bound check_certificate check_first_choices check_reading reading_bound check_geometric
  steps depths row_at design.
