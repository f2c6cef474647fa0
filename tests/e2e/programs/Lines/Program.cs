// Every allocation on a line that says so; test_lines.py holds the log and the report against these marks.
//
//   // L: TYPE; TYPE     allocated by the code of that line itself, in this order. One each time a round comes by, or
//                        TYPE*N each round, TYPE=N in the whole run, TYPE? as often as it likes.
//   // F: TYPE           allocated by the framework on behalf of that line, with the same counts; `*`: whatever it likes.
//   // C: METHOD; ...    calls of methods of the class Called, made by that line, in this order, with the same counts.
//   // N: NAME           an allocation or a call without a line: not in this method's code, or not distinguishable in its
//                        optimised code from another.
//   // S: TYPE           one of the lines on the stack of all objects of that type, from Program.Run's callee inwards.
//
// A mark belongs to the line on which its statement begins: that is what a PDB knows. In
// types, the namespace Lines is left out.
//
// A round runs every case once; the first is compiled quickly, the last ones are optimised. Prints "rounds N" and "ok".
using System;
using System.Collections;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Lines;

class A { public object Part; public int Number; public A Other { get; set; } }
class B { public object Part; }
class C { }
class D { }
class E { }
class Chained { }
class ChainedInLambda { }
class ChainedInHandler { }
class ChainedAsync { }
class Level0 { }
class Level1 { }
class Level2 { }
class G<T> { public T Value; }
struct S { public long X, Y; }
class Failure : Exception { }
class OtherFailure : Exception { }

class Base
{
    public readonly object Part;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public Base(object part)
    {
        Part = part;
        Program.Keep(new Level0()); // L: Level0
    }
}

class Derived : Base
{
    readonly object first = new Level1(); // L: Level1
    readonly object second = Program.Kept(new Level2()); // L: Level2

    [MethodImpl(MethodImplOptions.NoInlining)]
    public Derived() : base(new C()) // L: C
    {
        Program.Keep(new D()); // L: D
    }
}

