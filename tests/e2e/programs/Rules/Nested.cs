// While the first pass of an exception runs, code without hooks throws and catches another one: a handler of
// FirstChanceException or a filter in a DynamicMethod, and, with `--only 'Torture.*'`, one of the namespace Elsewhere. What
// the outer exception had told until then goes on to hold.
using System;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using static Torture.Cases;
using static Torture.Sink;

namespace Torture
{
    public static class Nested
    {
        public static readonly (string, Action)[] All =
        {
            ("handler-dynamic*", () => Under(dynamicHandler)),
            ("handler-dynamic-deep*", () => Under(deepHandler)),
            ("handler-dynamic-calls*", () => Under(callingHandler)),
            ("handler-dynamic-and-own*", () => Under(dynamicHandler, OnFirstChance)),
            ("handler-own-and-dynamic*", () => Under(OnFirstChance, dynamicHandler)),
            ("handler-in-handler*", () => Under(nestingHandler)),
            ("handler-elsewhere*", () => Under(Elsewhere.Log.OnFirstChance)),
            ("handler-elsewhere-deep*", () => Under(Elsewhere.Log.OnFirstChanceDeep)),
            ("handler-elsewhere-calls*", () => Under(Elsewhere.Log.OnFirstChanceCalls)),
            ("handler-elsewhere-nested*", () => Under(Elsewhere.Log.OnFirstChanceNested)),
            ("handler-elsewhere-and-own*", () => Under(Elsewhere.Log.OnFirstChance, OnFirstChance)),
            ("handler-both*", () => Under(Elsewhere.Log.OnFirstChance, dynamicHandler)),
            ("filter-dynamic*", () => Filtered(filterCatches)),
            ("filter-dynamic-twice*", () => Filtered(filterCatchesTwice)),
            ("filter-dynamic-swallows*", () => Filtered(filterThrows)),
            ("filter-dynamic-calls*", () => Filtered(filterCalls)),
            ("filter-elsewhere*", () => Filtered(Elsewhere.Log.Filtered)),
            ("filter-under-handler*", () => Under(dynamicHandler, () => Filtered(filterCatches))),
            ("caught-again*", CaughtAgain),
            ("caught-then-out*", () => CaughtThenOut(OutThere, InvokeOutThere)),
            ("caught-then-out-deep*", () => CaughtThenOut(OutDeep, InvokeOutDeep)),
            ("mixer-nested*", Mixed),
        };

