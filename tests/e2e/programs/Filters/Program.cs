// Exceptions whose filters look at them, while another thread makes one collection follow the other: the
// exception that a filter gets is the one that was thrown. Says how many were right and how many were not.
using System;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

class Trouble : Exception
{
    public readonly int Number;

    public Trouble(int number) : base("known trouble") => Number = number;
}

static class Program
{
    const int Kinds = 9;
    static volatile bool stop;
    static int right, wrong, inHandler;
    static object keep;
    static readonly Action<int> pass = Dynamic(true), swallow = Dynamic(false);

    static int Main(string[] args)
    {
        int throws = int.Parse(args[0]);
        var allocates = new Thread(() =>
        {
            while (!stop)
                keep = new byte[3000];
        });
        allocates.Start();
        AppDomain.CurrentDomain.FirstChanceException += (_, args) =>
        {
            if (args.Exception is Trouble t)
                Handler(t.Number);
        };
        for (int i = 0; i < throws; i++)
            Once(i);
        stop = true;
        allocates.Join();
        Console.WriteLine($"{right} right, {wrong} wrong");
        return wrong == 0 ? 0 : 1;
    }

    static void Once(int number)
    {
        try
        {
            try
            {
                Throw(number);
            }
            catch (Trouble e) when (NestedIs(number, e) && Is(e, number))
            {
                if (e.Number == number)
                    right++;
                else
                    wrong++;
            }
        }
        catch (Exception)
        {
            wrong++;
        }
    }

    static bool Is(Trouble e, int number) => e.Number == number && e.Message[0] == 'k';

    // What else is thrown and caught within a filter.
    static bool NestedIs(int number, Trouble e)
    {
        switch (number % Kinds)
        {
            case 0: return Nested(number);
            case 1: return Fault(null, 1);
            case 2: return Fault("", 0);
            case 3: return Again(e, number);
            case 4: return ThroughDynamic(number);
            case 5: return Deep(number, 8);
            case 6: return Later(number).GetAwaiter().GetResult();
            default: return true; // of 7, see Handler
        }
    }

    // One is caught, the other one leaves a filter, which counts as false.
    static bool Nested(int number)
    {
        try
        {
            Throw(-number);
        }
        catch (Trouble e) when (Leaves(number))
        {
            return false;
        }
        catch (Trouble e) when (Is(e, -number))
        {
            return true;
        }
        return false;
    }

    static bool Leaves(int number)
    {
        Throw(number + Kinds);
        return true;
    }

    // The processor throws.
    static bool Fault(string text, int by)
    {
        try
        {
            return text.Length / by < 0;
        }
        catch (Exception e) when (e.Message.Length > 0)
        {
            return e is NullReferenceException or DivideByZeroException;
        }
    }

    static bool Again(Trouble same, int number)
    {
        try
        {
            throw same;
        }
        catch (Trouble e) when (Is(e, number) && e == same)
        {
            return true;
        }
    }

    // Past a filter of which the runtime tells no more than that it is left.
    static bool ThroughDynamic(int number)
    {
        try
        {
            pass(-number);
        }
        catch (Trouble e) when (Is(e, -number))
        {
            return true;
        }
        return false;
    }

    static bool Deep(int number, int depth)
    {
        try
        {
            Throw(-number - depth);
        }
        catch (Trouble e) when ((depth == 0 || Deep(number, depth - 1)) && Is(e, -number - depth))
        {
            return true;
        }
        return false;
    }

    static async Task<bool> Later(int number)
    {
        try
        {
            await Task.Yield();
            Throw(-number);
        }
        catch (Trouble e) when (Is(e, -number))
        {
            return true;
        }
        return false;
    }

    // Of first-chance exceptions: after the throw, before the search.
    static void Handler(int number)
    {
        if (number % Kinds != 7 || inHandler++ > 0)
            return;
        swallow(-number);
        if (!Nested(number))
            wrong++;
        inHandler = 0;
    }

    public static bool No(object e) => false;

    // try { Throw(number); } catch { }, or one whose filter is No
    static Action<int> Dynamic(bool filters)
    {
        var method = new DynamicMethod("Dynamic", null, new[] { typeof(int) }, typeof(Program).Module);
        ILGenerator il = method.GetILGenerator();
        il.BeginExceptionBlock();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Call, typeof(Program).GetMethod(nameof(Throw)));
        if (filters)
        {
            il.BeginExceptFilterBlock();
            il.Emit(OpCodes.Call, typeof(Program).GetMethod(nameof(No)));
        }
        il.BeginCatchBlock(filters ? null : typeof(Exception));
        il.Emit(OpCodes.Pop);
        il.EndExceptionBlock();
        il.Emit(OpCodes.Ret);
        return (Action<int>)method.CreateDelegate(typeof(Action<int>));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Throw(int number) => throw new Trouble(number);
}
