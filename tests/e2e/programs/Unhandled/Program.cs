// Ends as its argument says: by an exception that nothing handles, or in another way that must not be taken for one.
using System;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

class Odd : Exception
{
    public Odd(string message) : base(message) { }
}

class Dying
{
    ~Dying() => Program.Throw("in a finalizer");
}

static class Program
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Throw(string message) => throw new Odd(message);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void MakeDying() => new Dying();

    static async void Forget(string message)
    {
        await Task.Yield();
        Throw(message);
    }

    static int Recurse(int n) => n == int.MinValue ? 0 : Recurse(n + 1) + Recurse(n + 2);

    static void OnThread(Action action)
    {
        var thread = new Thread(() => action());
        thread.Start();
        thread.Join();
        Thread.Sleep(Timeout.Infinite); // the process ends meanwhile
    }

    static bool Filters(string message)
    {
        try { Throw("in the filter"); } catch (Odd) { }
        return message == "never";
    }

    static void Nested()
    {
        try
        {
            try { Throw("the first"); }
            finally { Throw("the second"); }
        }
        catch (Odd e) when (Filters(e.Message)) { }
    }

    // Many are thrown and caught here, in Main's own frame; none is unhandled.
    static int Caught(int count)
    {
        int caught = 0;
        for (int i = 0; i < count; i++)
            try { Throw("caught " + i); } catch (Odd) { caught++; }
        return caught;
    }

    static int Main(string[] args)
    {
        string kind = args[0];
        if (kind == "caught-in-main" || kind == "killed-after-catch")
        {
            for (int i = 0; i < 200; i++)
                try { Throw("caught " + i); } catch (Odd) { }
            Console.WriteLine(Caught(args.Length > 1 ? int.Parse(args[1]) : 1000));
            if (kind == "caught-in-main")
                return 0;
            System.Diagnostics.Process.GetCurrentProcess().Kill();
            Thread.Sleep(Timeout.Infinite);
        }
        AppDomain.CurrentDomain.FirstChanceException += (_, e) =>
        {
            if (kind == "first-chance" && e.Exception.Message == "outer")
                try { Throw("inner"); } catch (Odd) { }
        };
        if (kind == "exit-in-handler")
            AppDomain.CurrentDomain.UnhandledException += (_, _) => Environment.Exit(7);
        return Run(kind);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Run(string kind)
    {
        switch (kind)
        {
            case "main": case "exit-in-handler": Throw("on the main thread"); break;
            case "thread": OnThread(() => Throw("on a thread")); break;
            case "pool": ThreadPool.QueueUserWorkItem(_ => Throw("on a pool thread")); Thread.Sleep(Timeout.Infinite); break;
            case "async-void": Forget("in async void"); Thread.Sleep(Timeout.Infinite); break;
            case "finalizer":
                for (;;) { MakeDying(); GC.Collect(); GC.WaitForPendingFinalizers(); }
            case "nested": Nested(); break;
            case "first-chance": Throw("outer"); break;
            case "null": ((string)null!).ToString(); break;
            case "rethrown":
                try { Throw("thrown again"); } catch (Odd) { throw; }
                break;
            case "control": Throw("a\0b\u001b[31mc\r\nd\u202ee\"\\"); break;
            case "long": Throw(string.Concat(Enumerable.Repeat("0123456789\u00fc\U0001f600", 100000))); break;
            case "surrogates": Throw("x\ud800y\udc00z"); break;
            case "fail-fast": Environment.FailFast("failed fast"); break;
            case "fail-fast-in-catch":
                try { Throw("caught"); } catch (Odd e) { Environment.FailFast("failed fast", e); }
                break;
            case "overflow": return Recurse(0);
            case "exit": Environment.Exit(5); break;
        }
        return 0;
    }
}
