// F#'s tasks. Each allocation has another type, and its logical path, as in ../Logical.
module LogicalTasks.Program

open System
open System.Runtime.CompilerServices
open System.Threading.Tasks

type LeafBefore() = class end
type LeafAfter() = class end
type InMiddle() = class end
type After() = class end
type InHelper() = class end
type InBoth() = class end
type AfterAll() = class end
type InShared() = class end
type InLoop() = class end
type Caught() = class end

let mutable kept = obj ()

[<MethodImpl(MethodImplOptions.NoInlining)>]
let keep (it: obj) = kept <- it

[<MethodImpl(MethodImplOptions.NoInlining)>]
let helper () = keep (InHelper())

let leaf () =
    task {
        keep (LeafBefore())
        do! Task.Yield()
        keep (LeafAfter())
        helper ()
        return 5
    }

let middle () =
    task {
        let! n = leaf ()
        keep (InMiddle())
        return n
    }

let outer () =
    task {
        let! n = middle ()
        keep (After())
        return n
    }

let both () =
    task {
        do! Task.Delay 1
        keep (InBoth())
    }

let loop () =
    task {
        for _ in 1..3 do
            do! Task.Yield()
            keep (InLoop())
    }

let fails () : Task<int> =
    task {
        do! Task.Yield()
        return raise (InvalidOperationException())
    }

let catches () =
    task {
        try
            let! _ = fails ()
            ()
        with :? InvalidOperationException ->
            keep (Caught())
    }

let shared () =
    task {
        do! Task.Yield()
        keep (InShared())
    }

let one () = task { do! shared () }
let two () = task { do! shared () }

let all () =
    task {
        let! _ = Task.WhenAll [| both (); loop () |]
        keep (AfterAll())
        do! catches ()
        do! one ()
        do! two ()
    }

[<MethodImpl(MethodImplOptions.NoInlining)>]
let run (work: unit -> Task) = work().GetAwaiter().GetResult()

[<EntryPoint>]
let main _ =
    outer().GetAwaiter().GetResult() |> ignore
    all().GetAwaiter().GetResult()

    let paths =
        [ "LeafBefore", "leaf < middle < outer < main"
          "LeafAfter", "leaf < middle < outer < main"
          "InHelper", "helper < leaf < middle < outer < main"
          "InMiddle", "middle < outer < main"
          "After", "outer < main"
          "InBoth", "both < all < main"
          "InLoop", "loop < all < main"
          "AfterAll", "all < main"
          "Caught", "catches < all < main"
          "InShared", "shared < one < all < main"
          "InShared", "shared < two < all < main" ]

    for kind, path in paths do
        let frames = path.Split " < " |> Array.map (fun frame -> "Program." + frame)
        Console.WriteLine("LogicalTasks.Program." + kind + "\t" + String.Join(" < ", frames))

    0
