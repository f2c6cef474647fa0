// The same methods in every tier: first compilation, instrumented, on-stack replacement in the middle of a loop,
// optimised; with exceptions in each. Loops are long enough for replacement (50,000 iterations by default settings),
// calls frequent enough for promotion (30 calls, then 100 ms of quiet).
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;
using System.Threading;
using static Torture.Cases;
using static Torture.Sink;

namespace Torture;

static class Program
{
    static int Main(string[] args) => Run(args,
        ("osr", () => Check(Osr(120_000) > 0)),
        ("osr-throws", OsrThrows),
        ("osr-catches", OsrCatches),
        ("osr-finally", OsrFinally),
        ("osr-filter", OsrFilter),
        ("osr-nested-loops", () => Check(NestedLoops(400) > 0)),
        ("osr-recursive", () => Check(OsrRecursive(3) > 0)),
        ("osr-generic", OsrGeneric),
        ("osr-struct", OsrStruct),
        ("osr-in-handler", OsrInHandler),
        ("osr-thrown-through", OsrThrownThrough),
        ("promoted", Promoted),
        ("promoted-throws", PromotedThrows),
        ("promoted-while-running", PromotedWhileRunning),
        ("aggressive", AggressiveCase),
        ("no-optimisation", NoOptimisation),
        ("inlined", InlinedCase),
        ("virtual-guess", VirtualGuess),
        ("tail-position", TailPosition),
        ("large-frame", LargeFrame),
        ("many-arguments", ManyArguments));

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

