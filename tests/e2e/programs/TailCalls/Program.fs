/// Tail calls as F# makes them: mutual recursion, more arguments than the caller has, through interfaces, closures and
/// generic code; exceptions out of them; and the rest of F# that throws and allocates in its own way.
module TailCalls.Program

open System
open System.Collections.Generic
open System.Runtime.CompilerServices
open System.Threading.Tasks

[<AllowNullLiteral>]
type Mark(number: int64) =
    member _.Number = number

exception Test of int
exception Other of string * int

type Sink() =
    static let kept : obj[] = Array.zeroCreate 64
    static let mutable number = 0

    [<MethodImpl(MethodImplOptions.NoInlining)>]
    static member Keep(o: obj) =
        number <- number + 1
        kept.[number &&& 63] <- o

    [<MethodImpl(MethodImplOptions.NoInlining)>]
    static member Callee() = Sink.Keep(Mark(int64 number))

    [<MethodImpl(MethodImplOptions.NoInlining)>]
    static member Several() =
        Sink.Callee()
        Sink.Keep(box number)
        Sink.Keep(Array.zeroCreate<int> 3)

let check holds what = if not holds then failwith ("does not hold: " + what)

[<MethodImpl(MethodImplOptions.NoInlining)>]
let throwIt (n: int) : int =
    Sink.Callee()
    raise (Test n)

// ---- mutual recursion ----

[<MethodImpl(MethodImplOptions.NoInlining)>]
let rec even n =
    if n % 16 = 0 then Sink.Callee()
    if n = 0 then true else odd (n - 1)

and [<MethodImpl(MethodImplOptions.NoInlining)>] odd n =
    if n % 16 = 1 then Sink.Several()
    if n = 0 then false else even (n - 1)

let mutual () =
    check (even 1000) "even"
    check (not (odd 1000)) "odd"
    Sink.Callee()

/// Deeper than any stack without tail calls.
[<MethodImpl(MethodImplOptions.NoInlining)>]
let rec quietEven n =
    if n % 100_000 = 0 then Sink.Several()
    if n = 0 then true else quietOdd (n - 1) n

and [<MethodImpl(MethodImplOptions.NoInlining)>] quietOdd n (_was: int) =
    if n = 0 then false else quietEven (n - 1)

let mutualDeep () = check (quietEven 1_000_000) "deep"

[<MethodImpl(MethodImplOptions.NoInlining)>]
let rec ping n =
    if n % 8 = 0 then Sink.Callee()
    if n = 0 then throwIt 1 else pong (n - 1)

and [<MethodImpl(MethodImplOptions.NoInlining)>] pong n =
    if n % 8 = 1 then Sink.Several()
    if n = 0 then throwIt 2 else ping (n - 1)

let mutualThrows () =
    for n in 0..10 do
        try
            check (ping (100 + n) < 0) "ping throws"
        with Test code ->
            check (code = 1 + n % 2) "code"
            Sink.Several()

// ---- more arguments than the caller has room for ----

[<MethodImpl(MethodImplOptions.NoInlining)>]
let rec few (n: int) : int64 =
    if n % 8 = 0 then Sink.Callee()
    if n = 0 then 0L else many n 1L 2L 3L 4L 5L 6L 7L 8L 9L 10L 11L 12L

and [<MethodImpl(MethodImplOptions.NoInlining)>] many (n: int) (a: int64) b c d e f g h i j k l : int64 =
    if n % 8 = 4 then Sink.Several()
    if n < 0 then a + b + c + d + e + f + g + h + i + j + k + l
    elif n % 97 = 96 then more n a b c d e f g h i j k l 13.0 (Mark a) (struct (a, b, c, d))
    else few (n - 1)

and [<MethodImpl(MethodImplOptions.NoInlining)>] more n a b c d e f g h i j k l (m: float) (o: Mark) (t: struct (int64 * int64 * int64 * int64)) : int64 =
    Sink.Keep o
    let struct (x, _, _, _) = t
    if x + int64 m < 0L then 0L else few (n - 1)

let moreArguments () =
    check (few 300 = 0L) "few"
    Sink.Callee()

[<MethodImpl(MethodImplOptions.NoInlining)>]
let rec fewThrowing (n: int) : int =
    if n % 8 = 0 then Sink.Callee()
    if n = 0 then throwIt 3 else manyThrowing n 1L 2L 3L 4L 5L 6L 7L 8L 9L

and [<MethodImpl(MethodImplOptions.NoInlining)>] manyThrowing (n: int) (a: int64) (b: int64) (c: int64) (d: int64) (e: int64) (f: int64) (g: int64) (h: int64) (i: int64) : int =
    if n = -1 then int (a + b + c + d + e + f + g + h + i) else fewThrowing (n - 1)

let moreArgumentsThrow () =
    for n in [ 0; 1; 7; 40 ] do
        try
            check (fewThrowing n < 0) "few throws"
        with
        | Test 3 -> Sink.Several()

