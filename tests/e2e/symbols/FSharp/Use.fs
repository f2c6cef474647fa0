module Use

open Shapes

let table = [ for i in 1..10 -> Circle(float i), twice (fun x -> x * 2 + 1) i ]

let describe (s: obj) =
    match s with
    | :? string as t when t.Length > 3 -> t.Substring 3
    | :? int as i -> string (twice ((+) i) 3)
    | _ ->
        try
            s.ToString()
        with
        | :? System.InvalidOperationException -> "invalid"
        | e -> e.Message

# 77 "/generated/Parser.fsy"
let generated x =
    let y = x + 1
    y * 2
