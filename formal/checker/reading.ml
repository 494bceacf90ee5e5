(* A mechanism file as the checker takes it: rows of fractions, pairs (r, delta), and edges between numbered inputs.
   Nothing here is verified: what the checker says yes to is what is read here.                                    *)

open Json

type name = Whole of Z.t | Word of string | Tuple of name list

let insist holds reason = if not holds then fail reason
let part key = function
  | Object members -> (try List.assoc key members with Not_found -> fail ("the file must hold " ^ key))
  | _ -> fail "an object in braces is expected"
let optional key = function
  | Object members -> (match List.assoc_opt key members with Some Null -> None | found -> found)
  | _ -> fail "an object in braces is expected"
let keys = function Object members -> List.map fst members | _ -> fail "an object in braces is expected"
let list_of = function List inside -> inside | _ -> fail "a list is expected"

let rec name depth = function
  | Number text when String.for_all (fun x -> x = '-' || (x >= '0' && x <= '9')) text ->
    insist (String.length text <= Numbers.most_digits) "an integer of more than 4300 digits";
    Whole (Z.of_string text)
  | Text text -> Word text
  | List inside ->
    insist (depth < 16) "a name is nested too deep";
    Tuple (List.map (name (depth + 1)) inside)
  | _ -> fail "names are strings, integers or lists of them"
let names value = List.map (name 0) (list_of value)
let count k = Whole (Z.of_int k)

(* ---- graphs: their nodes, and their edges as pairs of nodes ---- *)

exception Enough

(* every sequence of so many numbers that add up to the total; those that never rise only, if asked for *)
let histograms size falling total types =
  let found = ref [] and number = ref 0 in
  let rec choose left places most taken =
    if places = 0 then begin
      if left = 0 then (incr number; found := List.rev taken :: !found; if !number > size then raise Enough)
    end
    else
      for k = min left most downto 0 do
        let after = left - k and places = places - 1 in
        if after = 0 || (places > 0 && ((not falling) || after <= k * places)) then
          choose after places (if falling then k else total) (k :: taken)
      done in
  (try choose total types total [] with Enough -> ());
  List.rev !found

let rec power base exponent most =
  if exponent = 0 then 1
  else
    let rest = power base (exponent - 1) most in
    if base > 0 && rest > most / base then most + 1 else base * rest

