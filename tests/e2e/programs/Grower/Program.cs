// A list that grows for ever, beside what only looks like it. For each line of its input: one round, two full collections, "ok".
// Ends with its input.
//
//   Leaked     ten more each round, and none is ever let go
//   Replaced   one more each round, but all of them new ones
//   Filling    a cache that gets half as many each round: 4096, 2048, ...
//   Full       a cache that takes the place of its oldest entry for each new one
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace Grower;

public sealed class Leaked
{
    public long Number;
}

public sealed class Replaced
{
    public long Number;
}

public sealed class Filling
{
    public long Number;
}

public sealed class Full
{
    public long Number;
}

static class Program
{
    const int Room = 500;

    static readonly List<Leaked> leaked = new(1 << 16);
    static readonly Queue<Full> full = new(2 * Room);
    static readonly Filling[] filling = new Filling[8192];
    static Replaced[] replaced;
    static int filled, share = 4096;

    static void Main()
    {
        for (int round = 1; Console.ReadLine() != null; round++)
        {
            Round(round);
            for (int i = 0; i < 2; i++)
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();
            }
            Console.WriteLine("ok");
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Round(int round)
    {
        for (int i = 0; i < 10; i++)
            leaked.Add(new Leaked()); // grows
        replaced = new Replaced[1000];
        for (int i = 0; i < 100 + round; i++)
            replaced[i] = new Replaced();
        for (int i = 0; i < share; i++)
            filling[filled++] = new Filling();
        share /= 2;
        for (int i = 0; i < 2 * Room; i++)
        {
            if (full.Count == Room)
                full.Dequeue();
            full.Enqueue(new Full());
        }
    }
}
