// Code made while the program runs: DynamicMethod, compiled expressions, emitted assemblies (with IL that C# cannot
// write: fault blocks, filters of odd shape, jmp, tail calls), regular expressions; collected while in use elsewhere.
using System;
using System.Linq.Expressions;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;
using System.Threading;
using static Torture.Cases;
using static Torture.Sink;

namespace Torture;

public static class Program
{
    static int Main(string[] args) => Run(args,
        ("dynamic-method", DynamicMethods),
        ("dynamic-method-throws", DynamicMethodThrows),
        ("dynamic-method-catches", DynamicMethodCatches),
        ("dynamic-method-recursive", DynamicMethodRecursive),
        ("dynamic-method-between", DynamicMethodBetween),
        ("dynamic-method-collected", DynamicMethodCollected),
        ("expression", Expressions),
        ("expression-throws", ExpressionThrows),
        ("expression-try", ExpressionTry),
        ("expression-filter", ExpressionFilter),
        ("expression-closure", ExpressionClosure),
        ("emitted", () => Emitted(AssemblyBuilderAccess.Run)),
        ("emitted-collectible", () => Emitted(AssemblyBuilderAccess.RunAndCollect)),
        ("emitted-fault", EmittedFault),
        ("emitted-filter", EmittedFilter),
        ("emitted-jmp", EmittedJmp),
        ("emitted-tail", EmittedTail),
        ("emitted-tail-throws", EmittedTailThrows),
        ("emitted-tail-indirect", EmittedTailIndirect),
        ("emitted-throw-object", EmittedThrowString),
        ("regex", Regexes),
        ("dynamic-keyword", DynamicKeyword));