let family size graph =
  let given = function
    | "relation" -> 0
    | key -> Numbers.whole ~most:max_int (if key = "total" then 0 else 1) (part key graph) in
  let only listed =
    insist (List.sort compare (keys graph) = List.sort compare ("family" :: listed)) "a family has other keys";
    List.map given listed in
  let rec pairs = function
    | [] -> []
    | a :: rest -> List.map (fun b -> (a, b)) rest @ pairs rest in
  let range n = List.init (min n (size + 1)) Fun.id in
  let of_counts l = Tuple (List.map count l) in
  match part "family" graph with
  | Text "path" ->
    let nodes = List.map count (range (List.hd (only ["n"]))) in
    (nodes, fun () -> List.combine (List.filteri (fun i _ -> i < size - 1) nodes) (List.tl nodes))
  | Text "cycle" ->
    let nodes = List.map count (range (List.hd (only ["n"]))) in
    (nodes, fun () -> List.combine nodes (List.tl nodes @ [List.hd nodes]))
  | Text "complete" ->
    let nodes = List.map count (range (List.hd (only ["n"]))) in
    (nodes, fun () -> pairs nodes)
  | Text "hamming" ->
    let length, symbols = match only ["length"; "symbols"] with [a; b] -> (a, b) | _ -> assert false in
    insist (length <= 62) "length must be at most 62";
    insist (power symbols length size = size) "the graph's nodes must be the inputs, each once";
    let rec words k = if k = 0 then [[]] else
        List.concat_map (fun x -> List.map (fun w -> x :: w) (words (k - 1))) (List.init symbols Fun.id) in
    let all = words length in
    let written w = Word (String.concat (if symbols > 10 then "," else "") (List.map string_of_int w)) in
    let differ a b = List.fold_left2 (fun n x y -> if x = y then n else n + 1) 0 a b = 1 in
    (List.map written all, fun () ->
        List.filter_map (fun (a, b) -> if differ a b then Some (written a, written b) else None) (pairs all))
  | Text ("histograms" | "sorted_histograms" as which) ->
    let total, types = match only ["total"; "types"] with [a; b] -> (a, b) | _ -> assert false in
    insist (types <= 1000 && total < 10_000_000 && (total + 1) * types <= 10_000_000) "too many records and types";
    let falling = which = "sorted_histograms" in
    let all = histograms size falling total types in
    let all = if falling then List.sort (fun a b -> compare (List.rev a) (List.rev b)) all else all in
    let near a b = List.fold_left2 (fun n x y -> n + abs (x - y)) 0 a b = 2 in
    (List.map of_counts all, fun () ->
        List.filter_map (fun (a, b) -> if near a b then Some (of_counts a, of_counts b) else None) (pairs all))
  | Text "gaps" ->
    let q, most = match only ["categories"; "largest"; "relation"] with [a; b; _] -> (a, b) | _ -> assert false in
    let exchange = match part "relation" graph with
      | Text "exchange" -> true
      | Text "add-remove" -> false
      | _ -> fail "relation must be exchange or add-remove" in
    insist (q <= 20 && most <= 1 lsl 20 && size * q * (q - 1) <= 1 lsl 22 && size <= 1 lsl 20) "too many gaps to list";
    insist (power (most + 1) q max_int - power most q max_int = size) "the graph's nodes must be the inputs, each once";
    let rec tuples k = if k = 0 then [[]] else
        let below = tuples (k - 1) in
        List.concat_map (fun x -> List.map (fun w -> x :: w) below) (List.init (most + 1) Fun.id) in
    let all = List.filter (List.mem 0) (tuples q) in
    let moves = List.concat_map (fun gains -> if not exchange then [(gains, -1)] else
          List.filter_map (fun loses -> if loses = gains then None else Some (gains, loses)) (List.init q Fun.id))
        (List.init q Fun.id) in
    let moved gaps (gains, loses) =
      let records = List.mapi (fun place gap -> Bool.to_int (place = gains) - Bool.to_int (place = loses) - gap) gaps in
      let top = List.fold_left max min_int records in
      if top < 0 then None
      else Some (of_counts gaps, of_counts (List.map (fun held -> min (top - held) most) records)) in
    (List.map of_counts all, fun () -> List.concat_map (fun gaps -> List.filter_map (moved gaps) moves) all)
  | _ -> fail "the graph's family is not known"

let written_out graph =
  insist (List.for_all (fun key -> key = "nodes" || key = "edges") (keys graph)) "graph has a key besides nodes and edges";
  let edges = List.map (fun edge -> match names edge with [a; b] -> (a, b) | _ -> fail "an edge joins two nodes")
      (list_of (part "edges" graph)) in
  match optional "nodes" graph with
  | Some nodes -> (names nodes, edges)
  | None ->
    let seen = Hashtbl.create 16 in
    let first node = not (Hashtbl.mem seen node) && (Hashtbl.add seen node (); true) in
    let ends = List.filter first (List.concat_map (fun (a, b) -> [a; b]) edges) in
    let whole = List.for_all (function Whole _ -> true | _ -> false) ends in
    ((if whole then List.sort compare ends else ends), edges)

let numbering names =
  let places = Hashtbl.create 16 in
  List.iteri (fun i name -> Hashtbl.replace places name i) names;
  insist (Hashtbl.length places = List.length names) "names must be different";
  places

(* ---- privacy ---- *)

let pair privacy =
  let delta = match privacy with
    | Object members -> (match List.assoc_opt "delta" members with Some d -> Numbers.fraction d | None -> (Z.zero, Z.one))
    | _ -> fail "privacy must be an object" in
  let short (a, b) =
    let g = Z.gcd a b in
    insist (Z.numbits (Z.divexact a g) <= 4096 && Z.numbits (Z.divexact b g) <= 4096) "more than 4096 bits in privacy" in
  let ratio = match List.filter (( <> ) "delta") (keys privacy) with
    | ["ratio"] -> let r = Numbers.fraction (part "ratio" privacy) in short r; r
    | ["epsilon"] ->
      let e = Numbers.fraction (part "epsilon" privacy) in short e; Numbers.ratio_of_epsilon e
    | _ -> fail "privacy must state epsilon or ratio, and delta" in
  short delta;
  let (rn, rm), (dn, dm) = (ratio, delta) in
  insist (Z.leq rm rn && Z.sign dn >= 0 && Z.lt dn dm) "ratio must be at least 1, delta at least 0 and below 1";
  (ratio, delta)

