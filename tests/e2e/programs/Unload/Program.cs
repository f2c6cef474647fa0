// Collectible load contexts: this assembly is loaded again into a separate context, runs there on several threads, and
// is unloaded while other threads go on. Code, types and methods of each generation die and their addresses come back.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Threading;
using static Torture.Cases;
using static Torture.Sink;

namespace Torture;

public static class Program
{
    static int Main(string[] args) => Run(args,
        ("load-unload", LoadUnload),
        ("unload-while-running", WhileRunning),
        ("several-at-once", SeveralAtOnce),
        ("throws-out", ThrowsOut),
        ("kept-alive", KeptAlive),
        ("generics-over-unloaded", GenericsOver));

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw(int code)
    {
        Callee();
        throw new TestException(code);
    }

    /* ---- what runs inside: called by reflection, so that nothing here keeps the context alive ---- */

    public static class Plugin
    {
        public sealed class Thing
        {
            public long Number;
        }

        static readonly List<Thing> things = new();

        static T Identity<T>(T value)
        {
            Keep(new T[1]);
            return value;
        }

        public static int Work(int n)
        {
            int caught = 0;
            for (int i = 0; i < n; i++)
            {
                Keep(Identity(new Thing { Number = i }));
                Keep(Identity(i));
                try
                {
                    Level(i % 4);
                }
                catch (TestException) when (Accept())
                {
                    caught++;
                }
                if (things.Count < 4)
                    things.Add(new Thing());
            }
            return caught;
        }

        static bool Accept()
        {
            Several();
            return true;
        }

        static void Level(int depth)
        {
            try
            {
                Callee();
                if (depth == 0)
                    Throw(depth);
                Level(depth - 1);
            }
            finally
            {
                Callee();
            }
        }

        public static void Fail(int n)
        {
            Keep(new Thing());
            Throw(n);
        }
    }

    sealed class Context : AssemblyLoadContext
    {
        public Context() : base("plugin", isCollectible: true) { }
        protected override Assembly Load(AssemblyName name) => null;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static (WeakReference, Type) Open()
    {
        var context = new Context();
        Type plugin = context.LoadFromAssemblyPath(typeof(Program).Assembly.Location).GetType(typeof(Plugin).FullName);
        return (new WeakReference(context), plugin);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Call(Type plugin, string method, int n) => plugin.GetMethod(method).Invoke(null, new object[] { n });

    [MethodImpl(MethodImplOptions.NoInlining)]
    static WeakReference Once(int n)
    {
        (WeakReference context, Type plugin) = Open();
        Check((int)Call(plugin, nameof(Plugin.Work), n) == n);
        ((AssemblyLoadContext)context.Target).Unload();
        return context;
    }

    static void Collect(WeakReference gone)
    {
        for (int i = 0; i < 10 && gone.IsAlive; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void LoadUnload()
    {
        for (int i = 0; i < 3; i++)
        {
            WeakReference context = Once(8);
            Callee();
            Collect(context);
            Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void WhileRunning()
    {
        bool stop = false;
        var others = new Thread[2];
        for (int i = 0; i < others.Length; i++)
        {
            others[i] = new Thread(() =>
            {
                while (!Volatile.Read(ref stop))
                {
                    Plugin.Work(2);
                    Thread.Yield();
                }
            });
            others[i].Start();
        }
        for (int i = 0; i < 2; i++)
            Collect(Once(6));
        Volatile.Write(ref stop, true);
        foreach (Thread t in others)
            t.Join();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void SeveralAtOnce()
    {
        var threads = new Thread[4];
        for (int i = 0; i < threads.Length; i++)
        {
            threads[i] = new Thread(() => Once(4));
            threads[i].Start();
        }
        foreach (Thread t in threads)
            t.Join();
        GC.Collect();
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowsOut()
    {
        (WeakReference context, Type plugin) = Open();
        try
        {
            Call(plugin, nameof(Plugin.Fail), 3);
            Check(false);
        }
        catch (TargetInvocationException e)
        {
            Check(e.InnerException.GetType().FullName == typeof(TestException).FullName);
            Several();
        }
        ((AssemblyLoadContext)context.Target).Unload();
        GC.Collect();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void KeptAlive()
    {
        (WeakReference context, Type plugin) = Open();
        var work = plugin.GetMethod(nameof(Plugin.Work)).CreateDelegate<Func<int, int>>();
        ((AssemblyLoadContext)context.Target).Unload();
        GC.Collect();
        Check(work(5) == 5); /* unloading waits for the delegate */
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void GenericsOver()
    {
        (WeakReference context, Type plugin) = Open();
        Type thing = plugin.GetNestedType(nameof(Plugin.Thing));
        object list = Activator.CreateInstance(typeof(List<>).MakeGenericType(thing));
        MethodInfo add = list.GetType().GetMethod("Add");
        for (int i = 0; i < 6; i++)
            add.Invoke(list, new[] { Activator.CreateInstance(thing) });
        Keep(Array.CreateInstance(thing, 4).Length);
        ((AssemblyLoadContext)context.Target).Unload();
    }
}
