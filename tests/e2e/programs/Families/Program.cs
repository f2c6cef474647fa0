// Causes a known number of everything that --events can tell of, and prints the numbers as JSON.
using System;
using System.Collections.Generic;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Loader;
using System.Threading;

namespace Families;

sealed class Known : Exception
{
    public Known(string message) : base(message) { }
}

sealed class Finalized
{
    static int ended;
    public static int Ended => Volatile.Read(ref ended);
    ~Finalized() => Interlocked.Increment(ref ended);
}

class First { public int A; }
class Second : First { }
class Third { public static int B; }
struct Fourth { public int C; }

static class Program
{
    const int Threads = 7, Collections = 5, Young = 3, Thrown = 11, Filtered = 4, Dynamics = 6, Objects = 40, Pinvokes = 25;
    static int count;

    static void Main(string[] args)
    {
        Directions.Run();
        RunThreads();
        RunExceptions();
        RunFilters();
        RunDynamic();
        RunClasses();
        RunPinvokes();
        RunFinalizers();
        RunCollections();
        RunCalls();
        WeakReference context = RunContext();
        bool gone = Wait(context);
        Console.WriteLine("{\"threads\":" + Threads + ",\"induced\":" + (Collections + Young + 1 + tries) + ",\"young\":" + Young +
                          ",\"thrown\":" + Thrown + ",\"filtered\":" + Filtered + ",\"dynamics\":" + Dynamics + ",\"finalized\":" +
                          Finalized.Ended + ",\"objects\":" + Objects + ",\"pinvokes\":" + Pinvokes + ",\"unloaded\":" +
                          (gone ? "true" : "false") + "}");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RunThreads()
    {
        for (int i = 0; i < Threads; i++)
        {
            var thread = new Thread(() => Interlocked.Increment(ref count)) { Name = "family-" + i };
            thread.Start();
            thread.Join();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw(int i) => throw new Known("number " + i);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RunExceptions()
    {
        for (int i = 0; i < Thrown; i++)
        {
            try
            {
                try
                {
                    Throw(i);
                }
                finally
                {
                    count++;
                }
            }
            catch (Known)
            {
                count++;
            }
        }
    }

    static bool Matches(Exception e) => e.Message == "number -1";

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RunFilters()
    {
        for (int i = 0; i < Filtered; i++)
        {
            try
            {
                Throw(-1);
            }
            catch (Exception e) when (Matches(e))
            {
                count++;
            }
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RunDynamic()
    {
        for (int i = 0; i < Dynamics; i++)
        {
            var method = new DynamicMethod("Known" + i, typeof(int), new[] { typeof(int) });
            ILGenerator il = method.GetILGenerator();
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4, i);
            il.Emit(OpCodes.Add);
            il.Emit(OpCodes.Ret);
            count += ((Func<int, int>)method.CreateDelegate(typeof(Func<int, int>)))(1);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RunClasses()
    {
        var objects = new List<object> { new Second(), Third.B, new Fourth[3] };
        count += objects.Count;
    }

    [DllImport("e2enative")]
    static extern int e2e_add(int a, int b);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RunPinvokes()
    {
        for (int i = 0; i < Pinvokes; i++)
            count += e2e_add(i, 1);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void MakeFinalized()
    {
        for (int i = 0; i < Objects; i++)
            new Finalized();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RunFinalizers()
    {
        MakeFinalized();
        GC.Collect();
        GC.WaitForPendingFinalizers();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RunCollections()
    {
        for (int i = 0; i < Collections; i++)
            GC.Collect();
        for (int i = 0; i < Young; i++)
            GC.Collect(0);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Fib(int n) => n < 2 ? n : Fib(n - 1) + Fib(n - 2);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Slow(int ms)
    {
        Thread.Sleep(ms);
        return new byte[1000];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Fall(int n)
    {
        if (n == 0)
            throw new Known("fallen");
        return Fall(n - 1) + 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RunCalls()
    {
        count += Fib(15);
        for (int i = 0; i < 3; i++)
            Slow(20);
        try
        {
            Fall(30);
        }
        catch (Known)
        {
        }
    }

    static int tries;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static WeakReference RunContext()
    {
        var context = new AssemblyLoadContext("known", isCollectible: true);
        Assembly assembly = context.LoadFromAssemblyPath(typeof(Program).Assembly.Location);
        count += (int)assembly.GetType("Families.Directions").GetMethod("Run").Invoke(null, null);
        var reference = new WeakReference(context);
        context.Unload();
        return reference;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Wait(WeakReference context)
    {
        while (context.IsAlive && tries < 100)
        {
            tries++;
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        return !context.IsAlive;
    }
}

// What is loaded a second time, and unloaded.
public static class Directions
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Run() => new Random(1).Next(3);
}
