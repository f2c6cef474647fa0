// Holds one object in each way that a program does, and prints for each how: "TYPE|MEMBER|CHAIN". The object was allocated in
// the line that ends in "// MEMBER"; CHAIN is what `retained --type TYPE` has to show of the way to it, with * for what differs between runtimes. Then "ok"; it ends with
// its input.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Loader;
using System.Threading;
using System.Threading.Tasks;

namespace Held;

public sealed class ByDictionary { }
public sealed class ByEvent { public void Changed(object sender, EventArgs e) { } }
public sealed class ByEvents { public void Changed(object sender, EventArgs e) { } }
public sealed class ByTimer { }
public sealed class ByThreadLocal { }
public sealed class ByAsyncLocal { }
public sealed class ByStruct { }
public sealed class ByBase { }
public sealed class ByGeneric { }
public sealed class ByClosure { }
public sealed class ByAsync { }
public sealed class ByInline { }
public sealed class ByPair { }
public sealed class ByKey { }
public sealed class ByThread { }
public sealed class ByHandle { }
public sealed class ByPinned { public int Number; }
public sealed class ByCollectible { }
public sealed class BySecond { }
public sealed class ByProperty { }

public struct Two { public object First, Second; }
public struct Outer { public int Number; public Two Inner; }
public class Base { public object Kept; }
public sealed class Derived : Base { public object Other; }
[InlineArray(4)] public struct Four { public object Item; }
public sealed class Row { public Four Cells; }
static class Cache { public static Dictionary<string, ByDictionary> Items = new(); }
sealed class Registry<T> { public static readonly Registry<T> Default = new(); public List<T> Items = new(); }
static class Singles { public static Outer Value; public static ByProperty Current { get; set; } }

static class Program
{
    static event EventHandler Changed;
    static event EventHandler Many;
    static Timer timer;
    static readonly ThreadLocal<ByThreadLocal> local = new();
    static readonly AsyncLocal<ByAsyncLocal> flowing = new();
    static Derived derived;
    static Row row;
    static Two[] pairs;
    static Action closure;
    static Task waiting;
    static readonly TaskCompletionSource never = new();
    static readonly ConditionalWeakTable<ByKey, ByPair> table = new();
    static ByKey key;
    [ThreadStatic] static ByThread own;
    static GCHandle handle, pinned;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Fill()
    {
        Cache.Items["one"] = new ByDictionary(); // Dictionary
        Changed += new ByEvent().Changed; // Event
        Many += Nothing;
        Many += new ByEvents().Changed; // Events
        timer = new Timer(Tick, new ByTimer(), Timeout.Infinite, Timeout.Infinite); // Timer
        local.Value = new ByThreadLocal(); // ThreadLocal
        flowing.Value = new ByAsyncLocal(); // AsyncLocal
        Singles.Value.Inner.Second = new ByStruct(); // Struct
        derived = new Derived { Kept = new ByBase() }; // Base
        Registry<ByGeneric>.Default.Items.Add(new ByGeneric()); // Generic
        row = new Row();
        row.Cells[2] = new ByInline(); // Inline
        pairs = new Two[3];
        pairs[1].Second = new BySecond(); // Second
        key = new ByKey();
        table.Add(key, new ByPair()); // Pair
        own = new ByThread(); // Thread
        handle = GCHandle.Alloc(new ByHandle()); // Handle
        pinned = GCHandle.Alloc(new ByPinned(), GCHandleType.Pinned); // Pinned
        Singles.Current = new ByProperty(); // Property
        Capture(new ByClosure()); // Closure
        waiting = Wait(new ByAsync()); // Async
    }

    static void Nothing(object sender, EventArgs e) { }
    static void Tick(object state) { }
    static void Capture(ByClosure captured) => closure = () => GC.KeepAlive(captured);

    static async Task Wait(ByAsync state)
    {
        await never.Task;
        GC.KeepAlive(state);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Plugin()
    {
        var context = new AssemblyLoadContext("plugin", isCollectible: true);
        Assembly copy = context.LoadFromAssemblyPath(typeof(Program).Assembly.Location);
        copy.GetType("Held.Loaded").GetMethod("Keep").Invoke(null, null);
    }

    static int Main()
    {
        var filler = new Thread(() => { Fill(); filled.Set(); never.Task.Wait(); }) { IsBackground = true };
        filler.Start();
        filled.Wait();
        Plugin();
        Say("ByDictionary", "Dictionary", "static Cache.Items -> Dictionary<,>._entries -> [i].value -> ByDictionary");
        Say("ByEvent", "Event", "static Program.Changed -> EventHandler._target -> ByEvent");
        Say("ByEvents", "Events", "static Program.Many -> EventHandler._invocationList -> [i] -> EventHandler._target -> ByEvents");
        Say("ByThreadLocal", "ThreadLocal", "static Program.local -> ThreadLocal<>._linkedSlot -> ThreadLocal<>.LinkedSlot._next -> ThreadLocal<>.LinkedSlot._value -> ByThreadLocal");
        Say("ByStruct", "Struct", "static Singles.Value -> Outer.Inner.Second -> ByStruct");
        Say("ByBase", "Base", "static Program.derived -> Derived.Kept -> ByBase");
        Say("ByGeneric", "Generic", "a * handle -> object[] (static fields)[i] -> Registry<>.Items -> List<>._items -> [i] -> ByGeneric"); // the runtime does not tell
        Say("ByInline", "Inline", "static Program.row -> Row.Cells.Item[2] -> ByInline");
        Say("BySecond", "Second", "static Program.pairs -> [i].Second -> BySecond");
        Say("ByProperty", "Property", "static Singles.Current -> ByProperty");
        Say("ByClosure", "Closure", "static Program.closure -> Action._target -> Program.<>c__DisplayClass*.captured -> ByClosure");
        Say("ByAsync", "Async", "static Program.waiting -> AsyncTaskMethodBuilder<>.AsyncStateMachineBox<>.StateMachine.state -> ByAsync");
        Say("ByPair", "Pair", "static Program.key -> ByKey -> (attached) -> ByPair");
        Say("ByHandle", "Handle", "a strong handle -> ByHandle");
        Say("ByPinned", "Pinned", "a pinned handle -> ByPinned");
        Say("ByTimer", "Timer", "static Program.timer -> Timer._timer -> *TimerQueueTimer._state -> ByTimer");
        Say("ByAsyncLocal", "AsyncLocal", "* -> ExecutionContext.m_localValues -> AsyncLocalValueMap.OneElementAsyncLocalValueMap.* -> ByAsyncLocal");
        Say("ByThread", "Thread", "thread static Program.own -> ByThread");
        Say("ByCollectible", "Collectible", "static Loaded.Own -> ByCollectible");
        Console.WriteLine("ok");
        Console.In.ReadToEnd();
        GC.KeepAlive(timer);
        return 0;
    }

    static readonly ManualResetEventSlim filled = new();

    static void Say(string type, string member, string chain) =>
        Console.WriteLine(type + "|" + member + "|" + chain);
}

public static class Loaded
{
    static ByCollectible Own;

    public static void Keep()
    {
        Own = new ByCollectible(); // Collectible
    }
}