        public static readonly TestException ready = new TestException(1);
        public static readonly OtherException other = new OtherException(2);
        public static object slot; // `slot = new Mark(n)`: an allocation, and no call before it is reported
        static readonly Catcher catcher = new Catcher();

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Throw(int n)
        {
            if (n > 0)
                Throw(n - 1);
            throw ready;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static void Alloc(int n) => slot = new Mark(n);

        static readonly Action<int> throwIt = Throw, alloc = Alloc, outOfCatch = OutOfCatch, caughtBelow = CaughtBelow;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static bool Accept(bool answer)
        {
            slot = new Mark(1);
            return answer;
        }

        /* ---- what is thrown ---- */

        static readonly MethodInfo throwMethod = Method(nameof(Throw)), outOfCatchMethod = Method(nameof(OutOfCatch));

        static MethodInfo Method(string name) =>
            typeof(Nested).GetMethod(name, BindingFlags.NonPublic | BindingFlags.Public | BindingFlags.Static);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Invoke(MethodInfo method, int n) =>
            method.Invoke(null, BindingFlags.DoNotWrapExceptions, null, new object[] { n }, null);

        static void InvokeThrow(int n) => Invoke(throwMethod, n);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void OutOfCatch(int n)
        {
            try
            {
                throw ready;
            }
            catch (TestException)
            {
                if (n > 0)
                    OutOfCatch(n - 1);
                throw ready;
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void CaughtBelow(int n)
        {
            try
            {
                Throw(n);
            }
            catch (TestException) when (Accept(false))
            {
                Check(false);
            }
            finally
            {
                slot = new Mark(n);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void CaughtHere(Action<int> body, int n)
        {
            try
            {
                body(n);
                Check(false);
            }
            catch (TestException)
            {
                slot = new Mark(n);
            }
            slot = new Mark(n);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void CaughtWhen(Action<int> body, int n)
        {
            try
            {
                body(n);
                Check(false);
            }
            catch (TestException) when (Accept(true))
            {
                slot = new Mark(n);
                Alloc(n);
            }
            slot = new Mark(n);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Null(int n)
        {
            string nothing = n < 0 ? "" : null;
            try
            {
                slot = nothing.Length;
            }
            catch (NullReferenceException)
            {
                slot = new Mark(n);
            }
            slot = new Mark(n);
        }

        /* By hooked code, by code without metadata, out of native code, out of handlers; each frame looked at afterwards. */
        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Several(int n)
        {
            foreach (Action<int> body in new[] { throwIt, caughtBelow, outOfCatch, InvokeThrow })
            {
                CaughtHere(body, n);
                CaughtWhen(body, n);
                catcher.Quiet(body, n);
                slot = new Mark(n);
                catcher.Handled(body, alloc, n);
                slot = new Mark(n);
                try
                {
                    catcher.Finally(body, alloc, n);
                }
                catch (TestException) when (Accept(true))
                {
                    slot = new Mark(n);
                }
                catcher.Then(body, alloc, n);
                slot = new Mark(n);
            }
            CaughtWhen(InvokeOut, n);
            Null(n);
            slot = new Mark(n);
        }

        static void InvokeOut(int n) => Invoke(outOfCatchMethod, n);

        /* ---- handlers ---- */

        static void Under(EventHandler<FirstChanceExceptionEventArgs> handler) => Under(handler, () => Several(2));

        static void Under(EventHandler<FirstChanceExceptionEventArgs> handler, EventHandler<FirstChanceExceptionEventArgs> another)
        {
            AppDomain.CurrentDomain.FirstChanceException += handler;
            Under(another);
            AppDomain.CurrentDomain.FirstChanceException -= handler;
            slot = new Mark(8);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Under(EventHandler<FirstChanceExceptionEventArgs> handler, Action body)
        {
            AppDomain.CurrentDomain.FirstChanceException += handler;
            body();
            slot = new Mark(6);
            AppDomain.CurrentDomain.FirstChanceException -= handler;
            slot = new Mark(7);
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void OnFirstChance(object sender, FirstChanceExceptionEventArgs e)
        {
            slot = new Mark(1);
            if (e.Exception is OtherException)
                return;
            try
            {
                throw other;
            }
            catch (OtherException)
            {
                slot = new Mark(2);
            }
            slot = new Mark(3);
        }

        static readonly FieldInfo otherField = typeof(Nested).GetField(nameof(other)),
            depthField = typeof(Nested).GetField(nameof(depth));
        static readonly MethodInfo allocMethod = Method(nameof(Alloc));
        static readonly ConstructorInfo mark = typeof(Mark).GetConstructor(new[] { typeof(long) });
        public static int depth;


        static DynamicMethod New(string name, Type result, params Type[] arguments) =>
            new DynamicMethod(name, result, arguments, typeof(Nested).Module, true);

        static void EmitThrow(ILGenerator il)
        {
            il.Emit(OpCodes.Ldsfld, otherField);
            il.Emit(OpCodes.Throw);
        }

        static void EmitMark(ILGenerator il)
        {
            il.Emit(OpCodes.Ldc_I8, 7L);
            il.Emit(OpCodes.Newobj, mark);
            il.Emit(OpCodes.Stsfld, typeof(Nested).GetField(nameof(slot)));
        }

        static void EmitAlloc(ILGenerator il)
        {
            il.Emit(OpCodes.Ldc_I4_1);
            il.Emit(OpCodes.Call, allocMethod);
        }

        static void EmitCaught(ILGenerator il, Action body)
        {
            il.BeginExceptionBlock();
            body();
            il.BeginCatchBlock(typeof(OtherException));
            il.Emit(OpCodes.Pop);
            il.EndExceptionBlock();
        }

        /* Throws, and nothing of it is hooked. */
        static readonly DynamicMethod thrower = Thrower();

        static DynamicMethod Thrower()
        {
            DynamicMethod method = New("Thrower", typeof(void));
            EmitThrow(method.GetILGenerator());
            method.CreateDelegate(typeof(Action));
            return method;
        }

        /* Throws and catches, `times`; calls hooked code between if `calls`. */
        static DynamicMethod Catches(string name, int times, bool calls, bool deep)
        {
            DynamicMethod method = New(name, typeof(void));
            ILGenerator il = method.GetILGenerator();
            for (int i = 0; i < times; i++)
            {
                EmitCaught(il, () =>
                {
                    if (deep)
                        il.Emit(OpCodes.Call, thrower);
                    else
                        EmitThrow(il);
                });
                EmitMark(il);
                if (calls)
                    EmitAlloc(il);
            }
            il.Emit(OpCodes.Ret);
            method.CreateDelegate(typeof(Action));
            return method;
        }

        /* A handler that leaves OtherException alone, but for `nested` levels. */
        static EventHandler<FirstChanceExceptionEventArgs> Handler(string name, int nested, Action<ILGenerator> body)
        {
            DynamicMethod method = New(name, typeof(void), typeof(object), typeof(FirstChanceExceptionEventArgs));
            ILGenerator il = method.GetILGenerator();
            Label end = il.DefineLabel();
            il.Emit(OpCodes.Ldsfld, depthField);
            il.Emit(OpCodes.Ldc_I4, nested);
            il.Emit(OpCodes.Bgt, end);
            EmitDepth(il, 1);
            body(il);
            EmitDepth(il, -1);
            il.MarkLabel(end);
            il.Emit(OpCodes.Ret);
            return method.CreateDelegate<EventHandler<FirstChanceExceptionEventArgs>>();
        }

        static void EmitDepth(ILGenerator il, int by)
        {
            il.Emit(OpCodes.Ldsfld, depthField);
            il.Emit(OpCodes.Ldc_I4, by);
            il.Emit(OpCodes.Add);
            il.Emit(OpCodes.Stsfld, depthField);
        }

        static readonly EventHandler<FirstChanceExceptionEventArgs>
            dynamicHandler = Handler("Handler", 0, il => EmitCaught(il, () => EmitThrow(il))),
            deepHandler = Handler("DeepHandler", 0, il =>
            {
                EmitMark(il);
                il.Emit(OpCodes.Call, Catches("DeepCatches", 2, false, true));
                EmitMark(il);
            }),
            callingHandler = Handler("CallingHandler", 0, il =>
            {
                EmitAlloc(il);
                il.Emit(OpCodes.Call, Catches("CallingCatches", 3, true, true));
                EmitAlloc(il);
                EmitCaught(il, () => EmitThrow(il));
            }),
            nestingHandler = Handler("NestingHandler", 2, il =>
            {
                EmitCaught(il, () => il.Emit(OpCodes.Call, thrower));
                EmitMark(il);
                EmitCaught(il, () => EmitThrow(il));
            });

        static int mixed;

        /* Random nestings under each of the handlers in turn, and under one of our own besides. */
        static void Mixed()
        {
            var handlers = new[] { dynamicHandler, deepHandler, callingHandler, nestingHandler, Elsewhere.Log.OnFirstChance,
                                   Elsewhere.Log.OnFirstChanceDeep, Elsewhere.Log.OnFirstChanceCalls };
            EventHandler<FirstChanceExceptionEventArgs> handler = handlers[mixed % handlers.Length];
            AppDomain.CurrentDomain.FirstChanceException += handler;
            Mixer.Run(mixed / handlers.Length % 2 == 1);
            AppDomain.CurrentDomain.FirstChanceException -= handler;
            mixed++;
        }

        /* ---- filters ---- */

        /* A filter in a DynamicMethod that says no to everything that `body` throws, after `asked`. */
        static Action<Action<int>, int> Filter(string name, Action<ILGenerator> asked, bool answer)
        {
            DynamicMethod method = New(name, typeof(void), typeof(Action<int>), typeof(int));
            ILGenerator il = method.GetILGenerator();
            il.BeginExceptionBlock();
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldarg_1);
            il.Emit(OpCodes.Callvirt, typeof(Action<int>).GetMethod("Invoke"));
            il.BeginExceptFilterBlock();
            il.Emit(OpCodes.Pop);
            asked(il);
            il.Emit(answer ? OpCodes.Ldc_I4_1 : OpCodes.Ldc_I4_0);
            il.BeginCatchBlock(null);
            il.Emit(OpCodes.Pop);
            il.EndExceptionBlock();
            il.Emit(OpCodes.Ret);
            return method.CreateDelegate<Action<Action<int>, int>>();
        }

        static Action<Action<int>, int>[] Filters(string name, Action<ILGenerator> asked) =>
            new[] { Filter(name, asked, false), Filter(name + "Yes", asked, true) };

        static readonly Action<Action<int>, int>[]
            filterCatches = Filters("FilterCatches", il => il.Emit(OpCodes.Call, Catches("Once", 1, false, false))),
            filterCatchesTwice = Filters("FilterCatchesTwice", il =>
            {
                il.Emit(OpCodes.Call, Catches("Twice", 2, false, true));
                EmitMark(il);
                il.Emit(OpCodes.Call, Catches("Again", 1, false, false));
            }),
            filterThrows = Filters("FilterThrows", il => il.Emit(OpCodes.Call, thrower)),
            filterCalls = Filters("FilterCalls", il =>
            {
                EmitAlloc(il);
                il.Emit(OpCodes.Call, Catches("Calls", 2, true, true));
                EmitAlloc(il);
            });

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Filtered(params Action<Action<int>, int>[] filters)
        {
            foreach (Action<Action<int>, int> filter in filters)
                for (int n = 0; n < 3; n += 2)
                    foreach (Action<int> body in new[] { throwIt, caughtBelow, outOfCatch, InvokeThrow })
                    {
                        try
                        {
                            filter(body, n);
                        }
                        catch (TestException) when (Accept(true))
                        {
                            slot = new Mark(n);
                        }
                        slot = new Mark(n);
                        catcher.Quiet(m => filter(body, m), n);
                        slot = new Mark(n);
                        try
                        {
                            catcher.Finally(m => filter(body, m), alloc, n);
                        }
                        catch (TestException)
                        {
                            slot = new Mark(n);
                        }
                    }
            slot = new Mark(9);
        }

        /* ---- one after the other, and none inside of another ---- */

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void CaughtAgain()
        {
            Action again = Catches("CatchesAgain", 5, false, true).CreateDelegate<Action>(),
                calls = Catches("CatchesAndCalls", 5, true, true).CreateDelegate<Action>();
            for (int i = 0; i < 3; i++)
            {
                again();
                slot = new Mark(i);
                calls();
                slot = new Mark(i);
            }
        }

        /* The first is caught without a word by the frame that then lets a second one out. */
        static readonly Action thenOut = ThenOut();

        static Action ThenOut()
        {
            DynamicMethod method = New("ThenOut", typeof(void));
            ILGenerator il = method.GetILGenerator();
            EmitCaught(il, () => EmitThrow(il));
            EmitCaught(il, () => il.Emit(OpCodes.Call, thrower));
            EmitThrow(il);
            return method.CreateDelegate<Action>();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void OutThere(int n)
        {
            if (n > 0)
                OutThere(n - 1);
            thenOut();
        }

        static void InvokeOutThere(int n) => Invoke(Method(nameof(OutThere)), n);

        /* The second comes from further down than the search for the first ever was. */
        static readonly Action deepOut = DeepOut();

        static Action DeepOut()
        {
            DynamicMethod deep = New("Deep", typeof(int), typeof(int)), method = New("DeepOut", typeof(void));
            ILGenerator il = deep.GetILGenerator();
            Label more = il.DefineLabel();
            for (int i = 0; i < 100; i++)
                il.Emit(OpCodes.Nop); /* of a larger method the compiler keeps the frame pointer */
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Brtrue, more);
            EmitThrow(il);
            il.MarkLabel(more);
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Ldc_I4_1);
            il.Emit(OpCodes.Sub);
            il.Emit(OpCodes.Call, deep);
            il.Emit(OpCodes.Ldarg_0);
            il.Emit(OpCodes.Add);
            il.Emit(OpCodes.Ret);
            deep.CreateDelegate(typeof(Func<int, int>));
            il = method.GetILGenerator();
            EmitCaught(il, () => EmitThrow(il));
            il.Emit(OpCodes.Ldc_I4, 1000);
            il.Emit(OpCodes.Call, deep);
            il.Emit(OpCodes.Pop);
            il.Emit(OpCodes.Ret);
            return method.CreateDelegate<Action>();
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void OutDeep(int n)
        {
            if (n > 0)
                OutDeep(n - 1);
            deepOut();
        }

        static void InvokeOutDeep(int n) => Invoke(Method(nameof(OutDeep)), n);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void CaughtThenOut(params Action<int>[] bodies)
        {
            for (int n = 0; n < 3; n++)
                foreach (Action<int> body in bodies)
                {
                    CaughtHere(body, n);
                    CaughtWhen(body, n);
                    catcher.Quiet(body, n);
                    slot = new Mark(n);
                    catcher.Handled(body, alloc, n);
                    slot = new Mark(n);
                }
        }
    }
}

// What a library does that knows nothing of its user.
namespace Elsewhere
{
    public static class Log
    {
        [ThreadStatic] static int inside;

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Deep(int n)
        {
            if (n > 0)
                Deep(n - 1);
            throw Torture.Nested.other;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Caught(int n)
        {
            try
            {
                Deep(n);
            }
            catch (Torture.OtherException) when (n >= 0)
            {
                Torture.Nested.slot = n;
            }
            finally
            {
                Torture.Nested.slot = n;
            }
        }

        public static void OnFirstChance(object sender, FirstChanceExceptionEventArgs e)
        {
            if (inside > 0)
                return;
            inside++;
            try
            {
                Torture.Nested.slot = int.Parse("no number");
            }
            catch (FormatException)
            {
                Torture.Nested.slot = 1;
            }
            inside--;
        }

        public static void OnFirstChanceDeep(object sender, FirstChanceExceptionEventArgs e)
        {
            if (inside > 0)
                return;
            inside++;
            for (int n = 0; n < 3; n++)
                Caught(n);
            inside--;
        }

        /* The user's code is called between, and below what is thrown. */
        public static void OnFirstChanceCalls(object sender, FirstChanceExceptionEventArgs e)
        {
            if (inside > 0)
                return;
            inside++;
            Caught(1);
            Torture.Nested.Alloc(1);
            Caught(2);
            try
            {
                Torture.Nested.Throw(2);
            }
            catch (Torture.TestException)
            {
                Caught(0);
                Torture.Nested.Alloc(1);
            }
            Caught(1);
            inside--;
        }

        public static void OnFirstChanceNested(object sender, FirstChanceExceptionEventArgs e)
        {
            if (inside > 2)
                return;
            inside++;
            Caught(inside);
            Torture.Nested.slot = 1;
            Caught(0);
            inside--;
        }

        public static void Filtered(Action<int> body, int n)
        {
            try
            {
                body(n);
            }
            catch (Exception) when (Asked(n))
            {
                Torture.Nested.Alloc(n);
            }
            catch (Torture.TestException) when (n == 2)
            {
                Caught(n);
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static bool Asked(int n)
        {
            Caught(n);
            if (n == 1)
                Deep(0); /* swallowed: no */
            return false;
        }
    }
}
