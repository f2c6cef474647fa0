// Objects that dynamic methods make, and methods that dynamic methods call: each on a line that says so.
//   // D: Name*2   a dynamic method that this line calls makes two objects of Name
//   // H: Name     the same, made by hooked code that a dynamic method calls, which this line calls
//   // L: Name     this line makes them itself
using System;
using System.Collections.Generic;
using System.Linq.Expressions;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;

namespace DynamicLines;

public class Small { }
public class Framed { public Framed(int n, object o) { } }
public class Twice { }
public class Inner { }
public class Emitted { }
public class Looped { }
public class Nested { }
public class Deep { }
public class Called { }
public class Leaf { }
public class Passed { }
public class Optional { }
public class Caught { }
public class Chained { }
public class Plain { }
public class Inlined { }
public class Equated { }

public struct Key : IEquatable<Key>
{
    public bool Equals(Key other)
    {
        Program.Keep(new Equated());                                   // L: Equated*2
        return true;
    }
}

public static class Program
{
    static object kept;
    static int sum;

    [MethodImpl(MethodImplOptions.NoInlining)] public static void Keep(object o) => kept = o;

    static DynamicMethod Define(string name, Type result, Type[] arguments, Action<ILGenerator> body)
    {
        var method = new DynamicMethod(name, result, arguments, typeof(Program).Module);
        body(method.GetILGenerator());
        return method;
    }

    static DynamicMethod New(Type type) => Define("New" + type.Name, typeof(object), Type.EmptyTypes, il =>
    {
        il.Emit(OpCodes.Newobj, type.GetConstructor(Type.EmptyTypes));
        il.Emit(OpCodes.Ret);
    });

