// Deep stacks: 100,000 frames on a thread with a large stack, returned from and thrown out of.
//
//   Deep [--depth N] [--scale N] [--case NAME]
using System;
using System.Linq;
using System.Runtime.CompilerServices;
using static Torture.Cases;
using static Torture.Sink;

namespace Torture;

static class Program
{
    const int StackBytes = 512 << 20;
    static int depth = 100_000;

    static int Main(string[] args)
    {
        int at = Array.IndexOf(args, "--depth");
        if (at >= 0 && at + 1 < args.Length)
        {
            depth = int.Parse(args[at + 1]);
            args = args.Take(at).Concat(args.Skip(at + 2)).ToArray();
        }
        return Run(args,
            ("return", () => OnThread(StackBytes, Return)),
            ("throw", () => OnThread(StackBytes, ThrowOut)),
            ("throw-finally", () => OnThread(StackBytes, ThrowFinally)),
            ("throw-filter", () => OnThread(StackBytes, ThrowFilter)),
            ("mutual", () => OnThread(StackBytes, Mutual)),
            ("generic", () => OnThread(StackBytes, GenericDeep)));
    }

    /* Few allocations: each is compared with a walk of the whole stack. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Down(int n)
    {
        if (n % 25_000 == 0)
            Callee();
        if (n == 0)
            return 0;
        int deeper = Down(n - 1) + 1;
        if (n % 25_000 == 0)
            Callee();
        return deeper;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Return()
    {
        Check(Down(depth) == depth);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int DownThrowing(int n)
    {
        if (n == 0)
        {
            Callee();
            throw new TestException(1);
        }
        return DownThrowing(n - 1) + 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowOut()
    {
        try
        {
            DownThrowing(depth);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int DownFinally(int n)
    {
        try
        {
            return n == 0 ? DownThrowing(10) : DownFinally(n - 1) + 1;
        }
        finally
        {
            if (n % 1_000 == 0)
                Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowFinally()
    {
        try
        {
            DownFinally(Math.Min(depth, 4_000)); /* unwinding takes time by the square of the depth here */
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Accept(int n)
    {
        if (n % 1_000 == 0)
            Callee();
        return n == 3_000;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int DownFilter(int n)
    {
        try
        {
            return n == 0 ? DownThrowing(10) : DownFilter(n - 1) + 1;
        }
        catch (TestException) when (Accept(n))
        {
            Several();
            return 0;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowFilter()
    {
        Check(DownFilter(3_500) == 500);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Left(int n) => n == 0 ? Leaf() : Right(n - 1, n) + 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Right(int n, int before) => n == 0 ? Leaf() : Left(n - 1) + before - n;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Leaf()
    {
        Several();
        return 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Mutual()
    {
        Check(Left(depth) == depth);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int DownGeneric<T>(int n, T value)
    {
        if (n % 50_000 == 0)
            Keep(new T[1]);
        return n == 0 ? 0 : DownGeneric(n - 1, value) + 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void GenericDeep()
    {
        Check(DownGeneric(depth, "x") == depth);
        Check(DownGeneric(depth / 2, 1) == depth / 2);
    }
}
