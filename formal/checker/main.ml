(* iris-check FILE: does a mechanism file describe laws, private on every edge?  If it has a certificate by weak
   duality: has its goal the value stated, and does no private mechanism go below the bound?  If it has one of rows that
   are best beside given ones: does no private mechanism that shares those make first choices likelier?  The answers
   are those of the verified `check`, `check_certificate` and `check_first_choices`; 0 is yes, 1 is no, 2 is no
   mechanism file (or one in factors, which this program does not read).
   iris-check --lines: one file a line on the standard input, one status a line on the standard output.
   iris-check --steps, --row, --design: what the verified oracles answer, a question a line (oracles.ml).           *)

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
     | exception Json.Malformed reason -> (1, "no: the certificate cannot be read: " ^ reason)
     | Some (_, _, None, _) -> (1, "no: the certificate proves no bound")
     | Some (goal, value, Some bound, entries) ->
       if Checker.check_certificate file goal value bound entries then
         yes "the goal has the value stated, and no private mechanism goes below the bound"
       else (1, "no: a row is no law, an edge is not private, or the certificate does not prove what is stated")
     | None ->
       (match Choices.read document mechanism with
        | exception Json.Malformed reason -> (1, "no: the certificate cannot be read: " ^ reason)
        | Choices.Choices { given; rankings; ranking_of; rounds; slack } ->
          if Checker.check_first_choices file given rankings ranking_of rounds slack then
            let shared = List.length (List.filter Fun.id given) in
            yes (Printf.sprintf "no private mechanism with the same rows at %d of them makes first choices likelier%s"
                   shared (if Z.sign (fst slack) = 0 then "" else ", but for rounding"))
          else (1, "no: a row is no law, an edge is not private, or the rows are not the best beside those given")
        | found when Checker.check file ->
          yes (if found = Choices.Too_long then "its certificate is too long for this program"
               else "no certificate was read")
        | _ -> (1, "no: a row is no law, or an edge is not private")))

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
