// Threads that call and throw at full speed, in a shape that tells a torn stack: level n is always method Mn % 8, called
// by the one before it, and the oldest frame of all is Climb. For each line on stdin it prints how many calls were made.
//
//   Towers [--threads N] [--depth D]
using System;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Towers;

public sealed class Fall : Exception
{
}

static class Program
{
    sealed class Climber
    {
        public long Calls;
        public int Top, Catch;
        readonly long before, after; /* a separate cache line */
        ulong state;

        public Climber(int number)
        {
            state = (ulong)number * 2654435769 + 88172645463325252;
            before = after = 0;
        }

        public int Next(int below)
        {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            return (int)((state >> 33) % (ulong)below);
        }
    }

    static readonly Fall fall = new();

    [MethodImpl(MethodImplOptions.NoInlining)] static void M0(Climber c, int level) { Level(c, level); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void M1(Climber c, int level) { Level(c, level); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void M2(Climber c, int level) { Level(c, level); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void M3(Climber c, int level) { Level(c, level); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void M4(Climber c, int level) { Level(c, level); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void M5(Climber c, int level) { Level(c, level); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void M6(Climber c, int level) { Level(c, level); }
    [MethodImpl(MethodImplOptions.NoInlining)] static void M7(Climber c, int level) { Level(c, level); }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    static void Level(Climber c, int level)
    {
        c.Calls++;
        if (level == c.Top)
        {
            if (c.Catch > 0)
                throw fall;
            return;
        }
        if (level == c.Catch)
            Caught(c, level);
        else
            Up(c, level + 1);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    static void Up(Climber c, int level)
    {
        switch (level & 7)
        {
            case 0: M0(c, level); break;
            case 1: M1(c, level); break;
            case 2: M2(c, level); break;
            case 3: M3(c, level); break;
            case 4: M4(c, level); break;
            case 5: M5(c, level); break;
            case 6: M6(c, level); break;
            default: M7(c, level); break;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Caught(Climber c, int level)
    {
        try
        {
            Up(c, level + 1);
        }
        catch (Fall)
        {
            c.Catch = 0;
        }
    }

    static void Climb(Climber c, int depth)
    {
        while (true)
        {
            c.Top = 1 + c.Next(depth);
            c.Catch = c.Next(64) == 0 && c.Top > 2 ? 1 + c.Next(c.Top - 1) : 0;
            M1(c, 1);
        }
    }

    static int Main(string[] args)
    {
        int threads = 64, depth = 200;
        for (int i = 0; i + 1 < args.Length; i += 2)
            if (args[i] == "--threads")
                threads = int.Parse(args[i + 1]);
            else if (args[i] == "--depth")
                depth = int.Parse(args[i + 1]);
        var climbers = new Climber[threads];
        for (int i = 0; i < threads; i++)
        {
            Climber c = climbers[i] = new Climber(i);
            new Thread(() => Climb(c, depth)) { IsBackground = true, Name = "climber " + i }.Start();
        }
        Console.WriteLine("ready");
        while (Console.ReadLine() != null)
        {
            long sum = 0;
            foreach (Climber c in climbers)
                sum += Volatile.Read(ref c.Calls);
            Console.WriteLine(sum);
        }
        return 0;
    }
}
