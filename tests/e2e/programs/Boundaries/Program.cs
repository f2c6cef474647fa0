// Exceptions through frames of the runtime itself: static constructors, Activator, reflection, delegates. Among them
// recursion thrown out through each, from the body, a catch, a finally and a filter.
using System;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading;
using static Torture.Cases;
using static Torture.Sink;

namespace Torture;

static class Program
{
    const int Depth = 5;

    static int Main(string[] args) => Run(args,
        ("static-constructor", StaticConstructor),
        ("static-constructor-nested", StaticConstructorNested),
        ("static-constructor-generic", StaticConstructorGeneric),
        ("activator", ActivatorThrows),
        ("activator-generic", ActivatorGeneric),
        ("constructor-info", ConstructorInfoThrows),
        ("invoke", InvokeThrows),
        ("invoke-unwrapped", InvokeUnwrapped),
        ("invoke-static", InvokeStatic),
        ("invoke-often", InvokeOften),
        ("property", Property),
        ("delegate", DelegateThrows),
        ("delegate-multicast", Multicast),
        ("delegate-dynamic", DynamicInvoke),
        ("delegate-open", OpenDelegate),
        ("lazy", LazyThrows),
        ("thread-start", ThreadStarts),
        ("attribute", AttributeThrows),
        ("comparer", ComparerThrows),
        ("gethashcode", HashThrows),
        ("tostring", ToStringThrows),
        ("finalizer-suppressed", Suppressed),
        ("reflection-body", () => Out(Via.Reflection, From.Body)),
        ("reflection-catch", () => Out(Via.Reflection, From.Catch)),
        ("reflection-finally", () => Out(Via.Reflection, From.Finally)),
        ("reflection-filter", () => Out(Via.Reflection, From.Filter)),
        ("unwrapped-body", () => Out(Via.Unwrapped, From.Body)),
        ("unwrapped-catch", () => Out(Via.Unwrapped, From.Catch)),
        ("unwrapped-finally", () => Out(Via.Unwrapped, From.Finally)),
        ("unwrapped-filter", () => Out(Via.Unwrapped, From.Filter)),
        ("activator-body", () => Out(Via.Activator, From.Body)),
        ("activator-catch", () => Out(Via.Activator, From.Catch)),
        ("activator-finally", () => Out(Via.Activator, From.Finally)),
        ("activator-filter", () => Out(Via.Activator, From.Filter)),
        ("initialiser-body", () => Out(Via.Initialiser, From.Body)),
        ("initialiser-catch", () => Out(Via.Initialiser, From.Catch)),
        ("initialiser-finally", () => Out(Via.Initialiser, From.Finally)),
        ("initialiser-filter", () => Out(Via.Initialiser, From.Filter)),
        ("delegate-body", () => Out(Via.Delegate, From.Body)),
        ("delegate-catch", () => Out(Via.Delegate, From.Catch)),
        ("delegate-finally", () => Out(Via.Delegate, From.Finally)),
        ("delegate-filter", () => Out(Via.Delegate, From.Filter)),
        ("mixed", () => Out(Via.Mixed, From.Mixed)));

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

    static Exception Innermost(Exception e)
    {
        while (e.InnerException != null)
            e = e.InnerException;
        return e;
    }

    /* ---- static constructors ---- */

    static class Bad
    {
        public static readonly object Value;

