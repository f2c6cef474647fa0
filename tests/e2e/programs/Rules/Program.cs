// For each rule of the shadow stack a case that comes out wrong without it (tests/e2e/test_negative.py), and cases of
// what runtime versions report wrongly or not at all. Frames are left by exceptions that code without metadata
// (DynamicMethod) or the runtime itself catches; what follows calls nothing that would mend the stack by chance.
using System;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using static Torture.Cases;
using static Torture.Sink;

namespace Torture;

static class Program
{
    static int Main(string[] args)
    {
        // Reflection goes through the runtime's own frames every time, not only the first.
        AppContext.SetSwitch("Switch.System.Reflection.ForceInterpretedInvoke", true);
        return Run(args, Nested.All.Concat(new (string, Action)[] {
            ("caught-then-alloc", CaughtThenAlloc),
            ("caught-then-leave", CaughtThenLeave),
            ("caught-then-call", CaughtThenCall),
            ("caught-then-throw", CaughtThenThrow),
            ("caught-and-call", () => CaughtAndCall(0)),
            ("caught-and-call-deep", () => CaughtAndCall(20)),
            ("finally-calls", FinallyCalls),
            ("out-of-native", OutOfNative),
            ("out-of-native-swallowed", OutOfNativeSwallowed),
            ("caught-beyond-native", CaughtBeyondNative),
            ("recursion-out-of-native", RecursionOutOfNative),
            ("recursion-out-of-native-twice", RecursionOutOfNativeTwice),
            ("recursion-filtered-out-of-native", RecursionFilteredOutOfNative),
            ("recursion-caught", RecursionCaught),
            ("recursion-caught-then-call", RecursionCaughtThenCall),
            ("recursion-caught-then-throw", RecursionCaughtThenThrow),
            ("recursion-through-finally", RecursionThroughFinally),
            ("recursion-body-caught", RecursionBodyCaught),
            ("recursion-body-caught-then-call", RecursionBodyCaughtThenCall),
            ("recursion-body-out-of-native", RecursionBodyOutOfNative),
            ("same-beyond-native", SameBeyondNative),
            ("same-beyond-other", SameBeyondOther),
            ("same-around-catcher", SameAroundCatcher),
            ("same-left-out", SameLeftOut),
            ("same-left-out-of-native", SameLeftOutOfNative),
            ("same-left-out-of-filter", SameLeftOutOfFilter),
            ("initialiser-calls", InitialiserCalls),
            ("silent-out-of-native", SilentOutOfNative),
            ("first-chance", FirstChance),
            ("filter-swallows", FilterSwallows),
            ("finally-then-calls", FinallyThenCalls),
            ("finally-compiles", FinallyCompiles),
            ("finally-throws", FinallyThrows),
            ("ends-early*", EndsEarly.Run),
            ("ends-early-not*", EndsEarly.RunNot),
            ("mixer*", () => Mixer.Run(false)),
            ("mixer-first-chance*", () => Mixer.Run(true)) }).ToArray());
    }

