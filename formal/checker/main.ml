(* iris-check FILE: does a mechanism file describe laws, private on every edge?  If it has a certificate by weak
   duality or by universality: has its goal the value stated, and does no private mechanism go below the bound?  If it
   has one of rows that are best beside given ones: does no private mechanism that shares those make first choices
   likelier?  If it is one of the geometric mechanism: are the rows that mechanism's?  The answers are those of the
   verified `check`, `check_certificate`, `check_reading`, `check_first_choices` and `check_geometric`; 0 is yes, 1 is
   no, 2 is no mechanism file (or one in factors, which this program does not read).
   iris-check --lines: one file a line on the standard input, one status a line on the standard output.
   iris-check --steps, --row, --design: what the verified oracles answer, a question a line (oracles.ml).           *)

let no reason = (1, "no: a row is no law, an edge is not private, or " ^ reason)
let not_private = "no: a row is no law, or an edge is not private"
let unreadable reason = (1, "no: the certificate cannot be read: " ^ reason)

(* what the file states and nothing here looked at, in words *)
let unread document keys =
  let has key holder = match holder with
    | Json.Object members -> (match List.assoc_opt key members with None | Some Json.Null -> false | Some _ -> true)
    | _ -> false in
  let certificate = Option.value (Reading.optional "certificate" document) ~default:Json.Null in
  let words = [("objective", "objective"); ("among", "scope"); ("choice", "choice of the boundary"); ("digest", "seal")] in
  String.concat "" (List.filter_map (fun (key, word) ->
      let there = has key (if key = "objective" then document else certificate) in
      if List.mem key keys && there then Some ("; " ^ word ^ ": not read") else None) words)

(* a certificate by a theorem, or none *)
let judge_theorem document mechanism file yes =
  let private_only words =
    if Checker.check file then yes (words ^ unread document ["objective"; "among"; "digest"]) else (1, not_private) in
  match (Choices.read document mechanism, Readings.read document mechanism) with
  | exception Json.Malformed reason -> unreadable reason
  | Choices.Choices choices, _ ->
    if not (Checker.check file) then (1, not_private)
    else (match Choices.conclude mechanism choices with
        | exception Json.Malformed reason -> (1, "no: " ^ reason)
        | words -> yes (words ^ unread document ["choice"; "digest"]))
  | _, Readings.Read (goal, value, bound) ->
    if Checker.check_reading file goal value bound then
      yes ("the goal has the value stated, and no private mechanism goes below the bound" ^ unread document ["digest"])
    else no "universality does not prove what is stated"
  | _, Readings.Noise slack ->
    if Checker.check_geometric file slack then
      yes ("whoever reads it well is served as well as by any private mechanism, for losses that never fall"
           ^ (if Z.sign (fst slack) = 0 then "" else ", but for rounding by at most 2^-45 in each entry")
           ^ unread document ["digest"])
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
         yes ("the goal has the value stated, and no private mechanism goes below the bound" ^ unread document ["digest"])
       else no "the certificate does not prove what is stated"
     | None -> judge_theorem document mechanism file yes)

let largest_file = 64 lsl 20

exception Refused of string

(* a regular file of at most 64 MiB: opening a pipe waits for nobody, and nothing is read from it *)
let whole_file path =
  let descriptor = Unix.openfile path [Unix.O_RDONLY; Unix.O_NONBLOCK; Unix.O_CLOEXEC] 0 in
  Fun.protect ~finally:(fun () -> Unix.close descriptor) (fun () ->
      if (Unix.fstat descriptor).Unix.st_kind <> Unix.S_REG then
        raise (Refused "not a mechanism file: it is a folder, a pipe or a device; save the mechanism as a file");
      let content = Buffer.create 65536 and chunk = Bytes.create 65536 in
      let rec more () =
        let taken = Unix.read descriptor chunk 0 (Bytes.length chunk) in
        Buffer.add_subbytes content chunk 0 taken;
        if Buffer.length content > largest_file then raise (Refused "not checked: the file has more than 64 MiB");
        if taken > 0 then more () in
      more ();
      Buffer.contents content)

let judge_file path =
  match whole_file path with
  | exception Refused words -> (2, words)
  | exception Unix.Unix_error (Unix.ENOENT, _, _) -> (2, "not a mechanism file: there is no such file")
  | exception Unix.Unix_error _ -> (2, "not a mechanism file: the file cannot be read")
  | text -> judge text

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
    let status, words = judge_file path in
    print_endline words;
    exit status
  | _ ->
    prerr_endline "iris-check: give one mechanism file, or --lines";
    exit 2
