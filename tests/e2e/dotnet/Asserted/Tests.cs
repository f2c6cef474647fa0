// The package Shadowtrace.Allocations under a test framework: assertions that hold, one that fails, tests that run at the same time.
using System;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Shadowtrace;
#if xunit
using Xunit;
using Test = Xunit.FactAttribute;
#elif nunit
using NUnit.Framework;
[assembly: Parallelizable(ParallelScope.All)]
#else
using Microsoft.VisualStudio.TestTools.UnitTesting;
using Test = Microsoft.VisualStudio.TestTools.UnitTesting.TestMethodAttribute;
[assembly: Parallelize(Workers = 4, Scope = ExecutionScope.MethodLevel)]
#endif

sealed class Leaf
{
    public long Value;
    public Leaf? Next;
}

// Made by one test only: the others run at the same time.
sealed class Alone
{
    public long Value;
}

static class Work
{
    [ThreadStatic] static Leaf? kept;
    [ThreadStatic] static Alone? alone;

    public static int Sum(int[] numbers)
    {
        int sum = 0;
        foreach (int number in numbers)
            sum += number;
        return sum;
    }

    public static void Make(int count)
    {
        for (int i = 0; i < count; i++)
            kept = new Leaf { Value = i }; // each
        kept = null;
    }

    public static void MakeAlone(int count)
    {
        for (int i = 0; i < count; i++)
            alone = new Alone { Value = i };
        alone = null;
    }

    public static void Same(object? expected, object? found)
    {
        if (!Equals(expected, found))
            throw new Exception($"expected {expected}, found {found}");
    }

    // Two of them at the same time, with as many objects as each says.
    static readonly Barrier both = new(2);

    public static void MakeBeside(int count)
    {
        Make(1);
        both.SignalAndWait(TimeSpan.FromSeconds(60));
        for (int round = 0; round < 5; round++)
        {
            AllocationScope made = Allocations.Of(() => Make(count));

            Same(32L * count, made.Bytes);
            if (Allocations.IsTraced)
                Same((long?)count, made.Objects);
        }
    }

    public static async Task Later(int count)
    {
        Make(count);
        await Task.Yield();
        Make(count);
    }
}

#if nunit
[TestFixture]
#elif mstest
[TestClass]
#endif
public class Holds
{
    static readonly int[] numbers = Enumerable.Range(0, 100).ToArray();

    [Test]
    public void What_makes_nothing_passes()
    {
        Work.Sum(numbers);
        Allocations.Assert(() => Work.Sum(numbers), maxBytes: 0, maxObjects: 0);
    }

    [Test]
    public void A_limit_is_met_exactly()
    {
        Work.Make(1); // what a thread, or the first call, needs is not of the scope
        Allocations.Assert(() => Work.Make(3), maxBytes: 96, maxObjects: Allocations.IsTraced ? 3 : null);
    }

    [Test]
    public void Objects_are_not_judged_where_nobody_counts_them()
    {
        Work.Make(1);
        try
        {
            Allocations.Assert(() => Work.Make(3), maxObjects: 3);
            Work.Same(true, Allocations.IsTraced);
        }
        catch (NotTracedException)
        {
            Work.Same(false, Allocations.IsTraced);
        }
    }

    [Test]
    public async Task An_asynchronous_call_is_followed()
    {
        await Work.Later(1);
        AllocationScope made = await Allocations.OfAsync(() => Work.Later(100));

        Work.Same(Allocations.IsTraced, made.IsOnlyItsOwn);
        if (Allocations.IsTraced)
            Work.Same(200L, made.Sites.Where(site => site.Type == "Leaf").Sum(site => site.Objects));
    }

    [Test]
    public void What_another_thread_makes_is_of_no_scope_but_one_of_all()
    {
        using AllocationScope all = Allocations.Measure(allThreads: true), mine = Allocations.Measure();
        var other = new Thread(() => Work.MakeAlone(1000));

        other.Start();
        other.Join();
        mine.Stop();
        all.Stop();
        Work.Same(true, all.Bytes >= 24000 && mine.Bytes < 24000);
        if (Allocations.IsTraced)
            Work.Same((1000L, 0L), (Count(all), Count(mine)));
    }

    static long Count(AllocationScope scope) => scope.Sites.Where(site => site.Type == "Alone").Sum(site => site.Objects);
}

#if nunit
[TestFixture]
#elif mstest
[TestClass]
#endif
public class BesideOne
{
    [Test]
    public void Makes_its_own() => Work.MakeBeside(20000);
}

#if nunit
[TestFixture]
#elif mstest
[TestClass]
#endif
public class BesideAnother
{
    [Test]
    public void Makes_its_own() => Work.MakeBeside(30000);
}

#if nunit
[TestFixture]
#elif mstest
[TestClass]
#endif
public class Fails
{
    [Test]
    public void More_than_was_allowed()
    {
        Work.Make(1);
        Allocations.Assert(() => Work.Make(7), maxBytes: 96);
    }
}
