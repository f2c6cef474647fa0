// Exceptions that are caught where the runtime tells a profiler little or nothing of it. Says how many of them there still are
// while the thread that threw them lives and throws no more: none, without a profiler.
using System;
using System.Collections.Generic;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

static class Program
{
    const int Times = 20;
    static readonly List<WeakReference> thrown = new();
    static readonly Action swallow = Dynamic(null), throwInFilter = Dynamic(nameof(Throw));
    static bool inHandler;

    static void Main()
    {
        Case("catch", () => Catch(Throw));
        Case("dynamic method", swallow);
        Case("dynamic method, deeper and deeper", Deeper);
        Case("dynamic method in a filter", () => Filtered(swallow));
        Case("out of a dynamic method's filter", () => Catch(throwInFilter));
        Case("out of a filter", () => Catch(() => Filtered(Throw)));
        Case("finally", () => Catch(Superseded));
        Case("reflection", () => Catch(() => typeof(Program).GetMethod(nameof(Throw)).Invoke(null, null)));
        Case("task", () => Catch(() => Later().GetAwaiter().GetResult()));
        AppDomain.CurrentDomain.FirstChanceException += (_, _) => Handler();
        Case("dynamic method in a handler of first-chance exceptions", () => Catch(Throw));
    }

    static void Case(string name, Action action)
    {
        using var done = new ManualResetEventSlim();
        using var end = new ManualResetEventSlim();
        var thread = new Thread(() =>
        {
            Repeat(action);
            done.Set();
            end.Wait();
        });
        thread.Start();
        done.Wait();
        for (int i = 0; i < 3; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        int alive = 0;
        lock (thrown)
        {
            foreach (WeakReference reference in thrown)
                alive += reference.IsAlive ? 1 : 0;
            thrown.Clear();
        }
        Console.WriteLine($"{name}: {alive}");
        end.Set();
        thread.Join();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Repeat(Action action)
    {
        for (int i = 0; i < Times; i++)
            action();
        Overwrite();
    }

    // What lies in memory that no frame has any more is no reference.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Overwrite()
    {
        Span<byte> below = stackalloc byte[16384];
        below.Clear();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Throw()
    {
        var e = new Exception("caught");
        lock (thrown)
            thrown.Add(new WeakReference(e));
        throw e;
    }

    static void Catch(Action action)
    {
        try
        {
            action();
        }
        catch (Exception)
        {
        }
    }

    static void Deeper()
    {
        for (int i = 0; i < Times; i++)
            Below(i, swallow);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Below(int depth, Action action)
    {
        if (depth == 0)
        {
            action();
            return 0;
        }
        return Below(depth - 1, action) + 1;
    }

    static void Filtered(Action inFilter)
    {
        try
        {
            Throw();
        }
        catch (Exception) when (Does(inFilter))
        {
        }
    }

    static bool Does(Action action)
    {
        action();
        return true;
    }

    static void Superseded()
    {
        try
        {
            Throw();
        }
        finally
        {
            Throw();
        }
    }

    static async Task Later()
    {
        await Task.Yield();
        Throw();
    }

    static void Handler()
    {
        if (inHandler)
            return;
        inHandler = true;
        swallow();
        inHandler = false;
    }

    // try { Throw(); } catch { }, or one whose filter calls a method of this class
    static Action Dynamic(string filter)
    {
        var method = new DynamicMethod("Dynamic", null, Type.EmptyTypes, typeof(Program).Module);
        ILGenerator il = method.GetILGenerator();
        il.BeginExceptionBlock();
        il.Emit(OpCodes.Call, typeof(Program).GetMethod(nameof(Throw)));
        if (filter != null)
        {
            il.BeginExceptFilterBlock();
            il.Emit(OpCodes.Pop);
            il.Emit(OpCodes.Call, typeof(Program).GetMethod(filter));
            il.Emit(OpCodes.Ldc_I4_1);
        }
        il.BeginCatchBlock(filter == null ? typeof(Exception) : null);
        il.Emit(OpCodes.Pop);
        il.EndExceptionBlock();
        il.Emit(OpCodes.Ret);
        return (Action)method.CreateDelegate(typeof(Action));
    }
}
