// Own code and the framework's, which calls back into it: comparers, LINQ, events, reflection, tasks, class constructors, and
// exceptions with filters and finally blocks that cross both. Each allocation of an own type lies below Main or a thread's start.
using System;
using System.Collections;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;
using static Torture.Sink;

namespace Torture;

static class Program
{
    static int Main(string[] args) => Cases.Run(args,
        ("sort", Sort), ("linq", Linq), ("iterator", Iterate), ("event", Events), ("reflection", Reflect),
        ("reflection-throws", ReflectThrows), ("constructor", ClassConstructors), ("lazy", Lazies), ("dictionary", Keys),
        ("format", Formats), ("regex", Replaces), ("filter", Filters), ("filter-nested", FiltersNested), ("finally", Finallys),
        ("catch-in-framework", CaughtBetween), ("rethrow", Rethrows), ("first-chance", FirstChance), ("recursion", Recursion),
        ("recursion-through-framework", RecursionThrough), ("again", Again), ("tasks", Tasks), ("continuations", Continuations),
        ("async", () => Async().GetAwaiter().GetResult()), ("parallel", Parallels), ("threads", Threads), ("timer", Timers),
        ("dispose", Disposes), ("comparer-throws", ComparerThrows));

    sealed class ByLength : IComparer<string>
    {
        public int Compare(string a, string b)
        {
            Callee();
            return a.Length - b.Length;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Backwards(int a, int b)
    {
        Callee();
        return b - a;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Odd(int n)
    {
        Several();
        return (n & 1) != 0;
    }

    static void Sort()
    {
        var numbers = new List<int> { 3, 1, 4, 1, 5, 9, 2, 6 };

        numbers.Sort(Backwards);
        numbers.Sort((a, b) => Keyed(a) - Keyed(b));
        Array.Sort(new[] { "ccc", "a", "bb" }, new ByLength());
        Keep(numbers.ConvertAll(n => n.ToString()));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Keyed(int n)
    {
        Keep(new Mark(n));
        return n;
    }

    static void Linq()
    {
        var numbers = Enumerable.Range(0, 6);

        Keep(numbers.Where(Odd).Select(n => new Mark(Keyed(n))).OrderBy(m => Keyed((int)m.Number)).ToList());
        Keep(numbers.GroupBy(n => Keyed(n) % 2).ToDictionary(g => g.Key, g => g.Select(Keyed).ToArray()));
        Keep(numbers.Aggregate("", (text, n) => text + Keyed(n)));
        Keep(Items().SelectMany(i => Items().Where(k => k < i)).Sum(n => (long)Keyed(n)));
    }

    static IEnumerable<int> Items()
    {
        try
        {
            for (int i = 0; i < 3; i++)
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

    static void Iterate()
    {
        foreach (int n in Items().Concat(Items()).Reverse())
            Keyed(n);
        foreach (object o in (IEnumerable)new ArrayList(Items().ToArray()))
            Keep(o);
    }

    static event EventHandler<Mark> Happened;

    static void Events()
    {
        EventHandler<Mark> first = (_, m) => Keyed((int)m.Number), second = (_, m) => Callee();

        Happened += first;
        Happened += second;
        Happened(null, new Mark(1));
        Happened -= first;
        Happened(null, new Mark(2));
        Happened -= second;
    }

    static readonly MethodInfo called = typeof(Program).GetMethod(nameof(Called), BindingFlags.Static | BindingFlags.NonPublic),
        throws = typeof(Program).GetMethod(nameof(Throw), BindingFlags.Static | BindingFlags.NonPublic);

    static object Called(int n)
    {
        Callee();
        return n == 0 ? new Mark(n) : called.Invoke(null, new object[] { n - 1 });
    }

    static void Throw(int n)
    {
        Callee();
        if (n > 0)
            throws.Invoke(null, new object[] { n - 1 });
        throw new TestException(n);
    }

    static void Reflect()
    {
        Keep(called.Invoke(null, new object[] { 2 }));
        Keep(Activator.CreateInstance(typeof(Made)));
        Keep(Activator.CreateInstance<Made>());
        Keep(called.CreateDelegate<Func<int, object>>()(1));
    }

    public sealed class Made
    {
        readonly Mark inside = new(1);
        public Made() { Callee(); Keep(inside); }
    }

    static void ReflectThrows()
    {
        try
        {
            throws.Invoke(null, new object[] { 2 });
        }
        catch (TargetInvocationException e) when (Deepest(e) == 2)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Deepest(Exception e)
    {
        Callee();
        return e.InnerException == null ? -1 : 1 + Deepest(e.InnerException);
    }

    static class Once<T>
    {
        public static readonly object Value = new Mark(Keyed(1));
        static Once() { Several(); }
    }

    sealed class Key1 { } sealed class Key2 { } sealed class Key3 { }

    static class Fails
    {
        public static readonly object Value = Broken();
        static object Broken() { Callee(); throw new TestException(1); }
    }

    static void ClassConstructors()
    {
        Keep(Once<Key1>.Value);
        Keep(new[] { 1 }.Select(_ => Once<Key2>.Value).ToArray());
        RuntimeHelpers.RunClassConstructor(typeof(Once<Key3>).TypeHandle);
        try
        {
            Keep(Fails.Value);
        }
        catch (TypeInitializationException)
        {
            Callee();
        }
    }

    static void Lazies()
    {
        var lazy = new Lazy<Mark>(() => { Callee(); return new Mark(1); });
        var failing = new Lazy<Mark>(() => { Callee(); throw new TestException(1); });

        Keep(lazy.Value);
        for (int i = 0; i < 2; i++)
            try
            {
                Keep(failing.Value);
            }
            catch (TestException)
            {
                Callee();
            }
    }

    sealed record Key(int N)
    {
        public override int GetHashCode() { Callee(); return N & 1; }
        public bool Equals(Key other) { Callee(); return N == other?.N; }
        public override string ToString() { Callee(); return "key " + N; }
    }

    static void Keys()
    {
        var map = new Dictionary<Key, Mark>();
        var shared = new ConcurrentDictionary<Key, Mark>();

        for (int i = 0; i < 5; i++)
        {
            map[new Key(i)] = new Mark(i);
            Keep(shared.GetOrAdd(new Key(i), k => new Mark(Keyed(k.N))));
        }
        Keep(new HashSet<Key>(map.Keys));
    }

    static void Formats()
    {
        Keep($"{new Key(1)} and {new Key(2)}");
        Keep(string.Format("{0}", new Key(3)));
        Keep(string.Join(',', Enumerable.Range(0, 3).Select(n => new Key(n))));
        Keep(new StringBuilder().Append(new Key(4)).ToString());
    }

    static void Replaces()
    {
        Keep(Regex.Replace("a1b22", "[0-9]+", m => { Callee(); return new Key(m.Length).ToString(); }));
    }

    /* ---- exceptions: thrown in one, passing and caught in the other ---- */

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Accept(Exception e, bool answer)
    {
        Several();
        Keep(Enumerable.Range(0, 3).Where(Odd).ToArray());
        return answer;
    }

    static void ThrowFromCallback() => Keep(new[] { 3, 1, 2 }.Select(n => n == 1 ? throw new TestException(Keyed(n)) : n).ToArray());

    static void Filters()
    {
        try
        {
            try
            {
                ThrowFromCallback();
            }
            catch (TestException e) when (Accept(e, false))
            {
                Callee();
            }
        }
        catch (Exception e) when (Accept(e, true))
        {
            Several();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool AcceptInside(Exception e)
    {
        Filters();
        Callee();
        return Accept(e, true);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool FailsInside(Exception e)
    {
        Callee();
        Keep(new[] { 1 }.Select(n => n == 1 ? throw new OtherException(Keyed(n)) : n).ToArray());
        return true;
    }

    static void FiltersNested()
    {
        try
        {
            ThrowFromCallback();
        }
        catch (TestException e) when (FailsInside(e))
        {
            Callee();
        }
        catch (TestException e) when (AcceptInside(e))
        {
            Several();
            Filters();
        }
        Callee();
    }

    static void Finallys()
    {
        try
        {
            new List<int> { 1, 2, 3 }.ForEach(n =>
            {
                try
                {
                    Keyed(n);
                    if (n == 2)
                        int.Parse("no number");
                }
                finally
                {
                    Keep(Enumerable.Range(0, 2).Where(Odd).ToArray());
                }
            });
        }
        catch (FormatException)
        {
            Several();
        }
    }

    /* The framework catches what own code has thrown, and calls own code again. */
    static void CaughtBetween()
    {
        var task = Task.Run(() => { Callee(); throw new TestException(1); });

        try
        {
            task.Wait();
        }
        catch (AggregateException e)
        {
            e.Handle(x => { Callee(); return x is TestException; });
        }
        Keep(Task.Run(() => Keyed(1)).ContinueWith(t => Keyed(t.Result), TaskContinuationOptions.ExecuteSynchronously).Result);
    }

    static void Rethrows()
    {
        for (int how = 0; how < 3; how++)
            try
            {
                try
                {
                    ThrowFromCallback();
                }
                catch (TestException e)
                {
                    Callee();
                    if (how == 0)
                        throw;
                    if (how == 1)
                        throw new TargetInvocationException(e);
                    System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw(e);
                }
                finally
                {
                    Several();
                }
            }
            catch (Exception)
            {
                Callee();
            }
    }

    static void FirstChance()
    {
        EventHandler<System.Runtime.ExceptionServices.FirstChanceExceptionEventArgs> handler = (_, e) =>
        {
            Keep(Enumerable.Range(0, 2).Where(Odd).ToArray());
        };

        AppDomain.CurrentDomain.FirstChanceException += handler;
        Filters();
        AppDomain.CurrentDomain.FirstChanceException -= handler;
        Callee();
    }

    static void ComparerThrows()
    {
        try
        {
            new List<int> { 3, 1, 2 }.Sort((a, b) => a == 1 || b == 1 ? throw new TestException(Keyed(a)) : Keyed(a) - b);
        }
        catch (InvalidOperationException e) when (Accept(e.InnerException, true))
        {
            Callee();
        }
    }

    /* ---- deep, and the same again ---- */

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Deep(int n)
    {
        if (n > 0)
            Deep(n - 1);
        if ((n & 15) == 0)
            Callee();
    }

    static void Recursion() => Deep(300);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Down(int n)
    {
        Callee();
        return n == 0 ? 0 : new[] { n }.Select(k => Down(k - 1) + 1).First();
    }

    static void RecursionThrough()
    {
        Down(40);
        Array.ForEach(new[] { 1, 2 }, n => { Down(n); Several(); });
    }

    /* Frames at the same place, of the same methods or of others. */
    static void Again()
    {
        Func<int, int> one = Keyed, two = n => { Callee(); return n; };

        for (int i = 0; i < 10; i++)
        {
            Keep(new[] { i }.Select((i & 1) == 0 ? one : two).ToArray());
            Keep(new[] { i }.Select(one).Where(Odd).ToArray());
            Keyed(i);
        }
    }

    /* ---- on other threads ---- */

    static void Tasks()
    {
        Task.WaitAll(Enumerable.Range(0, 4).Select(n => Task.Run(() => { Several(); return Keyed(n); })).ToArray<Task>());
    }

    static void Continuations()
    {
        var source = new TaskCompletionSource<int>();
        Task last = source.Task;

        for (int i = 0; i < 4; i++)
            last = last.ContinueWith(_ => { Callee(); Keep(new[] { 1 }.Where(Odd).ToArray()); }, TaskContinuationOptions.ExecuteSynchronously);
        source.SetResult(Keyed(1));
        last.Wait();
    }

    static async Task Async()
    {
        using var gate = new SemaphoreSlim(0);
        Task waiting = Waits(gate, 3);

        for (int i = 0; i < 3; i++)
        {
            gate.Release();
            await Task.Yield();
            Callee();
        }
        await waiting;
        await foreach (int n in Slowly())
            Keyed(n);
    }

    static async Task Waits(SemaphoreSlim gate, int times)
    {
        for (int i = 0; i < times; i++)
        {
            await gate.WaitAsync();
            Several();
            try
            {
                await Throws(i);
            }
            catch (TestException e) when (Accept(e, true))
            {
                Callee();
            }
        }
    }

    static async Task Throws(int n)
    {
        await Task.Yield();
        throw new TestException(Keyed(n));
    }

    static async IAsyncEnumerable<int> Slowly()
    {
        for (int i = 0; i < 3; i++)
        {
            await Task.Yield();
            Callee();
            yield return i;
        }
    }

    static void Parallels()
    {
        Parallel.For(0, 8, n => { Several(); Keyed(n); });
        Keep(Enumerable.Range(0, 50).AsParallel().Select(Keyed).Where(Odd).ToArray());
    }

    static void Threads()
    {
        var thread = new Thread(() => { Sort(); Filters(); Down(5); });

        thread.Start();
        thread.Join();
    }

    static void Timers()
    {
        using var done = new ManualResetEventSlim();
        using var timer = new Timer(_ => { Several(); done.Set(); }, null, 1, Timeout.Infinite);

        done.Wait();
    }

    sealed class Ends : IDisposable
    {
        public void Dispose() => Several();
    }

    static void Disposes()
    {
        try
        {
            using (new Ends())
                Keep(new[] { 1 }.Select(n => { using var e = new Ends(); return n == 1 ? throw new TestException(Keyed(n)) : n; }).ToArray());
        }
        catch (TestException)
        {
            Callee();
        }
    }
}
