// What runtime async does otherwise than a state machine: calls that return a continuation, and resumption.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
using System.Threading.Tasks.Sources;
using static Torture.Cases;
using static Torture.Sink;

namespace Torture;

static partial class Program
{
    static readonly (string Name, Action Body)[] Own =
    [
        ("compiled-for-it", CompiledForIt),
        ("completed", () => Wait(Completed(20))),
        ("suspended", () => Wait(Suspended(20))),
        ("recursion", () => Wait(Recursion())),
        ("recursion-throws", () => Wait(RecursionThrows())),
        ("locals-of-all-kinds", () => Wait(Locals())),
        ("generic-methods", () => Wait(GenericMethods())),
        ("generic-types", () => Wait(GenericTypes())),
        ("interfaces", () => Wait(Interfaces())),
        ("structs", () => Wait(Structs())),
        ("delegates", () => Wait(Delegates())),
        ("lambdas", () => Wait(Lambdas())),
        ("value-tasks", () => Wait(ValueTaskKinds())),
        ("value-task-source", () => Wait(Sources())),
        ("library", () => Wait(Library())),
        ("files", () => Wait(Files())),
        ("handlers", () => Wait(Handlers())),
        ("filters-and-finallys", () => Wait(Filters())),
        ("thrown-out-of-many", () => Wait(ThrownOut())),
        ("reflection", () => Wait(Reflection())),
        ("threads", ManyThreads),
        ("collected-meanwhile", CollectedMeanwhile),
        ("hot", () => Wait(Hot())),
        ("suspended-often*", SuspendedOften),
    ];

    const MethodImplOptions Async = (MethodImplOptions)0x2000;

    /* Else all below would test state machines. */
    static void CompiledForIt()
    {
        MethodInfo method = typeof(Program).GetMethod(nameof(Completed), BindingFlags.Static | BindingFlags.NonPublic);

        Check((method.MethodImplementationFlags & (MethodImplAttributes)Async) != 0);
    }

    /* ---- completed, suspended ---- */

    static async Task<int> Ready(int n)
    {
        Callee();
        return n;
    }

    static async Task<int> Later(int n)
    {
        Callee();
        await Task.Yield();
        Several();
        return n;
    }

    static async Task Completed(int n)
    {
        int sum = 0;
        for (int i = 0; i < n; i++)
        {
            sum += await Ready(i);
            Callee();
            await Task.CompletedTask;
            sum += await Task.FromResult(1);
            Callee();
        }
        Check(sum == n * (n + 1) / 2);
    }

    static async Task Suspended(int n)
    {
        int sum = 0;
        for (int i = 0; i < n; i++)
        {
            sum += await Later(i);
            Callee();
            sum += await Later(await Later(1));
            Several();
        }
        Check(sum == n * (n + 1) / 2);
    }

    /* ---- recursion ---- */

    static async Task<int> Down(int depth, int suspendAt)
    {
        Callee();
        if (depth == suspendAt)
            await Task.Yield();
        int below = depth == 0 ? 0 : await Down(depth - 1, suspendAt);
        Callee(); /* on the way back: resumed, with nothing of its caller below */
        return below + 1;
    }

    static async Task Recursion()
    {
        Check(await Down(30, -1) == 31);
        for (int at = 0; at <= 30; at += 10)
            Check(await Down(30, at) == 31);
        Check(await Both(7) == 255);
    }

    static async Task<int> Both(int depth)
    {
        Callee();
        if (depth % 2 == 0)
            await Task.Yield();
        return depth == 0 ? 1 : 1 + await Both(depth - 1) + await Both(depth - 1);
    }

    static async Task<int> DownToThrow(int depth, bool late)
    {
        Callee();
        if (depth == 0)
        {
            if (late)
                await Task.Yield();
            Throw(depth);
        }
        try
        {
            return await DownToThrow(depth - 1, late);
        }
        finally
        {
            Callee();
            if (depth % 3 == 0)
                await Task.Yield();
            Several();
        }
    }