(* several pairs: by falling ratio and rising delta, and none that follows from the others *)
let pairs privacy =
  if not (List.mem "all" (keys privacy)) then [pair privacy]
  else begin
    insist (List.length (keys privacy) = 1) "nothing may stand beside all";
    let listed = List.map pair (list_of (part "all" privacy)) in
    insist (listed <> [] && List.length listed <= 10_000) "all must hold 1 to 10000 pairs";
    let number (a, b) = Q.make a b in
    let read = List.map (fun (r, d) -> (number r, number d)) listed in
    let rec two = function a :: (b :: _ as rest) -> (a, b) :: two rest | _ -> [] in
    insist (List.for_all (fun ((r, d), (s, e)) -> Q.gt r s && Q.lt d e) (two read)) "all must list by falling ratio";
    let turns = List.map (fun ((r, d), (s, e)) -> Q.div (Q.sub e d) (Q.sub r s)) (two read) in
    let last = match List.rev read with
      | _ :: (r, d) :: _ -> [Q.div (Q.sub Q.one d) (Q.add r Q.one)]
      | _ -> [] in
    insist (List.for_all (fun (a, b) -> Q.lt a b) (two (turns @ last))) "all lists a pair that follows from the others";
    listed
  end

(* ---- the mechanism ---- *)

type mechanism = { file : Checker.file; inputs : name array; outputs : name list }

let read document =
  (match document with
   | Object members ->
     (match List.assoc_opt "format" members with
      | None | Some (Text "irisdp/mechanism/1") -> ()
      | _ -> fail "format must be irisdp/mechanism/1")
   | _ -> fail "the file must be an object");
  let pairs = pairs (part "privacy" document) in
  (match optional "objective" document with
   | None -> ()
   | Some objective ->
     ignore (Numbers.fraction (part "value" objective));
     Option.iter (fun bound -> ignore (Numbers.fraction bound)) (optional "lower_bound" objective));
  let form = match List.filter (fun key -> List.mem key ["matrix"; "rows"; "factors"]) (keys document) with
    | ["factors"] -> fail "factors are not read by this checker"
    | [form] -> form
    | _ -> fail "the file must hold matrix, or rows, or factors: one of them" in
  let known = Hashtbl.create 64 in
  let entry value = match Hashtbl.find_opt known value with
    | Some found -> found
    | None -> let found = Numbers.fraction value in Hashtbl.add known value found; found in
  let table = List.map (fun line -> List.map entry (list_of line)) (list_of (part form document)) in
  let width = match table with [] -> 0 | row :: _ -> List.length row in
  insist (width > 0 && List.for_all (fun row -> List.length row = width) table) "rows must have one length";
  let rows =
    if form = "matrix" then table
    else begin
      let listed = Array.of_list table in
      let place value = listed.(Numbers.whole ~most:(Array.length listed - 1) 0 value) in
      List.map place (list_of (part "row_of" document))
    end in
  let size = List.length rows in
  insist (size > 0) "row_of gives no input a row";
  let graph = part "graph" document in
  let nodes, edges =
    if List.mem "family" (keys graph) then begin
      let nodes, edges = family size graph in
      (nodes, if List.length nodes = size then edges () else [])
    end
    else written_out graph in
  insist (List.length nodes = size) "the graph's nodes must be the inputs, each once";
  let of_nodes = numbering nodes in
  let inputs = match optional "inputs" document with None -> nodes | Some listed -> names listed in
  let place = numbering inputs in
  insist (List.length inputs = size && List.for_all (Hashtbl.mem of_nodes) inputs) "the inputs are not the nodes";
  let outputs = match optional "outputs" document with None -> List.init width count | Some listed -> names listed in
  insist (Hashtbl.length (numbering outputs) = width) "the outputs must be one for every column";
  let met = Hashtbl.create 64 in
  let number (a, b) =
    insist (Hashtbl.mem place a && Hashtbl.mem place b) "edges name something that is not among the nodes";
    let i, j = (Hashtbl.find place a, Hashtbl.find place b) in
    let edge = (min i j, max i j) in
    if i = j || Hashtbl.mem met edge then None
    else (Hashtbl.add met edge (); Some (Z.of_int (fst edge), Z.of_int (snd edge))) in
  let edges = List.filter_map number edges in
  { file = { Checker.pairs; width = Z.of_int width; rows; edges }; inputs = Array.of_list inputs; outputs }