    static readonly MethodInfo callee = typeof(Sink).GetMethod(nameof(Callee));
    static readonly MethodInfo several = typeof(Sink).GetMethod(nameof(Several));
    static readonly MethodInfo keep = typeof(Sink).GetMethod(nameof(Keep));
    static readonly MethodInfo throwIt = typeof(Program).GetMethod(nameof(Throw));
    static readonly MethodInfo accept = typeof(Program).GetMethod(nameof(Accept));
    static readonly ConstructorInfo mark = typeof(Mark).GetConstructor(new[] { typeof(long) });
    static int modules;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Throw(int code)
    {
        Callee();
        throw new TestException(code);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static bool Accept(bool answer)
    {
        Several();
        return answer;
    }

    static void EmitMark(ILGenerator il)
    {
        il.Emit(OpCodes.Ldc_I8, 7L);
        il.Emit(OpCodes.Newobj, mark);
        il.Emit(OpCodes.Call, keep);
    }

    /* ---- DynamicMethod ---- */

    static Func<int, int> Twice(bool fail = false)
    {
        var method = new DynamicMethod("Twice", typeof(int), new[] { typeof(int) }, typeof(Program).Module);
        ILGenerator il = method.GetILGenerator();
        EmitMark(il);
        il.Emit(OpCodes.Call, several);
        if (fail)
        {
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Call, throwIt);
        }
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4_2);
        il.Emit(OpCodes.Mul);
        il.Emit(OpCodes.Ret);
        return method.CreateDelegate<Func<int, int>>();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DynamicMethods()
    {
        Func<int, int> twice = Twice();
        for (int i = 0; i < 5; i++)
            Check(twice(i) == 2 * i);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DynamicMethodThrows()
    {
        Func<int, int> twice = Twice(true);
        for (int i = 0; i < 3; i++)
            try
            {
                twice(i);
                Check(false);
            }
            catch (TestException e) when (Accept(e.Code == i))
            {
                Several();
            }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DynamicMethodCatches()
    {
        var method = new DynamicMethod("Catches", typeof(void), new[] { typeof(int) }, typeof(Program).Module);
        ILGenerator il = method.GetILGenerator();
        il.BeginExceptionBlock();
        il.BeginExceptionBlock();
        EmitMark(il);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Call, throwIt);
        il.BeginFinallyBlock();
        EmitMark(il);
        il.Emit(OpCodes.Call, several);
        il.EndExceptionBlock();
        il.BeginCatchBlock(typeof(TestException));
        il.Emit(OpCodes.Call, keep);
        il.Emit(OpCodes.Call, several);
        EmitMark(il);
        il.EndExceptionBlock();
        il.Emit(OpCodes.Call, several);
        il.Emit(OpCodes.Ret);
        var call = method.CreateDelegate<Action<int>>();
        call(1);
        call(2);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DynamicMethodRecursive()
    {
        var method = new DynamicMethod("Down", typeof(int), new[] { typeof(int) }, typeof(Program).Module);
        ILGenerator il = method.GetILGenerator();
        Label more = il.DefineLabel();
        il.Emit(OpCodes.Call, callee);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Brtrue, more);
        il.Emit(OpCodes.Ldc_I4, 3);
        il.Emit(OpCodes.Call, throwIt);
        il.MarkLabel(more);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Sub);
        il.Emit(OpCodes.Call, method);
        il.Emit(OpCodes.Ret);
        var down = method.CreateDelegate<Func<int, int>>();
        try
        {
            down(10);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    /* Hooked and unhooked frames in turns. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Between(Func<int, int> next, int n)
    {
        try
        {
            Callee();
            if (n == 0)
                Throw(n);
            return next(n - 1);
        }
        finally
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DynamicMethodBetween()
    {
        var method = new DynamicMethod("Bounce", typeof(int), new[] { typeof(Func<int, int>[]), typeof(int) },
                                       typeof(Program).Module);
        ILGenerator il = method.GetILGenerator();
        EmitMark(il);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4_0);
        il.Emit(OpCodes.Ldelem_Ref);
        il.Emit(OpCodes.Ldarg_1);
        il.Emit(OpCodes.Call, typeof(Program).GetMethod(nameof(Between)));
        il.Emit(OpCodes.Ret);
        var self = new Func<int, int>[1];
        self[0] = (Func<int, int>)method.CreateDelegate(typeof(Func<int, int>), self);
        try
        {
            self[0](8);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DynamicMethodCollected()
    {
        for (int i = 0; i < 20; i++)
            Check(Twice()(i) == 2 * i);
        GC.Collect();
        GC.WaitForPendingFinalizers();
        for (int i = 0; i < 5; i++)
            Check(Twice()(i) == 2 * i);
    }

    /* ---- expressions ---- */

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Expressions()
    {
        ParameterExpression n = Expression.Parameter(typeof(int));
        var body = Expression.Block(
            Expression.Call(several),
            Expression.Call(keep, Expression.New(mark, Expression.Convert(n, typeof(long)))),
            Expression.Call(keep, Expression.Convert(n, typeof(object))),
            Expression.Add(n, Expression.Constant(1)));
        Func<int, int> f = Expression.Lambda<Func<int, int>>(body, n).Compile();
        for (int i = 0; i < 3; i++)
            Check(f(i) == i + 1);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ExpressionThrows()
    {
        Action f = Expression.Lambda<Action>(Expression.Block(
            Expression.Call(callee),
            Expression.Call(throwIt, Expression.Constant(4)))).Compile();
        try
        {
            f();
            Check(false);
        }
        catch (TestException) when (Accept(true))
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ExpressionTry()
    {
        Func<int> f = Expression.Lambda<Func<int>>(Expression.TryCatchFinally(
            Expression.Block(Expression.Call(throwIt, Expression.Constant(5)), Expression.Constant(0)),
            Expression.Call(several),
            Expression.Catch(typeof(TestException), Expression.Block(Expression.Call(several), Expression.Constant(1))))).Compile();
        Check(f() == 1);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ExpressionFilter()
    {
        Func<int> f = Expression.Lambda<Func<int>>(Expression.TryCatch(
            Expression.Block(Expression.Call(throwIt, Expression.Constant(5)), Expression.Constant(0)),
            Expression.Catch(typeof(TestException), Expression.Constant(2),
                             Expression.Call(accept, Expression.Constant(false))),
            Expression.Catch(typeof(TestException), Expression.Block(Expression.Call(several), Expression.Constant(1)),
                             Expression.Call(accept, Expression.Constant(true))))).Compile();
        Check(f() == 1);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ExpressionClosure()
    {
        int captured = 3;
        Expression<Func<int, Func<int>>> make = n => () => n + captured + new Mark(n).Number.GetHashCode();
        Func<int, Func<int>> f = make.Compile();
        Check(f(4)() == 11);
        Callee();
    }

    /* ---- emitted assemblies ---- */

    static TypeBuilder NewType(AssemblyBuilderAccess access)
    {
        string name = "Emitted" + Interlocked.Increment(ref modules);
        return AssemblyBuilder.DefineDynamicAssembly(new AssemblyName(name), access).DefineDynamicModule(name)
            .DefineType(name + ".Code", TypeAttributes.Public);
    }

    static MethodBuilder NewMethod(TypeBuilder type, string name, Type result, params Type[] arguments)
    {
        MethodBuilder method = type.DefineMethod(name, MethodAttributes.Public | MethodAttributes.Static, result, arguments);
        method.SetImplementationFlags(MethodImplAttributes.NoInlining);
        return method;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Emitted(AssemblyBuilderAccess access)
    {
        TypeBuilder type = NewType(access);
        MethodBuilder method = NewMethod(type, "Down", typeof(int), typeof(int));
        ILGenerator il = method.GetILGenerator();
        Label end = il.DefineLabel();
        EmitMark(il);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Brfalse, end);
        il.BeginExceptionBlock();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Sub);
        il.Emit(OpCodes.Call, method);
        il.Emit(OpCodes.Pop);
        il.BeginFinallyBlock();
        il.Emit(OpCodes.Call, several);
        il.EndExceptionBlock();
        il.MarkLabel(end);
        il.Emit(OpCodes.Ldc_I4, 6);
        il.Emit(OpCodes.Call, throwIt);
        il.Emit(OpCodes.Ldc_I4_0);
        il.Emit(OpCodes.Ret);
        var down = type.CreateType().GetMethod("Down").CreateDelegate<Func<int, int>>();
        try
        {
            down(5);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
        if (access == AssemblyBuilderAccess.RunAndCollect && modules % 4 == 0)
            GC.Collect();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void EmittedFault()
    {
        TypeBuilder type = NewType(AssemblyBuilderAccess.RunAndCollect);
        MethodBuilder method = NewMethod(type, "Fault", typeof(void), typeof(int));
        ILGenerator il = method.GetILGenerator();
        il.BeginExceptionBlock();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Call, throwIt);
        il.BeginFaultBlock();
        EmitMark(il);
        il.Emit(OpCodes.Call, several);
        il.EndExceptionBlock();
        il.Emit(OpCodes.Ret);
        var fault = type.CreateType().GetMethod("Fault").CreateDelegate<Action<int>>();
        try
        {
            fault(2);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void EmittedFilter()
    {
        TypeBuilder type = NewType(AssemblyBuilderAccess.RunAndCollect);
        MethodBuilder method = NewMethod(type, "Filter", typeof(int), typeof(int));
        ILGenerator il = method.GetILGenerator();
        LocalBuilder result = il.DeclareLocal(typeof(int));
        il.BeginExceptionBlock();
        il.BeginExceptionBlock();
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Call, throwIt);
        il.BeginExceptFilterBlock(); /* throws inside: means no */
        il.Emit(OpCodes.Pop);
        il.Emit(OpCodes.Ldc_I4, 99);
        il.Emit(OpCodes.Call, throwIt);
        il.Emit(OpCodes.Ldc_I4_1);
        il.BeginCatchBlock(null);
        il.Emit(OpCodes.Pop);
        il.EndExceptionBlock();
        il.BeginExceptFilterBlock();
        il.Emit(OpCodes.Call, keep);
        il.Emit(OpCodes.Ldc_I4_1);
        il.Emit(OpCodes.Call, accept);
        il.BeginCatchBlock(null);
        il.Emit(OpCodes.Call, keep);
        il.Emit(OpCodes.Call, several);
        il.Emit(OpCodes.Ldc_I4_3);
        il.Emit(OpCodes.Stloc, result);
        il.EndExceptionBlock();
        il.Emit(OpCodes.Ldloc, result);
        il.Emit(OpCodes.Ret);
        Check(type.CreateType().GetMethod("Filter").CreateDelegate<Func<int, int>>()(1) == 3);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Target(int n)
    {
        Several();
        if (n < 0)
            Throw(n);
        return n + 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void EmittedJmp()
    {
        TypeBuilder type = NewType(AssemblyBuilderAccess.RunAndCollect);
        MethodBuilder method = NewMethod(type, "Jump", typeof(int), typeof(int));
        ILGenerator il = method.GetILGenerator();
        EmitMark(il);
        il.Emit(OpCodes.Jmp, typeof(Program).GetMethod(nameof(Target)));
        var jump = type.CreateType().GetMethod("Jump").CreateDelegate<Func<int, int>>();
        for (int i = 0; i < 3; i++)
            Check(jump(i) == i + 1);
        try
        {
            jump(-1);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Wide(int n, long a, long b, long c, long d, long e, long f, long g, long h, object o)
    {
        Several();
        Keep(o);
        if (n < 0)
            Throw(n);
        return n + (int)(a + b + c + d + e + f + g + h);
    }

    static void EmitTail(ILGenerator il, bool wide)
    {
        EmitMark(il);
        il.Emit(OpCodes.Ldarg_0);
        if (wide)
        {
            for (int i = 0; i < 8; i++)
                il.Emit(OpCodes.Ldc_I8, 1L);
            il.Emit(OpCodes.Ldnull);
        }
        il.Emit(OpCodes.Tailcall);
        il.Emit(OpCodes.Call, typeof(Program).GetMethod(wide ? nameof(Wide) : nameof(Target)));
        il.Emit(OpCodes.Ret);
    }

    static Func<int, int> Tail(bool wide)
    {
        TypeBuilder type = NewType(AssemblyBuilderAccess.RunAndCollect);
        EmitTail(NewMethod(type, "Tail", typeof(int), typeof(int)).GetILGenerator(), wide);
        return type.CreateType().GetMethod("Tail").CreateDelegate<Func<int, int>>();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void EmittedTail()
    {
        Check(Tail(false)(1) == 2);
        Check(Tail(true)(1) == 9);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void EmittedTailThrows()
    {
        foreach (bool wide in new[] { false, true })
            try
            {
                Tail(wide)(-1);
                Check(false);
            }
            catch (TestException) when (Accept(true))
            {
                Several();
            }
    }

    public abstract class Virtual
    {
        public abstract int Go(int n, long a, long b, long c, long d, long e, long f, long g);
    }

    public sealed class Real : Virtual
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public override int Go(int n, long a, long b, long c, long d, long e, long f, long g)
        {
            Several();
            if (n < 0)
                Throw(n);
            return n + (int)g;
        }
    }

    /* Tail calls through a virtual slot, with more arguments than the caller's, and through a pointer. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void EmittedTailIndirect()
    {
        TypeBuilder type = NewType(AssemblyBuilderAccess.RunAndCollect);
        ILGenerator il = NewMethod(type, "Virtual", typeof(int), typeof(Virtual), typeof(int)).GetILGenerator();
        EmitMark(il);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldarg_1);
        for (int i = 0; i < 7; i++)
            il.Emit(OpCodes.Ldc_I8, (long)i);
        il.Emit(OpCodes.Tailcall);
        il.Emit(OpCodes.Callvirt, typeof(Virtual).GetMethod(nameof(Virtual.Go)));
        il.Emit(OpCodes.Ret);
        il = NewMethod(type, "Pointer", typeof(int), typeof(int)).GetILGenerator();
        EmitMark(il);
        il.Emit(OpCodes.Ldarg_0);
        il.Emit(OpCodes.Ldftn, typeof(Program).GetMethod(nameof(Target)));
        il.Emit(OpCodes.Tailcall);
        il.EmitCalli(OpCodes.Calli, CallingConventions.Standard, typeof(int), new[] { typeof(int) }, null);
        il.Emit(OpCodes.Ret);
        Type made = type.CreateType();
        var byVirtual = made.GetMethod("Virtual").CreateDelegate<Func<Virtual, int, int>>();
        var byPointer = made.GetMethod("Pointer").CreateDelegate<Func<int, int>>();
        Check(byVirtual(new Real(), 3) == 9);
        Check(byPointer(3) == 4);
        for (int i = 0; i < 2; i++)
            try
            {
                if (i == 0)
                    byVirtual(new Real(), -2);
                else
                    byPointer(-3);
                Check(false);
            }
            catch (TestException)
            {
                Several();
            }
    }

    /* IL may throw objects that are not exceptions; here they arrive wrapped. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void EmittedThrowString()
    {
        TypeBuilder type = NewType(AssemblyBuilderAccess.RunAndCollect);
        ILGenerator il = NewMethod(type, "ThrowString", typeof(void)).GetILGenerator();
        il.Emit(OpCodes.Ldstr, "thrown");
        il.Emit(OpCodes.Throw);
        var call = type.CreateType().GetMethod("ThrowString").CreateDelegate<Action>();
        try
        {
            call();
            Check(false);
        }
        catch (RuntimeWrappedException e)
        {
            Check((string)e.WrappedException == "thrown");
            Several();
        }
    }

    /* ---- what the class library makes ---- */

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Regexes()
    {
        var regex = new Regex(@"(?<word>\w+)@(?<host>[a-z.]+)" + (modules % 3), RegexOptions.Compiled);
        string text = regex.Replace("one@a.b" + (modules % 3) + " two", m =>
        {
            Callee();
            return m.Groups["host"].Value;
        });
        Check(text == "a.b two");
        try
        {
            Keep(new Regex("(unclosed"));
            Check(false);
        }
        catch (RegexParseException)
        {
            Several();
        }
    }

    public sealed class Late
    {
        public int Add(int a, int b)
        {
            Callee();
            return a + b;
        }

        public int Fail(int a)
        {
            Throw(a);
            return a;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DynamicKeyword()
    {
        dynamic late = new Late();
        Check(late.Add(1, 2) == 3);
        try
        {
            late.Fail(4);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
        try
        {
            late.Missing();
            Check(false);
        }
        catch (Microsoft.CSharp.RuntimeBinder.RuntimeBinderException)
        {
            Several();
        }
    }
}