    static async Task RecursionThrows()
    {
        for (int i = 0; i < 4; i++)
        {
            int caught = 0;
            try
            {
                await DownToThrow(12, i % 2 == 1);
            }
            catch (TestException)
            {
                Several();
                caught++;
            }
            Check(caught == 1);
        }
    }

    /* ---- what is kept in a continuation ---- */

    struct Large
    {
        public object A;
        public long B, C, D;
        public string E;
    }

    static async Task<(Large, double, decimal)> Locals(int n)
    {
        var large = new Large { A = new Mark(n), B = n, C = n, D = n, E = n.ToString() };
        double x = n + 0.5;
        decimal y = n;
        await Task.Yield();
        Several();
        large.D += n;
        await Task.Yield();
        Check(((Mark)large.A).Number == n && large.E == n.ToString());
        return (large, x, y);
    }

    static async Task Locals()
    {
        for (int i = 0; i < 10; i++)
        {
            (Large large, double x, decimal y) = await Locals(i);
            Callee();
            Check(large.D == 2 * i && x == i + 0.5 && y == i);
        }
    }

    /* ---- generics, virtual calls, structs ---- */

    static async Task<T> Same<T>(T value)
    {
        Callee();
        await Task.Yield();
        Keep(new T[1]);
        return value;
    }

    static async Task<(T, U)> Two<T, U>(T first, U second) => (await Same(first), await Same(second));

    static async Task GenericMethods()
    {
        Check(await Same("x") == "x" && await Same(3) == 3 && await Same(new Large { B = 4 }) is { B: 4 });
        Check(await Two("a", 1.5) == ("a", 1.5));
        Check(await Two(new object(), "b") is (not null, "b"));
    }

    class Holder<T>(T value)
    {
        static readonly Mark made = new(1);

        public async Task<T> Get()
        {
            Keep(made);
            Callee();
            await Task.Yield();
            Several();
            return value;
        }

        public static async Task<Holder<U>> Of<U>(U value)
        {
            Callee();
            await Task.Yield();
            return new Holder<U>(value);
        }

        public async ValueTask<U> Map<U>(Func<T, Task<U>> map) => await map(await Get());
    }

    static async Task GenericTypes()
    {
        Check(await new Holder<string>("s").Get() == "s");
        Check(await new Holder<long>(5).Get() == 5);
        Check(await (await Holder<object>.Of(7)).Get() == 7);
        Check(await new Holder<string>("abc").Map(async s => { await Task.Yield(); Callee(); return s.Length; }) == 3);
    }

    interface IWork
    {
        Task<int> Do(int n);
        async Task<int> Twice(int n) => await Do(n) + await Do(n); /* a default implementation */
        ValueTask<T> Generic<T>(T value);
    }

    class Base : IWork
    {
        public virtual async Task<int> Do(int n)
        {
            Callee();
            await Task.Yield();
            return n;
        }

        public virtual async ValueTask<T> Generic<T>(T value)
        {
            await Task.Yield();
            Keep(new T[2]);
            return value;
        }
    }

    sealed class Derived : Base
    {
        public override async Task<int> Do(int n)
        {
            Several();
            int found = await base.Do(n);
            Callee();
            return found + 1;
        }
    }

    /* Not async: a Task is what it returns. The runtime makes the method that awaits it. */
    sealed class Plain : IWork
    {
        public Task<int> Do(int n)
        {
            Callee();
            return n % 2 == 0 ? Task.FromResult(n) : Task.Run(() => { Callee(); return n; });
        }

        public ValueTask<T> Generic<T>(T value)
        {
            Callee();
            return new ValueTask<T>(value);
        }
    }

    static async Task Interfaces()
    {
        foreach (IWork work in new IWork[] { new Base(), new Derived(), new Plain() })
            for (int i = 0; i < 6; i++)
            {
                int expected = work is Derived ? i + 1 : i;

                Check(await work.Do(i) == expected && await work.Twice(i) == 2 * expected);
                Check(await work.Generic("g") == "g" && await work.Generic(i) == i);
                Callee();
            }
    }

