// Random nesting of everything that makes or unmakes frames. Every decision is read from an array, so that making it
// calls nothing: what a call would mend has to be right without it.
using System;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using static Torture.Cases;
using static Torture.Sink;

namespace Torture;

static class Mixer
{
    const int Length = 4096;
    static readonly int[] ops = new int[Length];
    static readonly Action<int>[] next = new Action<int>[32];
    static int pc, budget;
    static object slot;
    static TestException ready;
    static ulong seed = ulong.Parse(Environment.GetEnvironmentVariable("RULES_SEED") ?? "1");

    struct A { public long a; }
    struct B { public long a, b, c, d, e, f, g, h; }
    struct C { public long a, b, c; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run(bool firstChance)
    {
        if (next[0] == null)
            Prepare();
        ulong state = seed++ * 0x9E3779B97F4A7C15;
        for (int i = 0; i < Length; i++)
        {
            state = state * 6364136223846793005 + 1442695040888963407;
            ops[i] = (int)(state >> 33);
        }
        pc = 0;
        ready = new TestException(1);
        if (firstChance)
            AppDomain.CurrentDomain.FirstChanceException += OnFirstChance;
        for (int i = 0; i < 40; i++)
        {
            budget = 30;
            try
            {
                next[ops[pc++ % Length] & 3](6);
            }
            catch (Exception)
            {
                slot = new Mark(i);
            }
            slot = new Mark(i);
        }
        if (firstChance)
            AppDomain.CurrentDomain.FirstChanceException -= OnFirstChance;
        Callee();
    }

    static int inHandler;

