(* Numbers of mechanism files: 3, "0.25", "1e-9" and "3/10" become a numerator and a denominator. *)

open Json

let most_digits = 4300
let ten = Z.of_int 10

(* [+-]? then digits/digits, or a decimal whose exponent is at most 4000 in size *)
let fraction_of_text text =
  let size = String.length text in
  let bad () = fail "a number is expected" in
  if size = 0 || size > 8000 then bad ();
  let at = ref 0 in
  let here x = !at < size && text.[!at] = x in
  let digits () =
    let start = !at in
    while !at < size && text.[!at] >= '0' && text.[!at] <= '9' do incr at done;
    if !at - start > most_digits then fail "an integer of more than 4300 digits";
    String.sub text start (!at - start) in
  let negative = here '-' in
  if here '-' || here '+' then incr at;
  let whole = digits () in
  let numerator, denominator =
    if here '/' then begin
      incr at;
      let below = digits () in
      if whole = "" || below = "" then bad ();
      (Z.of_string whole, Z.of_string below)
    end
    else begin
      let decimals = if here '.' then (incr at; digits ()) else "" in
      if whole = "" && decimals = "" then bad ();
      let exponent =
        if here 'e' || here 'E' then begin
          incr at;
          let down = here '-' in
          if here '-' || here '+' then incr at;
          let size = digits () in
          if size = "" then bad ();
          let size = Z.of_string size in
          if Z.gt size (Z.of_int 4000) then bad ();
          if down then - Z.to_int size else Z.to_int size
        end
        else 0 in
      let places = exponent - String.length decimals in
      let digits = Z.of_string ("0" ^ whole ^ decimals) in
      if places >= 0 then (Z.mul digits (Z.pow ten places), Z.one) else (digits, Z.pow ten (-places))
    end in
  if !at < size || Z.sign denominator = 0 then bad ();
  ((if negative then Z.neg numerator else numerator), denominator)

let trimmed text =
  let blank x = String.contains " \t\n\r\011\012" x in
  let size = String.length text in
  let first = ref 0 and last = ref size in
  while !first < size && blank text.[!first] do incr first done;
  while !last > !first && blank text.[!last - 1] do decr last done;
  String.sub text !first (!last - !first)

let fraction = function
  | Number text -> fraction_of_text text
  | Text text -> fraction_of_text (trimmed text)
  | _ -> fail "a number is expected"

let whole ?(most = 10_000_000) least value =
  let above, below = fraction value in
  let quotient, rest = Z.div_rem above below in
  if Z.sign rest <> 0 || Z.lt quotient (Z.of_int least) || Z.gt quotient (Z.of_int most) then
    fail "a whole number in range is expected";
  Z.to_int quotient

(* e^epsilon rounded down to 128 binary digits after the leading one: Taylor's series by Horner's rule, with every
   step rounded one way, until the bounds from below and above agree on these digits *)
let power_of_e (above, below) places up =
  let round x y = if up then Z.cdiv x y else Z.fdiv x y in
  let one = Z.shift_left Z.one places in
  let x = round (Z.shift_left above places) below in
  let power = ref (if up then Z.shift_left one 1 else one) in
  for k = places + (8 * Z.to_int (Z.fdiv above below)) + 8 downto 1 do
    power := Z.add one (round (Z.mul !power x) (Z.shift_left (Z.of_int k) places))
  done;
  !power

let ratio_of_epsilon (above, below) =
  if Z.sign above < 0 || Z.gt above (Z.mul (Z.of_int 1000) below) then fail "epsilon must lie between 0 and 1000";
  if Z.sign above = 0 then (Z.one, Z.one)
  else begin
    let rec try_places = function
      | [] -> fail "e^epsilon is too close to a number of 128 bits"
      | places :: more ->
        let low = power_of_e (above, below) places false and high = power_of_e (above, below) places true in
        let drop = Z.numbits low - 129 in
        if Z.equal (Z.shift_right low drop) (Z.shift_right high drop) then
          (Z.shift_left (Z.shift_right low drop) drop, Z.shift_left Z.one places)
        else try_places more in
    try_places [200; 2000; 28000]
  end
