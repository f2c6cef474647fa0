// Exceptions that the processor or the runtime's helpers raise: null, division, bounds, overflow, casts, array stores.
// In the leaf, in a callee, in shared generic code, inside handlers.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using static Torture.Cases;
using static Torture.Sink;

namespace Torture;

static class Program
{
    static int Main(string[] args) => Run(args,
        ("null-field", () => Expect<NullReferenceException>(NullField)),
        ("null-far-field", () => Expect<NullReferenceException>(NullFarField)),
        ("null-virtual", () => Expect<NullReferenceException>(NullVirtual)),
        ("null-interface", () => Expect<NullReferenceException>(NullInterface)),
        ("null-delegate", () => Expect<NullReferenceException>(NullDelegate)),
        ("null-array", () => Expect<NullReferenceException>(NullArray)),
        ("null-throw", () => Expect<NullReferenceException>(NullThrow)),
        ("null-copy", () => Expect<NullReferenceException>(NullCopy)),
        ("divide", () => Expect<DivideByZeroException>(Divide)),
        ("divide-long", () => Expect<DivideByZeroException>(DivideLong)),
        ("remainder", () => Expect<DivideByZeroException>(Remainder)),
        ("divide-decimal", () => Expect<DivideByZeroException>(DivideDecimal)),
        ("overflow-divide", () => Expect<OverflowException>(OverflowDivide)),
        ("overflow-checked", () => Expect<OverflowException>(OverflowChecked)),
        ("overflow-convert", () => Expect<OverflowException>(OverflowConvert)),
        ("overflow-length", () => Expect<OverflowException>(OverflowLength)),
        ("bounds", () => Expect<IndexOutOfRangeException>(Bounds)),
        ("bounds-matrix", () => Expect<IndexOutOfRangeException>(BoundsMatrix)),
        ("bounds-span", () => Expect<IndexOutOfRangeException>(BoundsSpan)),
        ("bounds-string", () => Expect<IndexOutOfRangeException>(BoundsString)),
        ("bounds-list", () => Expect<ArgumentOutOfRangeException>(BoundsList)),
        ("cast-class", () => Expect<InvalidCastException>(CastClass)),
        ("cast-interface", () => Expect<InvalidCastException>(CastInterface)),
        ("cast-generic", () => Expect<InvalidCastException>(CastGeneric<string>)),
        ("cast-array", () => Expect<InvalidCastException>(CastArray)),
        ("unbox", () => Expect<InvalidCastException>(Unbox)),
        ("unbox-null", () => Expect<NullReferenceException>(UnboxNull)),
        ("array-store", () => Expect<ArrayTypeMismatchException>(ArrayStore)),
        ("array-huge", () => Expect<OutOfMemoryException>(ArrayHuge)),
        ("generic-virtual-null", () => Expect<NullReferenceException>(GenericNull<string>)),
        ("struct-null", () => Expect<NullReferenceException>(StructNull)),
        ("in-catch", InCatch),
        ("in-finally", InFinally),
        ("in-filter", InFilter),
        ("in-loop", InLoop),
        ("deep", Deep),
        ("in-static-constructor", InStaticConstructor),
        ("in-constructor", InConstructor),
        ("rethrown", Rethrown),
        ("collided", Collided));

    class Node
    {
        public Node Next;
        public int Value;
        public virtual int Virtual() => Value;
    }

    sealed unsafe class Big
    {
        Block block;
        public int Last;

        [InlineArray(4000)]
        struct Block
        {
            long element;
        }
    }

    interface IThing
    {
        int Do();
    }

    static readonly Node none = null;
    static readonly Big noBig = null;
    static volatile int zero, minusOne = -1, big = int.MaxValue;
    static volatile object text = "text";

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Accept(bool answer)
    {
        Several();
        return answer;
    }

