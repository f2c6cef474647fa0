// What the measured programs share: clocks, options, and one line of JSON with a row for each repetition.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;

namespace Bench;

static unsafe class Clock
{
    struct Time
    {
        public long Seconds, Nanoseconds;
    }

    [DllImport("libc", EntryPoint = "clock_gettime")]
    static extern int GetTime(int clock, Time* time);

    static long Read(int clock)
    {
        Time time;
        GetTime(clock, &time);
        return time.Seconds * 1_000_000_000 + time.Nanoseconds;
    }

    public static long Wall => Read(1);      // CLOCK_MONOTONIC
    public static long ThreadCpu => Read(3); // CLOCK_THREAD_CPUTIME_ID
}

static class Options
{
    public static double Get(string[] args, string name, double otherwise)
    {
        int at = Array.IndexOf(args, name);
        return at >= 0 && at + 1 < args.Length ? double.Parse(args[at + 1], CultureInfo.InvariantCulture) : otherwise;
    }
}

// One repetition: the number of operations and their duration, by the wall clock and on the processor (all threads added).
record struct Row(long Depth, long Operations, long WallNs, long CpuNs);

static class Output
{
    public static void Print(List<Row> rows)
    {
        var text = new StringBuilder("{\"rows\":[");
        foreach (Row row in rows)
            text.Append(text[^1] == '[' ? "" : ",")
                .Append(CultureInfo.InvariantCulture,
                    $"{{\"depth\":{row.Depth},\"ops\":{row.Operations},\"wall_ns\":{row.WallNs},\"cpu_ns\":{row.CpuNs}}}");
        Console.WriteLine(text.Append("]}").ToString());
    }
}

// A tree of nodes: Build and Make are entered for each, so that two frames are new at each allocation.
sealed class Node
{
    public Node Left, Right;
}

static class Trees
{
    const int Height = 11; // 4,095 nodes
    public const int Nodes = (2 << Height) - 1;
    static Node kept;
    static long made;

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    static Node Make(Node left, Node right)
    {
        return new Node { Left = left, Right = right };
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    static Node Build(int height)
    {
        Node node = height == 0 ? Leaf() : Make(Build(height - 1), Build(height - 1));
        made++; // no tail call above: this frame stays below the allocation
        return node;
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    static Node Leaf()
    {
        return new Node();
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    static void Repeat(long depth, long operations, int repetitions, double seconds, List<Row> rows)
    {
        long until = Clock.Wall + (long)(seconds * 1e9);
        kept = Build(Height);
        for (int i = 0; i < repetitions && (i == 0 || Clock.Wall < until); i++)
        {
            long wall = Clock.Wall, cpu = Clock.ThreadCpu, done = 0, stop = wall + (long)(seconds * 1e9 / repetitions);
            do
            {
                kept = Build(Height);
                done += Nodes;
            } while (done < operations && Clock.Wall < stop);
            rows.Add(new Row(depth, done, Clock.Wall - wall, Clock.ThreadCpu - cpu));
        }
    }

    // Not a tail call: each level stays on the stack.
    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    static int Down(long levels, long depth, long operations, int repetitions, double seconds, List<Row> rows)
    {
        if (levels > 0)
            return Down(levels - 1, depth, operations, repetitions, seconds, rows) + 1;
        Repeat(depth, operations, repetitions, seconds, rows);
        return 0;
    }

    // Trees built with `depth` frames below them.
    public static void AtDepth(long depth, long operations, int repetitions, double seconds, List<Row> rows)
    {
        Down(depth, depth, operations, repetitions, seconds, rows);
    }
}
