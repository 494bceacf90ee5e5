(* JSON, read strictly: no key twice in an object, no NaN, nesting up to 100, numbers kept as they are written. *)

exception Malformed of string

type value =
  | Null
  | Bool of bool
  | Number of string
  | Text of string
  | List of value list
  | Object of (string * value) list

let fail reason = raise (Malformed reason)
let deepest = 100

let utf8 buffer code =
  let put x = Buffer.add_char buffer (Char.chr x) in
  let tail shift = put (0x80 lor ((code lsr shift) land 0x3f)) in
  if code < 0x80 then put code
  else if code < 0x800 then (put (0xc0 lor (code lsr 6)); tail 0)
  else if code < 0x10000 then (put (0xe0 lor (code lsr 12)); tail 6; tail 0)
  else (put (0xf0 lor (code lsr 18)); tail 12; tail 6; tail 0)

let parse text =
  let size = String.length text in
  let at = ref 0 in
  let peek () = if !at < size then text.[!at] else '\000' in
  let rec blanks () =
    if !at < size && String.contains " \t\r\n" (peek ()) then (incr at; blanks ()) in
  let expect x = if !at < size && peek () = x then incr at else fail "the file is not valid JSON" in
  let word w = String.iter expect w in
  let digits () =
    let start = !at in
    while !at < size && peek () >= '0' && peek () <= '9' do incr at done;
    if !at = start then fail "a number without digits" in
  let number () =
    let start = !at in
    if peek () = '-' then incr at;
    if peek () = '0' then incr at else digits ();
    if peek () = '.' then (incr at; digits ());
    if peek () = 'e' || peek () = 'E' then begin
      incr at;
      if peek () = '+' || peek () = '-' then incr at;
      digits ()
    end;
    String.sub text start (!at - start) in
  let hexadecimal () =
    if !at + 4 > size then fail "the file is not valid JSON";
    let digit x = match x with
      | '0' .. '9' -> Char.code x - 48
      | 'a' .. 'f' -> Char.code x - 87
      | 'A' .. 'F' -> Char.code x - 55
      | _ -> fail "the file is not valid JSON" in
    let code = ref 0 in
    for _ = 1 to 4 do code := (!code * 16) + digit (peek ()); incr at done;
    !code in
  let string () =
    expect '"';
    let buffer = Buffer.create 16 in
    let rec more () =
      if !at >= size then fail "a text does not end";
      match peek () with
      | '"' -> incr at
      | '\\' ->
        incr at;
        let escaped = peek () in
        incr at;
        (match escaped with
         | '"' | '\\' | '/' -> Buffer.add_char buffer escaped
         | 'b' -> Buffer.add_char buffer '\b'
         | 'f' -> Buffer.add_char buffer '\012'
         | 'n' -> Buffer.add_char buffer '\n'
         | 'r' -> Buffer.add_char buffer '\r'
         | 't' -> Buffer.add_char buffer '\t'
         | 'u' ->
           let code = hexadecimal () in
           if code land 0xfc00 = 0xd800 then begin
             word "\\u";
             let low = hexadecimal () in
             if low land 0xfc00 <> 0xdc00 then fail "half of a character";
             utf8 buffer (0x10000 + ((code land 0x3ff) lsl 10) + (low land 0x3ff))
           end
           else if code land 0xfc00 = 0xdc00 then fail "half of a character"
           else utf8 buffer code
         | _ -> fail "the file is not valid JSON");
        more ()
      | x when x < ' ' -> fail "the file is not valid JSON"
      | x -> Buffer.add_char buffer x; incr at; more () in
    more ();
    Buffer.contents buffer in
  let rec value depth =
    if depth > deepest then fail "the file is nested too deep";
    blanks ();
    match peek () with
    | '{' -> incr at; Object (members '}' (member depth))
    | '[' -> incr at; List (members ']' (fun () -> value (depth + 1)))
    | '"' -> Text (string ())
    | 't' -> word "true"; Bool true
    | 'f' -> word "false"; Bool false
    | 'n' -> word "null"; Null
    | _ -> Number (number ())
  and member depth () =
    blanks ();
    let key = string () in
    blanks ();
    expect ':';
    (key, value (depth + 1))
  and members : 'a. char -> (unit -> 'a) -> 'a list = fun close one ->
    let rec more found =
      let found = one () :: found in
      blanks ();
      if peek () = ',' then (incr at; more found) else (expect close; List.rev found) in
    blanks ();
    if peek () = close then (incr at; []) else more [] in
  let rec once = function
    | Object members ->
      let keys = List.sort compare (List.map fst members) in
      let rec repeated = function a :: (b :: _ as rest) -> a = b || repeated rest | _ -> false in
      if repeated keys then fail "a key comes twice";
      List.iter (fun (_, inside) -> once inside) members
    | List inside -> List.iter once inside
    | _ -> () in
  let found = value 1 in
  blanks ();
  if !at < size then fail "the file is not valid JSON";
  once found;
  found
