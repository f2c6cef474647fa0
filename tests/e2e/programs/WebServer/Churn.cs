// What comes and goes in a server beside its requests: load contexts, threads that run in one while it is unloaded, collections.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Threading;

namespace WebServer;

static class Churn
{
    const int Rounds = 5; // a second

    sealed class Context : AssemblyLoadContext
    {
        public Context() : base(isCollectible: true) { }
        protected override Assembly Load(AssemblyName name) => null;
    }

    /* ---- runs inside of a context ---- */

    public static class Plugin
    {
        sealed class Thing
        {
            public int Number;
        }

        sealed class ThingException : Exception { }

        static readonly List<Thing> things = new();

        static T[] Several<T>(int n) where T : new()
        {
            var all = new T[n];
            all[0] = new T();
            return all;
        }

        public static void Work(int n)
        {
            for (int i = 0; i < n; i++)
                try
                {
                    lock (things)
                        things.AddRange(Several<Thing>(1 + i % 3));
                    if (i % 8 == 7)
                        throw new ThingException();
                }
                catch (ThingException) when (Several<Thing>(2).Length == 2)
                {
                    Several<KeyValuePair<Thing, int>>(n);
                }
        }
    }

    /* ---- outside: nothing here keeps the context alive ---- */

    [MethodImpl(MethodImplOptions.NoInlining)]
    static WeakReference Once()
    {
        var context = new Context();
        Type plugin = context.LoadFromAssemblyPath(typeof(Churn).Assembly.Location).GetType(typeof(Plugin).FullName);
        var work = plugin.GetMethod(nameof(Plugin.Work)).CreateDelegate<Action<int>>();
        var threads = new Thread[3];
        for (int i = 0; i < threads.Length; i++)
        {
            threads[i] = new Thread(() => work(100));
            threads[i].Start();
        }
        context.Unload();
        work(20);
        foreach (Thread thread in threads)
            thread.Join();
        return new WeakReference(plugin);
    }

    /* Until it is stopped. Returns: how much came and went. */
    public static string Run(CancellationToken stop)
    {
        var types = new List<WeakReference>();
        int rounds = 0;
        for (; !stop.WaitHandle.WaitOne(1000 / Rounds); rounds++)
        {
            types.Add(Once());
            GC.Collect(rounds % 3, rounds % 2 == 0 ? GCCollectionMode.Forced : GCCollectionMode.Optimized, rounds % 4 < 2, rounds % 7 == 0);
            types.RemoveAll(type => !type.IsAlive);
        }
        for (int i = 0; i < 20 && types.Count > 0; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            types.RemoveAll(type => !type.IsAlive);
        }
        return types.Count == 0 ? $"load contexts {rounds}, all unloaded" : $"load contexts {rounds}, {types.Count} not unloaded";
    }
}
