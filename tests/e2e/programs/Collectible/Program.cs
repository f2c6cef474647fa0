// What comes and goes for as long as a program runs: load contexts, compiled expressions, compiled regexes.
// Collectible KIND COUNT FROM [beside]: KIND is contexts, expressions or regexes. beside: first of all a few collections are
// asked for that may run beside the program. Prints how much memory there was after the first
// FROM of them and after the last, each twice, in KB: what is this process's own, and with the pages of files.
// FROM 0: nothing is measured; it ends when the tracer has given back nearly all modules, if there is a tracer.
using System;
using System.IO;
using System.Linq.Expressions;
using System.Net.Sockets;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;

public static class Program
{
    static object kept;

    static int Main(string[] args)
    {
        int count = int.Parse(args[1]), from = int.Parse(args[2]);
        Func<int, int> once = args[0] switch
        {
            "contexts" => OneContext,
            "expressions" => OneExpression,
            "regexes" => OneRegex,
            _ => throw new ArgumentException(args[0]),
        };
        if (args.Length > 3 && args[3] == "beside")
            Beside();
        (long, long) before = (0, 0);
        int sum = 0;
        for (int i = 1; i <= count; i++)
        {
            sum += once(i);
            if (i % 100 == 0)
                Collect();
            if (i == from)
                before = Memory(12);
        }
        (long, long) after = (0, 0);
        if (from > 0)
            after = Memory(12);
        else
            GivenBack(count - count / 10);
        Console.WriteLine($"{args[0]} {sum} {before.Item1} {before.Item2} {after.Item1} {after.Item2}");
        return 0;
    }

    static void Beside()
    {
        var some = new byte[300][];
        for (int i = 0; i < 5; i++)
        {
            for (int k = 0; k < some.Length; k++)
                some[k] = new byte[100_000];
            GC.Collect(2, GCCollectionMode.Optimized, blocking: false);
            Thread.Sleep(20);
        }
        GC.KeepAlive(some);
    }

    static void Collect()
    {
        for (int i = 0; i < 2; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
    }

    const int Noise = 64; // KB

    /*
     * What has ended is to be gone: until memory has not become less for `quiet` looks. The tracer takes a moment, too: a look
     * before which it did not run does not count.
     */
    static (long Own, long All) Memory(int quiet)
    {
        (long Own, long All) least = (long.MaxValue, 0);
        var slept = new long[2];
        for (int looks = 0, same = 0; same < quiet && looks < 120; looks++)
        {
            GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, true, true);
            GC.WaitForPendingFinalizers();
            Thread.Sleep(250);
            long own = Kilobytes("smaps_rollup", "Pss_Anon:") + Kilobytes("smaps_rollup", "Pss_Shmem:");
            long all = own + Kilobytes("status", "RssFile:");
            if (own + Noise < least.Own)
                same = 0;
            if (own < least.Own)
                least = (own, all);
            if (Ran("shadowtrace-res", ref slept[0]) & Ran("shadowtrace-log", ref slept[1]))
                same++;
        }
        return least;
    }

    /* Asks the control socket of the process until that many modules are given back. */
    static void GivenBack(int modules)
    {
        string runtime = Environment.GetEnvironmentVariable("XDG_RUNTIME_DIR");
        string user = Array.Find(File.ReadAllLines("/proc/self/status"), line => line.StartsWith("Uid:")).Split('\t')[2];
        string folder = string.IsNullOrEmpty(runtime) ? "/tmp/shadowtrace-" + user : runtime + "/shadowtrace";
        var path = new UnixDomainSocketEndPoint(folder + "/" + Environment.ProcessId + ".sock");
        var answer = new byte[65536];
        for (int given = 0, looks = 0; given < modules && looks < 1200 && File.Exists(path.ToString()); looks++)
        {
            Collect();
            Thread.Sleep(50);
            using var socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
            socket.Connect(path);
            socket.Send("{\"command\":\"status\"}\n"u8);
            string text = Encoding.UTF8.GetString(answer, 0, socket.Receive(answer));
            Match said = Regex.Match(text, "\"given_back\":([0-9]+)");
            given = said.Success ? int.Parse(said.Groups[1].Value) : 0;
        }
    }

    /* Has that thread gone to sleep at least twice since the last time? A program without it need not wait. */
    static bool Ran(string thread, ref long before)
    {
        const string Member = "voluntary_ctxt_switches:";
        foreach (string task in Directory.GetDirectories("/proc/self/task"))
        {
            string[] status;
            try
            {
                status = File.ReadAllLines(task + "/status");
            }
            catch (IOException) // it has ended
            {
                continue;
            }
            if (status.Length == 0 || status[0] != "Name:\t" + thread)
                continue;
            long slept = long.Parse(Array.Find(status, line => line.StartsWith(Member)).AsSpan(Member.Length));
            if (slept - before < 2)
                return false;
            before = slept;
        }
        return true;
    }

    /*
     * PSS as it is without other processes: it counts a page of a file by how many have it, so each program that begins
     * or ends on this machine changes it by megabytes.
     */
    static long Kilobytes(string file, string member)
    {
        foreach (string line in File.ReadLines("/proc/self/" + file))
            if (line.StartsWith(member))
                return long.Parse(line.AsSpan(member.Length, line.Length - member.Length - 3).Trim());
        throw new InvalidDataException(member);
    }

    /* ---- runs inside of a context: called by reflection ---- */

    public static class Plugin
    {
        sealed class Thing { public long Number; }
        struct Pair { public long A, B; }

        static T[] Several<T>(int n)
        {
            var all = new T[n];
            kept = all;
            return all;
        }

        static int Level(int depth) => depth == 0 ? Several<Thing>(2).Length + Several<Pair>(3).Length : Level(depth - 1);

        public static int Work(int n)
        {
            kept = new Thing { Number = n };
            int sum = Level(n % 8);
            try
            {
                throw new InvalidOperationException();
            }
            catch (InvalidOperationException)
            {
                kept = null;
            }
            return sum;
        }
    }

    sealed class Context : AssemblyLoadContext
    {
        public Context() : base(isCollectible: true) { }
        protected override Assembly Load(AssemblyName name) => null;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int OneContext(int i)
    {
        var context = new Context();
        MethodInfo work = context.LoadFromAssemblyPath(typeof(Program).Assembly.Location).GetType(typeof(Plugin).FullName).GetMethod(nameof(Plugin.Work));
        int sum = (int)work.Invoke(null, new object[] { i });
        context.Unload();
        return sum;
    }

    /* Not inlined into compiled expressions, profiled or not: the JIT then reports the same (DOTNET_RichDebugInfo). */
    sealed class Made
    {
        public int Number;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public Made() { }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Called(int n)
    {
        kept = new object[n % 4];
        return n;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int OneExpression(int i)
    {
        ParameterExpression n = Expression.Parameter(typeof(int));
        MemberInfo number = typeof(Made).GetField(nameof(Made.Number));
        Expression made = Expression.MemberInit(Expression.New(typeof(Made)), Expression.Bind(number, n));
        Expression body = Expression.Add(Expression.Field(made, nameof(Made.Number)), Expression.Call(typeof(Program).GetMethod(nameof(Called)), n));
        return Expression.Lambda<Func<int, int>>(body, n).Compile()(i & 7);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int OneRegex(int i)
    {
        var regex = new Regex("^(a|b" + i % 1000 + ")+c[0-9]*$", RegexOptions.Compiled);
        return regex.IsMatch("aab" + i % 1000 + "c17") ? 1 : 0;
    }
}
