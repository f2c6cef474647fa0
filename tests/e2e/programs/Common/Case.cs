using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;

namespace Torture;

/// <summary>What a region of interest allocates; the number only makes one mark unlike the next.</summary>
public sealed class Mark
{
    public long Number;
    public Mark(long number) { Number = number; }
}

public struct Boxed
{
    public int A, B, C;
}

/// <summary>Allocations that no compiler may elide: what they make escapes into a static array.</summary>
public static class Sink
{
    const int Slots = 64;
    static readonly object[] kept = new object[Slots];
    static long number;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Keep(object o)
    {
        kept[(int)(Interlocked.Increment(ref number) & (Slots - 1))] = o;
    }

    /// <summary>One object, allocated in a callee of the interesting frame.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Callee()
    {
        Keep(new Mark(number));
    }

    /// <summary>An object, a box and an array, two frames down.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Several()
    {
        Callee();
        Keep(new Boxed { A = 1 });
        Keep(new int[3]);
    }
}

/// <summary>An exception of our own: nobody else throws it.</summary>
public class TestException : Exception
{
    public readonly int Code;
    public TestException(int code) : base("test") { Code = code; }
}

public sealed class OtherException : TestException
{
    public OtherException(int code) : base(code) { }
}

/// <summary>
/// A program is a list of named cases. `--list` names them, `--case NAME` (repeatable) picks, `--except TEXT` leaves out what
/// begins so, `--scale N` says how often each one runs. A name that ends in `*` runs only when picked (without the star). Ends
/// with the line `ok`, exit status 0.
/// </summary>
public static class Cases
{
    public static int Run(string[] args, params (string Name, Action Body)[] cases)
    {
        int scale = 1;
        var wanted = new List<string>();
        string except = null;
        for (int i = 0; i < args.Length; i++)
        {
            if (args[i] == "--list")
            {
                foreach (var c in cases)
                    Console.WriteLine(c.Name.TrimEnd('*'));
                return 0;
            }
            if (args[i] == "--scale" && i + 1 < args.Length)
                scale = int.Parse(args[++i]);
            else if (args[i] == "--case" && i + 1 < args.Length)
                wanted.Add(args[++i]);
            else if (args[i] == "--except" && i + 1 < args.Length)
                except = args[++i];
            else
            {
                Console.Error.WriteLine("unknown argument " + args[i]);
                return 2;
            }
        }
        foreach (string name in wanted)
            if (Array.FindIndex(cases, c => c.Name.TrimEnd('*') == name) < 0)
            {
                Console.Error.WriteLine("unknown case " + name);
                return 2;
            }
        foreach (var c in cases)
        {
            if (except != null && c.Name.StartsWith(except, StringComparison.Ordinal))
                continue;
            if (wanted.Count > 0 ? !wanted.Contains(c.Name.TrimEnd('*')) : c.Name.EndsWith('*'))
                continue;
            for (int i = 0; i < scale; i++)
            {
                try
                {
                    c.Body();
                }
                catch (Exception e)
                {
                    Console.WriteLine("FAIL " + c.Name + ": " + e);
                    return 1;
                }
            }
        }
        Console.WriteLine("ok");
        return 0;
    }

    public static void Check(bool holds, [CallerArgumentExpression(nameof(holds))] string what = null)
    {
        if (!holds)
            throw new InvalidOperationException("does not hold: " + what);
    }

    /// <summary>Runs body on a separate thread with a stack of the given size; what it throws is thrown here.</summary>
    public static void OnThread(int stackBytes, Action body)
    {
        System.Runtime.ExceptionServices.ExceptionDispatchInfo failed = null;
        var thread = new Thread(() =>
        {
            try
            {
                body();
            }
            catch (Exception e)
            {
                failed = System.Runtime.ExceptionServices.ExceptionDispatchInfo.Capture(e);
            }
        }, stackBytes);
        thread.Start();
        thread.Join();
        failed?.Throw();
    }
}