        static Bad()
        {
            try
            {
                Callee();
                Throw(1);
            }
            finally
            {
                Several();
            }
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void StaticConstructor()
    {
        for (int i = 0; i < 3; i++)
            try
            {
                Keep(Bad.Value);
                Check(false);
            }
            catch (TypeInitializationException e) when (Accept(e.InnerException is TestException))
            {
                Several();
            }
        Callee();
    }

    static class Outer
    {
        public static readonly object Value;

        static Outer()
        {
            try
            {
                Keep(Inner.Value);
            }
            catch (TypeInitializationException)
            {
                Several();
                throw new OtherException(2);
            }
            finally
            {
                Callee();
            }
        }
    }

    static class Inner
    {
        public static readonly object Value;

        static Inner()
        {
            Several();
            Throw(3);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void StaticConstructorNested()
    {
        try
        {
            Keep(Outer.Value);
            Check(false);
        }
        catch (TypeInitializationException e)
        {
            Check(e.InnerException is OtherException);
            Several();
        }
        Callee();
    }

    static class Of<T>
    {
        public static readonly object Value;
        public static int Runs;

        static Of()
        {
            Callee();
            Runs++;
            if (typeof(T).IsValueType)
                Throw(4);
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Touch<T>()
    {
        try
        {
            Keep(Of<T>.Value);
            return Of<T>.Runs;
        }
        catch (TypeInitializationException)
        {
            Several();
            return -1;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void StaticConstructorGeneric()
    {
        Check(Touch<string>() == 1);
        Check(Touch<int>() == -1);
        Check(Touch<object>() == 1);
        Check(Touch<DateTime>() == -1);
    }

    /* ---- Activator and reflection ---- */

    public sealed class Throwing
    {
        public Throwing()
        {
            Callee();
            Throw(5);
        }

        public Throwing(int code)
        {
            try
            {
                Throw(code);
            }
            finally
            {
                Several();
            }
        }

        public int Number
        {
            get
            {
                Callee();
                Throw(6);
                return 0;
            }
        }

        public static void Static(int depth)
        {
            Callee();
            if (depth == 0)
                Throw(7);
            Static(depth - 1);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ActivatorThrows()
    {
        try
        {
            Keep(Activator.CreateInstance(typeof(Throwing)));
            Check(false);
        }
        catch (TargetInvocationException e)
        {
            Check(((TestException)e.InnerException).Code == 5);
            Several();
        }
        try
        {
            Keep(Activator.CreateInstance(typeof(Throwing), 9));
            Check(false);
        }
        catch (TargetInvocationException e) when (Accept(((TestException)e.InnerException).Code == 9))
        {
            Several();
        }
        Callee();
    }

    static T Make<T>() where T : new() => new T();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ActivatorGeneric()
    {
        try
        {
            Keep(Make<Throwing>());
            Check(false);
        }
        catch (TargetInvocationException)
        {
            Several();
        }
        Keep(Make<object>());
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ConstructorInfoThrows()
    {
        ConstructorInfo constructor = typeof(Throwing).GetConstructor(new[] { typeof(int) });
        for (int i = 0; i < 3; i++)
            try
            {
                Keep(constructor.Invoke(new object[] { i }));
                Check(false);
            }
            catch (TargetInvocationException e)
            {
                Check(((TestException)e.InnerException).Code == i);
                Several();
            }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InvokeThrows()
    {
        MethodInfo method = typeof(Program).GetMethod(nameof(Throw), BindingFlags.NonPublic | BindingFlags.Static);
        try
        {
            method.Invoke(null, new object[] { 1 });
            Check(false);
        }
        catch (TargetInvocationException e) when (Accept(e.InnerException is TestException))
        {
            Several();
        }
        finally
        {
            Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InvokeUnwrapped()
    {
        MethodInfo method = typeof(Program).GetMethod(nameof(Throw), BindingFlags.NonPublic | BindingFlags.Static);
        try
        {
            method.Invoke(null, BindingFlags.DoNotWrapExceptions, null, new object[] { 1 }, null);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InvokeStatic()
    {
        try
        {
            typeof(Throwing).GetMethod(nameof(Throwing.Static)).Invoke(null, new object[] { 6 });
            Check(false);
        }
        catch (TargetInvocationException)
        {
            Several();
        }
    }

    static int calls;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Sometimes(int n)
    {
        Callee();
        calls++;
        if (n % 3 == 0)
            Throw(n);
        return n;
    }

    /* The first invocations are interpreted by the runtime, later ones go through emitted code. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InvokeOften()
    {
        MethodInfo method = typeof(Program).GetMethod(nameof(Sometimes), BindingFlags.NonPublic | BindingFlags.Static);
        int caught = 0;
        for (int i = 0; i < 15; i++)
            try
            {
                Keep(method.Invoke(null, new object[] { i }));
            }
            catch (TargetInvocationException)
            {
                caught++;
                Several();
            }
        Check(caught == 5);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Property()
    {
        object o = RuntimeHelpers.GetUninitializedObject(typeof(Throwing));
        try
        {
            Keep(typeof(Throwing).GetProperty(nameof(Throwing.Number)).GetValue(o));
            Check(false);
        }
        catch (TargetInvocationException)
        {
            Several();
        }
    }

    /* ---- delegates ---- */

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DelegateThrows()
    {
        Action<int> call = Throw;
        try
        {
            call(1);
        }
        catch (TestException)
        {
            Several();
        }
        finally
        {
            Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Nothing(int code) => Callee();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Multicast()
    {
        Action<int> call = Nothing;
        call += Nothing;
        call += Throw;
        call += Nothing;
        try
        {
            call(2);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DynamicInvoke()
    {
        Action<int> call = Throw;
        try
        {
            call.DynamicInvoke(3);
            Check(false);
        }
        catch (TargetInvocationException e)
        {
            Check(e.InnerException is TestException);
            Several();
        }
    }

    sealed class Target
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Go(int a, int b, int c, int d, int e, int f)
        {
            Callee();
            Throw(a + b + c + d + e + f);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void OpenDelegate()
    {
        var open = (Action<Target, int, int, int, int, int, int>)Delegate.CreateDelegate(
            typeof(Action<Target, int, int, int, int, int, int>), typeof(Target).GetMethod(nameof(Target.Go)));
        try
        {
            open(new Target(), 1, 2, 3, 4, 5, 6);
            Check(false);
        }
        catch (TestException e)
        {
            Check(e.Code == 21);
            Several();
        }
        var closed = (Action<int, int, int, int, int, int>)Delegate.CreateDelegate(
            typeof(Action<int, int, int, int, int, int>), new Target(), typeof(Target).GetMethod(nameof(Target.Go)));
        try
        {
            closed(1, 2, 3, 4, 5, 6);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void LazyThrows()
    {
        var lazy = new Lazy<object>(() =>
        {
            Throw(1);
            return null;
        });
        for (int i = 0; i < 3; i++)
            try
            {
                Keep(lazy.Value);
                Check(false);
            }
            catch (TestException)
            {
                Several();
            }
        int tries = 0;
        var again = new Lazy<object>(() =>
        {
            Callee();
            if (tries++ < 2)
                Throw(tries);
            return new Mark(1);
        }, LazyThreadSafetyMode.PublicationOnly);
        for (int i = 0; i < 3; i++)
            try
            {
                Keep(again.Value);
            }
            catch (TestException)
            {
                Several();
            }
        Check(tries == 3);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThreadStarts()
    {
        var thread = new Thread(() =>
        {
            Several();
            InvokeThrows();
            ActivatorThrows();
            StaticConstructorGeneric();
        });
        thread.Start();
        thread.Join();
        Callee();
    }

    [AttributeUsage(AttributeTargets.All)]
    public sealed class BadAttribute : Attribute
    {
        public BadAttribute(int code)
        {
            Callee();
            Throw(code);
        }
    }

    [Bad(8)]
    static class Marked { }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void AttributeThrows()
    {
        try
        {
            Keep(typeof(Marked).GetCustomAttributes(false));
            Check(false);
        }
        catch (Exception e)
        {
            Check(Innermost(e) is TestException);
            Several();
        }
    }

    sealed class Compared : IComparable<Compared>
    {
        public int Number;

        public int CompareTo(Compared other)
        {
            Callee();
            if (Number == 7 || other.Number == 7)
                Throw(7);
            return Number.CompareTo(other.Number);
        }

        public override int GetHashCode()
        {
            Callee();
            Throw(9);
            return 0;
        }

        public override string ToString()
        {
            Callee();
            Throw(10);
            return "";
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ComparerThrows()
    {
        var items = new Compared[12];
        for (int i = 0; i < items.Length; i++)
            items[i] = new Compared { Number = items.Length - i };
        try
        {
            Array.Sort(items);
            Check(false);
        }
        catch (InvalidOperationException e)
        {
            Check(e.InnerException is TestException);
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void HashThrows()
    {
        var set = new System.Collections.Generic.HashSet<Compared>();
        try
        {
            set.Add(new Compared());
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ToStringThrows()
    {
        try
        {
            Keep(string.Format("{0} and {1}", 1, new Compared()));
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    sealed class Finalized
    {
        public Finalized()
        {
            Callee();
            Throw(1);
        }

        ~Finalized() { Several(); }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Suppressed()
    {
        try
        {
            Keep(new Finalized());
        }
        catch (TestException)
        {
            Several();
        }
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Callee();
    }

    /* ---- recursion thrown out through the runtime ---- */

    enum Via { Reflection, Unwrapped, Activator, Initialiser, Delegate, Mixed }

    enum From { Body, Catch, Finally, Filter, Mixed }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Out(Via via, From from)
    {
        for (int direct = 0; direct <= 3; direct += 3)
            for (int depth = 0; depth <= Depth; depth++)
                try
                {
                    Several();
                    Level(via, from, depth, direct);
                    Check(false);
                }
                catch (Exception e) when (Accept(Innermost(e) is TestException))
                {
                    Several();
                }
        Callee();
    }

    static readonly MethodInfo level =
        typeof(Program).GetMethod(nameof(Level), BindingFlags.NonPublic | BindingFlags.Static);

    public sealed class Made
    {
        public Made(int via, int from, int depth, int direct)
        {
            Callee();
            Level((Via)via, (From)from, depth, direct);
        }
    }

    [ThreadStatic] static Via nextVia;
    [ThreadStatic] static From nextFrom;
    [ThreadStatic] static int nextDepth, nextDirect;

    /* A type initialiser runs once per instantiation: each level takes another one, a fresh one each time. */
    static class Initialised<T>
    {
        public static object Value;

        static Initialised()
        {
            Callee();
            Level(nextVia, nextFrom, nextDepth, nextDirect);
        }
    }

    struct W<T> { }

    static Type fresh = typeof(int);
    static int kinds;

    static void Initialise()
    {
        /* nested generics make as many types as are asked for; starting anew keeps the names short */
        if (++kinds % 12 == 0)
            fresh = typeof(Tuple<,>).MakeGenericType(typeof(W<>).MakeGenericType(typeof(int).MakeArrayType(1 + kinds / 12 % 30)),
                                                     typeof(int).MakeArrayType(1 + kinds / 360));
        fresh = typeof(W<>).MakeGenericType(fresh);
        RuntimeHelpers.RunClassConstructor(typeof(Initialised<>).MakeGenericType(fresh).TypeHandle);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Next(Via via, From from, int depth, int direct)
    {
        Callee();
        switch (via == Via.Mixed ? (Via)(depth % 5) : via)
        {
            case Via.Reflection:
                level.Invoke(null, new object[] { via, from, depth, direct, -1 });
                break;
            case Via.Unwrapped:
                level.Invoke(null, BindingFlags.DoNotWrapExceptions, null, new object[] { via, from, depth, direct, -1 }, null);
                break;
            case Via.Activator:
                Keep(Activator.CreateInstance(typeof(Made), (int)via, (int)from, depth, direct));
                break;
            case Via.Initialiser:
                nextVia = via;
                nextFrom = from;
                nextDepth = depth;
                nextDirect = direct;
                Initialise();
                break;
            case Via.Delegate:
                ((Action<Via, From, int, int, int>)Level).DynamicInvoke(via, from, depth, direct, -1);
                break;
        }
        Callee();
    }

    /*
     * Each level goes on from the body or from a handler: `direct` times straight to itself, so that the frames of one
     * method lie in a row on the stack, then through the runtime to the next level.
     */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Level(Via via, From from, int depth, int direct, int left = -1)
    {
        Callee();
        if (left < 0)
            left = direct;
        if (depth == 0 && left == 0)
            Throw(0);
        switch (from == From.Mixed ? (From)((depth + left) % 4) : from)
        {
            case From.Body:
                if (left > 0)
                    Level(via, from, depth, direct, left - 1);
                else
                    Next(via, from, depth - 1, direct);
                break;
            case From.Catch:
                try
                {
                    Throw(depth);
                }
                catch (TestException)
                {
                    Callee();
                    if (left > 0)
                        Level(via, from, depth, direct, left - 1);
                    else
                        Next(via, from, depth - 1, direct);
                    Callee();
                }
                break;
            case From.Finally:
                try
                {
                    Throw(depth);
                }
                finally
                {
                    Callee();
                    if (left > 0)
                        Level(via, from, depth, direct, left - 1);
                    else
                        Next(via, from, depth - 1, direct);
                }
                break;
            case From.Filter:
                try
                {
                    Throw(depth);
                }
                catch (TestException) when (InFilter(via, from, depth, direct, left))
                {
                    Check(false);
                }
                break;
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool InFilter(Via via, From from, int depth, int direct, int left)
    {
        Several();
        if (left > 0)
            Level(via, from, depth, direct, left - 1);
        else
            Next(via, from, depth - 1, direct);
        return true;
    }
}
