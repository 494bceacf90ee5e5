(* What the verified functions of Oracles.v, Layers.v and Rows.v answer, a question a line: oracles for the library's
   own code.  Nothing here judges a file.                                                                           *)

open Json

let fractions value = List.map Numbers.fraction (Reading.list_of value)
let naturals value = List.map (fun x -> Z.of_int (Numbers.whole 0 x)) (Reading.list_of value)
let two = function [a; b] -> (a, b) | _ -> fail "two numbers are expected"
let pairs question = List.map (fun pair -> two (fractions pair)) (Reading.list_of (Reading.part "pairs" question))
let lists read value = List.map read (Reading.list_of value)

let said (above, below) = Z.to_string above ^ "/" ^ Z.to_string below
let row_said row = String.concat " " (List.map said row)

(* "ratio delta count probability": u applied so often *)
let steps line =
  match List.map Numbers.fraction_of_text (String.split_on_char ' ' line) with
  | [ratio; delta; (count, _); probability] -> said (Checker.steps ratio delta count probability)
  | _ -> fail "a line of --steps has four numbers"

(* {"pairs", "depth", "row"}: the row so deep, listed as the ranking goes *)
let row line =
  let question = parse line in
  let depth = Z.of_int (Numbers.whole 0 (Reading.part "depth" question)) in
  row_said (Checker.row_at (pairs question) depth (fractions (Reading.part "row" question)))

(* {"pairs", "nodes", "edges", "classes", "rankings", "rows"}: every node's depth (the number of nodes where there is
   no boundary), then every node's row, listed as the answers are                                                     *)
let design line =
  let question = parse line in
  let part name = Reading.part name question in
  let nodes = Z.of_int (Numbers.whole 0 (part "nodes")) and edges = lists (fun e -> two (naturals e)) (part "edges") in
  let classes = naturals (part "classes") in
  let rows = Checker.design (pairs question) nodes edges classes (lists naturals (part "rankings"))
      (lists fractions (part "rows")) in
  String.concat ";" (String.concat " " (List.map Z.to_string (Checker.depths nodes edges classes)) :: List.map row_said rows)

let answer_lines oracle =
  try
    while true do
      print_endline (oracle (input_line stdin))
    done
  with End_of_file -> ()
