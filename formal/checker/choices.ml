(* A certificate of rows that are best beside some that are given, as the checker takes it: which inputs are given their
   rows, how every input ranks the answers, and how often bounds go along the edges.                              *)

open Json
open Reading

type choices = {
  given : bool list;
  rankings : Z.t list list;
  ranking_of : Z.t list;
  rounds : Z.t;
  slack : Z.t * Z.t;
}

(* steps of the checker, about, beyond which a certificate is left unread *)
let most_work = 20_000_000
(* rows without a goal must be the theorem's up to this *)
let rounding = Q.make Z.one (Z.shift_left Z.one 45)

let neighbours mechanism =
  let near = Array.make (Array.length mechanism.inputs) [] in
  List.iter (fun (a, b) ->
      let a = Z.to_int a and b = Z.to_int b in
      near.(a) <- b :: near.(a);
      near.(b) <- a :: near.(b))
    mechanism.file.Checker.edges;
  near

(* the most steps from one input to any that it reaches *)
let reach near start =
  let far = Array.make (Array.length near) (-1) in
  far.(start) <- 0;
  let rec spread steps = function
    | [] -> steps - 1
    | layer ->
      spread (steps + 1) (List.concat_map (fun a ->
          List.filter (fun b -> far.(b) < 0 && (far.(b) <- far.(a) + 1; true)) near.(a)) layer) in
  spread 0 [start]

let of_theorem mechanism certificate theorem =
  let size = Array.length mechanism.inputs and width = List.length mechanism.outputs in
  let listed key = list_of (part key certificate) in
  let rankings = List.map (fun line -> List.map (Numbers.whole ~most:(width - 1) 0) (list_of line)) (listed "rankings") in
  let ranking_of = List.map (Numbers.whole ~most:(List.length rankings - 1) 0) (listed "ranking_of") in
  insist (List.length ranking_of = size) "ranking_of must give every input a ranking";
  insist (List.for_all (fun line -> List.length line = width) rankings) "rankings must list every output once";
  let near = neighbours mechanism in
  let ranking = Array.map (fun k -> List.nth rankings k) (Array.of_list ranking_of) in
  let on_boundary i = List.exists (fun j -> ranking.(i) <> ranking.(j)) near.(i) in
  let is_given =
    if theorem = "rainbow" then begin
      let fixed = Array.make size false in
      List.iter (fun k -> fixed.(Numbers.whole ~most:(size - 1) 0 k) <- true) (listed "fixed");
      Array.get fixed
    end
    else on_boundary in
  let given = List.init size is_given in
  let starts = List.filter is_given (List.init size Fun.id) in
  let most = size * List.length mechanism.file.Checker.edges in
  let edges = List.length mechanism.file.Checker.edges in
  let within = match optional "within" certificate with
    | None -> Q.zero
    | Some stated -> let a, b = Numbers.fraction stated in Q.make a b in
  let has_goal = List.exists (fun key -> List.mem key ["aggregate"; "loss"; "weights"]) (keys certificate) in
  let entry = if has_goal then within else Q.min within rounding in
  insist (Q.sign entry >= 0) "within must be at least 0";
  let slack = Q.mul entry (Q.of_int width) in
  if List.length starts * most > most_work * 10 then None
  else begin
    let rounds = List.fold_left (fun steps start -> max steps (reach near start)) 0 starts in
    let events = List.length (List.sort_uniq compare rankings) * (width + 1) in
    if events * (rounds + 1) * (edges + 1) * List.length mechanism.file.Checker.pairs > most_work then None
    else Some {
        given;
        rankings = List.map (List.map Z.of_int) rankings;
        ranking_of = List.map Z.of_int ranking_of;
        rounds = Z.of_int rounds;
        slack = (Q.num slack, Q.den slack);
      }
  end

type found = Nothing | Too_long | Choices of choices

(* Nothing where there is no certificate of this kind *)
let read document mechanism =
  match document with
  | Object members ->
    (match List.assoc_opt "certificate" members with
     | Some (Object _ as certificate) ->
       (match (optional "kind" certificate, optional "theorem" certificate) with
        | Some (Text "theorem"), Some (Text ("rainbow" | "balanced-line" | "homogeneous-rainbow" as theorem)) ->
          (match of_theorem mechanism certificate theorem with
           | Some choices -> Choices choices
           | None -> Too_long)
        | _ -> Nothing)
     | _ -> Nothing)
  | _ -> Nothing
