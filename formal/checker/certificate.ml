(* A certificate by weak duality as the checker takes it: a goal, the value and bound stated of it, and prices. *)

open Json
open Reading

let all_private = "all private mechanisms"
let same_rows = "mechanisms with these boundary rows"

(* which mechanisms are compared: a file may claim this, or less *)
let insist_on_scope certificate proven =
  match optional "among" certificate with
  | None -> ()
  | Some (Text among) when among = same_rows || among = proven -> ()
  | Some _ -> fail "the scope is wider than what the certificate proves"

(* how far an entry may be from the theorem's, as the file states it *)
let within certificate =
  let a, b = if List.mem "within" (keys certificate) then Numbers.fraction (part "within" certificate) else (Z.zero, Z.one) in
  insist (Z.sign a >= 0) "within must be at least 0";
  Q.make a b

let states_goal certificate = List.exists (fun key -> List.mem key ["aggregate"; "loss"; "weights"]) (keys certificate)

let integer = (fun x -> (x, Z.one))
let mechanism_size mechanism = Array.length mechanism.inputs

(* distances in the graph, from every input to every other *)
let distances mechanism =
  let size = mechanism_size mechanism in
  let near = Array.make size [] in
  List.iter (fun (a, b) ->
      let a = Z.to_int a and b = Z.to_int b in
      near.(a) <- b :: near.(a);
      near.(b) <- a :: near.(b))
    mechanism.file.Checker.edges;
  let from start =
    let far = Array.make size (-1) in
    far.(start) <- 0;
    let rec spread = function
      | [] -> ()
      | layer ->
        spread (List.concat_map (fun a -> List.filter (fun b ->
            far.(b) < 0 && (far.(b) <- far.(a) + 1; true)) near.(a)) layer) in
    spread [start];
    insist (Array.for_all (fun steps -> steps >= 0) far) "distances need a connected graph";
    List.map (fun steps -> integer (Z.of_int steps)) (Array.to_list far) in
  insist (Array.to_list mechanism.inputs = mechanism.outputs) "distances need outputs that are the inputs";
  List.init size from

let named_losses mechanism loss =
  let whole = List.for_all (function Whole _ -> true | _ -> false) in
  let numbers = whole (Array.to_list mechanism.inputs) && whole mechanism.outputs in
  let between difference =
    insist numbers "this loss needs inputs and outputs that are integers";
    List.map (fun truth -> List.map (fun answer ->
        match (truth, answer) with
        | Whole a, Whole b -> integer (difference (Z.sub a b))
        | _ -> fail "this loss needs integers")
        mechanism.outputs)
      (Array.to_list mechanism.inputs) in
  match loss with
  | "absolute" -> between Z.abs
  | "squared" -> between (fun x -> Z.mul x x)
  | "zero-one" ->
    List.map (fun truth -> List.map (fun answer -> integer (if truth = answer then Z.zero else Z.one)) mechanism.outputs)
      (Array.to_list mechanism.inputs)
  | "graph-distance" -> distances mechanism
  | _ -> fail "loss has a name that is not known"

let of_length length value =
  let listed = list_of value in
  insist (List.length listed = length) "a list has another length";
  listed

let goal mechanism certificate =
  let size = mechanism_size mechanism and width = List.length mechanism.outputs in
  let worst = match part "aggregate" certificate with
    | Text "worst" -> true
    | Text "average" -> false
    | _ -> fail "aggregate must be average or worst" in
  let losses = match part "loss" certificate with
    | Object _ as loss -> (match part "name" loss with Text name -> named_losses mechanism name | _ -> fail "no name")
    | table -> List.map (fun line -> List.map Numbers.fraction (of_length width line)) (of_length size table) in
  let weights = List.map Numbers.fraction (of_length size (part "weights" certificate)) in
  let considered = match certificate with
    | Object members when worst && List.mem_assoc "side_information" members ->
      let listed = List.map (Numbers.whole ~most:(size - 1) 0) (list_of (part "side_information" certificate)) in
      List.init size (fun i -> List.mem i listed)
    | _ -> List.init size (fun _ -> true) in
  { Checker.worst; weights; losses; considered }

(* prices of single answers are put together: one entry for each edge, direction and pair *)
let entries mechanism certificate =
  let file = mechanism.file in
  let size = mechanism_size mechanism and width = List.length mechanism.outputs in
  let edge_of = Hashtbl.create 64 in
  List.iteri (fun k (a, b) -> Hashtbl.add edge_of (Z.to_int a, Z.to_int b) k) file.Checker.edges;
  let together = Hashtbl.create 64 in
  List.iter (fun entry ->
      let i, j, v, price, k = match list_of entry with
        | [i; j; v; price] -> (i, j, v, price, Number "0")
        | [i; j; v; price; k] -> (i, j, v, price, k)
        | _ -> fail "an entry of multipliers must have 4 or 5 parts" in
      let i = Numbers.whole ~most:(size - 1) 0 i and j = Numbers.whole ~most:(size - 1) 0 j in
      let v = Numbers.whole ~most:(width - 1) 0 v in
      let k = Numbers.whole ~most:(List.length file.Checker.pairs - 1) 0 k in
      insist (Hashtbl.mem edge_of (min i j, max i j)) "a multiplier is on no edge";
      let place = (Hashtbl.find edge_of (min i j, max i j), i > j, k) in
      let costs = match Hashtbl.find_opt together place with
        | Some costs -> costs
        | None -> let costs = Array.make width None in Hashtbl.add together place costs; costs in
      insist (costs.(v) = None) "a multiplier comes twice";
      costs.(v) <- Some (Numbers.fraction price))
    (list_of (part "multipliers" certificate));
  let price = function Some price -> price | None -> (Z.zero, Z.one) in
  Hashtbl.fold (fun (edge, backward, pair) costs entries ->
      let costs = List.map price (Array.to_list costs) in
      { Checker.edge = Z.of_int edge; backward; pair = Z.of_int pair; costs } :: entries)
    together []

(* None where there is no certificate of this kind *)
let read document mechanism =
  match document with
  | Object members ->
    (match List.assoc_opt "certificate" members with
     | Some (Object _ as certificate) when part "kind" certificate = Text "dual" ->
       insist_on_scope certificate all_private;
       ignore (within certificate);
       let objective = part "objective" document in
       let goal = goal mechanism certificate and entries = entries mechanism certificate in
       let value = Numbers.fraction (part "value" objective) in
       let bound = match optional "lower_bound" objective with
         | Some bound -> Some (Numbers.fraction bound)
         | None -> Checker.lower_bound mechanism.file goal entries in
       Some (goal, value, bound, entries)
     | _ -> None)
  | _ -> None