    struct Counter
    {
        public int Count;

        public async Task<int> Next() /* on a copy of the struct */
        {
            int now = ++Count;
            Callee();
            await Task.Yield();
            Callee();
            return now;
        }
    }

    static async Task Structs()
    {
        var counter = new Counter { Count = 4 };

        Check(await counter.Next() == 5);
        object boxed = counter;
        Check(await ((Counter)boxed).Next() >= 5);
    }

    /* ---- delegates ---- */

    delegate Task<int> Worker(int n);

    static async Task Delegates()
    {
        var derived = new Derived();
        Worker worker = Later, all = null;

        Check(await worker(3) == 3);
        worker = derived.Do;
        Check(await worker(3) == 4);
        all += Later;
        all += Ready;
        Check(await all(8) == 8);
        Func<ValueTask<int>> value = () => derived.Generic(6);
        Check(await value() == 6);
    }

    static async Task Lambdas()
    {
        int captured = 0;
        Func<int, Task> add = async n =>
        {
            Callee();
            await Task.Yield();
            captured += n;
            Several();
        };

        await add(1);
        await add(2);
        await Task.WhenAll(add(3), Local(4));
        Check(captured == 10);

        async Task Local(int n)
        {
            await add(n);
            Callee();
        }
    }

    /* ---- ValueTask ---- */

    static async ValueTask<int> Quick(int n)
    {
        Callee();
        if (n % 2 == 1)
            await Task.Yield();
        return n;
    }

    static async ValueTask Nothing()
    {
        await Quick(1).ConfigureAwait(false);
        Several();
    }

    static async Task ValueTaskKinds()
    {
        for (int i = 0; i < 10; i++)
            Check(await Quick(i) == i);
        await Nothing();
        await default(ValueTask);
        ValueTask<int> kept = Quick(3);
        Callee();
        Check(await kept == 3);
        Check(await Quick(5).AsTask() == 5);
        Check(await new ValueTask<int>(Task.Run(() => { Callee(); return 2; })) == 2);
    }

    sealed class Source : IValueTaskSource<int>
    {
        ManualResetValueTaskSourceCore<int> core = new() { RunContinuationsAsynchronously = false };

        public ValueTask<int> Wait() => new(this, core.Version);
        public void Set(int value) => core.SetResult(value);
        public void Fail(Exception e) => core.SetException(e);
        public int GetResult(short token)
        {
            Callee();
            return core.GetResult(token);
        }
        public ValueTaskSourceStatus GetStatus(short token) => core.GetStatus(token);
        public void OnCompleted(Action<object> continuation, object state, short token, ValueTaskSourceOnCompletedFlags flags) =>
            core.OnCompleted(continuation, state, token, flags);
    }

    static async Task<int> From(Source source)
    {
        Callee();
        int found = await source.Wait();
        Several();
        return found;
    }

    static async Task Sources()
    {
        var source = new Source();
        Task<int> waits = From(source);

        source.Set(9); /* resumes it here */
        Callee();
        Check(await waits == 9);
        source = new Source();
        waits = From(source);
        source.Fail(new TestException(3));
        try
        {
            await waits;
            Check(false);
        }
        catch (TestException e) when (Accept(e.Code == 3))
        {
            Several();
        }
    }

    /* ---- code that was not compiled for it ---- */