    /* Each fault: caught at once, by a filter above, past a finally, out of a few frames. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Expect<T>(Func<int> fault) where T : Exception
    {
        try
        {
            Callee();
            fault();
            Check(false);
        }
        catch (T)
        {
            Several();
        }
        try
        {
            WithFinally(fault, 3);
            Check(false);
        }
        catch (Exception e) when (Accept(e is T))
        {
            Several();
        }
        finally
        {
            Callee();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int WithFinally(Func<int> fault, int depth)
    {
        try
        {
            Callee();
            return depth == 0 ? fault() : WithFinally(fault, depth - 1);
        }
        finally
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int NullField()
    {
        Callee();
        return none.Value;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int NullFarField() => noBig.Last;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int NullVirtual()
    {
        try
        {
            return none.Virtual();
        }
        finally
        {
            Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int NullInterface() => ((IThing)(object)none).Do();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int NullDelegate() => ((Func<int>)(object)none)();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int NullArray() => ((int[])(object)none)[1];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int NullThrow()
    {
        throw (Exception)(object)none;
    }

    struct Large
    {
        public long A, B, C, D, E, F, G, H;
        public object O;
    }

    sealed class Holder
    {
        public Large Large;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int NullCopy()
    {
        Large copy = ((Holder)(object)none).Large; /* inside a copying helper */
        Keep(copy);
        return 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Divide()
    {
        Callee();
        return 1 / zero;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int DivideLong() => (int)(long.MaxValue / zero);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Remainder()
    {
        try
        {
            return 5 % zero;
        }
        catch (ArithmeticException)
        {
            Several();
            throw;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int DivideDecimal() => (int)(1m / zero);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int OverflowDivide() => int.MinValue / minusOne;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int OverflowChecked()
    {
        Callee();
        return checked(big + 1);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int OverflowConvert() => checked((byte)big);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int OverflowLength()
    {
        Keep(new int[minusOne]);
        return 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Bounds()
    {
        Callee();
        int[] four = new int[4];
        return four[4 + zero];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int BoundsMatrix()
    {
        int[,] matrix = new int[3, 3];
        return matrix[1, 3 - zero];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int BoundsSpan()
    {
        Span<int> span = stackalloc int[4];
        return span[4 + zero];
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int BoundsString() => ((string)text)[9];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int BoundsList() => new List<int> { 1, 2 }[5];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int CastClass()
    {
        Callee();
        return ((Node)text).Value;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int CastInterface() => ((IThing)text).Do();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int CastGeneric<T>() => ((List<T>)text).Count;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int CastArray() => ((Node[])text).Length;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Unbox() => (int)text;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int UnboxNull() => (int)(object)none;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int ArrayStore()
    {
        object[] strings = new string[2];
        Callee();
        strings[0] = new Mark(1);
        return 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int ArrayHuge()
    {
        Keep(new long[big]);
        return 0;
    }

    class GenericNode<T>
    {
        public T Value;
        public virtual U Get<U>(U u) => u;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int GenericNull<T>()
    {
        var node = (GenericNode<T>)(object)none;
        Callee();
        return node.Get(1);
    }

    struct Thing : IThing
    {
        public Node Node;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Do()
        {
            Callee();
            return Node.Value;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int StructNull()
    {
        IThing thing = new Thing();
        return thing.Do();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InCatch()
    {
        try
        {
            try
            {
                Divide();
            }
            catch (DivideByZeroException)
            {
                Several();
                NullField();
            }
        }
        catch (NullReferenceException)
        {
            Several();
            try
            {
                Bounds();
            }
            catch (IndexOutOfRangeException)
            {
                Several();
            }
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InFinally()
    {
        try
        {
            try
            {
                Divide();
            }
            finally
            {
                Several();
                try
                {
                    CastClass();
                }
                catch (InvalidCastException)
                {
                    Several();
                }
            }
        }
        catch (DivideByZeroException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InFilter()
    {
        try
        {
            try
            {
                Divide();
            }
            catch (DivideByZeroException) when (none.Value == 0)
            {
                Check(false);
            }
            catch (DivideByZeroException) when (Accept(false) || Bounds() == 0)
            {
                Check(false);
            }
        }
        catch (DivideByZeroException)
        {
            Several();
        }
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InLoop()
    {
        int caught = 0;
        for (int i = -3; i <= 3; i++)
            try
            {
                Callee();
                Keep(10 / i);
            }
            catch (DivideByZeroException)
            {
                caught++;
                Several();
            }
        Check(caught == 1);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Down(int depth)
    {
        Callee();
        return depth == 0 ? none.Value : Down(depth - 1) + 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Deep()
    {
        try
        {
            Down(50);
        }
        catch (NullReferenceException)
        {
            Several();
        }
    }

    static class Bad<T>
    {
        public static readonly int Value = none.Value;
        static Bad() { }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InStaticConstructor()
    {
        for (int i = 0; i < 2; i++)
            try
            {
                Keep(Bad<int>.Value);
                Check(false);
            }
            catch (TypeInitializationException e)
            {
                Check(e.InnerException is NullReferenceException);
                Several();
            }
    }

    sealed class Faulty
    {
        readonly int value;
        [MethodImpl(MethodImplOptions.NoInlining)]
        public Faulty(Node node)
        {
            Keep(this);
            value = node.Value;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void InConstructor()
    {
        try
        {
            Keep(new Faulty(none));
            Check(false);
        }
        catch (NullReferenceException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int RethrownLevel(int depth)
    {
        try
        {
            return depth == 0 ? Divide() : RethrownLevel(depth - 1);
        }
        catch (DivideByZeroException) when (Accept(depth % 2 == 0))
        {
            Callee();
            throw;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Rethrown()
    {
        try
        {
            RethrownLevel(5);
        }
        catch (DivideByZeroException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int CollidedLevel(int depth)
    {
        try
        {
            return depth == 0 ? Divide() : CollidedLevel(depth - 1);
        }
        finally
        {
            Callee();
            if (depth == 2)
                NullField();
            if (depth == 4)
                CastClass();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Collided()
    {
        try
        {
            CollidedLevel(5);
        }
        catch (InvalidCastException)
        {
            Several();
        }
    }
}