/// <summary>What distinguishes calls: each makes one object, with nothing else on the way.</summary>
class Called
{
    public static volatile int Zero;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Ping()
    {
        Program.Keep(new object()); // L: System.Object?
        return 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Pong(int a = 0, int b = 0)
    {
        Program.Keep(new object()); // L: System.Object?
        return a + b;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static T Give<T>(T value)
    {
        Program.Keep(new object()); // L: System.Object?
        return value;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static bool True(object o = null)
    {
        Program.Keep(new object()); // L: System.Object?
        return true;
    }

    public int Property
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        get
        {
            Program.Keep(new object()); // L: System.Object?
            return 3;
        }
        [MethodImpl(MethodImplOptions.NoInlining)]
        set
        {
            Program.Keep(new object()); // L: System.Object?
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public Called Next()
    {
        Program.Keep(new object()); // L: System.Object?
        return this;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public virtual Called Virtual()
    {
        Program.Keep(new object()); // L: System.Object?
        return this;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static Called operator +(Called a, Called b)
    {
        Program.Keep(new object()); // L: System.Object?
        return a;
    }
}

class StaticFields
{
    public static readonly object One = new A(); // L: A=1
    public static readonly object Two = Program.Kept(new B()); // L: B=1
    public static readonly int[] Table = { 1, 2, 3, 4, 5, 6, 7 }; // L: System.Int32[]=1
}

class StaticConstructor
{
    public static readonly object One;

    static StaticConstructor()
    {
        One = new C(); // L: C=1
        for (int i = 0; i < 3; i++)
            Program.Keep(new D()); // L: D=3
        Called.Ping(); // C: Ping=1
    }
}

class StaticOf<T>
{
    public static readonly object One = new G<T>(); // L: G<System.String>=1; G<System.Object>=1; G<System.Int32>=1
}

class Generic<T> where T : new()
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Make()
    {
        Program.Keep(new G<T>()); // L: G<System.Int32>; G<System.Object>; G<A>
        Program.Keep(new T[2]); // L: System.Int32[]; System.Object[]; A[]
        Program.Keep(new List<T>()); // L: System.Collections.Generic.List<System.Int32>; System.Collections.Generic.List<System.Object>; System.Collections.Generic.List<A>
        Called.Give(default(T)); // C: Give*3
        Called.Ping(); // C: Ping*3
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static U Method<U>(T t, U u)
    {
        Program.Keep(new G<G<T>>()); // L: G<G<System.Int32>>; G<G<System.Object>>
        Program.Keep(new G<U>()); // L: G<S>; G<B>

        Program.Keep(u); // L: S
        Func<T, U> f = [MethodImpl(MethodImplOptions.NoInlining)] (_) => // L: Generic<System.Int32>.<>c__1<S>?; System.Func<System.Int32, S>?; System.Func<System.Object, B>?
        {
            Program.Keep(new G<U[]>()); // L: G<S[]>; G<B[]>
            return u;
        };
        return f(t);
    }
}

class Closures
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run(int n)
    {
        Action none = [MethodImpl(MethodImplOptions.NoInlining)] () => Program.Keep(new C()); // L: System.Action=1; C
        none();
        Local(n);
        Several(n);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Local(int n)
    {
        Program.Keep(new A()); // L: A
        Outer();
        Static(new D()); // L: D

        [MethodImpl(MethodImplOptions.NoInlining)]
        void Outer()
        {
            Program.Keep(new B()); // L: B
            Inner(3);

            [MethodImpl(MethodImplOptions.NoInlining)]
            void Inner(int times)
            {
                for (int i = 0; i < times; i++)
                    Program.Keep(new C()); // L: C*3
                Called.Pong(n); // C: Pong
            }
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Static(object o)
        {
            Program.Keep(new E()); // L: E
            Called.Ping(); // C: Ping
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Several(int n)
    {
        for (int i = 0; i < 2; i++) // L: Closures.<>c__DisplayClass2_1*2
        {
            int captured = i; // the closure is made by hidden code before: the line before
            Action each = [MethodImpl(MethodImplOptions.NoInlining)] () => // L: System.Action*2
            {
                Program.Keep(new A { Number = captured }); // L: A*2
                Called.Pong(captured, n); // C: Pong*2
            };
            each();
        }
    }
}

class Iterators : IEnumerable<A>
{
    public IEnumerator<A> GetEnumerator()
    {
        Called.Ping(); // C: Ping
        yield return new A(); // L: A
        for (int i = 0; i < 3; i++)
        {
            var a = new A(); // L: A*3
            yield return a;
            Program.Keep(new B()); // L: B*3
        }
        try
        {
            yield return new A(); // L: A
            Program.Keep(new C()); // L: C
        }
        finally
        {
            Program.Keep(new D()); // L: D
            Called.Ping(); // C: Ping
        }
    }

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    public static IEnumerable<T> Of<T>(params T[] values)
    {
        foreach (T value in values)
        {
            Program.Keep(new G<T>()); // L: G<System.String>*2; G<System.Int32>*3
            yield return value;
        }
    }
}

class Asynchronous
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static async Task Run()
    {
        Program.Keep(new A()); // L: A
        await Task.Yield();
        Program.Keep(new B()); // L: B
        await Inner(new C()); // L: C
        Program.Keep(new D()); // L: D
        for (int i = 0; i < 2; i++)
        {
            await Task.Yield();
            Program.Keep(new E()); // L: E*2
        }
        try
        {
            await Throwing();
        }
        catch (Failure)
        {
            Program.Keep(new A()); // L: A
            await Task.Yield();
            Program.Keep(new B()); // L: B
        }
        finally
        {
            Program.Keep(new C()); // L: C
            await Task.Yield();
            Program.Keep(new D()); // L: D
            Called.Ping(); // C: Ping
        }
        await foreach (A a in Stream())
            Program.Keep(new E()); // L: E*2
        Func<Task> lambda = async () => // L: System.Func<System.Threading.Tasks.Task>?
        {
            await Task.Yield();
            Program.Keep(new Level0()); // L: Level0
        };
        await lambda();
        Program.Keep(new A()); Program.Keep(await Value(new B())); Program.Keep(new C()); // L: A; B; C
    }

    static async Task<object> Inner(object o)
    {
        Program.Keep(new A()); // L: A
        await Task.Yield();
        await Deeper(); // S: ChainedAsync?
        Called.Ping(); // C: Ping
        return o;
    }

    static async Task Deeper()
    {
        Program.Keep(new ChainedAsync()); // L: ChainedAsync
        await Task.Yield();
        Program.Keep(new B()); // L: B
    }

    static async ValueTask<object> Value(object o)
    {
        await Task.Yield();
        Program.Keep(new D()); // L: D
        return o;
    }

    static async Task Throwing()
    {
        await Task.Yield();
        throw new Failure(); // L: Failure
    }

    static async IAsyncEnumerable<A> Stream()
    {
        yield return new A(); // L: A
        await Task.Yield();
        Program.Keep(new B()); // L: B
        yield return new A(); // L: A
    }
}

static class Program
{
    static readonly object[] kept = new object[64]; // L: System.Object[]=1
    static int number;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Keep(object o)
    {
        kept[Interlocked.Increment(ref number) & 63] = o;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Kept(object o)
    {
        Keep(o);
        return o;
    }

    static int Main(string[] args)
    {
        int rounds = 0;
        for (int phase = 0; phase < 4; phase++)
        {
            for (int i = 0; i < 40; i++, rounds++)
                Round(i);
            Thread.Sleep(300); // what was called 30 times is compiled anew
        }
        Replaced(200_000);
        ReplacedShared<string>(150_000);
        ReplacedShared<object>(150_000);
        ReplacedInTry(120_000);
        Console.WriteLine("rounds " + rounds); // F: *
        Console.WriteLine("ok"); // F: *
        return 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Round(int n)
    {
        Plain(n);
        SeveralOnALine(n);
        SeveralLines(n);
        Loops(n);
        Branches(n);
        Strings(n);
        Arrays(n);
        Boxes(n);
        Initialisers(n);
        Calls(n, new Called()); // L: Called
        Statics();
        Generics();
        Closures.Run(n);
        Enumerations();
        Handlers(n);
        Filters(n);
        Asynchronous.Run().GetAwaiter().GetResult();
        Inlined(n);
        Keep(new Derived()); // L: Derived
        Expressions(n);
        Chain(n);
        Tail(n);
        Skips(n);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Plain(int n)
    {
        Keep(new A()); // L: A
        Keep(new B()); // L: B

        // Between two lines with code.
        Keep(new A()); // L: A
        var local = new C(); // L: C
        Keep(local);
        object other;
        other = new D(); Keep(other); // L: D
        if (n >= 0)
            Keep(new A()); // L: A
        else
            Keep(new B()); // L: B=0
        Keep(new byte[n & 1]); // L: System.Byte[]
        return;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void SeveralOnALine(int n)
    {
        Keep(new A()); Keep(new B()); Keep(new A()); // L: A; B; A
        Keep(new A { Part = new B { Part = new C() } }); // L: A; B; C
        Keep(new object[] { new A(), new A(), new B() }); // L: System.Object[]; A; A; B
        for (int i = 0; i < 2; i++) { Keep(new C()); Keep(new D()); } // L: C*2; D*2
        Keep(n > 1000 ? new A() : new B()); // L: A=0; B
        Keep((object)Kept(new A()) == null ? new B() : new C()); // L: A; B=0; C
        Called.Ping(); Called.Pong(); Called.Ping(); // C: Ping; Pong; Ping
        Called.Pong(Called.Ping(), Called.Ping()); // C: Ping; Ping; Pong
        Keep(new A()); Called.Ping(); Keep(new A()); // L: A; A // C: Ping
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void SeveralLines(int n)
    {
        Keep( // L: A; B; C
            new A
            {
                Part = new B
                {
                    Part = new C(),
                },
            });
        var list = new List<object> // L: System.Collections.Generic.List<System.Object>; A; B
        {
            new A(),
            new B(),
        };
        Keep(list);
        Called.Pong( // C: Ping; Pong; Pong
            Called.Ping(),
            Called.Pong(
                1,
                2));
        if (Called.True( // C: True // L: D
            new D()))
        {
            Keep(new E()); // L: E
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Loops(int n)
    {
        for (int i = 0; i < 3; i++)
            Keep(new A()); // L: A*3
        int k = 0;
        while (k++ < 2)
            Keep(new B()); // L: B*2
        do
        {
            Keep(new C()); // L: C*2
        }
        while (k++ < 4);
        foreach (int i in new[] { 1, 2, 3 }) // L: System.Int32[]?
            Keep(new D()); // L: D*3
        foreach (object o in new List<object> { null, null }) // L: System.Object[]?; System.Collections.Generic.List<System.Object>
            Keep(new E()); // L: E*2
        for (object o = new Level1(); o != null; o = k++ < 7 ? new Level2() : null) // L: Level1?; Level2?
            Keep(new C()); // L: C*3
        for (int i = 0; i < Called.Ping() + 1; i += Called.Ping()) // C: Ping*2; Ping*3
        {
            if (i == 1)
                continue;
            Keep(new D()); // L: D
        }
        while (Called.True(new E())) // C: True // L: E
            if (k++ > 7)
                break;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Branches(int n)
    {
        switch (n & 3)
        {
            case 0:
                Keep(new A()); // L: A=40
                break;
            case 1:
                Keep(new D()); // L: D=40
                break;
            case 2:
                Keep(new E()); // L: E=40
                goto case 1000;
            default:
                Keep(new B()); // L: B=40
                break;
            case 1000:
                Keep(new C()); // L: C=40
                break;
        }
        object o = null;
        Keep(o ?? new D()); // L: D
        o ??= new E(); // L: E
        Keep(o);
        if (n >= 0 && Called.True(new A()) || Called.True(new B())) // C: True; True=0 // L: A; B=0
            goto end;
        Keep(new C()); // L: C=0
    end:
        Keep(new C()); // L: C
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Strings(int n)
    {
        string a = n.ToString("D9"); // F: System.String
        Keep(a + a); // F: System.String
        Keep($"{n,7} and {n}"); // F: System.String
        Keep(string.Concat(a, "b", a)); // F: System.String
        Keep(new string('x', n + 1)); // F: System.String
        Keep(a.Substring(1, 3)); // F: System.String?
        Keep(a + n + a + n + "c" + a); // F: * // L: System.String[]?
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Params(params object[] values) => values.Length + Called.Ping(); // C: Ping*3

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Arrays(int n)
    {
        Keep(new int[n + 1]); // L: System.Int32[]
        Keep(new object[3]); // L: System.Object[]
        Keep(new[] { 1L, 2, 3 }); // L: System.Int64[]
        Keep(new int[2, 3]); // F: System.Int32[,]
        Keep(new[] { new[] { 1 }, new[] { 2 } }); // L: System.Int32[][]; System.Int32[]; System.Int32[]
        Params(1, "two", new A()); // L: System.Object[]; System.Int32; A
        Params(); // F: *
        Params(new B(), 2.0); // L: System.Object[]; B; System.Double
        Keep(new S[4]); // L: S[]
        Span<int> span = stackalloc int[4];
        Keep(span.ToArray()); // F: System.Int32[]? // N: System.Int32[]?
        int[] more = [n, n, n]; // L: System.Int32[]
        Keep(more);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Boxes(int n)
    {
        Keep(n); // L: System.Int32
        Keep(new S { X = n }); // L: S
        object o = (long)n; // L: System.Int64
        Keep(o);
        Keep((int?)n); // L: System.Int32
        Keep((byte)n); Keep((short)n); // L: System.Byte; System.Int16
        Keep(DayOfWeek.Friday); // L: System.DayOfWeek
        Keep((n, new A())); // L: A; System.ValueTuple<System.Int32, A>
        IComparable c = n; // L: System.Int32? // N: System.Int32?
        Keep(c.CompareTo(n) == 0 ? 'x' : 'y'); // L: System.Int32?; System.Char
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Initialisers(int n)
    {
        var a = new A { Other = new A(), Part = new int[1] }; // L: A; A; System.Int32[]
        Keep(a);
        var d = new Dictionary<string, object>(4) { ["a"] = new B(), ["b"] = new C() }; // F: * // L: System.Collections.Generic.Dictionary<System.String, System.Object>; B; C
        Keep(d);
        var anonymous = new { N = n, O = new D() }; // L: D; <>f__AnonymousType0<System.Int32, D>
        Keep(anonymous);
        a.Other.Other = new A(); // L: A
        a.Part = new A[1] { new A() }; // L: A[]; A
        var (x, y) = (new B(), new C()); // L: B; C
        Keep(x);
        Keep(y);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Calls(int n, Called c)
    {
        Called.Ping(); // C: Ping
        c.Next().Next().Virtual().Next(); // C: Next; Next; Virtual; Next
        c.Property = c.Property + 1; // C: get_Property; set_Property
        c.Property++; // C: get_Property; set_Property
        Keep(c + c + c); // C: op_Addition; op_Addition
        Func<int> f = Called.Ping; // L: System.Func<System.Int32>?
        f(); // C: Ping
        Func<int> g = f; g += f; // F: *
        g(); // N: Ping*2
        Called.Give(Called.Give(1) + Called.Give(2)); // C: Give; Give; Give
        Called.Give("a"); Called.Give(new S()); // C: Give; Give
        int r = Called.Zero + Called.Ping() * Called.Pong(1, Called.Ping()); // C: Ping; Ping; Pong
        if (r > 0 ? Called.True() : Called.True(c)) // C: True; True=0
            c?.Next(); // C: Next
        Keep(new A { Number = Called.Ping(), Part = Called.Give(new B()) }); // L: A; B // C: Ping; Give
        checked { Called.Pong(Called.Ping() + 1); } // C: Ping; Pong
        lock (c) Called.Ping(); // C: Ping
        using (null as IDisposable) Called.Ping(); // C: Ping
        unsafe { delegate*<int> p = &Called.Ping; p(); } // C: Ping
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Statics()
    {
        Keep(StaticFields.One);
        Keep(StaticFields.Table);
        Keep(StaticConstructor.One);
        Keep(StaticOf<string>.One);
        Keep(StaticOf<object>.One);
        Keep(StaticOf<int>.One);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Generics()
    {
        new Generic<int>().Make(); // L: Generic<System.Int32>
        new Generic<object>().Make(); // L: Generic<System.Object>
        new Generic<A>().Make(); // L: Generic<A>
        Generic<int>.Method(1, new S());
        Generic<object>.Method(null, new B()); // L: B
        Shared<string>(2);
        Shared<A>(1);
        Exact(1, 2L);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Shared<T>(int n)
    {
        for (int i = 0; i < n; i++)
            Keep(new G<T>()); // L: G<System.String>*2; G<A>
        Keep(new T[n]); // L: System.String[]; A[]
        Keep(new G<T[]>()); Keep(new G<G<T>>()); // L: G<System.String[]>; G<A[]>; G<G<System.String>>; G<G<A>>
        Called.Give(default(T)); // C: Give*2
        Called.Give<G<T>>(null); Called.Ping(); // C: Give*2; Ping*2
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Exact<T, U>(T t, U u)
    {
        Keep(new G<T>()); // L: G<System.Int32>
        Keep(new G<U>()); Keep(t); Keep(u); // L: G<System.Int64>; System.Int32; System.Int64
        Keep((t, u)); // L: System.ValueTuple<System.Int32, System.Int64>
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Enumerations()
    {
        foreach (A a in new Iterators()) // L: Iterators?
            Keep(new E()); // L: E*5
        foreach (string s in Iterators.Of("a", "b")) // L: System.String[]
            Keep(new D()); // L: D*2
        foreach (int i in Iterators.Of(1, 2, 3)) // L: System.Int32[]
            Keep(i); // L: System.Int32*3
        var sum = Enumerable.Range(0, 3) // F: * // L: System.Func<System.Int32, A>?; System.Func<A, System.Boolean>?; System.Linq.Enumerable.RangeIterator<System.Int32>?; System.Linq.Enumerable.RangeIterator? // C: True?
            .Select([MethodImpl(MethodImplOptions.NoInlining)] (i) => new A()) // L: A*3
            .Where([MethodImpl(MethodImplOptions.NoInlining)] (a) => Called.True(new B())) // L: B*3 // C: True?
            .Count();
        Keep(sum); // L: System.Int32
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw(int n)
    {
        if (n >= 0)
            throw new Failure(); // L: Failure?
        throw new OtherFailure(); // L: OtherFailure=0
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Handlers(int n)
    {
        try
        {
            Keep(new A()); // L: A
            Throw(n);
            Keep(new A()); // L: A=0
        }
        catch (OtherFailure)
        {
            Keep(new B()); // L: B=0
        }
        catch (Failure)
        {
            Keep(new B()); // L: B
            Called.Ping(); // C: Ping
        }
        finally
        {
            Keep(new C()); // L: C
            Called.Ping(); Called.Pong(); // C: Ping; Pong
        }
        try
        {
            Keep(new D()); // L: D
        }
        finally
        {
            Keep(new E()); // L: E
        }
        try
        {
            try
            {
                Throw(n);
            }
            catch (Failure)
            {
                Keep(new A()); // L: A
                try
                {
                    Throw(n);
                }
                finally
                {
                    Keep(new B()); // L: B
                }
            }
        }
        catch (Failure)
        {
            Keep(new C()); // L: C
            for (int i = 0; i < 2; i++)
                Keep(new D()); // L: D*2
        }
        Keep(new E()); // L: E
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Accept(bool answer)
    {
        Keep(new B()); // L: B*2
        return answer;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Filters(int n)
    {
        try
        {
            Throw(n);
        }
        catch (Failure) when (Accept(false))
        {
            Keep(new A()); // L: A=0
        }
        catch (Failure) when (Called.True(new C()) && Accept(true)) // L: C // C: True
        {
            Keep(new A()); // L: A
        }
        Keep(new D()); // L: D
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    static A Small()
    {
        return new A(); // L: A?
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Inlined(int n)
    {
        Keep(Small()); // L: A?
        Keep(new B()); // L: B
        Keep(Small()); Keep(Small()); // L: A?; A?
        Keep(new C()); // L: C
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Switched(int n) => n switch
    {
        0 => new A(), // L: A
        1 => new B(), // L: B
        _ => new C(), // L: C
    };

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Body() => new D(); // L: D

    static object Property => new E(); // L: E?

    static object Getter
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        get
        {
            Keep(new A()); // L: A
            return new B(); // L: B
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Expressions(int n)
    {
        Keep(Switched(0));
        Keep(Switched(1));
        Keep(Switched(2));
        Keep(Body());
        Keep(Property); // L: E?
        Keep(Getter);
        Keep(n >= 0 ? Kept(new A()) : Kept(new B())); // L: A; B=0
        Keep(n is int and >= 0 and var m ? new C() : null); // L: C
        object o = n switch { < 0 => new A(), >= 0 => new B() }; // L: A=0; B
        Keep(o);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Chain(int n)
    {
        Keep(new A()); // L: A
        Chain1(n); // S: Chained
        Keep(new A()); // L: A
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Chain1(int n)
    {
        Called.Ping(); // C: Ping
        return Called.Zero + Chain2(n, 2); // S: Chained
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Chain2(int n, int depth)
    {
        if (depth > 0)
            return Chain2(n, depth - 1) + 1; // S: Chained
        Keep(new Chained()); // L: Chained // S: Chained
        Action a = [MethodImpl(MethodImplOptions.NoInlining)] () => // L: System.Action=1
        {
            Keep(new ChainedInLambda()); // L: ChainedInLambda // S: ChainedInLambda
        };
        a();
        return depth;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Tail(int n)
    {
        Keep(new A()); // L: A
        return Tail2(n);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Tail2(int n)
    {
        Keep(new B()); // L: B
        return Called.Pong(n); // C: Pong
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Skips(int n)
    {
        Keep(new A()); // L: A
#line 5000 "Elsewhere.cs"
        Keep(new B()); // in another file, with the next one
        Keep(new C());
#line hidden
        Keep(new D()); // without a line in the PDB: the one before
#line default
        Keep(new E()); // L: E
    }

    /* Optimised while it runs: the counts are of both bodies together. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Replaced(int n)
    {
        long sum = 0;
        Keep(new A()); // L: A=1
        for (int i = 0; i < n; i++)
        {
            sum += i ^ (sum >> 3);
            if (i % 1000 == 0)
                Keep(new B()); // L: B=200
            if (i % 1000 == 500)
            {
                Keep(new C()); Keep(i); // L: C=200; System.Int32=200
                Called.Ping(); // C: Ping=200
            }
            if (i % 10_000 == 1)
                Keep(new object[] { new D(), new E() }); // L: System.Object[]=20; D=20; E=20
        }
        Keep(new B()); // L: B=1
        return sum;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long ReplacedShared<T>(int n)
    {
        long sum = 0;
        for (int i = 0; i < n; i++)
        {
            sum += i ^ (sum >> 3);
            if (i % 1000 == 0)
                Keep(new G<T>()); // L: G<System.String>=150; G<System.Object>=150
            if (i % 1000 == 1)
                Keep(new T[1]); // L: System.String[]=150; System.Object[]=150
            if (i % 1000 == 2)
                Called.Give(default(T)); // C: Give=300
        }
        return sum;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long ReplacedInTry(int n)
    {
        long sum = 0;
        for (int i = 0; i < n; i++)
        {
            sum += i ^ (sum >> 3);
            try
            {
                if (i % 5000 == 0)
                    Keep(new A()); // L: A=24
                if (i % 5000 == 7)
                    Throw(i);
            }
            catch (Failure)
            {
                Keep(new B()); // L: B=24
            }
            finally
            {
                if (i % 5000 == 8)
                    Keep(new C()); // L: C=24
            }
        }
        return sum;
    }
}
