// Loads modules on one thread, one after the other, while another compiles methods for the first time: each instantiation
// over a value type is a separate one.
using System;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Loading;

struct Wrapped<T>
{
    public T Value;
}

static class Program
{
    static volatile bool done;
    static object kept;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int First<T>(int depth) where T : struct
    {
        kept = new object();
        return depth > 0 ? 1 + First<Wrapped<T>>(depth - 1) : 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Second<T>(int depth) where T : struct
    {
        kept = new object();
        return depth > 0 ? 1 + Second<Wrapped<T>>(depth - 1) : 0;
    }

    static void Compile()
    {
        for (int round = 0; round < 2; round++) // what went wrong the first time may be right in the second
        {
            First<int>(40);
            Second<int>(40);
            First<long>(40);
            Second<long>(40);
            First<double>(40);
            Second<byte>(40);
            Thread.Sleep(100);
        }
    }

    // Each time another module, though of the same bytes.
    static void Load()
    {
        byte[] image = File.ReadAllBytes(typeof(Program).Assembly.Location);

        while (!done)
            Assembly.Load(image);
    }

    static void Main()
    {
        var loader = new Thread(Load);
        loader.Start();
        Thread.Sleep(50);
        Compile();
        done = true;
        loader.Join();
        Console.WriteLine("ok");
    }
}