    static void OnFirstChance(object sender, FirstChanceExceptionEventArgs e)
    {
        if (inHandler > 2 || budget <= 0)
            return;
        inHandler++;
        try
        {
            if ((ops[pc++ % Length] & 3) == 0)
                next[ops[pc++ % Length] & 31](1);
        }
        catch (Exception)
        {
            if ((ops[pc++ % Length] & 1) == 0)
                slot = new Mark(1);
        }
        finally
        {
            inHandler--;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Go<T>(int n) where T : struct
    {
        T room = default;
        int op = ops[pc++ % Length];
        Action<int> call = next[op & 31], other = next[op >> 5 & 31];
        bool before = (op >> 10 & 7) == 0, inside = (op >> 13 & 3) == 0, after = (op >> 15 & 3) == 0,
             answer = (op >> 17 & 1) == 0, deeper = (op >> 18 & 1) == 0, thrown = (op >> 19 & 3) != 0;
        if (before)
            slot = new Mark(n);
        if (n <= 0 || --budget < 0)
        {
            if (thrown)
                throw (answer ? ready : new TestException(n));
            return;
        }
        switch (op >> 21 & 15)
        {
            case 0:
            case 1:
            case 2:
                call(n - 1);
                break;
            case 3:
            case 4:
                try
                {
                    call(n - 1);
                    if (thrown)
                        throw ready;
                }
                catch (Exception)
                {
                    if (inside)
                        slot = new Mark(n);
                    if (deeper)
                        other(n - 1);
                    if (answer)
                        throw ready;
                }
                break;
            case 5:
                try
                {
                    if (thrown)
                        throw ready;
                    call(n - 1);
                }
                catch (Exception)
                {
                    if (inside)
                        slot = new Mark(n);
                    if (deeper)
                        other(n - 1);
                    throw;
                }
                break;
            case 6:
            case 7:
                try
                {
                    call(n - 1);
                    if (thrown)
                        throw ready;
                }
                finally
                {
                    if (inside)
                        slot = new Mark(n);
                    if (deeper)
                        other(n - 1);
                    if (answer)
                        slot = new Mark(n);
                }
                break;
            case 8:
            case 9:
                try
                {
                    call(n - 1);
                    if (thrown)
                        throw ready;
                }
                catch (Exception) when (Asked(answer, deeper, inside, n - 1))
                {
                    if (inside)
                        slot = new Mark(n);
                }
                break;
            case 10:
                try
                {
                    call(n - 1);
                    if (thrown)
                        throw ready;
                }
                catch (Exception) when (answer)
                {
                    if (deeper)
                        other(n - 1);
                }
                finally
                {
                    if (inside)
                        slot = new Mark(n);
                }
                break;
            case 11:
                try
                {
                    call(n - 1);
                }
                catch (OtherException)
                {
                }
                if (thrown)
                    throw ready;
                break;
            case 12: /* straight down, then out of handlers */
                try
                {
                    if (deeper)
                        throw ready;
                    Go<T>(n - 1);
                }
                catch (Exception)
                {
                    if (inside)
                        slot = new Mark(n);
                    Go<T>(n - 1);
                    if (answer)
                        throw ready;
                }
                break;
            case 13:
                try
                {
                    throw ready;
                }
                catch (Exception)
                {
                    Go<T>(n - 1);
                    if (thrown)
                        throw;
                }
                break;
            case 14:
                try
                {
                    throw ready;
                }
                finally
                {
                    Go<T>(n - 1);
                }
                break;
            default:
                Go<T>(n - 1);
                if (thrown)
                    throw ready;
                break;
        }
        if (after)
            slot = new Mark(n);
        if (deeper)
            other(n - 1);
        if (room.GetHashCode() == 1234567)
            Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Asked(bool answer, bool deeper, bool inside, int n)
    {
        int op = ops[pc++ % Length];
        if (inside)
            slot = new Mark(n);
        if (deeper)
            next[op & 31](n);
        if ((op >> 5 & 1) == 0)
            slot = new Mark(n);
        return answer;
    }

    /* ---- ways to get there ---- */

    static MethodInfo[] targets;
    static Catcher made;

    public static void GoA(int n) => Go<A>(n);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Reflect(int n) =>
        targets[n & 1].Invoke(null, BindingFlags.DoNotWrapExceptions, null, new object[] { n }, null);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Wrapped(int n) => targets[n & 1].Invoke(null, new object[] { n });

    public sealed class Made
    {
        public Made(int n) => Go<C>(n);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Activate(int n) => Activator.CreateInstance(typeof(Made), n);

    static int nextN;

    static class Initialised<T>
    {
        static Initialised() => Go<B>(nextN);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Initialise(int n)
    {
        nextN = n;
        RuntimeHelpers.RunClassConstructor(typeof(Initialised<>).MakeGenericType(Fresh.Type()).TypeHandle);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DynamicInvoke(int n) => ((Action<int>)Go<A>).DynamicInvoke(n);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Quiet(int n)
    {
        made.Quiet(next[ops[pc++ % Length] & 31], n);
        if ((ops[pc++ % Length] & 1) == 0)
            slot = new Mark(n);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Quieter(int n) => made.Quiet(next[ops[pc++ % Length] & 31], n);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Handled(int n) => made.Handled(next[ops[pc++ % Length] & 31], next[ops[pc++ % Length] & 31], n);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Then(int n) => made.Then(next[ops[pc++ % Length] & 31], next[ops[pc++ % Length] & 31], n);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Finally(int n) => made.Finally(next[ops[pc++ % Length] & 31], next[ops[pc++ % Length] & 31], n);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Rethrown(int n) => made.Rethrown(next[ops[pc++ % Length] & 31], n);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Replaced(int n) => made.Replaced(next[ops[pc++ % Length] & 31], ready, n);

    static void Prepare()
    {
        made = new Catcher();
        targets = new[]
        {
            typeof(Mixer).GetMethod(nameof(Go), BindingFlags.NonPublic | BindingFlags.Static).MakeGenericMethod(typeof(A)),
            typeof(Mixer).GetMethod(nameof(Go), BindingFlags.NonPublic | BindingFlags.Static).MakeGenericMethod(typeof(B)),
        };
        var ways = new Action<int>[]
        {
            Go<A>, Go<B>, Go<C>, Go<A>, Go<A>, Go<B>, Go<C>, GoA, Reflect, Reflect, Wrapped, Activate, Initialise, DynamicInvoke,
            Quiet, Quieter, Handled, Then, Finally, Rethrown, Replaced, Quiet, Handled, Then, Finally,
        };
        for (int i = 0; i < next.Length; i++)
            next[i] = ways[i % ways.Length];
    }
}

/// <summary>Types that nobody has seen: their initialiser has not run.</summary>
static class Fresh
{
    struct W<T> { }

    static Type last = typeof(int);
    static int kinds;

    public static Type Type()
    {
        if (++kinds % 12 == 0)
            last = typeof(Tuple<,>).MakeGenericType(typeof(W<>).MakeGenericType(typeof(int).MakeArrayType(1 + kinds / 12 % 30)),
                                                    typeof(int).MakeArrayType(1 + kinds / 360 % 32));
        return last = typeof(W<>).MakeGenericType(last);
    }
}

/// <summary>Code without metadata that catches: the runtime reports nothing of its handlers.</summary>
sealed class Catcher
{
    static readonly MethodInfo invoke = typeof(Action<int>).GetMethod("Invoke");

    public readonly Action<Action<int>, int> Plain, Quiet, Rethrown;           /* no handler, catch { }, catch { throw; } */
    public readonly Action<Action<int>, Action<int>, int> Handled, Then, Finally; /* other in the catch; after it; in a finally */
    public readonly Action<Action<int>, Exception, int> Replaced;              /* catch { throw e; } */

    static void Call(ILGenerator il, OpCode which, OpCode n)
    {
        il.Emit(which);
        il.Emit(n);
        il.Emit(OpCodes.Callvirt, invoke);
    }

    static T Make<T>(string name, Type[] arguments, Action<ILGenerator> emit) where T : Delegate
    {
        var method = new DynamicMethod(name, typeof(void), arguments, typeof(Mixer).Module, true);
        ILGenerator il = method.GetILGenerator();
        emit(il);
        il.Emit(OpCodes.Ret);
        return method.CreateDelegate<T>();
    }

    public Catcher()
    {
        var one = new[] { typeof(Action<int>), typeof(int) };
        var two = new[] { typeof(Action<int>), typeof(Action<int>), typeof(int) };
        Plain = Make<Action<Action<int>, int>>("Plain", one, il => Call(il, OpCodes.Ldarg_0, OpCodes.Ldarg_1));
        Quiet = Make<Action<Action<int>, int>>("Quiet", one, il =>
        {
            il.BeginExceptionBlock();
            Call(il, OpCodes.Ldarg_0, OpCodes.Ldarg_1);
            il.BeginCatchBlock(typeof(Exception));
            il.Emit(OpCodes.Pop);
            il.EndExceptionBlock();
        });
        Rethrown = Make<Action<Action<int>, int>>("Rethrown", one, il =>
        {
            il.BeginExceptionBlock();
            Call(il, OpCodes.Ldarg_0, OpCodes.Ldarg_1);
            il.BeginCatchBlock(typeof(Exception));
            il.Emit(OpCodes.Pop);
            il.Emit(OpCodes.Rethrow);
            il.EndExceptionBlock();
        });
        Replaced = Make<Action<Action<int>, Exception, int>>("Replaced",
            new[] { typeof(Action<int>), typeof(Exception), typeof(int) }, il =>
        {
            il.BeginExceptionBlock();
            Call(il, OpCodes.Ldarg_0, OpCodes.Ldarg_2);
            il.BeginCatchBlock(typeof(Exception));
            il.Emit(OpCodes.Pop);
            il.Emit(OpCodes.Ldarg_1);
            il.Emit(OpCodes.Throw);
            il.EndExceptionBlock();
        });
        Handled = Make<Action<Action<int>, Action<int>, int>>("Handled", two, il =>
        {
            il.BeginExceptionBlock();
            Call(il, OpCodes.Ldarg_0, OpCodes.Ldarg_2);
            il.BeginCatchBlock(typeof(Exception));
            il.Emit(OpCodes.Pop);
            Call(il, OpCodes.Ldarg_1, OpCodes.Ldarg_2);
            il.EndExceptionBlock();
        });
        Then = Make<Action<Action<int>, Action<int>, int>>("Then", two, il =>
        {
            il.BeginExceptionBlock();
            Call(il, OpCodes.Ldarg_0, OpCodes.Ldarg_2);
            il.BeginCatchBlock(typeof(Exception));
            il.Emit(OpCodes.Pop);
            il.EndExceptionBlock();
            Call(il, OpCodes.Ldarg_1, OpCodes.Ldarg_2);
        });
        Finally = Make<Action<Action<int>, Action<int>, int>>("Finally", two, il =>
        {
            il.BeginExceptionBlock();
            Call(il, OpCodes.Ldarg_0, OpCodes.Ldarg_2);
            il.BeginFinallyBlock();
            Call(il, OpCodes.Ldarg_1, OpCodes.Ldarg_2);
            il.EndExceptionBlock();
        });
    }
}
