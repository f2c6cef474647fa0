// The smallest program: also built as a single file, trimmed, and ahead of time.
using System;
using System.Runtime.CompilerServices;

namespace Hello;

public sealed class Greeting
{
    public int Number;
}

public static class Program
{
    static object last;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Greet(int n)
    {
        for (int i = 0; i < n; i++)
            last = new Greeting { Number = i };
    }

    static int Main(string[] args)
    {
        Greet(args.Length > 1 && args[0] == "--scale" ? 100 * int.Parse(args[1]) : 100);
        Console.WriteLine("hello " + ((Greeting)last).Number);
        Console.WriteLine("ok");
        return 0;
    }
}
