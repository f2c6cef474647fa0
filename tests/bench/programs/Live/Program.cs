// What a collection costs beside a number of live objects, and an object that dies young.
//
//   Live [--objects 2000000] [--repetitions 7] [--young 20000000]
//
// The objects are nodes of trees (4,095 each). Before each measured collection one tree in sixteen is replaced, and what
// is new has grown old: the collection finds holes, moves what is behind them or leaves it, and lets no young object
// survive. Prints one line of JSON: the samples of each phase, by the wall clock, on the thread's processor (which does
// the collection), and by what the runtime says of its pauses.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Runtime;
using System.Runtime.CompilerServices;

namespace Bench;

static class Live
{
    const int Height = 11, Share = 16, Few = 1000;
    static Node[] trees;
    static int next;
    static readonly Dictionary<string, List<double>> samples = new();

    static void Add(string name, double value)
    {
        if (!samples.TryGetValue(name, out List<double> list))
            samples[name] = list = new List<double>();
        list.Add(value);
    }

    static Node Build(int height)
    {
        return height == 0 ? new Node() : new Node { Left = Build(height - 1), Right = Build(height - 1) };
    }

    // One tree in sixteen, other ones each time.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Replace()
    {
        for (int i = next++ % Share; i < trees.Length; i += Share)
            trees[i] = Build(Height);
        GC.Collect(1, GCCollectionMode.Forced, true, true);
        GC.Collect(1, GCCollectionMode.Forced, true, true);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Young(long objects)
    {
        long wall = Clock.Wall, cpu = Clock.ThreadCpu;
        for (long i = 0; i < objects; i++)
            GC.KeepAlive(new Node());
        Add("young_cpu", (double)(Clock.ThreadCpu - cpu) / objects);
        Add("young_wall", (double)(Clock.Wall - wall) / objects);
    }

    static void Collect(string name, int generation, bool compacting)
    {
        TimeSpan pauses = GC.GetTotalPauseDuration();
        long wall = Clock.Wall, cpu = Clock.ThreadCpu;
        GC.Collect(generation, GCCollectionMode.Forced, true, compacting);
        cpu = Clock.ThreadCpu - cpu;
        wall = Clock.Wall - wall;
        pauses = GC.GetTotalPauseDuration() - pauses;
        if (generation == 2 && GC.GetGCMemoryInfo(GCKind.Any).Compacted != compacting)
            throw new InvalidOperationException("the collection was of the other kind");
        Add(name + "_cpu", cpu / 1e6);
        Add(name + "_wall", wall / 1e6);
        Add(name + "_pause", pauses.TotalMilliseconds);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FewYoung()
    {
        for (int i = 0; i < Few; i++)
            GC.KeepAlive(new Node());
    }

    static void Main(string[] args)
    {
        int repetitions = (int)Options.Get(args, "--repetitions", 7);
        long young = (long)Options.Get(args, "--young", 20_000_000);

        Young(young / 10); // code reaches its final form
        samples.Clear();
        for (int i = 0; i < repetitions; i++)
            Young(young / repetitions);
        trees = new Node[(int)(Options.Get(args, "--objects", 2_000_000) / Trees.Nodes)];
        for (int i = 0; i < trees.Length; i++)
            trees[i] = Build(Height);
        GC.Collect(2, GCCollectionMode.Forced, true, true);
        for (int i = 0; i < repetitions; i++)
        {
            Replace();
            Collect("sweeping", 2, false);
            Replace();
            Collect("compacting", 2, true);
            for (int k = 0; k < repetitions; k++)
            {
                FewYoung();
                Collect("gen0", 0, true);
            }
        }
        Console.WriteLine("{\"phases\":{" + string.Join(",", samples.Select(pair => "\"" + pair.Key + "\":[" + string.Join(",",
            pair.Value.Select(value => value.ToString("0.######", CultureInfo.InvariantCulture))) + "]")) + "}}");
        GC.KeepAlive(trees);
    }
}
