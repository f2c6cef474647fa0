module Shapes

open System
open System.Threading.Tasks

type Shape =
    | Circle of radius: float
    | Box of width: float * height: float
    | Empty

let inline twice ([<InlineIfLambda>] f: 'a -> 'a) x =
    let y = f x
    f y

let area shape =
    match shape with
    | Circle r when r > 0.0 -> Math.PI * r * r
    | Circle _ -> 0.0
    | Box(w, h) -> w * h
    | Empty -> 0.0

let rec count acc =
    function
    | [] -> acc
    | _ :: rest -> count (acc + 1) rest

let numbers n =
    seq {
        for i in 1..n do
            if i % 2 = 0 then
                yield i
            else
                yield! [ i; -i ]
    }

let work n =
    task {
        let mutable sum = 0

        for i in numbers n do
            do! Task.Yield()
            sum <- sum + i

        try
            return! Task.FromResult sum
        finally
            printfn "done %d" sum
    }

let later n =
    async {
        use! _c = Async.OnCancel(fun () -> printfn "cancelled")
        let! x = Async.AwaitTask(work n)
        return x + 1
    }

type Counter(start: int) =
    let mutable value = start
    let changed = Event<int>()

    do
        if start < 0 then
            invalidArg (nameof start) "negative"

    member _.Changed = changed.Publish

    member _.Value
        with get () = value
        and set v =
            value <- v
            changed.Trigger v

    interface IDisposable with
        member _.Dispose() = value <- 0

let (|Even|Odd|) n = if n % 2 = 0 then Even else Odd

let curried a b c =
    let add x = x + a
    let local = List.map (fun y -> add y + b) [ 1..c ]
    local |> List.filter (function Even -> true | Odd -> false) |> List.sum
