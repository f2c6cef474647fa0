// A finally that runs without an exception, and in it a catch out of which something is thrown: while an outer catch of the
// same method runs, .NET 8 walks no further than that method. `ends-early` is caught in all ways, `ends-early-not` has what
// looks alike and is walked to its end.
using System;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using static Torture.Cases;
using static Torture.Sink;

namespace Torture;

static class EndsEarly
{
    static readonly TestException ready = new TestException(1);
    static readonly OtherException other = new OtherException(2);
    static object slot;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Nothing() { }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Alloc(int n) => slot = new Mark(n);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Rethrown(int n)
    {
        try
        {
            try
            {
                Nothing();
            }
            finally
            {
                try
                {
                    throw ready;
                }
                catch (TestException)
                {
                    throw;
                }
            }
        }
        catch (TestException)
        {
            slot = new Mark(n);
            Alloc(n);
            slot = new Mark(n);
        }
        slot = new Mark(n);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Replaced(int n)
    {
        try
        {
            try
            {
                Nothing();
            }
            finally
            {
                try
                {
                    throw ready;
                }
                catch (TestException)
                {
                    slot = new Mark(n);
                    throw other;
                }
            }
        }
        catch (OtherException) when (n >= 0)
        {
            slot = new Mark(n);
            if (n > 0)
                Replaced(n - 1);
            slot = new Mark(n);
        }
        slot = new Mark(n);
    }

    /* Nothing is thrown out of the catch in the finally. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Kept(int n)
    {
        try
        {
            try
            {
                Nothing();
            }
            finally
            {
                try
                {
                    throw ready;
                }
                catch (TestException)
                {
                    slot = new Mark(n);
                }
            }
            throw other;
        }
        catch (OtherException)
        {
            slot = new Mark(n);
            Alloc(n);
        }
    }

    static readonly Catcher catcher = new Catcher();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Below(Action<int> body, int n)
    {
        if (n > 0)
            Below(body, n - 1);
        else
            body(3);
        slot = new Mark(n);
    }

    static void Below(int n) => Below(Rethrown, n);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InCatch(Action<int> body)
    {
        try
        {
            throw ready;
        }
        catch (TestException)
        {
            body(1);
        }
    }

    public static void Run()
    {
        foreach (Action<int> body in new Action<int>[] { Rethrown, Replaced })
        {
            body(0);
            Below(body, 5);
            InCatch(body);
            catcher.Plain(body, 2);
            catcher.Quiet(body, 1);
            Elsewhere.Log.Filtered(body, 1);
        }
        typeof(EndsEarly).GetMethod(nameof(Below), BindingFlags.NonPublic | BindingFlags.Static, new[] { typeof(int) })
            .Invoke(null, new object[] { 4 });
    }

    public static void RunNot()
    {
        Below(Kept, 5);
        InCatch(Kept);
        catcher.Plain(Kept, 2);
    }
}
