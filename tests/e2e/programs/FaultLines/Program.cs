// Exceptions that the processor raises, each in a separate method. Prints where the runtime says that each was thrown:
// type, method, IL offset.
using System;
using System.Diagnostics;
using System.Runtime.CompilerServices;

public static class Program
{
    const int Rounds = 3;

    class Node { public int Value; public Node Next; public virtual int Answer() => Value; }
    struct Wide { public long A, B, C, D; }
    sealed class Far { public Wide One, Two, Three; public int Last; }

    static int zero, sum;
    static long zeroLong;
    static Node none, some = new();

    [MethodImpl(MethodImplOptions.NoInlining)] static void Step() => sum++;

    // What faults is the first of its statement: the argument lies in a register.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int AfterACall(Node n)
    {
        Step();
        Step();
        sum = n.Value;
        Step();
        return sum;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int AtOnce(Node n) => n.Value;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Chain(Node n)
    {
        Node next = n.Next;
        Step();
        return next.Value;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Written(Node n)
    {
        Step();
        n.Value = 5;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int FarAway(Far f)
    {
        Step();
        return f.Last;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Called(Node n)
    {
        Step();
        return n.Answer();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Invoked(Func<int> f)
    {
        Step();
        return f();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Element(int[] a)
    {
        Step();
        return a[2];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Shared<T>(T[] a)
    {
        Step();
        return a.Length;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int InCatch(Node n)
    {
        try
        {
            throw new InvalidOperationException();
        }
        catch (InvalidOperationException)
        {
            Step();
            return n.Value;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Divided(int by)
    {
        Step();
        sum = 7;
        return 100 / by;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long DividedLong(long by)
    {
        long first = by + 5;
        Step();
        return first % by;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int InLoop(int[] by)
    {
        int all = 0;
        for (int i = 0; i < by.Length; i++)
        {
            Step();
            all += 1000 / by[i];
        }
        return all;
    }

    static void Fault(Action what)
    {
        try
        {
            what();
        }
        catch (Exception e)
        {
            StackFrame frame = new StackTrace(e).GetFrame(0);
            Console.WriteLine($"{e.GetType().FullName} {frame.GetMethod().Name} {frame.GetILOffset()}");
        }
    }

    static void Main()
    {
        for (int i = 0; i < Rounds; i++)
        {
            Fault(() => AfterACall(none));
            Fault(() => AtOnce(none));
            Fault(() => Chain(some));
            Fault(() => Written(none));
            Fault(() => FarAway(null));
            Fault(() => Called(none));
            Fault(() => Invoked(null));
            Fault(() => Element(null));
            Fault(() => Shared<string>(null));
            Fault(() => InCatch(none));
            Fault(() => Divided(zero));
            Fault(() => DividedLong(zeroLong));
            Fault(() => InLoop(new[] { 1, 2, 0 }));
        }
    }
}
