// Exceptions that are nested, thrown again, thrown and swallowed inside handlers, and unwinds that collide.
// Every region of interest (try, catch, finally, filter, after the catch, callees of each) allocates.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using static Torture.Cases;
using static Torture.Sink;

namespace Torture;

static class Program
{
    static int Main(string[] args) => Run(args,
        ("simple", Simple),
        ("deep", () => Deep(40)),
        ("nested", Nested),
        ("rethrow", Rethrow),
        ("rethrow-deep", RethrowDeep),
        ("throw-again", ThrowAgain),
        ("dispatch-info", DispatchInfo),
        ("catch-throws", CatchThrows),
        ("catch-swallows", CatchSwallows),
        ("catch-returns", CatchReturns),
        ("finally-normal", FinallyNormal),
        ("finally-unwinding", FinallyUnwinding),
        ("finally-swallows", FinallySwallows),
        ("finally-replaces", FinallyReplaces),
        ("finally-chain", FinallyChain),
        ("collided-catch", CollidedCatch),
        ("collided-twice", CollidedTwice),
        ("collided-deep", () => Check(CollidedDeep(12) == 12)),
        ("filter", Filter),
        ("filter-throws", FilterThrows),
        ("filter-throws-deep", FilterThrowsDeep),
        ("filter-swallows", FilterSwallows),
        ("filter-chain", FilterChain),
        ("filter-nested", FilterNested),
        ("filter-in-finally", FilterInFinally),
        ("filter-unwinds", FilterUnwinds),
        ("filter-recursion", () => Check(FilterRecursion(8) == 8)),
        ("recursion-catch", () => Check(RecursionCatch(10) == 10)),
        ("recursion-finally", RecursionFinally),
        ("recursion-in-catch", () => Check(RecursionInCatch(8) == 8)),
        ("recursion-in-finally", () => RecursionInFinally(6)),
        ("recursion-out-of-catch", RecursionOutOfCatch),
        ("recursion-out-of-finally", RecursionOutOfFinally),
        ("recursion-out-of-filter", RecursionOutOfFilter),
        ("generic-frames", GenericFrames),
        ("catch-type-of-generic", CatchTypeOfGeneric),
        ("struct-methods", StructMethods),
        ("lambda", Lambda),
        ("loop", Loop),
        ("goto-out", GotoOut),
        ("using", Using),
        ("lock", Lock),
        ("same-object-twice", SameObjectTwice),
        ("stack-trace", StackTrace),
        ("first-chance-handler", FirstChance),
        ("inner-exceptions", InnerExceptions),
        ("constructor", Constructor));

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw(int code)
    {
        Callee();
        throw new TestException(code);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowOther(int code)
    {
        Callee();
        throw new OtherException(code);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Accept(bool answer)
    {
        Several();
        return answer;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Simple()
    {
        try
        {
            Several();
            Throw(1);
        }
        catch (TestException e)
        {
            Check(e.Code == 1);
            Several();
        }
        Several();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Descend(int depth)
    {
        Callee();
        if (depth == 0)
            Throw(depth);
        Descend(depth - 1);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Deep(int depth)
    {
        try
        {
            Descend(depth);
        }
        catch (TestException)
        {
            Several();
        }
        Several();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Nested()
    {
        try
        {
            try
            {
                try
                {
                    ThrowOther(1);
                }
                finally
                {
                    Several();
                }
            }
            catch (OtherException e) when (Accept(e.Code == 2))
            {
                Check(false);
            }
            catch (OtherException)
            {
                Several();
                throw new TestException(3);
            }
            finally
            {
                Several();
            }
        }
        catch (TestException e)
        {
            Check(e.Code == 3);
            Several();
        }
        Several();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RethrowOnce(int code)
    {
        try
        {
            Throw(code);
        }
        catch (TestException)
        {
            Several();
            throw;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Rethrow()
    {
        try
        {
            RethrowOnce(5);
        }
        catch (TestException e)
        {
            Check(e.Code == 5);
            Several();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RethrowLevel(int depth)
    {
        try
        {
            if (depth == 0)
                Throw(7);
            else
                RethrowLevel(depth - 1);
        }
        catch (TestException) when (Accept(depth % 3 != 2))
        {
            Callee();
            throw;
        }
        finally
        {
            Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RethrowDeep()
    {
        try
        {
            RethrowLevel(12);
        }
        catch (TestException e)
        {
            Check(e.Code == 7);
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowAgainLevel(int depth)
    {
        try
        {
            if (depth == 0)
                Throw(0);
            ThrowAgainLevel(depth - 1);
        }
        catch (TestException e)
        {
            Callee();
            throw new TestException(e.Code + 1);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowAgain()
    {
        try
        {
            ThrowAgainLevel(9);
        }
        catch (TestException e)
        {
            Check(e.Code == 10);
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DispatchInfo()
    {
        ExceptionDispatchInfo info = null;
        try
        {
            Throw(4);
        }
        catch (TestException e)
        {
            Several();
            info = ExceptionDispatchInfo.Capture(e);
        }
        try
        {
            Several();
            info.Throw();
        }
        catch (TestException e)
        {
            Check(e.Code == 4);
            Several();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CatchThrows()
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
                ThrowOther(2);
            }
        }
        catch (OtherException e)
        {
            Check(e.Code == 2);
            Several();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CatchSwallows()
    {
        try
        {
            Throw(1);
        }
        catch (TestException)
        {
            Several();
            Simple();
            Several();
            try
            {
                ThrowOther(2);
            }
            catch (OtherException)
            {
                Several();
                try
                {
                    Throw(3);
                }
                catch (TestException)
                {
                    Several();
                }
                Callee();
            }
            finally
            {
                Several();
            }
            Several();
        }
        Several();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int ReturnFromCatch(int n)
    {
        try
        {
            try
            {
                Throw(n);
                return -1;
            }
            catch (TestException e)
            {
                Several();
                return e.Code;
            }
            finally
            {
                Several();
            }
        }
        finally
        {
            Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CatchReturns()
    {
        Check(ReturnFromCatch(11) == 11);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FinallyNormal()
    {
        try
        {
            Several();
        }
        finally
        {
            Several();
            try
            {
                Callee();
            }
            finally
            {
                Several();
            }
        }
        Several();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void WithFinally(int depth)
    {
        try
        {
            Callee();
            if (depth == 0)
                Throw(6);
            WithFinally(depth - 1);
        }
        finally
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FinallyUnwinding()
    {
        try
        {
            WithFinally(10);
        }
        catch (TestException)
        {
            Several();
        }
        Several();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void SwallowInFinally(int depth)
    {
        try
        {
            Throw(1);
        }
        finally
        {
            Several();
            try
            {
                WithFinally(depth);
            }
            catch (TestException e) when (Accept(e.Code == 6))
            {
                Several();
            }
            Simple();
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FinallySwallows()
    {
        try
        {
            SwallowInFinally(3);
        }
        catch (TestException e)
        {
            Check(e.Code == 1);
            Several();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ReplaceInFinally()
    {
        try
        {
            Throw(1);
        }
        finally
        {
            Several();
            ThrowOther(2);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FinallyReplaces()
    {
        try
        {
            ReplaceInFinally();
        }
        catch (TestException e)
        {
            Check(e.Code == 2);
            Several();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FinallyChain()
    {
        int passed = 0;
        try
        {
            try
            {
                try
                {
                    try
                    {
                        Throw(1);
                    }
                    finally
                    {
                        passed++;
                        Several();
                    }
                }
                finally
                {
                    passed++;
                    WithinFinally();
                }
            }
            finally
            {
                passed++;
                Callee();
            }
        }
        catch (TestException)
        {
            Several();
        }
        Check(passed == 3);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void WithinFinally()
    {
        try
        {
            Several();
        }
        finally
        {
            FinallyNormal();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CollidedInner()
    {
        try
        {
            Throw(1);
        }
        finally
        {
            try
            {
                Several();
                ThrowOther(2);
            }
            finally
            {
                Several();
            }
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CollidedCatch()
    {
        try
        {
            try
            {
                CollidedInner();
            }
            catch (TestException e) when (Accept(e.Code == 1))
            {
                Check(false); /* the first exception is superseded before its second pass comes here */
            }
        }
        catch (OtherException e)
        {
            Check(e.Code == 2);
            Several();
        }
        Several();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CollidedTwice()
    {
        try
        {
            try
            {
                try
                {
                    CollidedInner();
                }
                finally
                {
                    Several();
                    Throw(3);
                }
            }
            finally
            {
                Several();
                ThrowOther(4);
            }
        }
        catch (TestException e)
        {
            Check(e.Code == 4);
            Several();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CollidedLevel(int depth)
    {
        try
        {
            Callee();
            if (depth == 0)
                Throw(0);
            CollidedLevel(depth - 1);
        }
        finally
        {
            Several();
            if (depth > 0)
                throw new TestException(depth);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int CollidedDeep(int depth)
    {
        try
        {
            CollidedLevel(depth);
        }
        catch (TestException e)
        {
            Several();
            return e.Code;
        }
        return -1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Filter()
    {
        try
        {
            Descend(5);
        }
        catch (TestException e) when (Accept(e.Code == 0))
        {
            Several();
        }
        try
        {
            try
            {
                Descend(3);
            }
            catch (TestException e) when (Accept(e.Code == 1))
            {
                Check(false);
            }
            finally
            {
                Several();
            }
        }
        catch (TestException)
        {
            Several();
        }
        Several();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool ThrowInFilter(int depth)
    {
        Several();
        if (depth == 0)
            ThrowOther(9);
        return ThrowInFilter(depth - 1);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FilterThrows()
    {
        try
        {
            try
            {
                Throw(1);
            }
            catch (TestException) when (ThrowInFilter(0)) /* an exception out of a filter means false */
            {
                Check(false);
            }
        }
        catch (TestException e)
        {
            Check(e.Code == 1);
            Several();
        }
        Several();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FilterThrowsLevel(int depth)
    {
        try
        {
            Callee();
            if (depth == 0)
                Throw(1);
            FilterThrowsLevel(depth - 1);
        }
        catch (TestException) when (ThrowInFilter(depth))
        {
            Check(false);
        }
        finally
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FilterThrowsDeep()
    {
        try
        {
            FilterThrowsLevel(6);
        }
        catch (TestException e) when (Accept(e.Code == 1))
        {
            Several();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool SwallowInFilter(int depth)
    {
        Several();
        try
        {
            WithFinally(depth);
        }
        catch (TestException)
        {
            Several();
        }
        Callee();
        return true;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FilterSwallows()
    {
        try
        {
            Descend(4);
        }
        catch (TestException) when (SwallowInFilter(5))
        {
            Several();
        }
        Several();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FilterLevel(int depth)
    {
        try
        {
            if (depth == 0)
                Throw(0);
            FilterLevel(depth - 1);
        }
        catch (OtherException) when (Accept(true))
        {
            Check(false);
        }
        catch (TestException) when (Accept(false))
        {
            Check(false);
        }
        catch (Exception) when (Accept(depth == 7))
        {
            Several();
        }
        finally
        {
            Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FilterChain()
    {
        FilterLevel(8);
        Several();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool FilterWithin(int depth)
    {
        Callee();
        if (depth == 0)
            return true;
        try
        {
            Throw(depth);
        }
        catch (TestException e) when (FilterWithin(e.Code - 1))
        {
            Several();
        }
        Callee();
        return true;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FilterNested()
    {
        try
        {
            Throw(5);
        }
        catch (TestException e) when (FilterWithin(e.Code))
        {
            Several();
        }
        Several();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FilterInFinally()
    {
        try
        {
            try
            {
                Throw(1);
            }
            finally
            {
                FilterNested();
                FilterThrows();
                Several();
            }
        }
        catch (TestException e) when (SwallowInFilter(e.Code))
        {
            Several();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool UnwindOutOfFilter()
    {
        try
        {
            try
            {
                Several();
                Throw(2);
            }
            finally
            {
                Several(); /* runs in the second pass of an exception that ends at the filter */
            }
        }
        finally
        {
            Several();
        }
        return true;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FilterUnwinds()
    {
        try
        {
            Descend(3);
        }
        catch (TestException) when (UnwindOutOfFilter())
        {
            Check(false);
        }
        catch (TestException e) when (Accept(e.Code == 0))
        {
            Several();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int FilterRecursion(int depth)
    {
        if (depth == 0)
            return 0;
        int inner = 0;
        try
        {
            Throw(depth);
        }
        catch (TestException) when ((inner = FilterRecursion(depth - 1)) >= 0)
        {
            Several();
        }
        return inner + 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int RecursionCatch(int depth)
    {
        int caught = 0;
        try
        {
            Callee();
            if (depth > 1)
                caught = RecursionCatch(depth - 1);
            Throw(depth);
        }
        catch (TestException)
        {
            Several();
            caught++;
        }
        return caught;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RecursionFinally()
    {
        try
        {
            WithFinally(25);
        }
        catch (TestException)
        {
            try
            {
                WithFinally(25);
            }
            catch (TestException)
            {
                Several();
            }
            Callee();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int RecursionInCatch(int depth)
    {
        int inner = 0;
        if (depth == 0)
            return 0;
        try
        {
            Throw(depth);
        }
        catch (TestException)
        {
            Callee();
            inner = RecursionInCatch(depth - 1) + 1;
            Several();
        }
        Callee();
        return inner;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RecursionInFinallyLevel(int depth)
    {
        try
        {
            Throw(depth);
        }
        finally
        {
            Callee();
            RecursionInFinally(depth - 1);
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RecursionInFinally(int depth)
    {
        if (depth == 0)
            return;
        try
        {
            RecursionInFinallyLevel(depth);
        }
        catch (TestException e)
        {
            Check(e.Code == depth);
            Several();
        }
        Callee();
    }

    /* Direct self-recursion thrown out of a handler: funclet of F, F, F, F in a row on the stack. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void OutOfCatch(int depth)
    {
        try
        {
            Throw(depth);
        }
        catch (TestException)
        {
            Callee();
            if (depth > 0)
                OutOfCatch(depth - 1);
            Throw(depth + 100);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RecursionOutOfCatch()
    {
        try
        {
            OutOfCatch(6);
        }
        catch (TestException e)
        {
            Check(e.Code == 100);
            Several();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void OutOfFinally(int depth)
    {
        try
        {
            Throw(depth);
        }
        finally
        {
            Callee();
            if (depth > 0)
                OutOfFinally(depth - 1);
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RecursionOutOfFinally()
    {
        try
        {
            OutOfFinally(6);
        }
        catch (TestException e)
        {
            Check(e.Code == 0);
            Several();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool OutOfFilter(int depth)
    {
        try
        {
            Throw(depth);
        }
        catch (TestException) when (depth > 0 ? OutOfFilter(depth - 1) : Accept(false))
        {
            Check(false);
        }
        finally
        {
            Several();
        }
        return true;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RecursionOutOfFilter()
    {
        try
        {
            OutOfFilter(6);
        }
        catch (TestException e)
        {
            Check(e.Code == 6);
            Several();
        }
        Callee();
    }

    sealed class Box<T>
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Go(int depth)
        {
            Keep(new Box<T>());
            try
            {
                if (depth == 0)
                    Throw(depth);
                if (depth % 2 == 0)
                    new Box<List<T>>().Go(depth - 1);
                else
                    Go(depth - 1);
            }
            finally
            {
                Keep(new T[2]);
            }
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void GenericFrames()
    {
        try
        {
            new Box<string>().Go(5);
        }
        catch (TestException)
        {
            Several();
        }
        try
        {
            new Box<int>().Go(4);
        }
        catch (TestException) when (Accept(true))
        {
            Several();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int CatchOf<T>(Action body) where T : Exception
    {
        try
        {
            body();
            return 0;
        }
        catch (T)
        {
            Several();
            return 1;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void CatchTypeOfGeneric()
    {
        Check(CatchOf<TestException>(() => Throw(1)) == 1);
        Check(CatchOf<TestException>(() => CatchOf<OtherException>(() => Throw(1))) == 1);
        Check(CatchOf<OtherException>(() => CatchOf<OtherException>(() => ThrowOther(1))) == 0);
        Callee();
    }

    struct Value
    {
        public int Number;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Go()
        {
            try
            {
                Keep(this);
                Throw(Number);
            }
            catch (TestException e) when (Accept(e.Code == Number))
            {
                Several();
                Number++;
            }
            return Number;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public override string ToString()
        {
            Go();
            return "value";
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void StructMethods()
    {
        var value = new Value { Number = 3 };
        Check(value.Go() == 4);
        object boxed = value;
        Check(boxed.ToString() == "value");
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Lambda()
    {
        int seen = 0;
        Action outer = () =>
        {
            Action inner = () =>
            {
                seen++;
                Throw(seen);
            };
            try
            {
                inner();
            }
            finally
            {
                seen++;
                Callee();
            }
        };
        try
        {
            outer();
        }
        catch (TestException)
        {
            Several();
        }
        Check(seen == 2);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Loop()
    {
        int caught = 0;
        for (int i = 0; i < 30; i++)
        {
            try
            {
                Callee();
                if (i % 3 == 0)
                    continue;
                if (i == 28)
                    break;
                Throw(i);
            }
            catch (TestException) when (i % 2 == 0)
            {
                caught++;
                Callee();
                continue;
            }
            catch (TestException)
            {
                Callee();
            }
            finally
            {
                Callee();
            }
        }
        Check(caught == 9);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void GotoOut()
    {
        int i = 0;
    again:
        try
        {
            try
            {
                Callee();
                i++;
                if (i < 4)
                    goto again;
                Throw(i);
            }
            finally
            {
                Several();
            }
        }
        catch (TestException)
        {
            Several();
            if (i < 8)
                goto again;
        }
        Check(i == 8);
    }

    sealed class Resource : IDisposable
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Dispose() => Several();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Using()
    {
        try
        {
            using var first = new Resource();
            using (new Resource())
            {
                foreach (int i in Numbers())
                    if (i == 3)
                        Throw(i);
            }
        }
        catch (TestException e)
        {
            Check(e.Code == 3);
            Several();
        }
        Callee();
    }

    static IEnumerable<int> Numbers()
    {
        try
        {
            for (int i = 0; ; i++)
            {
                Callee();
                yield return i;
            }
        }
        finally
        {
            Several();
        }
    }

    static readonly object gate = new();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Lock()
    {
        try
        {
            lock (gate)
            {
                lock (typeof(Program))
                    Throw(1);
            }
        }
        catch (TestException)
        {
            Several();
        }
        Check(!System.Threading.Monitor.IsEntered(gate));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void SameObjectTwice()
    {
        var e = new TestException(1);
        for (int i = 0; i < 3; i++)
            try
            {
                Callee();
                throw e;
            }
            catch (TestException caught)
            {
                Check(ReferenceEquals(caught, e));
                try
                {
                    throw caught;
                }
                catch (TestException)
                {
                    Several();
                }
            }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void StackTrace()
    {
        try
        {
            WithFinally(3);
        }
        catch (TestException e)
        {
            string text = e.ToString();
            Check(text.Contains(nameof(WithFinally)));
            Check(new System.Diagnostics.StackTrace(e).FrameCount >= 4);
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void OnFirstChance(object sender, FirstChanceExceptionEventArgs args)
    {
        Several();
        if (args.Exception is OtherException)
            return;
        try
        {
            ThrowOther(8);
        }
        catch (OtherException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FirstChance()
    {
        AppDomain.CurrentDomain.FirstChanceException += OnFirstChance;
        try
        {
            Simple();
            FilterThrows();
            FinallySwallows();
        }
        finally
        {
            AppDomain.CurrentDomain.FirstChanceException -= OnFirstChance;
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InnerExceptions()
    {
        try
        {
            try
            {
                Throw(1);
            }
            catch (TestException e)
            {
                throw new AggregateException("several", e, new OtherException(2));
            }
        }
        catch (AggregateException e)
        {
            int count = 0;
            e.Handle(inner =>
            {
                Callee();
                count++;
                return inner is TestException;
            });
            Check(count == 2);
        }
    }

    sealed class Throwing
    {
        readonly object field = new Mark(1);

        [MethodImpl(MethodImplOptions.NoInlining)]
        public Throwing(int depth)
        {
            Keep(field);
            if (depth == 0)
                throw new TestException(12);
            Keep(new Throwing(depth - 1));
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Constructor()
    {
        try
        {
            Keep(new Throwing(5));
        }
        catch (TestException e)
        {
            Check(e.Code == 12);
            Several();
        }
    }
}
