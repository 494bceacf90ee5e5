(* A certificate of rows that are best beside some that are given, as the checker takes it: which inputs are given their
   rows, how every input ranks the answers, how often bounds go along the edges, and the goal if one is stated.     *)

open Json
open Reading

type choices = {
  given : bool list;
  rankings : Z.t list list;
  ranking_of : Z.t list;
  rounds : Z.t;
  within : Q.t;  (* how far an entry may be from the best row's *)
  slack : Z.t * Z.t;  (* how far first choices may be from the best row's *)
  goal : (Checker.goal * Q.t * Q.t option) option;  (* with the value and the bound that the file states *)
}

(* steps of the checker, about, beyond which a certificate is left unread *)
let most_work = 20_000_000
(* what is said of first choices is said up to this in each entry; without a goal nothing else is said *)
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

let number (a, b) = Q.make a b

(* how far the given rows are from the balanced ones: the first choice as in randomised response, the rest alike *)
let off_balance mechanism ranking given =
  let width = List.length mechanism.outputs in
  let lie_of (ratio, delta) = Q.div (Q.sub Q.one (number delta)) (Q.add (number ratio) (Q.of_int (width - 1))) in
  let lie = List.fold_left (fun most pair -> Q.max most (lie_of pair)) Q.zero mechanism.file.Checker.pairs in
  let truth = Q.sub Q.one (Q.mul (Q.of_int (width - 1)) lie) in
  let of_row i row = List.mapi (fun v p ->
      Q.abs (Q.sub (number p) (if v = List.hd ranking.(i) then truth else lie))) row in
  List.fold_left Q.max Q.zero (List.concat (List.mapi (fun i row ->
      if given i then of_row i row else []) mechanism.file.Checker.rows))

let follows losses ranking =
  let losses = Array.of_list (List.map number losses) in
  let rec rises = function a :: (b :: _ as rest) -> Q.leq losses.(a) losses.(b) && rises rest | _ -> true in
  rises ranking

let read_goal document mechanism certificate ranking =
  if not (Certificate.states_goal certificate) then begin
    insist (optional "objective" document = None) "an objective and the certificate's goal must come together";
    None
  end
  else begin
    let goal = Certificate.goal mechanism certificate in
    let size = Z.of_int (Array.length mechanism.inputs) and file = mechanism.file in
    insist (Checker.is_goal size file.Checker.width goal) "weights are at least 0; a worst case needs a prior";
    insist (List.for_all2 follows goal.Checker.losses (Array.to_list ranking)) "loss must not fall along the rankings";
    let objective = part "objective" document in
    let bound = Option.map (fun bound -> number (Numbers.fraction bound)) (optional "lower_bound" objective) in
    Some (goal, number (Numbers.fraction (part "value" objective)), bound)
  end

let of_theorem document mechanism certificate theorem =
  let size = Array.length mechanism.inputs and width = List.length mechanism.outputs in
  let listed key = list_of (part key certificate) in
  let rankings = List.map (fun line -> List.map (Numbers.whole ~most:(width - 1) 0) (list_of line)) (listed "rankings") in
  let ranking_of = List.map (Numbers.whole ~most:(List.length rankings - 1) 0) (listed "ranking_of") in
  insist (List.length ranking_of = size) "ranking_of must give every input a ranking";
  insist (List.for_all (fun line -> List.sort compare line = List.init width Fun.id) rankings) "rankings must list every output once";
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
  let goal = read_goal document mechanism certificate ranking in
  let stated = Certificate.within certificate in
  let small = Q.min stated rounding in
  let within = if goal = None then small else stated in
  let slack = Q.mul small (Q.of_int width) in
  Certificate.insist_on_scope certificate (if starts = [] then Certificate.all_private else Certificate.same_rows);
  if theorem = "balanced-line" then
    insist (Q.leq (off_balance mechanism ranking is_given) within) "the boundary rows are not the balanced ones";
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
        within;
        slack = (Q.num slack, Q.den slack);
        goal;
      }
  end

(* the rows that reach every bound on first choices, by the verified `bounds` *)
let best_rows mechanism choices =
  let size = Array.length mechanism.inputs and width = List.length mechanism.outputs in
  let best = Array.init size (fun _ -> Array.make width Q.zero) in
  List.iteri (fun k ranking ->
      let before = Array.make size Q.zero in
      List.iteri (fun place output ->
          let answers = List.filteri (fun other _ -> other <= place) ranking in
          let tree = Checker.bounds mechanism.file choices.given choices.rounds answers in
          List.iteri (fun i ranked -> if Z.equal ranked (Z.of_int k) then
                match Checker.get (Z.of_int (i + 1)) tree with
                | Some bound ->
                  best.(i).(Z.to_int output) <- Q.sub (number bound) before.(i);
                  before.(i) <- number bound
                | None -> fail "an input has no bound")
            choices.ranking_of)
        ranking)
    choices.rankings;
  Array.to_list (Array.map Array.to_list best)

(* what holds of rows that are private, in words *)
let conclude mechanism choices =
  let file = mechanism.file in
  let best = best_rows mechanism choices in
  let near row others = List.for_all2 (fun p q -> Q.leq (Q.abs (Q.sub (number p) q)) choices.within) row others in
  let wrong = "the rows are not the best beside those given" in
  insist (List.for_all2 near file.Checker.rows best) wrong;
  let { given; rankings; ranking_of; rounds; slack; _ } = choices in
  let first = Checker.check_first_choices file given rankings ranking_of rounds slack in
  let compared = Printf.sprintf "no private mechanism with the same rows at %d of them"
      (List.length (List.filter Fun.id given)) in
  let likelier = Printf.sprintf "%s makes first choices likelier%s" compared
      (if Z.sign (fst slack) = 0 then "" else ", but for rounding by at most 2^-45 in each entry") in
  match choices.goal with
  | None -> insist first wrong; likelier
  | Some (goal, value, bound) ->
    let rows = List.map (List.map (fun x -> (Q.num x, Q.den x))) best in
    let proven = number (Checker.value_of { file with Checker.rows = rows } goal) in
    insist (Q.equal value (number (Checker.value_of file goal))) "the objective's value is another";
    insist (Option.fold ~none:true ~some:(fun bound -> Q.leq bound proven) bound)
      "the lower bound is more than the certificate proves";
    let below = Printf.sprintf "the goal has the value stated, and %s goes below the bound" compared in
    if first then likelier ^ "; " ^ below else below

type found = Nothing | Too_long | Choices of choices

(* Nothing where there is no certificate of this kind *)
let read document mechanism =
  match document with
  | Object members ->
    (match List.assoc_opt "certificate" members with
     | Some (Object _ as certificate) ->
       (match (optional "kind" certificate, optional "theorem" certificate) with
        | Some (Text "theorem"), Some (Text ("rainbow" | "balanced-line" | "homogeneous-rainbow" as theorem)) ->
          (match of_theorem document mechanism certificate theorem with
           | Some choices -> Choices choices
           | None -> Too_long)
        | _ -> Nothing)
     | _ -> Nothing)
  | _ -> Nothing
