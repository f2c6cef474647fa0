// The same allocations in each run: 128 call paths of seven steps, from one object to tens of thousands at each, objects
// of 24 bytes to 8 KB. What --sample estimates can be held against what a whole recording counts.
using System;
using System.Runtime.CompilerServices;

namespace Bench;

static class Sites
{
    const int Steps = 7;
    static readonly int[] sizes = { 0, 40, 200, 1_000, 8_000 };
    static object kept;

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    static int Left(int path, int step)
    {
        return Next(path, step + 1) + 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    static int Right(int path, int step)
    {
        return Next(path, step + 1) + 2;
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    static int Next(int path, int step)
    {
        if (step == Steps)
            return Allocate(path);
        return (path >> step & 1) == 0 ? Left(path, step) + 1 : Right(path, step) + 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    static int Allocate(int path)
    {
        int count = 1 << path % 16, size = sizes[path % 5]; // 16 and 5: every pairing occurs
        if (size > 200)
            count = Math.Min(count, 2_000);
        for (int i = 0; i < count; i++)
            kept = new byte[size];
        return count;
    }

    static void Main()
    {
        long count = 0;
        for (int path = 0; path < 1 << Steps; path++)
            count += Next(path, 0);
        Console.WriteLine(count);
    }
}
