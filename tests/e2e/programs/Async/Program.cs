// Iterators, async methods and async streams, with exceptions in every place they can have one.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;
using static Torture.Cases;
using static Torture.Sink;

namespace Torture;

static partial class Program // RuntimeAsync compiles this file, too, and adds further cases
{
    static int Main(string[] args) => Run(args,
    [
#if RUNTIME_ASYNC
        .. Own,
#endif
        ("iterator", Iterator),
        ("iterator-abandoned", IteratorAbandoned),
        ("iterator-throws", IteratorThrows),
        ("iterator-finally-throws", IteratorFinallyThrows),
        ("iterator-nested", IteratorNested),
        ("iterator-generic", IteratorGeneric),
        ("iterator-recursive", IteratorRecursive),
        ("linq", Linq),
        ("async-synchronous", () => Wait(Synchronous(3))),
        ("async-yield", () => Wait(Yielding(3))),
        ("async-throws", () => Wait(Throws())),
        ("async-throws-late", () => Wait(ThrowsLate())),
        ("async-catch", () => Wait(InCatch())),
        ("async-finally", () => Wait(InFinally())),
        ("async-filter", () => Wait(InFilter())),
        ("async-nested", () => Wait(Nested(8))),
        ("async-void", AsyncVoid),
        ("async-generic", () => Wait(Generic<string>("x"))),
        ("value-task", () => Wait(ValueTasks())),
        ("custom-awaiter", () => Wait(CustomAwaiter())),
        ("custom-builder", () => Wait(PooledBuilder())),
        ("when-all", () => Wait(WhenAll())),
        ("when-any", () => Wait(WhenAny())),
        ("continue-with", () => Wait(Continue())),
        ("cancel", () => Wait(Cancel())),
        ("completion-source", () => Wait(CompletionSource())),
        ("async-local", () => Wait(Local())),
        ("semaphore", () => Wait(Semaphore())),
        ("channel", () => Wait(Channels())),
        ("stream", () => Wait(Streams())),
        ("stream-throws", () => Wait(StreamThrows())),
        ("stream-abandoned", () => Wait(StreamAbandoned())),
        ("stream-nested", () => Wait(StreamNested(5))),
        ("stream-finally-throws", () => Wait(StreamFinallyThrows())),
        ("stream-cancelled", () => Wait(StreamCancelled())),
        ("async-dispose", () => Wait(Disposing())),
        ("synchronisation-context", WithContext),
        ("blocking", Blocking),
    ]);