    static async Task Library()
    {
        using var semaphore = new SemaphoreSlim(1);
        using var cancel = new CancellationTokenSource();

        await Task.Delay(1);
        Callee();
        await semaphore.WaitAsync();
        Callee();
        semaphore.Release();
        Check(await Task.WhenAny(Later(1), Later(2)) is { IsCompleted: true });
        int[] all = await Task.WhenAll(Later(1), Ready(2), Task.Run(() => Later(3)));
        Callee();
        Check(all.Length == 3 && all[2] == 3);
        Check(await Task.Run(async () => { Callee(); return await Later(4); }).WaitAsync(TimeSpan.FromMinutes(1)) == 4);
        await Task.Factory.StartNew(() => Callee(), TaskCreationOptions.LongRunning).ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        cancel.Cancel();
        try
        {
            await Task.Delay(60_000, cancel.Token);
            Check(false);
        }
        catch (OperationCanceledException)
        {
            Several();
        }
        Check(await Later(6).ContinueWith(t => { Callee(); return t.Result + 1; }) == 7);
    }

    static async Task Files()
    {
        string path = Path.GetTempFileName();

        try
        {
            await File.WriteAllTextAsync(path, new string('x', 20_000) + "\nend");
            Callee();
            await using var stream = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.Read, 4096, useAsync: true);
            using var reader = new StreamReader(stream);
            Check((await reader.ReadLineAsync()).Length == 20_000);
            Callee();
            Check(await reader.ReadToEndAsync() == "end");
        }
        finally
        {
            File.Delete(path);
        }
    }

    /* ---- exceptions ---- */

    static async Task<int> Fails(int code, bool late)
    {
        Callee();
        if (late)
            await Task.Yield();
        Throw(code);
        return 0;
    }

    static async Task Handlers()
    {
        for (int i = 0; i < 4; i++)
        {
            bool late = i % 2 == 1;
            int caught = 0;

            try
            {
                try
                {
                    await Fails(1, late);
                }
                catch (TestException e) when (e.Code == 1)
                {
                    Callee();
                    await Later(1); /* the compiler moves what follows out of the handler */
                    caught++;
                    Several();
                    if (i < 2)
                        throw;
                    await Fails(2, late);
                }
            }
            catch (TestException e)
            {
                caught += e.Code == (i < 2 ? 1 : 2) ? 1 : 10;
                Several();
            }
            Check(caught == 2);
        }
    }

    static async Task<bool> Guarded(int i)
    {
        bool left = false;

        try
        {
            try
            {
                await Fails(i, i % 2 == 0);
            }
            finally
            {
                Callee();
                await Later(i);
                left = true;
            }
        }
        catch (OtherException)
        {
            Check(false);
        }
        catch (TestException e) when (Accept(e.Code == i && left))
        {
            Several();
            return true;
        }
        return false;
    }

    static async Task Filters()
    {
        for (int i = 0; i < 6; i++)
            Check(await Guarded(i));
    }

    static async Task<int> Through(int depth, bool late)
    {
        if (depth == 0)
            return await Fails(7, late);
        Callee();
        return await Through(depth - 1, late);
    }

    static async Task ThrownOut()
    {
        for (int i = 0; i < 6; i++)
        {
            try
            {
                await Through(10 * i, i % 2 == 1);
                Check(false);
            }
            catch (TestException e)
            {
                Several();
                Check(e.Code == 7);
            }
            Callee();
        }
        try
        {
            await Task.WhenAll(Fails(1, true), Fails(2, false), Later(3));
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    /* ---- reflection ---- */

    static async Task Reflection()
    {
        MethodInfo later = typeof(Program).GetMethod(nameof(Later), BindingFlags.Static | BindingFlags.NonPublic);

        for (int i = 0; i < 4; i++)
            Check(await (Task<int>)later.Invoke(null, [i]) == i);
        var made = later.CreateDelegate<Func<int, Task<int>>>();
        Check(await made(5) == 5);
    }

    /* ---- threads, tiers ---- */

    static async Task<int> Mixed(int seed, int n)
    {
        int caught = 0;

        for (int i = 0; i < n; i++)
        {
            switch ((seed + i) % 5)
            {
            case 0:
                await Later(i);
                break;
            case 1:
                Check(await Down(6, (seed + i) % 8) == 7);
                break;
            case 2:
                try
                {
                    await Through(4, i % 2 == 0);
                }
                catch (TestException)
                {
                    Several();
                    caught++;
                }
                break;
            case 3:
                Check(await Two(i, "t") == (i, "t"));
                break;
            default:
                Check(await Quick(i) == i);
                break;
            }
            Callee();
        }
        return caught;
    }

    static void ManyThreads()
    {
        var threads = new Thread[12];
        int caught = 0;

        for (int i = 0; i < threads.Length; i++)
        {
            int seed = i;

            threads[i] = new Thread(() => Interlocked.Add(ref caught, Mixed(seed, 25).GetAwaiter().GetResult()));
            threads[i].Start();
        }
        foreach (Thread thread in threads)
            thread.Join();
        Check(caught == 12 * 5);
        var tasks = new List<Task<int>>();
        for (int i = 0; i < 24; i++)
            tasks.Add(Mixed(i, 10));
        Check(Task.WhenAll(tasks).GetAwaiter().GetResult().Length == 24);
    }

    [InlineArray(65536)]
    struct Room
    {
        long first;
    }

    static async Task<int> Roomy(int depth)
    {
        int sum = depth > 0 ? await Roomy(depth - 1) : 0;
        Room room = default; /* cleared before the method's Enter */

        room[depth] = 1;
        Keep(new byte[9000]); /* waits until it is over: the address is its own again */
        return sum + (int)room[depth];
    }

    /*
     * Of a thread that is stopped for a collection as it enters a method the address that it returns to is replaced. Each collection
     * waits for a step of the other thread: on a busy machine that would not run between two of them.
     */
    static void CollectedMeanwhile()
    {
        const int Steps = 2_000;
        int step = 0;
        var collector = new Thread(() =>
        {
            for (int seen = 0; seen < Steps;)
            {
                GC.Collect(0);
                while (Volatile.Read(ref step) == seen)
                    Thread.Yield();
                seen = Volatile.Read(ref step);
            }
        });

        collector.Start();
        while (step < Steps)
        {
            Check(Roomy(4).GetAwaiter().GetResult() == 5);
            Volatile.Write(ref step, step + 1);
        }
        collector.Join();
    }

    static async Task<long> Loop(int n)
    {
        long sum = 0;

        for (int i = 0; i < n; i++) /* long enough for a body that replaces it on the stack */
        {
            sum += await Tiny(i);
            if (i % 20_000 == 0)
            {
                Callee();
                await Task.Yield();
            }
        }
        Callee();
        return sum;
    }

    static async Task<int> Tiny(int n) => n & 1;

    static async Task Hot()
    {
        for (int i = 0; i < 3; i++)
            Check(await Loop(60_000) == 30_000);
    }

    /* ---- looked at by another thread, after a method suspended and before the next hook ---- */

    struct Words
    {
        public long A, B, C, D, E, F, G, H;
    }

    /* What is kept takes time to be saved, after the last that could stop the thread: it stops where this returns to. */
    static async Task<long> Never(Task<int> forever, Words a, Words b, Words c, Words d)
    {
        a.A += await forever;
        return a.A + a.B + a.C + a.D + a.E + a.F + a.G + a.H + b.A + b.B + b.C + b.D + b.E + b.F + b.G + b.H +
            c.A + c.B + c.C + c.D + c.E + c.F + c.G + c.H + d.A + d.B + d.C + d.D + d.E + d.F + d.G + d.H;
    }

    static async Task<long> OneAbove(Task<int> forever, Words words) => words.A + await Never(forever, words, words, words, words);

    static void SuspendedOften()
    {
        var threads = new Thread[2];

        for (int i = 0; i < threads.Length; i++)
        {
            threads[i] = new Thread(() =>
            {
                Task<int> forever = new TaskCompletionSource<int>().Task;

                for (int n = 0; n < 50_000; n++)
                    if (n % 1000 == 0)
                        forever = new TaskCompletionSource<int>().Task;
                    else
                        Keep(OneAbove(forever, default));
            });
            threads[i].Start();
        }
        foreach (Thread thread in threads)
            thread.Join();
    }
}