    static readonly TestException ready = new TestException(1);
    static readonly Catcher catcher = new Catcher();
    static object slot; // `slot = new Mark(n)`: an allocation, and no call before it is reported

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw(int n)
    {
        if (n > 0)
            ThrowDeep(n - 1, 1, 2, 3);
        throw ready;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowDeep(int n, long a, long b, long c)
    {
        if (n == 0)
            throw ready;
        Throw(n - 1);
        slot = a + b + c;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Alloc(int n) => slot = new Mark(n);

    static readonly Action<int> throwIt = Throw, alloc = Alloc, outOfCatch = OutOfCatch, bodyOut = BodyOut;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Accept(bool answer)
    {
        slot = new Mark(1);
        return answer;
    }

    /* ---- caught in code without metadata ---- */

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CaughtThenAlloc()
    {
        catcher.Quiet(throwIt, 3);
        slot = new Mark(1);
        Alloc(1);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Caught(int n) => catcher.Quiet(throwIt, n);

    /* The frames that were left lie above one that returns. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CaughtThenLeave()
    {
        Caught(0);
        slot = new Mark(1);
        Caught(3);
        slot = new Mark(2);
        Alloc(1);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CaughtThenCall()
    {
        catcher.Then(throwIt, alloc, 0);
        slot = new Mark(1);
        catcher.Then(throwIt, alloc, 3);
        slot = new Mark(2);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CaughtThenThrow()
    {
        try
        {
            catcher.Replaced(throwIt, ready, 3);
        }
        catch (TestException) when (Accept(true))
        {
            slot = new Mark(1);
        }
        try
        {
            catcher.Quiet(throwIt, 2);
            throw ready;
        }
        catch (TestException) when (Accept(true))
        {
            slot = new Mark(2);
        }
    }

    /* The catch calls on, while the frames of what it caught are still below it, or partly. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CaughtAndCall(int depth)
    {
        catcher.Handled(throwIt, alloc, depth);
        slot = new Mark(1);
        for (int i = 0; i < 40; i++)
            catcher.Handled(throwIt, alloc, i);
        slot = new Mark(2);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FinallyCalls()
    {
        try
        {
            catcher.Finally(throwIt, alloc, 3);
        }
        catch (TestException)
        {
            slot = new Mark(1);
        }
        slot = new Mark(2);
    }

    /* ---- through the runtime's own frames ---- */

    static readonly MethodInfo throwMethod = Method(nameof(Throw)), outOfCatchMethod = Method(nameof(OutOfCatch)),
        bodyOutMethod = Method(nameof(BodyOut)), sameMethod = Method(nameof(Same));

    static MethodInfo Method(string name) =>
        typeof(Program).GetMethod(name, BindingFlags.NonPublic | BindingFlags.Static);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Invoke(MethodInfo method, int n) =>
        method.Invoke(null, BindingFlags.DoNotWrapExceptions, null, new object[] { n }, null);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void OutOfNative()
    {
        try
        {
            Invoke(throwMethod, 4);
        }
        catch (TestException) when (Accept(true))
        {
            slot = new Mark(1);
        }
        slot = new Mark(2);
    }

    static class Initialised<T>
    {
        static Initialised() => Throw(4);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Initialise(int n) =>
        RuntimeHelpers.RunClassConstructor(typeof(Initialised<>).MakeGenericType(Fresh.Type()).TypeHandle);

    /* The runtime catches what an initialiser throws, calls managed code to wrap it, and throws that. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InitialiserCalls()
    {
        try
        {
            Initialise(1);
        }
        catch (TypeInitializationException) when (Accept(true))
        {
            slot = new Mark(1);
        }
        catcher.Quiet(Initialise, 1);
        slot = new Mark(2);
    }

    /* Thrown in a finally, and gone into native code through frames of the same method alone: some builds report nothing. */
    [MethodImpl(MethodImplOptions.AggressiveOptimization | MethodImplOptions.NoInlining)]
    static void OutOfFinally(int n)
    {
        if (n == 0)
            throw ready;
        try
        {
            throw ready;
        }
        finally
        {
            OutOfFinally(n - 1);
        }
    }

    static class InitialisedByTailCall<T>
    {
        [MethodImpl(MethodImplOptions.AggressiveOptimization)]
        static InitialisedByTailCall() => OutOfFinally(1);
    }

    /* What the initialiser threw is caught by the runtime, which allocates before it throws again. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void SilentOutOfNative()
    {
        OutOfFinallyOnce(2);
        for (int i = 0; i < 4; i++)
            try
            {
                RuntimeHelpers.RunClassConstructor(typeof(InitialisedByTailCall<>).MakeGenericType(Fresh.Type()).TypeHandle);
            }
            catch (TypeInitializationException) when (Accept(true))
            {
                slot = new Mark(i);
            }
        slot = new Mark(1);
    }

    /* So that it is compiled, and the initialiser's call can be a jump. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void OutOfFinallyOnce(int n)
    {
        try
        {
            OutOfFinally(n);
        }
        catch (TestException)
        {
            slot = new Mark(n);
        }
    }

    static void InvokeThrow(int n) => Invoke(throwMethod, n);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void OutOfNativeSwallowed()
    {
        catcher.Handled(InvokeThrow, Initialise1, 2);
        slot = new Mark(1);
        catcher.Then(InvokeThrow, Initialise1, 2);
        slot = new Mark(2);
    }

    static void Initialise1(int n) =>
        RuntimeHelpers.RunClassConstructor(typeof(Harmless<>).MakeGenericType(Fresh.Type()).TypeHandle);

    static class Harmless<T>
    {
        static Harmless() => slot = new Mark(1);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CaughtBeyondNative()
    {
        catcher.Quiet(InvokeThrow, 2);
        slot = new Mark(1);
        catcher.Handled(InvokeThrow, alloc, 2);
        slot = new Mark(2);
    }

    /* ---- direct recursion ---- */

    /* Each level throws out of its catch what the one above threw. */
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

    /* The level above throws from its body, called by a catch: nothing of it is reported in the second pass. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void BodyOut(int n)
    {
        if (n == 0)
            throw ready;
        try
        {
            throw ready;
        }
        catch (TestException)
        {
            BodyOut(n - 1);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RecursionOutOfNative()
    {
        for (int n = 0; n < 5; n++)
            try
            {
                Invoke(outOfCatchMethod, n);
            }
            catch (TestException) when (Accept(true))
            {
                slot = new Mark(1);
            }
        slot = new Mark(2);
    }

    static void InvokeOut(int n) => Invoke(outOfCatchMethod, n);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RecursionOutOfNativeTwice()
    {
        try
        {
            Invoke(Method(nameof(InvokeOut)), 3);
        }
        catch (TestException) when (Accept(true))
        {
            slot = new Mark(1);
        }
        slot = new Mark(2);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RecursionBodyOutOfNative()
    {
        for (int n = 0; n < 5; n++)
            try
            {
                Invoke(bodyOutMethod, n);
            }
            catch (TestException) when (Accept(true))
            {
                slot = new Mark(1);
            }
        slot = new Mark(2);
    }

    /* The same with a filter in which another exception comes and goes. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FilteredOut(int n)
    {
        try
        {
            if (n == 0)
                throw ready;
            try
            {
                throw ready;
            }
            catch (TestException)
            {
                FilteredOut(n - 1);
            }
        }
        catch (TestException) when (CatchInFilter(0))
        {
            Check(false);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RecursionFilteredOutOfNative()
    {
        for (int n = 0; n < 4; n++)
            try
            {
                Invoke(Method(nameof(FilteredOut)), n);
            }
            catch (TestException) when (Accept(true))
            {
                slot = new Mark(1);
            }
        slot = new Mark(2);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RecursionCaught()
    {
        for (int n = 0; n < 4; n++)
        {
            catcher.Quiet(outOfCatch, n);
            slot = new Mark(1);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RecursionCaughtThenCall()
    {
        for (int n = 0; n < 4; n++)
        {
            catcher.Then(outOfCatch, alloc, n);
            slot = new Mark(1);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RecursionCaughtThenThrow()
    {
        for (int n = 0; n < 4; n++)
            try
            {
                catcher.Replaced(outOfCatch, ready, n);
            }
            catch (TestException) when (Accept(true))
            {
                slot = new Mark(1);
            }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RecursionThroughFinally()
    {
        for (int n = 0; n < 4; n++)
            try
            {
                catcher.Finally(outOfCatch, alloc, n);
            }
            catch (TestException)
            {
                slot = new Mark(1);
            }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RecursionBodyCaught()
    {
        for (int n = 0; n < 4; n++)
        {
            catcher.Quiet(bodyOut, n);
            slot = new Mark(1);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RecursionBodyCaughtThenCall()
    {
        for (int n = 0; n < 4; n++)
            catcher.Then(bodyOut, alloc, n);
    }

    /* ---- an older frame of a method that is reported twice ---- */

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Same(int n)
    {
        switch (n)
        {
            case 0:
                try
                {
                    throw ready;
                }
                catch (TestException)
                {
                    Throw(0);
                }
                break;
            case 1: /* native frames between */
                try
                {
                    Invoke(sameMethod, 11);
                }
                catch (TestException) when (Accept(true))
                {
                    slot = new Mark(1);
                }
                slot = new Mark(2);
                break;
            case 2: /* other methods between, and one that catches */
                catcher.Quiet(Other, 11);
                slot = new Mark(1);
                catcher.Handled(Other, alloc, 11);
                slot = new Mark(2);
                break;
            case 3: /* only the catcher between */
                catcher.Quiet(Same, 0);
                slot = new Mark(1);
                break;
            case 4: /* native frames, then the catcher between */
                Invoke(sameMethod, 5);
                slot = new Mark(1);
                break;
            case 5:
                try
                {
                    catcher.Replaced(Same, ready, 0);
                }
                catch (TestException) when (Accept(true))
                {
                    slot = new Mark(1);
                }
                slot = new Mark(2);
                break;
            case 6: /* its catch is reported last by the search, and nothing of it in the second pass */
                try
                {
                    throw ready;
                }
                catch (TestException)
                {
                    catcher.Finally(Same, alloc, 7);
                }
                break;
            case 7:
                throw ready;
            case 8: /* not direct: code without metadata lies between */
                catcher.Plain(Same, 0);
                break;
            case 9:
                Same(6);
                break;
            case 10:
                try
                {
                    throw ready;
                }
                catch (TestException)
                {
                    Same(6);
                }
                break;
            case 11: /* a finally that nothing was thrown through calls it: some builds report it once more */
                try
                {
                    Alloc(1);
                }
                finally
                {
                    Same(7);
                }
                break;
            case 12: /* its filter is what the search reports last */
                try
                {
                    throw ready;
                }
                catch (TestException) when (LeftOut(7))
                {
                    Check(false);
                }
                break;
            case 13:
                try
                {
                    throw ready;
                }
                catch (TestException) when (LeftOut(14))
                {
                    Check(false);
                }
                break;
            case 14:
                try
                {
                    throw ready;
                }
                catch (TestException) when (CatchInFilter(0))
                {
                    Check(false);
                }
                break;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Other(int n)
    {
        Same(n);
        slot = new Mark(1);
    }

    static void SameBeyondNative() => Same(1);

    static void SameBeyondOther() => Same(2);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void SameAroundCatcher()
    {
        Same(3);
        Same(4);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void SameLeftOut()
    {
        catcher.Quiet(Same, 6);
        slot = new Mark(1);
        catcher.Quiet(Same, 9);
        slot = new Mark(2);
        catcher.Quiet(Same, 10);
        slot = new Mark(3);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool LeftOut(int n)
    {
        catcher.Finally(Same, alloc, n);
        return true;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void SameLeftOutOfFilter()
    {
        for (int n = 12; n < 14; n++)
            try
            {
                Same(n);
            }
            catch (TestException) when (Accept(true))
            {
                slot = new Mark(1);
            }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void SameLeftOutOfNative()
    {
        try
        {
            Invoke(sameMethod, 8);
        }
        catch (TestException) when (Accept(true))
        {
            slot = new Mark(1);
        }
        slot = new Mark(2);
    }

    /* ---- while the search goes on ---- */

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void OnFirstChance(object sender, System.Runtime.ExceptionServices.FirstChanceExceptionEventArgs e)
    {
        slot = new Mark(1);
        if (e.Exception is OtherException)
            return;
        try
        {
            throw new OtherException(1);
        }
        catch (OtherException)
        {
            slot = new Mark(2);
        }
        slot = new Mark(3);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FirstChance()
    {
        AppDomain.CurrentDomain.FirstChanceException += OnFirstChance;
        catcher.Quiet(throwIt, 3);
        slot = new Mark(4);
        OutOfNative();
        RecursionOutOfNative();
        RecursionBodyOutOfNative();
        RecursionCaught();
        try
        {
            Throw(2);
        }
        catch (TestException) when (Accept(true))
        {
            slot = new Mark(5);
        }
        AppDomain.CurrentDomain.FirstChanceException -= OnFirstChance;
        slot = new Mark(6);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool ThrowInFilter(int n)
    {
        slot = new Mark(n);
        Throw(n);
        return true;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool CatchInFilter(int n)
    {
        catcher.Quiet(throwIt, n);
        try
        {
            Throw(n);
        }
        catch (TestException)
        {
            slot = new Mark(n);
        }
        return false;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InFilters(int n)
    {
        try
        {
            Throw(n);
        }
        catch (TestException) when (ThrowInFilter(n))
        {
            Check(false);
        }
        catch (TestException) when (CatchInFilter(n))
        {
            Check(false);
        }
        finally
        {
            slot = new Mark(n);
        }
    }

    static void InvokeInFilters(int n) => Invoke(Method(nameof(InFilters)), n);

    /* What a filter threw and nobody but the runtime caught; then the search goes on where it was. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FilterSwallows()
    {
        for (int n = 0; n < 3; n++)
        {
            try
            {
                InFilters(n);
            }
            catch (TestException) when (Accept(true))
            {
                slot = new Mark(n);
            }
            catcher.Handled(InFilters, alloc, n);
            try
            {
                InvokeInFilters(n);
            }
            catch (TestException) when (Accept(true))
            {
                slot = new Mark(n);
            }
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void WithFinally(int n)
    {
        try
        {
            Throw(n);
        }
        finally
        {
            slot = new Mark(n);
        }
    }

    /* A finally of our own is left and its method with it; a finally without metadata is left, and nobody was there. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FinallyThenCalls()
    {
        catcher.Quiet(WithFinally, 1);
        slot = new Mark(1);
        catcher.Handled(WithFinally, alloc, 1);
        slot = new Mark(2);
        try
        {
            catcher.Finally(WithFinally, alloc, 1);
        }
        catch (TestException) when (Accept(true))
        {
            slot = new Mark(3);
        }
        catcher.Quiet(InFinally, 1);
        slot = new Mark(4);
    }

    /* ---- a finally without metadata, while the search has found nobody that it names ---- */

    /* Compiled when the finally calls it, and compiling makes the object of its literal. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CompiledInFinally(int n)
    {
        slot = "made as the method is compiled";
        slot = new Mark(n);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CompiledInFinallyThrows(int n)
    {
        slot = "made as the method that throws is compiled";
        Throw(n);
        slot = new Mark(n); /* or the literal would be made when it is needed */
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThroughFinally(int n)
    {
        catcher.Finally(throwIt, CompiledInFinally, n);
        slot = new Mark(n);
    }

    /* What is allocated between cuts what was unwound, and nothing that the search passed. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FinallyCompiles()
    {
        catcher.Quiet(ThroughFinally, 3);
        slot = new Mark(1);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowsInFinally(int n)
    {
        catcher.Finally(throwIt, CompiledInFinallyThrows, n);
        slot = new Mark(n);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void BelowThrowsInFinally(int n)
    {
        try
        {
            ThrowsInFinally(n);
        }
        finally
        {
            slot = new Mark(n);
        }
    }

    /* The second exception takes the place of the first, which never goes on. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FinallyThrows()
    {
        catcher.Quiet(BelowThrowsInFinally, 3);
        slot = new Mark(1);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InFinally(int n)
    {
        catcher.Finally(throwIt, alloc, n);
        slot = new Mark(5);
    }
}
