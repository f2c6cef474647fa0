// The types that are kept, and the methods that make them.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Keeping;

class Item
{
    public long A;
    public Item Next;
    public int Read() => (int)A;
}

sealed class Copied : ICloneable
{
    public long A, B, C;
    public object Clone() => MemberwiseClone();
}

sealed class Node
{
    public Node Left, Right;
}

sealed class Key { }

sealed class Held
{
    public object By;
}

sealed class Part { }

sealed class Trouble : Exception { }

struct Pair
{
    public object First;
    public long Second;
}

delegate int Work();

static class Statics<T>
{
    public static Pair Value; // the runtime keeps it in a separate box
}

static class PerThread
{
    [ThreadStatic]
    public static Item Mine;
    [ThreadStatic]
    public static Item[] Ours;
}

sealed class Finalized
{
    public static readonly ManualResetEventSlim MayRun = new ManualResetEventSlim(true);
    public object Part;

    ~Finalized()
    {
        MayRun.Wait();
        Makers.InFinalizer();
    }
}

sealed class Lazarus
{
    public int Returns;

    ~Lazarus()
    {
        Finalized.MayRun.Wait();
        if (Returns-- > 0)
            lock (At.Resurrected.Kept)
                At.Resurrected.Kept.Add(this);
    }
}

/// Loaded a second time, into a context that is unloaded: see Makers.LoadContext.
public static class Inside
{
    public static readonly List<object> Own = new List<object>();

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Make(int n, Func<object, string, object> note, Action<object> keep)
    {
        Thing last = null;
        for (int i = 0; i < n; i++)
            keep(last = (Thing)note(new Thing { Before = last }, "Keeping\\.Thing"));
        Own.Add(note(new Thing[100], "Keeping\\.Thing\\[\\]"));
    }
}

public sealed class Thing
{
    public Thing Before;
}

static class At
{
    static Place Maker(string method) => new Place("Keeping\\.Makers\\." + method);

    public static readonly Place
        Lists = Maker("Lists"), Dictionaries = Maker("Dictionaries"),
        WeakReferences = Maker("WeakReferences"), WeakTargets = Maker("WeakTargets"),
        TableKeys = Maker("TableKeys"), TableValues = Maker("TableValues"),
        PinnedHandles = Maker("PinnedHandles"), BetweenPinned = Maker("BetweenPinned"),
        Large = Maker("Large"), LargeOfReferences = Maker("LargeOfReferences"), PinnedHeap = Maker("PinnedHeap"),
        ThreadStatics = Maker("ThreadStatics"), Interned = Maker("Interned"), Boxes = Maker("Boxes"),
        StaticBoxes = Maker("(?:StaticBoxes|TouchStatics)"), Literals = Maker("Literals"),
        Tasks = Maker("Tasks"), Machines = Maker("<Wait>d__[0-9]+\\.MoveNext"), MachineObjects = Maker("Wait"),
        Finalizers = Maker("Finalizers"), InFinalizer = Maker("InFinalizer"), Resurrected = Maker("Resurrected"),
        Context = new Place("Keeping\\.Inside\\.Make"), Grown = Maker("Grown"), Clones = Maker("Clones"),
        Copied = new Place("Keeping\\.Copied\\.Clone"), ArraysOfArrays = Maker("ArraysOfArrays"), Delegates = Maker("Delegates"),
        Closures = Maker("Closures"), Builders = Maker("Builders"), Trees = Maker("Trees"), LinkedLists = Maker("LinkedLists"),
        Reflected = Maker("Reflected"), Exceptions = Maker("Exceptions"), Young = Maker("Young"),
        Replace = Maker("Replace"), ReplaceLarge = Maker("ReplaceLarge"), ReplacePinned = Maker("ReplacePinned");
}
