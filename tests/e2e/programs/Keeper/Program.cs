// A program that knows what it keeps: methods that make objects of known types, keep some of them in every way there is,
// and lose them again; after collections it says what is alive.
//
//   Keeper [--scale N] [--conservative] [--wait MS]
//
// --wait: it waits after each collection that it reports: a log has sums of at most one a second.
//
// Prints one JSON object a line:
//   {"kind":"moment","moment":M,"name":TEXT,"gc":N,"depth":0|1|2}   after the N-th collection of the process
//   {"kind":"alive","moment":M,"method":RE,"type":RE,"objects":N,"bytes":N,"made":N,"made_bytes":N,"died":[[G,A,N,B],…]}
//       how many of all that the method made until now (made) are alive then. The method is the nearest of this program's
//       on the stack of the allocation; RE is a regular expression for the whole name, of methods without parameters and type
//       arguments. died: how many have died until now that had survived A collections, in generation G (3 the large,
//       4 the pinned heap); absent if others than the moments' collections took some.
//   {"kind":"surprise","text":TEXT}   another number is alive than follows from the program: it ends with status 1, unless
//       --conservative says that the collector may keep more.
// and `ok` at the end.
using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Keeping;

static class Program
{
    static readonly StreamWriter to = new StreamWriter(Console.OpenStandardOutput());
    static bool conservative, surprised;
    static int wait;

    public static void Surprise(string text)
    {
        surprised = true;
        to.WriteLine("{\"kind\":\"surprise\",\"text\":\"" + text.Replace("\\", "\\\\") + "\"}");
    }

    /* What is made once in a process for each type (empty arrays, comparers) is made here, under no maker. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Prepare()
    {
        new List<Item>().Add(new Item());
        new Dictionary<int, Item>().Add(1, new Item());
        GC.KeepAlive(new System.Text.StringBuilder().Append('a', 20).ToString());
        GC.KeepAlive(At.Lists);
        RuntimeHelpers.RunClassConstructor(typeof(Makers).TypeHandle);
        CheckSizes();
    }

    /// The sizes that the book goes by are those that the runtime counts.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Same(Func<object> make)
    {
        const int Times = 100;
        object made = make(); // the first time other things are made, too
        long bytes = 0;
        for (int tries = 0; tries < 10 && bytes != Times * Ledger.Size(made); tries++)
        {
            // Now and then the counter jumps by the rest of an allocation context, though no object is made.
            long before = GC.GetAllocatedBytesForCurrentThread();
            for (int i = 0; i < Times; i++)
                made = make();
            bytes = GC.GetAllocatedBytesForCurrentThread() - before;
        }
        if (bytes != Times * Ledger.Size(made))
            Surprise("size of " + made.GetType() + ": " + Ledger.Size(made) + ", the runtime counts " + bytes + " for " + Times);
    }

    static void CheckSizes()
    {
        Same(() => new Item());
        Same(() => new Copied());
        Same(() => new Key());
        Same(() => new byte[13]);
        Same(() => new Pair[3, 2]);
        Same(() => new Item[200]);
        Same(() => new string('x', 17));
        Same(() => new Pair());
        Same(() => new WeakReference<Item>(null));
        Same(() => GC.AllocateArray<byte>(77, pinned: true));
    }

    static int n = 1000;
    static Node tree;

    static void Make()
    {
        Ledger.Step(() => Makers.Lists(10 * n));
        Ledger.Step(() => Makers.Dictionaries(5 * n));
        Ledger.Step(() => Makers.WeakReferences(n));
        Ledger.Step(() => Makers.TableKeys(n));
        Ledger.Step(() => Makers.PinnedHandles(n));
        Ledger.Step(() => Makers.Large(20));
        Ledger.Step(() => Makers.LargeOfReferences(10));
        Ledger.Step(() => Makers.PinnedHeap(n / 2));
        Makers.ParkThreads(5);
        Ledger.Step(() => Makers.Interned(100));
        Ledger.Step(() => Makers.Literals());
        Ledger.Step(() => Makers.StaticBoxes());
        Ledger.Step(() => Makers.Boxes(n));
        Ledger.Step(() => Makers.Tasks(n));
        Ledger.Step(() => Makers.Finalizers(n / 2));
        Ledger.Step(() => Makers.Resurrected(n / 10));
        Ledger.Step(() => Makers.LoadContext(n / 2));
        Ledger.Step(() => Makers.Grown(n));
        Ledger.Step(() => Makers.Clones(n));
        Ledger.Step(() => Makers.ArraysOfArrays(n));
        Ledger.Step(() => Makers.Delegates(n));
        Ledger.Step(() => Makers.Closures(n));
        Ledger.Step(() => Makers.Builders(n / 5));
        Ledger.Step(() => tree = Makers.Trees(14));
        Ledger.Step(() => Makers.LinkedLists(10 * n));
        Ledger.Step(() => Makers.Reflected(n));
        Ledger.Step(() => Makers.Exceptions(n / 10));
        Ledger.Step(() => Makers.Young(n));
    }

    static void Moment(string name, int generation, bool compacting = false) => Ledger.Moment(to, name, generation, compacting, wait);

    static void Knows(Place place, Type type, long alive) => Ledger.Knows(place, Ledger.NameOf(type), alive);

    static void KnowsAllMade()
    {
        Knows(At.Lists, typeof(Item), 10 * n);
        Knows(At.Lists, typeof(Item[]), 1);
        Knows(At.Dictionaries, typeof(Item), 5 * n);
        Knows(At.WeakTargets, typeof(Item), At.WeakTargets.Count);
        Knows(At.TableValues, typeof(Held), n);
        Knows(At.PinnedHandles, typeof(byte[]), n);
        Knows(At.BetweenPinned, typeof(long[]), At.BetweenPinned.Count);
        Knows(At.Large, typeof(byte[]), 20);
        Knows(At.ThreadStatics, typeof(Item), 5 * 21);
        Knows(At.Interned, typeof(string), 50);
        Knows(At.Literals, typeof(string), 3);
        Knows(At.StaticBoxes, typeof(Pair), 2);
        Knows(At.Tasks, typeof(Item), n);
        Knows(At.Finalizers, typeof(Part), n / 2);
        Knows(At.Context, typeof(Thing), n / 2);
        Knows(At.Trees, typeof(Node), (1 << 14) - 1);
        Knows(At.Exceptions, typeof(Trouble), n / 20);
        Knows(At.Young, typeof(Item), 0);
    }

    /* Of nearly everything a part is lost. */
    static void Lose()
    {
        Ledger.Step(() => Makers.List.RemoveAll(item => item.A % 3 == 0));
        Ledger.Step(() =>
        {
            for (int i = 0; i < 5 * n; i += 2)
                Makers.Map.Remove(i);
        });
        foreach (Place place in new[] {
            At.WeakReferences, At.WeakTargets, At.TableKeys, At.BetweenPinned, At.Large, At.LargeOfReferences, At.PinnedHeap, At.Boxes,
            At.Clones, At.Copied, At.ArraysOfArrays, At.Delegates, At.Closures, At.Builders, At.Reflected, At.Exceptions })
            Ledger.Step(() => place.Leave(3));
        Ledger.Step(() => Makers.Unpin(4));
        Makers.EndThreads(2);
        Ledger.Step(() => Makers.Open(n / 2));
        Ledger.Step(() => tree.Left = tree.Right.Left = null);
        Ledger.Step(() => Makers.Shorten(n));
    }

