// Processes that end hard. Each way allocates, prints `ending`, and ends:
//
//   HardEnd [--scale N] WAY
//
// WAY, and the exit status it ends with:
//   stack-overflow, fail-fast, unhandled, unhandled-thread, unhandled-native, unhandled-filter, abort (134, SIGABRT),
//   segfault (139), kill (137), term (143), exit-running (3), exit-native-running (4), exit-in-finalizer (5),
//   exit-in-catch (6), exit-in-callback (7), exit-now (8), exit-native (9), return-running (0),
//   unhandled-handler (134), process-exit-handler (0), fork-exit (0), fork-exec (0), vfork-exec (0), threads-in-native (0)
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;
using static Torture.Cases;
using static Torture.Sink;

namespace Torture;

static unsafe class Program
{
    const string Lib = "e2enative";

    [DllImport(Lib)] static extern void e2e_abort();
    [DllImport(Lib)] static extern void e2e_kill_self(int number);
    [DllImport(Lib)] static extern void e2e_exit_now(int status);
    [DllImport(Lib)] static extern void e2e_exit(int status);
    [DllImport(Lib)] static extern void e2e_segfault();
    [DllImport(Lib)] static extern int e2e_call(delegate* unmanaged<int, int> call, int n);
    [DllImport(Lib)] static extern int e2e_detached(delegate* unmanaged<int, int> call, int threads);
    [DllImport(Lib)] static extern int e2e_fork_exit(int status);
    [DllImport(Lib)] static extern int e2e_fork_exec(string[] arguments);
    [DllImport(Lib)] static extern int e2e_vfork_exec(string[] arguments);

    static int Main(string[] args)
    {
        int scale = 1;
        string way = null;

        for (int i = 0; i < args.Length; i++)
            if (args[i] == "--scale" && i + 1 < args.Length)
                scale = int.Parse(args[++i]);
            else
                way = args[i];
        for (int i = 0; i < 100 * scale; i++)
            Work(i);
        switch (way)
        {
            case "stack-overflow" or "fail-fast" or "abort" or "segfault" or "kill" or "term" or "exit-now" or "exit-native":
            case not null when way.StartsWith("unhandled"):
                Thread.Sleep(1100); /* nobody can write a log's end then: what came before is a second old */
                break;
        }
        Console.Out.WriteLine("ending");
        Console.Out.Flush();
        switch (way)
        {
            case "stack-overflow":
                Keep(Overflow(1));
                break;
            case "fail-fast":
                Environment.FailFast("on purpose");
                break;
            case "unhandled":
                Level(5);
                break;
            case "unhandled-thread":
                new Thread(() => Level(3)).Start();
                Thread.Sleep(Timeout.Infinite);
                break;
            case "unhandled-native":
                e2e_call(&ThrowUnmanaged, 1);
                break;
            case "unhandled-filter":
                try
                {
                    Level(2);
                }
                catch (TestException) when (Accept(false))
                {
                }
                break;
            case "unhandled-handler":
                AppDomain.CurrentDomain.UnhandledException += (_, e) => Work(2);
                Level(5);
                break;
            case "abort":
                e2e_abort();
                break;
            case "segfault":
                e2e_segfault();
                break;
            case "kill":
                e2e_kill_self(9);
                break;
            case "term":
                e2e_kill_self(15);
                break;
            case "exit-running":
                Busy();
                Environment.Exit(3);
                break;
            case "exit-native-running":
                Check(e2e_detached(&WorkUnmanaged, 3) == 0);
                Thread.Sleep(30);
                Environment.Exit(4);
                break;
            case "exit-in-finalizer":
                Drop();
                GC.Collect();
                Thread.Sleep(Timeout.Infinite);
                break;
            case "exit-in-catch":
                try
                {
                    Level(4);
                }
                catch (TestException) when (Accept(true))
                {
                    Several();
                    Environment.Exit(6);
                }
                break;
            case "exit-in-callback":
                e2e_call(&ExitUnmanaged, 7);
                break;
            case "exit-now":
                Busy();
                e2e_exit_now(8);
                break;
            case "exit-native":
                Busy();
                e2e_exit(9);
                break;
            case "return-running":
                Busy();
                return 0;
            case "process-exit-handler":
                AppDomain.CurrentDomain.ProcessExit += (_, _) =>
                {
                    for (int i = 0; i < 50; i++)
                        Work(i);
                };
                return 0;
            case "fork-exit":
                Busy();
                for (int i = 0; i < 5; i++)
                    Check(e2e_fork_exit(i) == i);
                return 0;
            case "fork-exec":
                Busy();
                Check(e2e_fork_exec(new[] { "sh", "-c", "exit 11", null }) == 11);
                Work(2);
                return 0;
            case "vfork-exec":
                Busy();
                Check(e2e_vfork_exec(new[] { "sh", "-c", "exit 12", null }) == 12);
                Work(2);
                return 0;
            case "threads-in-native":
                for (int i = 0; i < 4; i++)
                    new Thread(() => Thread.Sleep(Timeout.Infinite)) { IsBackground = true }.Start();
                Thread.Sleep(20);
                return 0;
            default:
                Console.Error.WriteLine("no such way: " + way);
                return 2;
        }
        return 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Accept(bool answer)
    {
        Several();
        return answer;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Level(int depth)
    {
        Callee();
        try
        {
            if (depth == 0)
                throw new TestException(1);
            Level(depth - 1);
        }
        finally
        {
            Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Work(int n)
    {
        Several();
        try
        {
            Level(n % 3);
        }
        catch (TestException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Overflow(int n)
    {
        if (n % 1000 == 0)
            Callee();
        return Overflow(n + 1) + Overflow(n + 2);
    }

    static void Busy()
    {
        for (int i = 0; i < 3; i++)
            new Thread(() =>
            {
                for (int n = 0; ; n++)
                    Work(n);
            }) { IsBackground = true }.Start();
        Thread.Sleep(30);
    }

    [UnmanagedCallersOnly]
    static int ThrowUnmanaged(int n)
    {
        Level(n);
        return n;
    }

    [UnmanagedCallersOnly]
    static int WorkUnmanaged(int n)
    {
        Work(n);
        return n;
    }

    [UnmanagedCallersOnly]
    static int ExitUnmanaged(int n)
    {
        Several();
        Environment.Exit(n);
        return n;
    }

    sealed class Last
    {
        ~Last()
        {
            Several();
            Environment.Exit(5);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Drop()
    {
        for (int i = 0; i < 3; i++)
            GC.KeepAlive(new Last());
    }
}
