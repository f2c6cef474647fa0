// Boxes that only unoptimised code of the framework makes, and boxes that are made in any case. Prints the bytes that each
// part allocates, by the runtime's own count.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace Steady;

/// Without its own Equals and GetHashCode: a dictionary boxes it at every look-up, in code that no framework image has.
struct Own
{
    public int A, B;
}

static class Program
{
    const int Times = 500;

    static int Main()
    {
        // What is made once is made here.
        Interpolated();
        Boxed();
        Keys();
        Console.WriteLine("interpolated {0}", Bytes(Interpolated));
        Console.WriteLine("boxed {0}", Bytes(Boxed));
        Console.WriteLine("keys {0}", Bytes(Keys));
        return 0;
    }

    static long Bytes(Action part)
    {
        long before = GC.GetAllocatedBytesForCurrentThread();

        part();
        return GC.GetAllocatedBytesForCurrentThread() - before;
    }

    /// A number in an interpolated string is boxed by AppendFormatted<int>, unless that is optimised.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Interpolated()
    {
        for (int i = 0; i < Times; i++)
            Keep($"number {i % 10}");
    }

    /// Boxes of the framework that its optimised code makes, too.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Boxed()
    {
        Array values = new int[1];

        for (int i = 0; i < Times; i++)
            Keep(values.GetValue(0));
    }

    /// Generic code of the framework over a type of the program: it is not compiled ahead of time.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Keys()
    {
        var known = new Dictionary<Own, int> { [new Own()] = 1 };

        for (int i = 0; i < Times; i++)
            known.TryGetValue(new Own { A = i % 3 }, out _);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Keep(object o) => GC.KeepAlive(o);
}