    static void KnowsLost()
    {
        Knows(At.Lists, typeof(Item), 10 * n - (10 * n + 2) / 3);
        Knows(At.Dictionaries, typeof(Item), 5 * n / 2);
        Knows(At.WeakReferences, typeof(WeakReference<Item>), (n + 2) / 3);
        Knows(At.WeakTargets, typeof(Item), At.WeakTargets.Count);
        Knows(At.TableKeys, typeof(Key), (n + 2) / 3);
        Knows(At.TableValues, typeof(Held), (n + 2) / 3);
        Knows(At.PinnedHandles, typeof(byte[]), Makers.Pins);
        Knows(At.BetweenPinned, typeof(long[]), At.BetweenPinned.Count);
        Knows(At.Large, typeof(byte[]), 7);
        Knows(At.LargeOfReferences, typeof(Item), 40);
        Knows(At.Tasks, typeof(Item), n - n / 2);
        Knows(At.Trees, typeof(Node), 1 + (1 << 12));
        Knows(At.LinkedLists, typeof(Item), n);
        Knows(At.Copied, typeof(Copied), (n + 2) / 3);
    }

    static void AllEnd()
    {
        foreach (Place place in new[] {
            At.Lists, At.Dictionaries, At.WeakReferences, At.WeakTargets, At.TableKeys, At.BetweenPinned, At.Large, At.LargeOfReferences,
            At.PinnedHeap, At.Boxes, At.Context, At.Clones, At.Copied, At.ArraysOfArrays, At.Delegates, At.Closures, At.Builders, At.LinkedLists,
            At.Reflected, At.Exceptions, At.Finalizers, At.InFinalizer, At.Grown })
            Ledger.Step(() => place.Leave(0));
        Ledger.Step(() => Makers.Unpin(0));
        Makers.EndThreads(Makers.Parked);
        Makers.Gates.Clear();
        tree = null;
    }

