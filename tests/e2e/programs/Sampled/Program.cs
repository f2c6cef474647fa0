// Allocates known amounts at known places, of 24 bytes to 10 MB, in every heap that the runtime samples.
//
//   Sampled [--log FILE] [--megabytes N] [--threads N] [--keep] [--rounds N] [--filter] [--handler]
//
// First it allocates in Warm until the log, FILE (log.ndjson), names that method: from then on the sampler runs. Then each
// place makes objects of N megabytes, on each thread, and what they come to is printed, one JSON object per line:
//   {"method":NAME,"allocs":N,"bytes":N,"live":N}
// live: bytes of those that are still alive at the end; with --keep every second object of the methods in Kept is, after a
// full collection. The line `ok` at the end. --filter: Warm runs in the filter of an exception; the
// first line of output says that it does. --handler: what handles commands to the runtime's own event source catches an
// exception that the processor raises, and says so; the thread that begins a session calls it. The first line of output
// says that it is there.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Diagnostics.Tracing;
using System.IO;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Sampled;

class Node { public long A; }                    // 24 bytes
class Wide { public long A, B, C, D; }           // 48
struct Value { public long A; }

static class Program
{
    static object sink;
    static readonly List<object> kept = new List<object>();
    static bool keeps;

    // ---- one place each: they return what they made

    [MethodImpl(MethodImplOptions.NoInlining)] static object Small() => new Node();
    [MethodImpl(MethodImplOptions.NoInlining)] static object Medium() => new Wide();
    [MethodImpl(MethodImplOptions.NoInlining)] static object Boxed() => new Value { A = 1 };
    [MethodImpl(MethodImplOptions.NoInlining)] static object Text() => new string('x', 100);
    [MethodImpl(MethodImplOptions.NoInlining)] static object Closure() => new Action(Nothing(1).Do);
    [MethodImpl(MethodImplOptions.NoInlining)] static object Kilobyte() => new byte[1000];
    [MethodImpl(MethodImplOptions.NoInlining)] static object References() => new object[2000];
    [MethodImpl(MethodImplOptions.NoInlining)] static object Matrix() => new double[50, 80];
    [MethodImpl(MethodImplOptions.NoInlining)] static object NearlyLarge() => new byte[80_000];
    [MethodImpl(MethodImplOptions.NoInlining)] static object Large() => new byte[100_000];
    [MethodImpl(MethodImplOptions.NoInlining)] static object Megabyte() => new byte[1 << 20];
    [MethodImpl(MethodImplOptions.NoInlining)] static object TenMegabytes() => new byte[10 << 20];
    [MethodImpl(MethodImplOptions.NoInlining)] static object Uninitialized() => GC.AllocateUninitializedArray<byte>(5000);
    [MethodImpl(MethodImplOptions.NoInlining)] static object Pinned() => GC.AllocateArray<byte>(20_000, pinned: true);

    // Objects of all sizes at one place: its bytes can be estimated, its objects cannot.
    static int turn;
    [MethodImpl(MethodImplOptions.NoInlining)] static object Mixed() => new byte[1 << (turn++ % 22)];

    sealed class Holder { public int A; public void Do() { } }
    static readonly Holder holder = new Holder();
    static Holder Nothing(int a) { holder.A = a; return holder; }

    static long Rounded(long bytes) => (bytes + 7) / 8 * 8;

    sealed class Place
    {
        public string Name;
        public Func<object> Make;
        public Func<long> Size;  // of the next one
        public bool Kept;
        public long Allocs, Bytes, Live;
    }

    static List<Place> Places()
    {
        Place Of(string name, Func<object> make, long size, bool kept = false) =>
            new Place { Name = name, Make = make, Size = () => size, Kept = kept };
        return new List<Place> {
            Of(nameof(Small), Small, 24, true), Of(nameof(Medium), Medium, 48), Of(nameof(Boxed), Boxed, 24),
            Of(nameof(Text), Text, Rounded(22 + 200), true), Of(nameof(Closure), Closure, 64),
            Of(nameof(Kilobyte), Kilobyte, 1024, true), Of(nameof(References), References, 24 + 16000),
            Of(nameof(Matrix), Matrix, 40 + 50 * 80 * 8), Of(nameof(NearlyLarge), NearlyLarge, 80_024),
            Of(nameof(Large), Large, 100_024, true), Of(nameof(Megabyte), Megabyte, (1 << 20) + 24, true),
            Of(nameof(TenMegabytes), TenMegabytes, (10 << 20) + 24), Of(nameof(Uninitialized), Uninitialized, 5024),
            Of(nameof(Pinned), Pinned, 20_024),
            new Place { Name = nameof(Mixed), Make = Mixed, Size = () => Rounded(24 + (1 << (turn % 22))) } };
    }