    static void Wait(Task task) => task.GetAwaiter().GetResult();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw(int code)
    {
        Callee();
        throw new TestException(code);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Accept(bool answer)
    {
        Several();
        return answer;
    }

    /* ---- iterators ---- */

    static IEnumerable<int> Numbers(int n, int fail = -1)
    {
        try
        {
            for (int i = 0; i < n; i++)
            {
                Callee();
                if (i == fail)
                    Throw(i);
                yield return i;
            }
        }
        finally
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Iterator()
    {
        int sum = 0;
        foreach (int i in Numbers(6))
        {
            Callee();
            sum += i;
        }
        Check(sum == 15);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void IteratorAbandoned()
    {
        foreach (int i in Numbers(10))
        {
            Callee();
            if (i == 4)
                break;
        }
        IEnumerator<int> left = Numbers(3).GetEnumerator();
        left.MoveNext();
        left.Dispose();
        Callee();
    }

    /* The compiler makes a fault block of an iterator's finally. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void IteratorThrows()
    {
        int seen = 0;
        try
        {
            foreach (int i in Numbers(10, 5))
                seen++;
        }
        catch (TestException e) when (Accept(e.Code == 5))
        {
            Several();
        }
        Check(seen == 5);
        try
        {
            foreach (int i in Numbers(10))
                if (i == 2)
                    Throw(i);
        }
        catch (TestException)
        {
            Several();
        }
    }

    static IEnumerable<int> FinallyThrowing(bool first)
    {
        try
        {
            Callee();
            yield return 1;
            if (first)
                Throw(1);
        }
        finally
        {
            Several();
            Throw(2);
        }
    }

    /* Out of MoveNext in place of another exception, and out of Dispose in a finally of the loop's own. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void IteratorFinallyThrows()
    {
        for (int how = 0; how < 3; how++)
        {
            try
            {
                foreach (int i in FinallyThrowing(how == 0))
                {
                    if (how == 1)
                        break;
                    if (how == 2)
                        Throw(3);
                }
                Check(false);
            }
            catch (TestException e) when (Accept(e.Code == 2))
            {
                Several();
            }
        }
    }

    static IEnumerable<int> Nesting(int depth)
    {
        try
        {
            yield return depth;
            if (depth == 0)
                Throw(0);
            foreach (int i in Nesting(depth - 1))
            {
                Callee();
                yield return i;
            }
        }
        finally
        {
            Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void IteratorNested()
    {
        int seen = 0;
        try
        {
            foreach (int i in Nesting(6))
                seen++;
        }
        catch (TestException)
        {
            Several();
        }
        Check(seen == 7);
    }

    static IEnumerable<T> Repeat<T>(T value, int n)
    {
        for (int i = 0; i < n; i++)
        {
            Keep(new T[1]);
            yield return value;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void IteratorGeneric()
    {
        foreach (string s in Repeat("x", 4))
            Callee();
        foreach (int i in Repeat(1, 4))
            Callee();
        foreach (DateTime d in Repeat(DateTime.UnixEpoch, 4))
            Callee();
    }

    static IEnumerable<int> Tree(int depth)
    {
        if (depth == 0)
            yield break;
        foreach (int i in Tree(depth - 1))
            yield return i;
        Callee();
        yield return depth;
        foreach (int i in Tree(depth - 1))
            yield return i;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void IteratorRecursive() => Check(Tree(6).Count() == 63);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Linq()
    {
        var groups = Numbers(40).Where(i => i % 3 != 0).Select(i => new Mark(i)).GroupBy(m => m.Number % 5)
            .OrderBy(g => g.Key).Select(g => g.Sum(m => m.Number)).ToList();
        Check(groups.Count == 5);
        try
        {
            Keep(Numbers(10).Select(i => 10 / (i - 4)).ToArray());
            Check(false);
        }
        catch (DivideByZeroException)
        {
            Several();
        }
    }

    /* ---- async ---- */

    static async Task<int> Synchronous(int n)
    {
        Callee();
        if (n == 0)
            return 0;
        int rest = await Synchronous(n - 1);
        Several();
        return rest + 1;
    }

    static async Task Yielding(int n)
    {
        for (int i = 0; i < n; i++)
        {
            Callee();
            await Task.Yield();
            Several();
        }
    }

    static async Task<int> Fail(int code, bool late)
    {
        try
        {
            Callee();
            if (late)
                await Task.Yield();
            Throw(code);
            return code;
        }
        finally
        {
            Several();
        }
    }

    static async Task Throws()
    {
        try
        {
            await Fail(1, false);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
        Callee();
    }

    static async Task ThrowsLate()
    {
        try
        {
            await Fail(1, true);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
        Callee();
    }

    static async Task InCatch()
    {
        try
        {
            try
            {
                await Fail(1, true);
            }
            catch (TestException)
            {
                Several();
                await Task.Yield();
                Several();
                await Fail(2, true);
            }
        }
        catch (TestException e)
        {
            Check(e.Code == 2);
            Several();
        }
    }

    static async Task InFinally()
    {
        try
        {
            try
            {
                await Fail(1, true);
            }
            finally
            {
                Several();
                await Task.Yield();
                try
                {
                    await Fail(3, true);
                }
                catch (TestException)
                {
                    Several();
                }
            }
        }
        catch (TestException e)
        {
            Check(e.Code == 1);
            Several();
        }
    }

    static async Task InFilter()
    {
        try
        {
            await Fail(1, true);
        }
        catch (TestException e) when (Accept(e.Code == 2))
        {
            Check(false);
        }
        catch (TestException e) when (Accept(e.Code == 1))
        {
            await Task.Yield();
            Several();
        }
    }

    static async Task Nested(int depth)
    {
        try
        {
            await NestedLevel(depth);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    static async Task NestedLevel(int depth)
    {
        Callee();
        if (depth % 2 == 0)
            await Task.Yield();
        try
        {
            if (depth == 0)
                Throw(0);
            await NestedLevel(depth - 1);
        }
        catch (TestException) when (Accept(depth % 3 == 0))
        {
            Callee();
            throw;
        }
        finally
        {
            Callee();
        }
    }

    static async void Fire(TaskCompletionSource done)
    {
        try
        {
            Callee();
            await Task.Yield();
            await Fail(1, true);
        }
        catch (TestException)
        {
            Several();
            done.SetResult();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void AsyncVoid()
    {
        var done = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Fire(done);
        Wait(done.Task);
        Callee();
    }

    static async Task<T> Generic<T>(T value)
    {
        for (int i = 0; i < 3; i++)
        {
            Keep(new T[1]);
            await Task.Yield();
            Keep(await Wrapped(value));
        }
        return value;
    }

    static async ValueTask<(T, int)> Wrapped<T>(T value)
    {
        await Task.Yield();
        Callee();
        return (value, 1);
    }

    static async ValueTask<int> Sometimes(int n)
    {
        Callee();
        if (n % 2 == 0)
            await Task.Yield();
        if (n % 5 == 4)
            Throw(n);
        return n;
    }

    static async Task ValueTasks()
    {
        int caught = 0;
        for (int i = 0; i < 10; i++)
            try
            {
                await Sometimes(i);
            }
            catch (TestException)
            {
                caught++;
                Several();
            }
        Check(caught == 2);
    }

    readonly struct OnPool : INotifyCompletion
    {
        public OnPool GetAwaiter() => this;
        public bool IsCompleted => false;

        public void OnCompleted(Action continuation)
        {
            Callee();
            ThreadPool.QueueUserWorkItem(_ => continuation());
        }

        public void GetResult()
        {
            Callee();
            Throw(3);
        }
    }

    static async Task CustomAwaiter()
    {
        try
        {
            await new OnPool();
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    static async ValueTask<int> Pooled(int n)
    {
        Callee();
        await Task.Yield();
        if (n == 3)
            Throw(n);
        return n;
    }

    static async Task PooledBuilder()
    {
        for (int i = 0; i < 5; i++)
            try
            {
                Check(await Pooled(i) == i);
            }
            catch (TestException)
            {
                Several();
            }
    }

    static async Task WhenAll()
    {
        var tasks = new Task<int>[8];
        for (int i = 0; i < tasks.Length; i++)
            tasks[i] = i % 3 == 0 ? Fail(i, true) : Synchronous(i);
        try
        {
            await Task.WhenAll(tasks);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    static async Task WhenAny()
    {
        Task<int> first = await Task.WhenAny(Synchronous(2), Fail(1, false));
        Callee();
        try
        {
            await first;
        }
        catch (TestException)
        {
            Several();
        }
    }

    static async Task Continue()
    {
        int result = await Fail(4, true).ContinueWith(t =>
        {
            Several();
            return t.Exception == null ? 0 : ((TestException)t.Exception.InnerException).Code;
        });
        Check(result == 4);
    }

    static async Task Forever(CancellationToken token)
    {
        try
        {
            await Task.Delay(Timeout.Infinite, token);
        }
        finally
        {
            Several();
        }
    }

    static async Task Cancel()
    {
        using var source = new CancellationTokenSource();
        source.Token.Register(() => Callee());
        Task task = Forever(source.Token);
        source.Cancel();
        try
        {
            await task;
            Check(false);
        }
        catch (OperationCanceledException)
        {
            Several();
        }
        try
        {
            source.Token.ThrowIfCancellationRequested();
        }
        catch (OperationCanceledException) when (Accept(true))
        {
            Callee();
        }
    }

    static async Task CompletionSource()
    {
        var inline = new TaskCompletionSource<int>(); /* continuations run inside SetException */
        Task waiting = WaitFor(inline.Task);
        Callee();
        inline.SetException(new TestException(5));
        await waiting;
    }

    static async Task WaitFor(Task<int> task)
    {
        try
        {
            await task;
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    static readonly AsyncLocal<Mark> local = new(_ => Callee());

    static async Task Local()
    {
        local.Value = new Mark(1);
        await Task.Yield();
        Check(local.Value.Number == 1);
        await Task.Run(() =>
        {
            local.Value = new Mark(2);
            Several();
        });
        Check(local.Value.Number == 1);
        local.Value = null;
    }

    static async Task Semaphore()
    {
        using var gate = new SemaphoreSlim(1);
        async Task Enter(int n)
        {
            await gate.WaitAsync();
            try
            {
                Callee();
                await Task.Yield();
                if (n == 2)
                    Throw(n);
            }
            finally
            {
                gate.Release();
                Several();
            }
        }
        Task all = Task.WhenAll(Enter(0), Enter(1), Enter(2), Enter(3));
        try
        {
            await all;
        }
        catch (TestException)
        {
            Several();
        }
    }

    static async Task Channels()
    {
        var channel = Channel.CreateBounded<Mark>(2);
        Task writer = Task.Run(async () =>
        {
            for (int i = 0; i < 10; i++)
                await channel.Writer.WriteAsync(new Mark(i));
            channel.Writer.Complete(new TestException(1));
        });
        int seen = 0;
        try
        {
            await foreach (Mark m in channel.Reader.ReadAllAsync())
            {
                Callee();
                seen++;
            }
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
        Check(seen == 10);
        await writer;
    }

    /* ---- async streams ---- */

    static async IAsyncEnumerable<int> Stream(int n, int fail = -1,
                                              [EnumeratorCancellation] CancellationToken token = default)
    {
        try
        {
            for (int i = 0; i < n; i++)
            {
                Callee();
                if (i % 2 == 0)
                    await Task.Yield();
                if (i == fail)
                    Throw(i);
                yield return i;
            }
        }
        finally
        {
            Several();
            await Task.Yield();
            Callee();
        }
    }

    static async Task Streams()
    {
        int sum = 0;
        await foreach (int i in Stream(6))
        {
            Callee();
            sum += i;
        }
        Check(sum == 15);
    }

    static async Task StreamThrows()
    {
        int seen = 0;
        try
        {
            await foreach (int i in Stream(8, 5))
                seen++;
            Check(false);
        }
        catch (TestException) when (Accept(seen == 5))
        {
            Several();
        }
        try
        {
            await foreach (int i in Stream(8))
                if (i == 3)
                    Throw(i);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    static async Task StreamAbandoned()
    {
        await foreach (int i in Stream(8))
        {
            Callee();
            if (i == 3)
                break;
        }
        Callee();
    }

    /* Each level passes on what the level below gives, and its exception out of another catch. */
    static async IAsyncEnumerable<int> Level(int depth)
    {
        if (depth == 0)
        {
            await foreach (int i in Stream(4, 3))
                yield return i;
            yield break;
        }
        await using IAsyncEnumerator<int> below = Level(depth - 1).GetAsyncEnumerator();
        while (true)
        {
            try
            {
                if (!await below.MoveNextAsync())
                    break;
            }
            catch (TestException e) when (Accept(e.Code >= 0))
            {
                await Task.Yield();
                Several();
                throw new TestException(e.Code + 1);
            }
            Callee();
            yield return below.Current;
        }
    }

    static async Task StreamNested(int depth)
    {
        int seen = 0;
        try
        {
            await foreach (int i in Level(depth))
                seen++;
            Check(false);
        }
        catch (TestException e)
        {
            Check(e.Code == 3 + depth);
            Several();
        }
        Check(seen == 3);
    }

    /* The stream's finally replaces the exception that is on its way, or ends an abandoned loop with one. */
    static async IAsyncEnumerable<int> FinallyThrows(bool first)
    {
        try
        {
            Callee();
            yield return 1;
            if (first)
                Throw(1);
            yield return 2;
        }
        finally
        {
            await Task.Yield();
            Several();
            Throw(2);
        }
    }

    static async Task StreamFinallyThrows()
    {
        for (int how = 0; how < 3; how++)
        {
            try
            {
                await foreach (int i in FinallyThrows(how == 0))
                {
                    if (how == 1)
                        break;
                    if (how == 2)
                        Throw(3);
                }
                Check(false);
            }
            catch (TestException e) when (Accept(e.Code == 2))
            {
                Several();
            }
        }
    }

    static async Task StreamCancelled()
    {
        using var source = new CancellationTokenSource();
        int seen = 0;
        try
        {
            await foreach (int i in Waiting().WithCancellation(source.Token))
            {
                seen++;
                source.Cancel();
            }
            Check(false);
        }
        catch (OperationCanceledException)
        {
            Several();
        }
        Check(seen == 1);
    }

    static async IAsyncEnumerable<int> Waiting([EnumeratorCancellation] CancellationToken token = default)
    {
        try
        {
            Callee();
            yield return 1;
            await Task.Delay(-1, token);
            Check(false);
        }
        finally
        {
            Several();
        }
    }

    sealed class Resource : IAsyncDisposable
    {
        public bool Fail;

        public async ValueTask DisposeAsync()
        {
            Callee();
            await Task.Yield();
            Several();
            if (Fail)
                Throw(7);
        }
    }

    static async Task Disposing()
    {
        try
        {
            await using var outer = new Resource();
            await using (new Resource { Fail = true })
            {
                await Fail(1, true);
            }
        }
        catch (TestException e)
        {
            Check(e.Code == 7);
            Several();
        }
    }

    sealed class Pump : SynchronizationContext
    {
        readonly Queue<(SendOrPostCallback, object)> queue = new();

        public override void Post(SendOrPostCallback d, object state)
        {
            lock (queue)
            {
                queue.Enqueue((d, state));
                Monitor.Pulse(queue);
            }
        }

        public void Run(Task until)
        {
            while (!until.IsCompleted)
            {
                (SendOrPostCallback, object) next = default;
                lock (queue)
                {
                    if (queue.Count == 0)
                        Monitor.Wait(queue, 10);
                    if (queue.Count > 0)
                        next = queue.Dequeue();
                }
                Callee();
                next.Item1?.Invoke(next.Item2);
            }
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void WithContext()
    {
        SynchronizationContext before = SynchronizationContext.Current;
        var pump = new Pump();
        SynchronizationContext.SetSynchronizationContext(pump);
        try
        {
            Task task = Nested(5);
            pump.Run(task);
            Wait(task);
        }
        finally
        {
            SynchronizationContext.SetSynchronizationContext(before);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Blocking()
    {
        try
        {
            Task.Run(() => Fail(9, true)).Wait();
            Check(false);
        }
        catch (AggregateException e) when (Accept(e.InnerException is TestException))
        {
            Several();
        }
        Check(Task.Run(() => Synchronous(4)).Result == 4);
    }
}
