// Threads that replace what they keep at random: small objects in trees and chains, arrays of all sizes, strings, boxes,
// pinned and large ones, until the objects of --scale are made.
//
//   Replacer [--scale N] [--threads N] [--seed N] [--types N] [--collect MS] [--end fail-fast|kill]
//
// N times 100,000 objects a thread (4 threads). --types: another thread makes objects of N types that nobody has met, each
// the first of its type, and another collects without end while it does. --collect: so often all kinds of collections are
// asked for. --end: in a finalizer, as soon as 10,000 have run. Prints `made N, kept K, collections A B C` and `ok`.
using System;
using System.Collections.Generic;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Replacing;

sealed class Leaf
{
    public long Number;
    public object Other;
}

sealed class Branch
{
    public object[] Below;
}

sealed class Ending
{
    public static int Ended;
    public static string How = "";

    ~Ending()
    {
        if (Interlocked.Increment(ref Ended) != 10_000)
            return;
        if (How == "fail-fast")
            Environment.FailFast("as it was asked to");
        else if (How == "kill")
            System.Diagnostics.Process.GetCurrentProcess().Kill();
    }
}

sealed class Two<A, B>
{
    public A First;
    public B Second;
}

struct Wide
{
    public long A, B, C, D;
}

sealed class Replacer
{
    readonly Random random;
    readonly object[] kept = new object[20_000];
    readonly GCHandle[] pinned = new GCHandle[200];
    readonly object[] large = new object[12];
    public long Made;

    public Replacer(int seed) => random = new Random(seed);

    [MethodImpl(MethodImplOptions.NoInlining)]
    object Small()
    {
        Made++;
        switch (random.Next(9))
        {
            case 0:
                return new Leaf { Number = Made, Other = kept[random.Next(kept.Length)] is Leaf ? null : kept[random.Next(kept.Length)] };
            case 1:
                return new byte[random.Next(300)];
            case 2:
                return new string('r', random.Next(60));
            case 3:
                return Made;
            case 4:
                return new Wide { A = Made };
            case 5:
                return new Func<int>(() => random.Next());
            case 6:
                return new Wide[random.Next(12)];
            case 7:
                return random.Next(20) == 0 ? new Ending() : new object();
            default:
                return new WeakReference<object>(kept[random.Next(kept.Length)]);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    Branch Tree(int depth)
    {
        var made = new Branch { Below = new object[random.Next(4)] };
        Made += 2;
        for (int i = 0; i < made.Below.Length; i++)
            made.Below[i] = depth == 0 ? Small() : Tree(depth - 1);
        return made;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    object Large()
    {
        Made++;
        return random.Next(2) == 0 ? new byte[85_000 + random.Next(400_000)] : new object[11_000 + random.Next(40_000)];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    object Pinned()
    {
        Made++;
        return random.Next(2) == 0 ? GC.AllocateArray<byte>(random.Next(2000), pinned: true) : new byte[random.Next(500)];
    }

    public void Run(long count)
    {
        while (Made < count)
        {
            int kind = random.Next(2000);
            if (kind == 0)
                large[random.Next(large.Length)] = Large();
            else if (kind < 20)
            {
                ref GCHandle handle = ref pinned[random.Next(pinned.Length)];
                if (handle.IsAllocated)
                    handle.Free();
                handle = GCHandle.Alloc(Pinned(), GCHandleType.Pinned);
            }
            else if (kind < 120)
                kept[random.Next(kept.Length)] = Tree(random.Next(5));
            else if (kind < 124)
                Array.Clear(kept, random.Next(kept.Length / 2), kept.Length / 4);
            else
                kept[random.Next(kept.Length)] = Small();
        }
    }

    public int Kept
    {
        get
        {
            int n = 0;
            foreach (object o in kept)
                n += o == null ? 0 : 1;
            return n;
        }
    }
}

static class Program
{
    static readonly List<object> firsts = new List<object>();
    static volatile bool enough;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FirstOfTypes(int count)
    {
        Type[] parts = Array.FindAll(typeof(object).Assembly.GetExportedTypes(), type => !type.IsGenericType && type.IsClass && !type.IsAbstract);
        for (int i = 0; i < count; i++)
        {
            Type type = typeof(Two<,>).MakeGenericType(parts[i % parts.Length], parts[i / parts.Length]);
            firsts.Add(Activator.CreateInstance(type));
            firsts.Add(Array.CreateInstance(type, i % 5));
        }
        enough = true;
    }

    static void CollectAll()
    {
        for (int i = 0; !enough; i++)
            GC.Collect(i % 50 == 0 ? 1 : 0, GCCollectionMode.Forced, blocking: true);
    }

    static void CollectNowAndThen(int ms)
    {
        for (int i = 0; !enough; i++)
        {
            int generation = i % 10 == 9 ? 2 : i % 4 == 3 ? 1 : 0;
            if (i % 30 == 29)
                GCSettings.LargeObjectHeapCompactionMode = GCLargeObjectHeapCompactionMode.CompactOnce;
            GC.Collect(generation, GCCollectionMode.Forced, blocking: true, compacting: i % 20 > 9);
            Thread.Sleep(ms);
        }
    }

    static int Main(string[] args)
    {
        int scale = 1, count = 4, seed = 1, types = 0, collect = 0;
        for (int i = 0; i + 1 < args.Length; i += 2)
            if (args[i] == "--scale")
                scale = int.Parse(args[i + 1]);
            else if (args[i] == "--threads")
                count = int.Parse(args[i + 1]);
            else if (args[i] == "--seed")
                seed = int.Parse(args[i + 1]);
            else if (args[i] == "--types")
                types = int.Parse(args[i + 1]);
            else if (args[i] == "--collect")
                collect = int.Parse(args[i + 1]);
            else if (args[i] == "--end")
                Ending.How = args[i + 1];
        var replacers = new List<Replacer>();
        var threads = new List<Thread>();
        for (int i = 0; i < count; i++)
        {
            var replacer = new Replacer(seed * 1000 + i);
            replacers.Add(replacer);
            threads.Add(new Thread(() => replacer.Run(100_000L * scale)));
        }
        if (types > 0)
        {
            threads.Add(new Thread(() => FirstOfTypes(types)));
            threads.Add(new Thread(CollectAll));
        }
        threads.ForEach(t => t.Start());
        var collector = new Thread(() => CollectNowAndThen(collect));
        if (collect > 0)
            collector.Start();
        threads.ForEach(t => t.Join());
        enough = true;
        if (collect > 0)
            collector.Join();
        long made = 0, kept = 0;
        foreach (Replacer replacer in replacers)
        {
            made += replacer.Made;
            kept += replacer.Kept;
        }
        Console.WriteLine($"made {made}, kept {kept}, collections {GC.CollectionCount(0)} {GC.CollectionCount(1)} {GC.CollectionCount(2)}");
        Console.WriteLine("ok");
        return 0;
    }
}
