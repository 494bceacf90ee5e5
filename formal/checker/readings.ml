(* A certificate on counts by universality, as the checker takes it: that a reading of the geometric mechanism does no
   better than a bound, or that the rows are the geometric mechanism's own, which everybody reads as well as any.   *)

open Json
open Reading

type found =
  | Nothing
  | Not_read of string  (* true or not: the theorems in Coq do not speak of it, or it takes too long *)
  | Noise of (Z.t * Z.t)  (* the geometric mechanism itself, and what its entries may be off by *)
  | Read of Checker.goal * (Z.t * Z.t) * (Z.t * Z.t)  (* a goal, its value and a bound *)

(* rows must be the theorem's up to this *)
let rounding = Q.make Z.one (Z.shift_left Z.one 45)
(* bits of fractions multiplied, about, beyond which a certificate is left unread *)
let most_work = 2_000_000_000

(* the inputs and the outputs are 0, 1, ..., and nothing but that path joins them: that it does, Coq's program sees *)
let insist_on_counts mechanism =
  let counts = List.init (Array.length mechanism.inputs) count in
  insist (Array.to_list mechanism.inputs = counts && mechanism.outputs = counts) "inputs and outputs must be 0..n";
  insist (List.length mechanism.file.Checker.edges = List.length counts - 1) "the graph must be the path 0..n"

(* what the theorems leave out: a single count, where nothing is compared, and the ratio 1, where all rows are one *)
let is_trivial mechanism =
  Array.length mechanism.inputs = 1
  || List.exists (fun ((a, b), _) -> Z.equal a b) mechanism.file.Checker.pairs

let work mechanism theorem =
  let size = Array.length mechanism.inputs in
  let bits most ((a, b), _) = max most (Z.numbits a + Z.numbits b) in
  let longest = List.fold_left bits 1 mechanism.file.Checker.pairs in
  let steps = if theorem = "geometric" then size * size else size * size * size in
  if size > 1000 then max_int else steps * (200 + size * longest)

let of_theorem document mechanism certificate theorem =
  insist_on_counts mechanism;
  let goal_stated = Certificate.states_goal certificate and within = Certificate.within certificate in
  Certificate.insist_on_scope certificate Certificate.all_private;
  if is_trivial mechanism then Not_read "a single count, or the ratio 1, is not read by this program"
  else if work mechanism theorem > most_work then Not_read "its certificate is too long for this program"
  else if theorem = "geometric" then begin
    insist (not goal_stated && optional "objective" document = None) "the theorem is about no goal";
    let slack = Q.min rounding within in
    Noise (Q.num slack, Q.den slack)
  end
  else begin
    (match part "loss" certificate with
     | Object _ as loss -> insist (part "name" loss <> Text "graph-distance") "a path has a name for that: absolute"
     | _ -> ());
    let goal = Certificate.goal mechanism certificate in
    let objective = part "objective" document in
    let value = Numbers.fraction (part "value" objective) in
    let bound = match optional "lower_bound" objective with
      | Some bound -> Numbers.fraction bound
      | None -> Checker.reading_bound mechanism.file goal in
    Read (goal, value, bound)
  end

(* Nothing where there is no certificate of this kind *)
let read document mechanism =
  match document with
  | Object members ->
    (match List.assoc_opt "certificate" members with
     | Some (Object _ as certificate) ->
       (match (optional "kind" certificate, optional "theorem" certificate) with
        | Some (Text "theorem"), Some (Text ("geometric" | "geometric-reading" as theorem)) ->
          of_theorem document mechanism certificate theorem
        | _ -> Nothing)
     | _ -> Nothing)
  | _ -> Nothing