    // Until the sampler tells of it: a megabyte is always sampled.
    static void Warm(string log)
    {
        var clock = Stopwatch.StartNew();
        while (true) {
            WarmUp();
            try {
                using var file = new StreamReader(new FileStream(log, FileMode.Open, FileAccess.Read,
                                                                 FileShare.ReadWrite | FileShare.Delete));
                if (file.ReadToEnd().Contains("Sampled.Program.WarmUp"))
                    return;
            } catch (IOException) { }
            if (clock.Elapsed.TotalSeconds > 100)
                throw new TimeoutException("no sample came");
            Thread.Sleep(20);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)] static void WarmUp() => sink = new byte[1 << 20];

    // It has not returned while the filter runs, which runs on the frame of its caller.
    [MethodImpl(MethodImplOptions.NoInlining)] static void Throw() => throw new InvalidOperationException();

    static bool Warmed(string log)
    {
        Console.WriteLine("in the filter");
        Warm(log);
        return true;
    }

    static void WarmInFilter(string log)
    {
        try {
            Throw();
        } catch (InvalidOperationException) when (Warmed(log)) { }
    }

    [MethodImpl(MethodImplOptions.NoInlining)] static long Field(Node node) => node.A;

    static void Handle()
    {
        foreach (var source in EventSource.GetSources())
            if (source.Name == "Microsoft-Windows-DotNETRuntime")
                source.EventCommandExecuted += (_, command) => {
                    try {
                        Field(null);
                    } catch (NullReferenceException) {
                        Console.WriteLine($"caught at {command.Command}");
                    }
                };
        Console.WriteLine("handling");
    }

    static void Run(List<Place> places, long bytes)
    {
        foreach (var place in places)
            while (place.Bytes < bytes) {
                long size = place.Size();
                object made = place.Make();
                place.Allocs++;
                place.Bytes += size;
                if (keeps && place.Kept && place.Allocs % 2 == 0) {
                    lock (kept)
                        kept.Add(made);
                    place.Live += size;
                } else
                    sink = made;
            }
    }

    static int Main(string[] args)
    {
        string log = "log.ndjson";
        long megabytes = 20;
        int threads = 1, rounds = 1;
        bool filter = false;
        for (int i = 0; i < args.Length; i++)
            switch (args[i]) {
            case "--log": log = args[++i]; break;
            case "--megabytes": megabytes = long.Parse(args[++i]); break;
            case "--threads": threads = int.Parse(args[++i]); break;
            case "--rounds": rounds = int.Parse(args[++i]); break;
            case "--keep": keeps = true; break;
            case "--filter": filter = true; break;
            case "--handler": Handle(); break;
            default: Console.Error.WriteLine("unknown argument " + args[i]); return 2;
            }
        if (filter)
            WarmInFilter(log);
        else
            Warm(log);
        var all = new List<List<Place>>();
        for (int round = 0; round < rounds; round++) {
            var workers = new List<Thread>();
            for (int i = 0; i < threads; i++) {
                var places = Places();
                all.Add(places);
                workers.Add(new Thread(() => Run(places, megabytes << 20)));
                workers[^1].Start();
            }
            workers.ForEach(w => w.Join());
        }
        sink = null;
        if (keeps) {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            GC.Collect();
        }
        for (int i = 0; i < all[0].Count; i++) {
            long allocs = 0, bytes = 0, live = 0;
            foreach (var places in all) {
                allocs += places[i].Allocs;
                bytes += places[i].Bytes;
                live += places[i].Live;
            }
            Console.WriteLine($"{{\"method\":\"Sampled.Program.{all[0][i].Name}\",\"allocs\":{allocs},\"bytes\":{bytes},\"live\":{live}}}");
        }
        GC.KeepAlive(kept);
        Console.WriteLine("ok");
        return 0;
    }
}
