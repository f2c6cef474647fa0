// What the F# compiler compiles when it is measured.
module Small

type Shape =
    | Circle of radius: float
    | Rectangle of width: float * height: float

let area shape =
    match shape with
    | Circle r -> System.Math.PI * r * r
    | Rectangle (w, h) -> w * h

let shapes = [ for i in 1..20 -> if i % 2 = 0 then Circle(float i) else Rectangle(float i, 2.0) ]

[<EntryPoint>]
let main _ =
    shapes |> List.groupBy (fun s -> int (area s) / 100) |> List.iter (fun (k, g) -> printfn "%d: %d" k (List.length g))
    0
