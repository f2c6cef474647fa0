// Allocates one Tick per number, steadily, and says how far it is: a line `N` on stdout once every 50 ms, written when all
// Ticks below N have been allocated. Runs until it is killed, for --seconds S, or until its input ends.
//
//   Ticker [--seconds S] [--threads N] [--until eof]
using System;
using System.Diagnostics;
using System.IO;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Ticker;

public sealed class Tick
{
    public long Number;
}

static class Program
{
    static object last;
    static volatile bool over;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Make(long number)
    {
        last = new Tick { Number = number };
    }

    static int Main(string[] args)
    {
        double seconds = 1e9;
        int threads = 0;
        for (int i = 0; i + 1 < args.Length; i += 2)
            if (args[i] == "--seconds")
                seconds = double.Parse(args[i + 1]);
            else if (args[i] == "--threads")
                threads = int.Parse(args[i + 1]);
            else if (args[i] == "--until")
                new Thread(() =>
                {
                    Console.OpenStandardInput().ReadByte();
                    over = true;
                }) { IsBackground = true }.Start();
        for (int i = 0; i < threads; i++)
            new Thread(() =>
            {
                for (long n = 0; ; n++)
                {
                    last = new object();
                    if (n % 100 == 0)
                        Thread.Sleep(1);
                }
            }) { IsBackground = true }.Start();

        Stream output = Console.OpenStandardOutput();
        var line = new byte[24];
        Stopwatch watch = Stopwatch.StartNew();
        long next = 0;
        for (long n = 0; !over && watch.Elapsed.TotalSeconds < seconds; n++)
        {
            Make(n);
            if (n % 100 == 99)
                Thread.Sleep(1); /* about 90,000 a second */
            if (watch.ElapsedMilliseconds < next)
                continue;
            next = watch.ElapsedMilliseconds + 50;
            System.Buffers.Text.Utf8Formatter.TryFormat(n + 1, line, out int length);
            line[length++] = (byte)'\n';
            output.Write(line, 0, length);
        }
        Console.WriteLine("ok");
        return 0;
    }
}
