// Threads of all kinds: short ones by the hundred, the pool, timers, finalizers, interrupted and aborted ones.
using System;
using System.Runtime;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
using static Torture.Cases;
using static Torture.Sink;

namespace Torture;

static class Program
{
    static int Main(string[] args) => Run(args,
        ("short-threads", ShortThreads),
        ("many-at-once", ManyAtOnce),
        ("names", Names),
        ("pool", Pool),
        ("parallel", ParallelLoops),
        ("timer", Timers),
        ("registered-wait", RegisteredWait),
        ("finalizer", Finalizers),
        ("finalizer-throws", FinalizerThrows),
        ("resurrection", Resurrection),
        ("interrupt", Interrupt),
        ("interrupt-in-finally", InterruptInFinally),
        ("controlled-execution", Controlled),
        ("controlled-execution-finally", ControlledFinally),
        ("controlled-execution-filter", ControlledFilter),
        ("controlled-execution-calls*", ControlledCalls),
        ("monitor", Monitors),
        ("thread-local", ThreadLocals),
        ("thread-exceptions", ThreadExceptions),
        ("collections-while-throwing", CollectWhileThrowing),
        ("weak-and-handles", Handles));

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

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Work(int n)
    {
        try
        {
            Callee();
            if (n % 2 == 0)
                Throw(n);
        }
        catch (TestException) when (Accept(n % 4 == 0))
        {
            Callee();
        }
        catch (TestException)
        {
            Several();
        }
        return 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ShortThreads()
    {
        for (int i = 0; i < 150; i++)
        {
            int n = i;
            var thread = new Thread(() => Work(n));
            thread.Start();
            thread.Join();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ManyAtOnce()
    {
        var threads = new Thread[40];
        int done = 0;
        for (int i = 0; i < threads.Length; i++)
        {
            int n = i;
            threads[i] = new Thread(() =>
            {
                for (int j = 0; j < 4; j++)
                    Interlocked.Add(ref done, Work(n + j));
            }, 256 * 1024);
            threads[i].Start();
        }
        foreach (Thread t in threads)
            t.Join();
        Check(done == 160);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Names()
    {
        foreach (string name in new[] { "plain", "with \"quotes\" and \\", "Ünïcødé ☃ 𝄞", "line\nbreak\ttab", new string('n', 300), "\ud800 lone", "nul\0nul" })
        {
            var thread = new Thread(() => Several()) { Name = name };
            thread.Start();
            thread.Join();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Pool()
    {
        using var done = new CountdownEvent(40);
        for (int i = 0; i < 40; i++)
        {
            int n = i;
            ThreadPool.UnsafeQueueUserWorkItem(_ =>
            {
                Work(n);
                done.Signal();
            }, null);
        }
        done.Wait();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ParallelLoops()
    {
        int sum = 0;
        Parallel.For(0, 40, i => Interlocked.Add(ref sum, Work(i)));
        Check(sum == 40);
        try
        {
            Parallel.For(0, 20, i =>
            {
                Callee();
                if (i == 7)
                    Throw(i);
            });
            Check(false);
        }
        catch (AggregateException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Timers()
    {
        using var done = new CountdownEvent(4);
        using var timer = new Timer(_ =>
        {
            Work(2);
            if (!done.IsSet)
                try
                {
                    done.Signal();
                }
                catch (InvalidOperationException)
                {
                    Callee();
                }
        }, null, 1, 2);
        done.Wait();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RegisteredWait()
    {
        using var signal = new AutoResetEvent(false);
        using var done = new ManualResetEvent(false);
        RegisteredWaitHandle handle = ThreadPool.RegisterWaitForSingleObject(signal, (_, timedOut) =>
        {
            Work(4);
            done.Set();
        }, null, 5000, true);
        signal.Set();
        done.WaitOne();
        handle.Unregister(null);
    }

    static int finalized;

    sealed class Finalized
    {
        ~Finalized()
        {
            Several();
            Interlocked.Increment(ref finalized);
        }
    }

    sealed class FinalizedThrowing
    {
        ~FinalizedThrowing()
        {
            try
            {
                Work(2);
                Throw(3);
            }
            catch (TestException) when (Accept(true))
            {
                Several();
            }
            finally
            {
                Callee();
            }
        }
    }

    sealed class Phoenix
    {
        public static object Last;
        public int Lives = 3;

        ~Phoenix()
        {
            Callee();
            if (--Lives > 0)
            {
                Last = this;
                GC.ReRegisterForFinalize(this);
            }
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Drop<T>(int n) where T : new()
    {
        for (int i = 0; i < n; i++)
            GC.KeepAlive(new T());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Collect()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Finalizers()
    {
        int before = finalized;
        Drop<Finalized>(20);
        Collect();
        Collect();
        Check(finalized - before >= 15);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FinalizerThrows()
    {
        Drop<FinalizedThrowing>(8);
        Collect();
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Resurrection()
    {
        Drop<Phoenix>(3);
        for (int i = 0; i < 4; i++)
        {
            Collect();
            Phoenix.Last = null;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Sleeping(ManualResetEventSlim started, int depth)
    {
        try
        {
            Callee();
            if (depth > 0)
            {
                Sleeping(started, depth - 1);
                return;
            }
            started.Set();
            Thread.Sleep(Timeout.Infinite);
        }
        finally
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Interrupt()
    {
        using var started = new ManualResetEventSlim();
        bool interrupted = false;
        var thread = new Thread(() =>
        {
            try
            {
                Sleeping(started, 4);
            }
            catch (ThreadInterruptedException) when (Accept(true))
            {
                Several();
                interrupted = true;
            }
        });
        thread.Start();
        started.Wait();
        thread.Interrupt();
        thread.Join();
        Check(interrupted);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InterruptInFinally()
    {
        using var started = new ManualResetEventSlim();
        bool interrupted = false;
        var thread = new Thread(() =>
        {
            try
            {
                try
                {
                    Throw(1);
                }
                finally
                {
                    try
                    {
                        Sleeping(started, 2);
                    }
                    catch (ThreadInterruptedException)
                    {
                        Several();
                        interrupted = true;
                    }
                }
            }
            catch (TestException)
            {
                Several();
            }
        });
        thread.Start();
        started.Wait();
        thread.Interrupt();
        thread.Join();
        Check(interrupted);
    }

#pragma warning disable SYSLIB0046
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Spin(ManualResetEventSlim started, int depth)
    {
        if (depth > 0)
        {
            Spin(started, depth - 1);
            return;
        }
        started.Set();
        for (int i = 0; ; i++) /* an optimised loop without calls would never be aborted */
        {
            if (i % 64 == 0)
                Callee();
            Thread.Sleep(i % 4 == 3 ? s_pause : 0);
        }
    }

    /* On 11 a thread that is aborted while it sleeps may keep the lock under which it sleeps (tests/README.md). */
    static readonly int s_pause = Environment.Version.Major >= 11 ? 0 : 1;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RunControlled(Action<ManualResetEventSlim> body)
    {
        using var started = new ManualResetEventSlim();
        using var source = new CancellationTokenSource();
        var cancel = new Thread(() =>
        {
            started.Wait();
            Callee();
            source.Cancel();
        });
        cancel.Start();
        try
        {
            ControlledExecution.Run(() => body(started), source.Token);
            Check(false);
        }
        catch (OperationCanceledException)
        {
            Several();
        }
        cancel.Join();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Controlled() => RunControlled(started => Spin(started, 5));

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ControlledFinally() => RunControlled(started =>
    {
        try
        {
            try
            {
                Throw(1);
            }
            catch (TestException)
            {
                Several();
            }
            Spin(started, 3);
        }
        finally
        {
            Several();
            Work(2); /* throws and swallows while the abort passes */
        }
    });

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ControlledFilter() => RunControlled(started =>
    {
        try
        {
            Spin(started, 3);
        }
        catch (Exception) when (Accept(false))
        {
            Check(false);
        }
        catch (Exception)
        {
            Several(); /* an abort goes on after its handler */
        }
    });

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Tiny(int n) => n ^ 5;

    /* The wrapper of ELT2 hooks on .NET 8 and 9 looks for an abort. The runtime itself may die of one, unprofiled too: on 10, and
     * on 8 (tests/README.md). */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Calling(ManualResetEventSlim started)
    {
        int sum = 0;
        started.Set();
        for (int i = 0; ; i++)
        {
            sum += Tiny(i);
            if (i % 100_000 == 0)
                Thread.Sleep(0);
            if (sum == int.MinValue)
                Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ControlledCalls() => RunControlled(Calling);
#pragma warning restore SYSLIB0046

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Monitors()
    {
        object gate = new();
        int turn = 0;
        var threads = new Thread[3];
        for (int i = 0; i < threads.Length; i++)
        {
            int me = i;
            threads[i] = new Thread(() =>
            {
                for (int j = 0; j < 4; j++)
                    lock (gate)
                    {
                        while (turn % 3 != me)
                            Monitor.Wait(gate);
                        Work(j);
                        turn++;
                        Monitor.PulseAll(gate);
                    }
            });
            threads[i].Start();
        }
        foreach (Thread t in threads)
            t.Join();
        Check(turn == 12);
        try
        {
            Monitor.Exit(gate);
            Check(false);
        }
        catch (SynchronizationLockException)
        {
            Several();
        }
    }

    [ThreadStatic] static Mark perThread;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThreadLocals()
    {
        using var local = new ThreadLocal<Mark>(() =>
        {
            Callee();
            return new Mark(1);
        }, true);
        var threads = new Thread[6];
        for (int i = 0; i < threads.Length; i++)
        {
            threads[i] = new Thread(() =>
            {
                perThread ??= new Mark(2);
                Keep(local.Value);
                Keep(perThread);
            });
            threads[i].Start();
        }
        foreach (Thread t in threads)
            t.Join();
        Check(local.Values.Count == 6);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Level(int depth)
    {
        try
        {
            Callee();
            if (depth == 0)
                Throw(0);
            Level(depth - 1);
        }
        finally
        {
            Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThreadExceptions()
    {
        var threads = new Thread[4];
        for (int i = 0; i < threads.Length; i++)
        {
            threads[i] = new Thread(() =>
            {
                for (int j = 0; j < 10; j++)
                    try
                    {
                        Level(j);
                    }
                    catch (TestException) when (Accept(true))
                    {
                        Callee();
                    }
            });
            threads[i].Start();
        }
        foreach (Thread t in threads)
            t.Join();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CollectWhileThrowing()
    {
        bool stop = false;
        var collector = new Thread(() =>
        {
            for (int i = 0; !Volatile.Read(ref stop); i++)
            {
                GC.Collect(i % 3, GCCollectionMode.Forced, i % 2 == 0);
                Callee();
                Thread.Sleep(1);
            }
        });
        collector.Start();
        ThreadExceptions();
        Volatile.Write(ref stop, true);
        collector.Join();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Handles()
    {
        var table = new ConditionalWeakTable<object, Mark>();
        for (int i = 0; i < 10; i++)
        {
            object key = new();
            table.Add(key, new Mark(i));
            Keep(new WeakReference(key, i % 2 == 0));
            var handle = System.Runtime.InteropServices.GCHandle.Alloc(key);
            Keep(handle.Target);
            handle.Free();
        }
        Collect();
        Callee();
    }
}