// ---- values returned in memory, by reference, generic ----

[<Struct>]
type Big = { A: int64; B: int64; C: int64; D: obj }

[<MethodImpl(MethodImplOptions.NoInlining)>]
let rec bigDown n (o: obj) : Big =
    if n % 8 = 0 then Sink.Callee()
    if n = 0 then { A = 1L; B = 2L; C = 3L; D = o } else bigUp (n - 1) o n (n + 1) (n + 2) (n + 3) (n + 4) (n + 5)

and [<MethodImpl(MethodImplOptions.NoInlining)>] bigUp n o (_a: int) (_b: int) (_c: int) (_d: int) (_e: int) (_f: int) : Big =
    if n = 0 then { A = 4L; B = 5L; C = 6L; D = o } else bigDown (n - 1) o

let structResult () =
    check ((bigDown 60 (Mark 1L)).A = 1L) "down"
    check ((bigDown 61 (Mark 1L)).A = 4L) "up"

type Generic =
    [<MethodImpl(MethodImplOptions.NoInlining)>]
    static member Down<'T>(n: int, value: 'T, others: 'T list) : 'T list =
        if n % 4 = 0 then Sink.Keep(Array.zeroCreate<'T> 1)
        if n = 0 then others else Generic.Up<'T>(n - 1, value, others, 1, 2, 3, 4, 5, 6, 7)

    [<MethodImpl(MethodImplOptions.NoInlining)>]
    static member Up<'T>(n: int, value: 'T, others: 'T list, _a: int, _b: int, _c: int, _d: int, _e: int, _f: int, _g: int) : 'T list =
        if n = 0 then value :: others else Generic.Down<'T>(n - 1, value, value :: others)

let genericTail () =
    check (List.length (Generic.Down(41, "x", [])) = 21) "strings"
    check (List.length (Generic.Down(41, 1, [])) = 21) "ints"
    check (List.length (Generic.Down(41, struct (1, "x"), [])) = 21) "structs"

// ---- through interfaces, virtual methods, closures ----

type IState =
    abstract Next: n: int * log: List<obj> -> int

type First() =
    member val Other: IState = Unchecked.defaultof<IState> with get, set

    interface IState with
        [<MethodImpl(MethodImplOptions.NoInlining)>]
        member this.Next(n, log) =
            if n % 8 = 0 then log.Add(Mark(int64 n))
            if n = 0 then log.Count else this.Other.Next(n - 1, log)

type Second(first: First) =
    interface IState with
        [<MethodImpl(MethodImplOptions.NoInlining)>]
        member _.Next(n, log) =
            if n % 8 = 1 then log.Add(box n)
            if n = 0 then throwIt n else (first :> IState).Next(n - 1, log)

let interfaces () =
    let first = First()
    first.Other <- Second first
    check ((first :> IState).Next(200, List()) = 26 + 25) "interfaces"
    try
        check ((first :> IState).Next(201, List()) < 0) "throws"
    with Test 0 -> Sink.Several()

[<MethodImpl(MethodImplOptions.NoInlining)>]
let rec sumWith (items: int list) (k: int -> int) : int =
    match items with
    | [] -> k 0
    | head :: rest ->
        if head % 16 = 0 then Sink.Callee()
        sumWith rest (fun sum -> k (sum + head))

let continuations () =
    check (sumWith [ 1..500 ] id = 125250) "continuations"
    try
        check (sumWith [ 1..100 ] (fun sum -> if sum = 5050 then throwIt sum else sum) < 0) "throws"
    with Test 5050 -> Sink.Several()

[<MethodImpl(MethodImplOptions.NoInlining)>]
let apply (f: int -> int -> int -> int) n = f n 2 3

let closures () =
    let captured = Mark 4L
    let f a b c =
        Sink.Keep captured
        a + b + c
    check (apply f 1 = 6) "closure"
    check (apply (fun a b -> if a = 2 then (fun c -> a * b * c) else (fun _ -> throwIt 4)) 2 = 12) "partial"
    try
        check (apply (fun a b -> if a = 2 then (fun c -> a * b * c) else (fun _ -> throwIt 4)) 1 < 0) "throws"
    with Test 4 -> Sink.Several()
    let composed = List.fold (>>) id [ for i in 1..30 -> (fun n -> Sink.Callee(); n + i) ]
    check (composed 0 = 465) "composed"

/// A tail call out of a method whose caller waits inside try, and out of handlers' callees.
[<MethodImpl(MethodImplOptions.NoInlining)>]
let rec guarded n : int =
    try
        Sink.Callee()
        if n = 0 then ping 20 else guarded (n - 1)
    finally
        Sink.Callee()

let insideTry () =
    for n in 0..5 do
        try
            check (guarded n < 0) "guarded"
        with Test _ ->
            Sink.Several()
            check (even 40) "even in a handler"

let insideFinally () =
    let mutable seen = 0
    try
        try
            check (ping 9 < 0) "ping"
        finally
            check (even 64) "even in finally"
            try
                check (fewThrowing 9 < 0) "few"
            with Test 3 ->
                Sink.Several()
                seen <- seen + 1
    with Test _ -> Sink.Several()
    check (seen = 1) "seen"

// ---- the rest of F# ----

let patterns () =
    let attempt f =
        try
            f ()
        with
        | Test n when (Sink.Several(); n > 5) -> n
        | Other(text, n) when text.Length = n ->
            Sink.Several()
            n
        | :? DivideByZeroException ->
            Sink.Callee()
            -1
    check (attempt (fun () -> throwIt 7) = 7) "guard"
    check (attempt (fun () -> raise (Other("four", 4))) = 4) "other"
    check (attempt (fun () -> 1 / (String.Empty.Length)) = -1) "divide"
    try
        check (attempt (fun () -> throwIt 3) < 0) "falls through"
    with Test 3 -> Sink.Several()

let rethrown () =
    let rec level n =
        try
            if n = 0 then throwIt 0 else level (n - 1) + 1
        with Test _ ->
            Sink.Callee()
            reraise ()
    try
        check (level 6 < 0) "level"
    with Test 0 -> Sink.Several()

let sequences () =
    let numbers n =
        seq {
            try
                for i in 0..n do
                    Sink.Callee()
                    if i = 7 then yield throwIt i
                    yield i
                    yield! [ i; i ]
            finally
                Sink.Several()
        }
    check (Seq.sum (numbers 5) = 45) "sum"
    try
        check (Seq.sum (numbers 9) < 0) "throws"
    with Test 7 -> Sink.Several()
    check (numbers 9 |> Seq.truncate 4 |> Seq.length = 4) "truncate"

let asyncWorkflows () =
    let rec work n =
        async {
            Sink.Callee()
            try
                if n = 0 then
                    return throwIt 9
                else
                    do! Async.SwitchToThreadPool()
                    let! rest = work (n - 1)
                    return rest + 1
            finally
                Sink.Callee()
        }
    let caught =
        async {
            try
                return! work 5
            with Test 9 ->
                Sink.Several()
                return 42
        }
    check (Async.RunSynchronously caught = 42) "async"
    let all = Async.Parallel [ for i in 1..6 -> async { Sink.Callee(); return i } ] |> Async.RunSynchronously
    check (Array.sum all = 21) "parallel"

let tasks () =
    let work (n: int) =
        task {
            for i in 1..n do
                Sink.Callee()
                do! Task.Yield()
            if n = 3 then return throwIt n else return n
        }
    let both =
        task {
            let! a = work 2
            try
                let! b = work 3
                return a + b
            with Test 3 ->
                Sink.Several()
                return a
        }
    check (both.Result = 2) "tasks"

let collections () =
    let map = [ for i in 1..60 -> (i * 7 % 61, string i) ] |> Map.ofList
    check (map.Count = 60) "map"
    let folded = map |> Map.filter (fun k _ -> k % 2 = 0) |> Map.toList |> List.sortByDescending fst
    check (fst folded.Head = 60) "sorted"
    check ((sprintf "%d %s %A" 4 "x" (Some [ 1; 2 ])).StartsWith "4 x") "format"
    let memo = lazy (Sink.Several(); 5)
    check (memo.Value + memo.Value = 10) "lazy"

let cases =
    [ "mutual", mutual
      "mutual-deep", mutualDeep
      "mutual-throws", mutualThrows
      "more-arguments", moreArguments
      "more-arguments-throw", moreArgumentsThrow
      "struct-result", structResult
      "generic", genericTail
      "interfaces", interfaces
      "continuations", continuations
      "closures", closures
      "inside-try", insideTry
      "inside-finally", insideFinally
      "patterns", patterns
      "rethrown", rethrown
      "sequences", sequences
      "async", asyncWorkflows
      "tasks", tasks
      "collections", collections ]

[<EntryPoint>]
let main args =
    let rec read args scale wanted =
        match args with
        | "--scale" :: n :: rest -> read rest (int n) wanted
        | "--case" :: name :: rest when List.exists (fun (n, _) -> n = name) cases -> read rest scale (name :: wanted)
        | [ "--list" ] ->
            for name, _ in cases do
                printfn "%s" name
            exit 0
        | [] -> scale, wanted
        | unknown :: _ ->
            eprintfn "unknown argument %s" unknown
            exit 2
    let scale, wanted = read (List.ofArray args) 1 []
    let mutable failed = false
    for name, body in cases do
        if not failed && (wanted.IsEmpty || List.contains name wanted) then
            for _ in 1..scale do
                try
                    body ()
                with e ->
                    if not failed then Console.WriteLine("FAIL " + name + ": " + e.ToString())
                    failed <- true
    if failed then
        1
    else
        Console.WriteLine "ok"
        0
