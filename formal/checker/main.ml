(* iris-check FILE: does a mechanism file describe laws, private on every edge?  If it has a certificate by weak
   duality or by universality: has its goal the value stated, and does no private mechanism go below the bound?  If it
   has one of rows that are best beside given ones: does no private mechanism that shares those make first choices
   likelier?  If it is one of the geometric mechanism: are the rows that mechanism's?  The answers are those of the
   verified `check`, `check_certificate`, `check_reading`, `check_first_choices` and `check_geometric`; 0 is yes, 1 is
   no, 2 is no mechanism file (or one in factors, which this program does not read).
   iris-check --lines: one file a line on the standard input, one status a line on the standard output.
   iris-check --steps, --row, --design: what the verified oracles answer, a question a line (oracles.ml).           *)

let no reason = (1, "no: a row is no law, an edge is not private, or " ^ reason)
let unreadable reason = (1, "no: the certificate cannot be read: " ^ reason)

(* a certificate by a theorem, or none *)
let judge_theorem document mechanism file yes =
  let private_only words =
    if Checker.check file then yes words else (1, "no: a row is no law, or an edge is not private") in
  match (Choices.read document mechanism, Readings.read document mechanism) with
  | exception Json.Malformed reason -> unreadable reason
  | Choices.Choices { given; rankings; ranking_of; rounds; slack }, _ ->
    if Checker.check_first_choices file given rankings ranking_of rounds slack then
      let shared = List.length (List.filter Fun.id given) in
      yes (Printf.sprintf "no private mechanism with the same rows at %d of them makes first choices likelier%s"
             shared (if Z.sign (fst slack) = 0 then "" else ", but for rounding"))
    else no "the rows are not the best beside those given"
  | _, Readings.Read (goal, value, bound) ->
    if Checker.check_reading file goal value bound then
      yes "the goal has the value stated, and no private mechanism goes below the bound"
    else no "universality does not prove what is stated"
  | _, Readings.Noise slack ->
    if Checker.check_geometric file slack then
      yes ("whoever reads it well is served as well as by any private mechanism, for losses that never fall"
           ^ if Z.sign (fst slack) = 0 then "" else ", but for rounding")
    else no "the rows are not those of the geometric mechanism"
  | Choices.Too_long, _ -> private_only "its certificate is too long for this program"
  | _, Readings.Not_read words -> private_only words
  | Choices.Nothing, Readings.Nothing -> private_only "no certificate was read"

let judge text =
  match
    let document = Json.parse text in
    (document, Reading.read document)
  with
  | exception Json.Malformed reason -> (2, "not a mechanism file: " ^ reason)
  | exception (Stack_overflow | Out_of_memory | Invalid_argument _) -> (2, "not a mechanism file: it is too large")
  | document, mechanism ->
    let file = mechanism.Reading.file in
    let yes words =
      let size = List.length file.Checker.rows and edges = List.length file.Checker.edges in
      (0, Printf.sprintf "yes: private on every edge (inputs: %d, edges: %d); %s" size edges words) in
    (match Certificate.read document mechanism with
     | exception Json.Malformed reason -> unreadable reason
     | Some (_, _, None, _) -> (1, "no: the certificate proves no bound")
     | Some (goal, value, Some bound, entries) ->
       if Checker.check_certificate file goal value bound entries then
         yes "the goal has the value stated, and no private mechanism goes below the bound"
       else no "the certificate does not prove what is stated"
     | None -> judge_theorem document mechanism file yes)

let whole_file path =
  let channel = open_in_bin path in
  Fun.protect ~finally:(fun () -> close_in channel) (fun () -> really_input_string channel (in_channel_length channel))

let () =
  match Sys.argv with
  | [| _; "--lines" |] ->
    (try
       while true do
         print_endline (string_of_int (fst (judge (input_line stdin))))
       done
     with End_of_file -> ())
  | [| _; "--steps" |] -> Oracles.answer_lines Oracles.steps
  | [| _; "--row" |] -> Oracles.answer_lines Oracles.row
  | [| _; "--design" |] -> Oracles.answer_lines Oracles.design
  | [| _; path |] ->
    let status, words = try judge (whole_file path) with Sys_error _ -> (2, "not a mechanism file: it cannot be read") in
    print_endline words;
    exit status
  | _ ->
    prerr_endline "iris-check: give one mechanism file, or --lines";
    exit 2