    /* Makes one in each round of a loop: such code has a frame pointer. */
    static DynamicMethod Loop(Type type) => Define("Loop" + type.Name, typeof(int), new[] { typeof(int) }, il =>
    {
        Label again = il.DefineLabel();
        il.MarkLabel(again);
        il.Emit(OpCodes.Newobj, type.GetConstructor(Type.EmptyTypes));
        il.Emit(OpCodes.Call, typeof(Program).GetMethod(nameof(Keep)));
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Sub);
        il.Emit(OpCodes.Starg_S, (byte)0);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Brtrue, again);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ret);
    });

    /* Calls another and adds to what it gives: no tail call. */
    static DynamicMethod Around(string name, MethodInfo other) => Define(name, typeof(int), Type.EmptyTypes, il =>
    {
        il.Emit(OpCodes.Call, other);
        il.Emit(OpCodes.Call, typeof(Program).GetMethod(nameof(Keep)));
        il.Emit(OpCodes.Ldc_I4_5);
        il.Emit(OpCodes.Ret);
    });

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object MakeCalled(int n)
    {
        if (n > 0)
            return new Called();                                       // L: Called*3
        return null;
    }

    public static object MakeInlined() => new Inlined();               // L: Inlined*2

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Pass(Func<object> make)
    {
        object o = make();                                             // D: Passed*2
        sum++;
        return o;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Expressions()
    {
        Func<Small> small = Expression.Lambda<Func<Small>>(Expression.New(typeof(Small))).Compile();
        Keep(small());                                                 // D: Small
        Keep(new Plain());                                             // L: Plain
        Keep(small());                                                 // D: Small
        ParameterExpression n = Expression.Parameter(typeof(int));
        var framed = Expression.Lambda<Func<int, object>>(Expression.Block(
            Expression.Call(typeof(Program).GetMethod(nameof(Keep)), Expression.Convert(Expression.New(typeof(Twice)), typeof(object))),
            Expression.Call(typeof(Program).GetMethod(nameof(Keep)), Expression.Convert(Expression.New(typeof(Twice)), typeof(object))),
            Expression.New(typeof(Framed).GetConstructors()[0], n, Expression.Convert(n, typeof(object)))), n).Compile();
        Keep(framed(3));                                               // D: Framed; Twice*2
        Expression<Func<int, Func<object>>> outer = a => () => a > 3 ? new Inner() : null;
        Func<int, Func<object>> closure = outer.Compile();
        Func<object> inner = closure(4);
        sum++;
        Keep(inner());                                                 // D: Inner
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Methods()
    {
        var emitted = New(typeof(Emitted)).CreateDelegate<Func<object>>();
        for (int i = 0; i < 4; i++)
            Keep(emitted());                                           // D: Emitted*4
        var looped = (Func<int, int>)Loop(typeof(Looped)).CreateDelegate(typeof(Func<int, int>));
        sum += looped(3);                                              // D: Looped*3
        sum += looped(2);                                              // D: Looped*2
        DynamicMethod nested = New(typeof(Nested));
        var around = Around("Around", nested).CreateDelegate<Func<int>>();
        sum += around();                                               // D: Nested
        DynamicMethod deep = Around("Deep", New(typeof(Deep)));
        var deeper = Define("Deeper", typeof(int), Type.EmptyTypes, il =>
        {
            il.Emit(OpCodes.Call, deep);
            il.Emit(OpCodes.Ldc_I4_2);
            il.Emit(OpCodes.Mul);
            il.Emit(OpCodes.Ret);
        }).CreateDelegate<Func<int>>();
        sum += deeper();                                               // D: Deep
        Func<object> passed = New(typeof(Passed)).CreateDelegate<Func<object>>();
        Keep(Pass(passed));
        Keep(Pass(Delegate.Combine(passed) as Func<object>));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Calls()
    {
        var call = Define("Call", typeof(int), new[] { typeof(int) }, il =>
        {
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Call, typeof(Program).GetMethod(nameof(MakeCalled)));
            il.Emit(OpCodes.Pop);
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ret);
        }).CreateDelegate<Func<int, int>>();
        sum += call(1);                                                // H: Called
        sum += call(2);                                                // H: Called
        var around = Define("Over", typeof(int), new[] { typeof(Func<int, int>), typeof(int) }, il =>
        {
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldarg_1);
            il.Emit(OpCodes.Callvirt, typeof(Func<int, int>).GetMethod("Invoke"));
            il.Emit(OpCodes.Ldarg_1);
            il.Emit(OpCodes.Add);
            il.Emit(OpCodes.Ret);
        }).CreateDelegate<Func<Func<int, int>, int, int>>();
        sum += around(call, 1);                                        // H: Called
    }

    /* Own methods that the JIT would inline: into the dynamic method, and into the framework's in it. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Inlines()
    {
        var inlines = Around("Inlines", typeof(Program).GetMethod(nameof(MakeInlined))).CreateDelegate<Func<int>>();
        sum += inlines() + inlines();
        Expression<Func<Key, Key, bool>> equal = (a, b) => EqualityComparer<Key>.Default.Equals(a, b);
        Func<Key, Key, bool> compare = equal.Compile();
        sum += (compare(default, default) ? 1 : 0) + (compare(default, default) ? 1 : 0);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Throw() => throw new InvalidOperationException();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Handlers()
    {
        var caught = Expression.Lambda<Func<object>>(Expression.TryCatch(
            Expression.Block(Expression.Call(typeof(Program).GetMethod(nameof(Throw))), Expression.Constant(null)),
            Expression.Catch(typeof(InvalidOperationException), Expression.Convert(Expression.New(typeof(Caught)), typeof(object))))).Compile();
        Keep(caught());                                                // D: Caught
        try
        {
            Throw();
        }
        catch (InvalidOperationException)
        {
            Keep(chained());                                           // D: Chained
        }
    }

    static readonly Func<object> chained = New(typeof(Chained)).CreateDelegate<Func<object>>();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int OnlyCall(Func<object> f)
    {
        kept = f();                                                    // D: Leaf
        return 1;
    }

    static void Round()
    {
        Expressions();
        Methods();
        Calls();
        Inlines();
        Handlers();
        sum += OnlyCall(New(typeof(Leaf)).CreateDelegate<Func<object>>());
        Keep(new Regex("(?<word>[a-c]+)@" + sum, RegexOptions.Compiled).Match("xx abc@" + sum));
    }

    static int Main(string[] args)
    {
        int rounds = args.Length > 0 ? int.Parse(args[0]) : 3;
        for (int i = 0; i < rounds; i++)
            Round();
        Console.WriteLine("rounds {0}", rounds);
        return 0;
    }
}
