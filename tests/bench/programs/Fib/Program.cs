// Calls and nothing else: fib(N) on T threads, again and again. One operation is one call.
//
//   Fib [--n 30] [--threads 1] [--repetitions 15] [--seconds 1]
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Bench;

static class Fib
{
    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    static int Calculate(int n)
    {
        return n < 2 ? n : Calculate(n - 1) + Calculate(n - 2);
    }

    // How many calls that is, without making them: they would be counted with those that are measured.
    static long Calls(int n)
    {
        long last = 1, calls = 1;
        for (int i = 2; i <= n; i++)
            (last, calls) = (calls, 1 + calls + last);
        return calls;
    }

    static void Main(string[] args)
    {
        int n = (int)Options.Get(args, "--n", 30), threads = (int)Options.Get(args, "--threads", 1);
        int repetitions = (int)Options.Get(args, "--repetitions", 15);
        long until = Clock.Wall + (long)(Options.Get(args, "--seconds", 1) * 1e9);
        long calls = Calls(n);
        var wall = new long[threads];
        var cpu = new long[threads];
        var rows = new List<Row>();
        bool stop = false;
        using var together = new Barrier(threads);
        var workers = Enumerable.Range(0, threads).Select(me => new Thread(() =>
        {
            for (int i = 0; i < repetitions; i++)
            {
                together.SignalAndWait();
                if (stop)
                    return;
                long wallStart = Clock.Wall, cpuStart = Clock.ThreadCpu;
                Calculate(n);
                wall[me] = Clock.Wall - wallStart;
                cpu[me] = Clock.ThreadCpu - cpuStart;
                together.SignalAndWait();
                if (me == 0)
                {
                    rows.Add(new Row(0, calls * threads, wall.Max(), cpu.Sum()));
                    stop = Clock.Wall > until;
                }
            }
        })).ToArray();
        foreach (Thread worker in workers)
            worker.Start();
        foreach (Thread worker in workers)
            worker.Join();
        Output.Print(rows);
    }
}