    static void KnowsEnd()
    {
        foreach ((Place place, Type type) in new[] {
            (At.Lists, typeof(Item)), (At.Dictionaries, typeof(Item)), (At.WeakTargets, typeof(Item)), (At.TableValues, typeof(Held)),
            (At.PinnedHandles, typeof(byte[])), (At.Large, typeof(byte[])), (At.Tasks, typeof(Item)), (At.Trees, typeof(Node)),
            (At.Finalizers, typeof(Finalized)), (At.Finalizers, typeof(Part)), (At.LinkedLists, typeof(Item)), (At.Grown, typeof(Item)),
            (At.Delegates, typeof(Work)), (At.Resurrected, typeof(Lazarus)), (At.Context, typeof(Thing)) })
            Knows(place, type, 0);
    }

    /* Six threads replace what they keep while it is collected. */
    static void SixThreads()
    {
        var kept = new (Item[][] Slots, Item[][] Large, GCHandle[] Pinned)[6];
        var threads = new Thread[6];
        bool enough = false;

        for (int t = 0; t < 6; t++)
        {
            int number = t;
            kept[t] = (new Item[500][], new Item[5][], new GCHandle[40]);
            threads[t] = new Thread(() =>
            {
                for (int i = 0; i < 50 && !Volatile.Read(ref enough); i++)
                    Makers.Churn(kept[number].Slots, kept[number].Large, kept[number].Pinned, 100 * number + i, n / 2);
            });
        }
        foreach (Thread thread in threads)
            thread.Start();
        for (int i = 0; i < 30; i++)
        {
            Thread.Sleep(1);
            GC.Collect(i % 7 == 0 ? 2 : i % 3 == 0 ? 1 : 0, GCCollectionMode.Forced, blocking: true, compacting: i % 14 == 0);
        }
        Volatile.Write(ref enough, true);
        foreach (Thread thread in threads)
            thread.Join();
        Moment("six threads have ended", 2);
        Moment("six threads have ended, young", 0);
        foreach ((Item[][] _, Item[][] _, GCHandle[] pinned) in kept)
            foreach (GCHandle pin in pinned)
                if (pin.IsAllocated)
                    pin.Free();
        GC.KeepAlive(kept);
    }

    static void Run()
    {
        Prepare();
        Make();
        Finalized.MayRun.Reset();
        Moment("made", 2);
        KnowsAllMade();
        Ledger.Step(Lose);
        Ledger.Step(() => Makers.Grown(n));
        Moment("lost, young", 0); // what was lost is older: not known to be dead
        Knows(At.Grown, typeof(Item), 2 * n);
        Ledger.Step(() => Makers.Young(n));
        Moment("lost, middle", 1);
        Ledger.Step(() => Makers.Grown(n));
        Moment("lost", 2, compacting: true);
        KnowsLost();

        /* Finalizers wait: what they are to finalize is alive, and all that it refers to. */
        Ledger.Step(() => At.Finalizers.Leave(0));
        Ledger.Step(() => At.Resurrected.Kept.Clear());
        Moment("to be finalized", 2);
        Knows(At.Finalizers, typeof(Finalized), n / 2);
        Knows(At.Finalizers, typeof(Part), n / 2);
        Finalized.MayRun.Set();
        GC.WaitForPendingFinalizers();
        Moment("finalized, resurrected", 2);
        Knows(At.Finalizers, typeof(Finalized), 0);
        Knows(At.InFinalizer, typeof(Part), n / 2);
        Knows(At.Resurrected, typeof(Lazarus), n / 10);

        /* The heap of large objects, with holes, moves together; and is filled again. */
        Ledger.Step(() => Makers.Large(20));
        Ledger.Step(() => At.Large.Leave(2, 20));
        GCSettings.LargeObjectHeapCompactionMode = GCLargeObjectHeapCompactionMode.CompactOnce;
        Moment("large ones compacted", 2, compacting: true);
        Knows(At.Large, typeof(byte[]), 17);
        Ledger.Step(() => Makers.Large(10));
        Ledger.Step(() => Makers.PinnedHeap(n / 10));
        Moment("large ones once more", 2);
        Knows(At.Large, typeof(byte[]), 27);
        Moment("older by one", 1);
        Moment("older by two", 0);
        Ledger.Step(SixThreads);

        Ledger.Step(AllEnd);
        for (int i = 0; i < 4; i++)
        {
            Ledger.Step(Makers.DropResurrected);
            Moment("the end approaches", 2);
            GC.WaitForPendingFinalizers();
        }
        Moment("the end", 2, compacting: true);
        KnowsEnd();
    }

    static int Main(string[] args)
    {
        for (int i = 0; i < args.Length; i++)
            if (args[i] == "--scale" && i + 1 < args.Length)
                n *= int.Parse(args[++i]);
            else if (args[i] == "--conservative")
                conservative = true;
            else if (args[i] == "--wait" && i + 1 < args.Length)
                wait = int.Parse(args[++i]);
            else
            {
                Console.Error.WriteLine("unknown argument " + args[i]);
                return 2;
            }
        Run();
        to.WriteLine("ok");
        to.Flush();
        return surprised && !conservative ? 1 : 0;
    }
}