    /* Allocates seldom, so that the loop is long without being many events. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Osr(int n)
    {
        long sum = 0;
        for (int i = 0; i < n; i++)
        {
            sum += i ^ (sum >> 3);
            if (i % 4096 == 0)
                Several();
        }
        Callee();
        return sum & 0xffff | 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long OsrThrowing(int n)
    {
        long sum = 0;
        for (int i = 0; ; i++)
        {
            sum += i ^ (sum >> 3);
            if (i % 8192 == 0)
                Callee();
            if (i == n)
                Throw(i);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void OsrThrows()
    {
        try
        {
            OsrThrowing(100_000);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void OsrCatches()
    {
        int caught = 0;
        for (int i = 0; i < 100_000; i++)
            try
            {
                if (i % 9973 == 0)
                    Throw(i);
            }
            catch (TestException)
            {
                caught++;
                Several();
            }
        Check(caught == 11);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long OsrWithFinally(int n)
    {
        long sum = 0;
        try
        {
            for (int i = 0; i < n; i++)
            {
                sum += i;
                if (i % 10_000 == 0)
                    Callee();
                if (i == n - 1)
                    Throw(i);
            }
        }
        finally
        {
            Several();
            for (int i = 0; i < 60_000; i++)
                sum += i; /* a handler's loop is not replaced */
            Callee();
        }
        return sum;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void OsrFinally()
    {
        try
        {
            OsrWithFinally(90_000);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void OsrFilter()
    {
        int caught = 0;
        for (int i = 0; i < 90_000; i++)
            try
            {
                if (i % 29_999 == 0)
                    OsrWithFinally(10);
            }
            catch (TestException) when (Accept(i >= 0))
            {
                caught++;
                Callee();
            }
        Check(caught == 4);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int NestedLoops(int n)
    {
        int sum = 0;
        for (int i = 0; i < n; i++)
        {
            for (int j = 0; j < n; j++)
                sum += i * j & 7;
            if (i % 50 == 0)
                Callee();
        }
        return sum;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long OsrRecursive(int depth)
    {
        long sum = 1;
        for (int i = 0; i < 60_000; i++)
        {
            sum += i;
            if (i == 55_000 && depth > 0)
            {
                Callee();
                sum += OsrRecursive(depth - 1);
                Callee();
            }
        }
        return sum;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int OsrOf<T>(int n)
    {
        int count = 0;
        for (int i = 0; i < n; i++)
        {
            if (i % 10_000 == 0)
                Keep(new T[1]);
            count += i & 1;
        }
        return count;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void OsrGeneric()
    {
        Check(OsrOf<string>(80_000) == 40_000);
        Check(OsrOf<int>(80_000) == 40_000);
    }

    struct Counter
    {
        public long Value;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public long Run(int n)
        {
            for (int i = 0; i < n; i++)
            {
                Value += i;
                if (i % 10_000 == 0)
                    Keep(this);
            }
            return Value;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void OsrStruct()
    {
        var counter = new Counter();
        Check(counter.Run(70_000) > 0);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void OsrInHandler()
    {
        try
        {
            Throw(1);
        }
        catch (TestException) when (Osr(60_000) > 0)
        {
            Several();
            Check(Osr(60_000) > 0);
            Callee();
        }
    }

    /* The replaced frame lies in the middle of what is unwound. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Middle(int depth)
    {
        long sum = 0;
        for (int i = 0; i < 60_000; i++)
        {
            sum += i;
            if (i == 59_000)
            {
                if (depth == 0)
                    Throw(0);
                sum += Middle(depth - 1);
            }
        }
        return sum;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void OsrThrownThrough()
    {
        try
        {
            Middle(3);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Hot(int n)
    {
        if (n % 16 == 0)
            Callee();
        return n * 2;
    }

    static void Quiet()
    {
        Stopwatch watch = Stopwatch.StartNew();
        while (watch.ElapsedMilliseconds < 60)
            Thread.Sleep(10);
    }

    static int promotions;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Promoted()
    {
        for (int round = 0; round < 4; round++)
        {
            for (int i = 0; i < 40; i++)
                Check(Hot(i) == 2 * i);
            if (promotions++ < 8)
                Quiet();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int HotThrowing(int n)
    {
        try
        {
            Callee();
            if (n % 8 == 0)
                Throw(n);
            return n;
        }
        catch (TestException) when (n % 16 == 0 && Accept(true))
        {
            return -1;
        }
        finally
        {
            Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void PromotedThrows()
    {
        int caught = 0, filtered = 0;
        for (int round = 0; round < 3; round++)
        {
            for (int i = 1; i <= 40; i++)
                try
                {
                    if (HotThrowing(i) < 0)
                        filtered++;
                }
                catch (TestException)
                {
                    caught++;
                    Callee();
                }
            if (promotions++ < 16)
                Quiet();
        }
        Check(caught == 9 && filtered == 6);
    }

    /* One activation waits in the old code while others run the new. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Waiting(int depth)
    {
        Callee();
        if (depth > 0)
        {
            int sum = 0;
            for (int i = 0; i < 40; i++)
                sum += Waiting(0);
            if (promotions++ < 20)
                Quiet();
            sum += Waiting(depth - 1);
            Callee();
            return sum;
        }
        return 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void PromotedWhileRunning() => Check(Waiting(3) == 121);

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    static int Aggressive(int depth)
    {
        Callee();
        if (depth == 0)
            Throw(1);
        return Aggressive(depth - 1) + 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void AggressiveCase()
    {
        try
        {
            Aggressive(10);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.NoOptimization)]
    static int Unoptimised(int depth)
    {
        try
        {
            Callee();
            if (depth == 0)
                Throw(1);
            return Unoptimised(depth - 1) + 1;
        }
        finally
        {
            Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void NoOptimisation()
    {
        try
        {
            Unoptimised(10);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    static void Inlined(int n)
    {
        Keep(new Mark(n));
        if (n == 5)
            Throw(n);
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    static void InlinedCase()
    {
        for (int i = 0; i < 10; i++)
            try
            {
                Inlined(i);
            }
            catch (TestException)
            {
                Several();
                Inlined(0);
            }
    }

    abstract class Shape
    {
        public abstract int Area(int n);
    }

    sealed class Square : Shape
    {
        public override int Area(int n)
        {
            if (n % 32 == 0)
                Callee();
            return n * n;
        }
    }

    sealed class Line : Shape
    {
        public override int Area(int n)
        {
            Callee();
            if (n % 64 == 63)
                Throw(n);
            return 0;
        }
    }

    /* Profile-guided: the guess is Square, a Line comes now and then. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Areas(Shape shape, int n) => shape.Area(n) + 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void VirtualGuess()
    {
        Shape square = new Square(), line = new Line();
        int caught = 0;
        for (int round = 0; round < 3; round++)
        {
            for (int i = 0; i < 128; i++)
                try
                {
                    Areas(i % 16 == 15 ? line : square, i);
                }
                catch (TestException)
                {
                    caught++;
                    Callee();
                }
            if (promotions++ < 24)
                Quiet();
        }
        Check(caught == 6);
    }

    /* Optimised code may jump instead of calling. */
    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    static int Even(int n)
    {
        if (n % 8 == 0)
            Callee();
        return n == 0 ? 1 : Odd(n - 1, n);
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.AggressiveOptimization)]
    static int Odd(int n, int unused)
    {
        if (n % 8 == 1)
            Several();
        return n == 0 ? 0 : Even(n - 1);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void TailPosition()
    {
        Check(Even(100) == 1);
        Check(Odd(100, 0) == 0);
        Callee();
    }

    unsafe struct Large
    {
        public fixed long Room[1200];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long LargeLevel(int depth)
    {
        Large large = default; /* more than a page: the prolog probes */
        unsafe
        {
            large.Room[depth] = depth;
            Callee();
            if (depth == 0)
                Throw(1);
            return LargeLevel(depth - 1) + large.Room[depth];
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static unsafe void LargeFrame()
    {
        byte* room = stackalloc byte[promotions * 16 + 20_000];
        room[0] = 1;
        try
        {
            LargeLevel(8);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
        Keep((int)room[0]);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static double Many(int a, long b, float c, double d, string e, object f, int g, long h, int i, double j, decimal k,
                       DateTime l, int m, int n)
    {
        Callee();
        if (a == 0)
            Throw(1);
        return Many(a - 1, b + 1, c, d, e, f, g, h, i, j, k, l, m, n) + c + d;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ManyArguments()
    {
        try
        {
            Keep(Many(6, 1, 2, 3, "4", null, 5, 6, 7, 8, 9, DateTime.UnixEpoch, 10, 11));
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }
}
