// Generic code: shared and exact instantiations, generic virtual methods, static virtual and default interface methods,
// variance, constrained calls, delegates over all of them; with exceptions through them.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using static Torture.Cases;
using static Torture.Sink;

namespace Torture;

static class Program
{
    static int Main(string[] args) => Run(args,
        ("shared-method", SharedMethod),
        ("exact-method", ExactMethod),
        ("shared-class", SharedClass),
        ("exact-class", ExactClass),
        ("generic-virtual", GenericVirtual),
        ("generic-interface", GenericInterface),
        ("default-interface", DefaultInterface),
        ("static-virtual", StaticVirtual),
        ("variance", Variance),
        ("constrained", Constrained),
        ("delegates", Delegates),
        ("nested-types", NestedTypes),
        ("recursion", Recursion),
        ("polymorphic-recursion", PolymorphicRecursion),
        ("static-fields", StaticFields),
        ("exceptions", Exceptions),
        ("generic-catch", GenericCatch),
        ("tuples", Tuples),
        ("collections", Collections),
        ("array-interface", ArrayInterface),
        ("many-arguments", ManyArguments),
        ("ref-struct", RefStruct),
        ("reflection", Reflection));

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw(int code)
    {
        Callee();
        throw new TestException(code);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Accept(bool answer)
    {
        Several();
        return answer;
    }

    struct Pair<A, B>
    {
        public A First;
        public B Second;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public override string ToString()
        {
            Keep(new A[1]);
            Keep(new B[1]);
            return "pair";
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static T[] Make<T>(T value, int n)
    {
        Keep(new List<T>());
        var array = new T[n];
        for (int i = 0; i < n; i++)
            array[i] = value;
        Keep(value); /* boxes what is a value */
        return array;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void SharedMethod()
    {
        Keep(Make("x", 2));
        Keep(Make(new Mark(1), 2));
        Keep(Make<object>(null, 2));
        Keep(Make(new List<string>(), 2));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ExactMethod()
    {
        Keep(Make(1, 2));
        Keep(Make(1.5, 2));
        Keep(Make(new Pair<int, string>(), 2));
        Keep(Make(new Pair<string, Mark>(), 2)); /* a value type that is shared itself */
        Keep(Make<int?>(4, 2));
    }

    class Container<T>
    {
        public static int Count;
        protected readonly T value;

        public Container(T value)
        {
            this.value = value;
            Count++;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public virtual Container<U> Map<U>(Func<T, U> map)
        {
            Callee();
            return new Container<U>(map(value));
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public Container<Container<T>> Wrap() => new(new Container<T>(value));

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static Container<T> Of(T value) => new(value);
    }

    class Derived<T> : Container<T>
    {
        public Derived(T value) : base(value) { }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public override Container<U> Map<U>(Func<T, U> map)
        {
            Several();
            return base.Map(map);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void SharedClass()
    {
        Keep(Container<string>.Of("x").Wrap().Wrap().Wrap());
        Keep(Container<Mark>.Of(null).Map(m => "y").Map(s => new Mark(s.Length)));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ExactClass()
    {
        Keep(Container<int>.Of(1).Wrap().Wrap());
        Keep(Container<Pair<int, long>>.Of(default).Map(p => p.First).Map(i => (byte)i));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void GenericVirtual()
    {
        Container<string>[] all = { new Derived<string>("a"), new Container<string>("b") };
        foreach (Container<string> c in all)
        {
            Keep(c.Map(s => s.Length));
            Keep(c.Map(s => new Pair<string, int> { First = s }));
            Keep(c.Map(s => s + s));
            Keep(c.Map(s => new Container<string>(s)));
        }
        Container<int> exact = new Derived<int>(3);
        Keep(exact.Map(i => "s"));
        Keep(exact.Map(i => i * 2L));
    }

    interface IVisitor
    {
        T Visit<T>(T value);
    }

    sealed class Boxer : IVisitor
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public T Visit<T>(T value)
        {
            Keep(new T[] { value });
            return value;
        }
    }

    struct StructVisitor : IVisitor
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public T Visit<T>(T value)
        {
            Keep(value);
            Callee();
            return value;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void GenericInterface()
    {
        foreach (IVisitor v in new IVisitor[] { new Boxer(), new StructVisitor() })
        {
            Check(v.Visit("x") == "x");
            Check(v.Visit(4) == 4);
            Check(v.Visit(new Pair<int, string> { First = 2 }).First == 2);
            Check(v.Visit<IVisitor>(v) == v);
        }
    }

    interface IDefault<T>
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        T Get(T value)
        {
            Keep(new T[1]);
            Callee();
            return value;
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        int Fail(int n)
        {
            Callee();
            Throw(n);
            return n;
        }
    }

    sealed class ByDefault : IDefault<string>, IDefault<int>
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        int IDefault<int>.Get(int value)
        {
            Several();
            return value + 1;
        }
    }

    struct StructByDefault : IDefault<string> { }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void DefaultInterface()
    {
        var o = new ByDefault();
        Check(((IDefault<string>)o).Get("x") == "x");
        Check(((IDefault<int>)o).Get(1) == 2);
        IDefault<string> boxed = new StructByDefault();
        Check(boxed.Get("y") == "y");
        foreach (Func<int, int> f in new Func<int, int>[] { ((IDefault<string>)o).Fail, ((IDefault<int>)o).Fail, boxed.Fail })
            try
            {
                f(3);
                Check(false);
            }
            catch (TestException)
            {
                Several();
            }
    }

    interface IFactory<T>
    {
        static abstract T Create(int n);
        static virtual int Weight(T value)
        {
            Callee();
            return 1;
        }
    }

    sealed class ByStatic : IFactory<ByStatic>
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public static ByStatic Create(int n)
        {
            if (n < 0)
                Throw(n);
            return new ByStatic();
        }
    }

    struct StructByStatic : IFactory<StructByStatic>
    {
        public int Number;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static StructByStatic Create(int n)
        {
            Callee();
            return new StructByStatic { Number = n };
        }

        [MethodImpl(MethodImplOptions.NoInlining)]
        public static int Weight(StructByStatic value)
        {
            Keep(value);
            return value.Number;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Build<T>(int n) where T : IFactory<T>
    {
        T made = T.Create(n);
        Keep(made);
        return T.Weight(made);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void StaticVirtual()
    {
        Check(Build<ByStatic>(3) == 1);
        Check(Build<StructByStatic>(3) == 3);
        try
        {
            Build<ByStatic>(-1);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    interface IOut<out T>
    {
        T Get();
    }

    interface IIn<in T>
    {
        void Put(T value);
    }

    sealed class Variant<T> : IOut<T>, IIn<T> where T : class, new()
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public T Get() => new();

        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Put(T value)
        {
            Keep(value);
            Callee();
        }
    }

    class Animal { }
    sealed class Cat : Animal { }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Variance()
    {
        IOut<Animal> output = new Variant<Cat>();
        IIn<Cat> input = new Variant<Animal>();
        Keep(output.Get());
        input.Put(new Cat());
        Func<Cat> make = () => new Cat();
        Func<object> widened = make;
        Keep(widened());
        IEnumerable<object> objects = new List<string> { "a", "b" };
        foreach (object o in objects)
            Keep(o);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static string Describe<T>(T value)
    {
        Callee();
        return value.ToString();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int CompareTo<T>(T a, T b) where T : IComparable<T>
    {
        Callee();
        return a.CompareTo(b);
    }

    struct Failing : IComparable<Failing>
    {
        public int Number;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public int CompareTo(Failing other)
        {
            Keep(this);
            Throw(Number);
            return 0;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Constrained()
    {
        Check(Describe(new Pair<int, string>()) == "pair");
        Check(Describe(new Pair<string, string>()) == "pair");
        Check(Describe("x") == "x");
        Check(CompareTo(1, 2) < 0);
        Check(CompareTo("b", "a") > 0);
        try
        {
            CompareTo(new Failing { Number = 6 }, default);
            Check(false);
        }
        catch (TestException e)
        {
            Check(e.Code == 6);
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static R Apply<A, R>(Func<A, R> f, A a)
    {
        Callee();
        return f(a);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static T Identity<T>(T value)
    {
        Keep(new T[1]);
        return value;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Delegates()
    {
        Check(Apply(Identity<int>, 3) == 3);
        Check(Apply(Identity<string>, "s") == "s");
        Check(Apply<string, object>(Identity<object>, "s").Equals("s"));
        Func<Container<string>, Container<int>> open = c => c.Map(s => s.Length);
        Keep(Apply(open, new Derived<string>("abc")));
        Func<Func<string, int>, Container<int>> closed = new Derived<string>("abc").Map<int>;
        Keep(Apply(closed, s => s.Length));
    }

    class Outer<T>
    {
        public class Inner<U>
        {
            public struct Leaf<V>
            {
                [MethodImpl(MethodImplOptions.NoInlining)]
                public void Go<W>(int depth)
                {
                    Keep(new Outer<V>.Inner<W>());
                    Keep(new (T, U, V, W)[1]);
                    if (depth > 0)
                        new Outer<U>.Inner<V>.Leaf<T>().Go<W>(depth - 1);
                    else
                        Throw(2);
                }
            }
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void NestedTypes()
    {
        try
        {
            new Outer<string>.Inner<int>.Leaf<object>().Go<byte>(3);
            Check(false);
        }
        catch (TestException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Count<T>(int depth)
    {
        Keep(new T[1]);
        return depth == 0 ? 0 : Count<T>(depth - 1) + 1;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Recursion()
    {
        Check(Count<string>(20) == 20);
        Check(Count<int>(20) == 20);
        Check(Count<Pair<int, string>>(20) == 20);
    }

    /* Each level needs another instantiation, made while the program runs. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Polymorphic<T>(int depth)
    {
        Keep(new List<T>());
        if (depth == 0)
            Throw(depth);
        try
        {
            return depth % 2 == 0 ? Polymorphic<List<T>>(depth - 1) : Polymorphic<Pair<T, int>>(depth - 1);
        }
        finally
        {
            Keep(new T[1]);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void PolymorphicRecursion()
    {
        foreach (Func<int, int> start in new Func<int, int>[] { Polymorphic<string>, Polymorphic<int> })
            try
            {
                start(6);
                Check(false);
            }
            catch (TestException)
            {
                Several();
            }
    }

    static class Statics<T>
    {
        public static readonly object Value = new T[2];
        public static readonly List<T> List = new();
        [ThreadStatic] public static object PerThread;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void StaticFields()
    {
        Keep(Statics<string>.Value);
        Keep(Statics<Mark>.List);
        Keep(Statics<int>.Value);
        Statics<string>.PerThread ??= new Mark(1);
        Statics<long>.PerThread ??= new Mark(2);
        Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static T Through<T>(int depth, T value)
    {
        try
        {
            Keep(new T[1]);
            if (depth == 0)
                Throw(depth);
            return depth % 2 == 0 ? Through(depth - 1, (value, value)).Item1 : Through(depth - 1, value);
        }
        catch (TestException) when (Accept(typeof(T) == typeof(object)))
        {
            return value;
        }
        finally
        {
            Callee();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Exceptions()
    {
        Through<object>(4, null);
        try
        {
            Through("x", 3);
            Through(3, 4);
        }
        catch (TestException)
        {
            Several();
        }
    }

    static string Through(string s, int n) => Through(n, s);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Catch<E, R>(Func<R> body) where E : Exception
    {
        try
        {
            Keep(body());
            return 0;
        }
        catch (E e) when (Accept(e is E))
        {
            Keep(new R[1]);
            return 1;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static R Fail<R>()
    {
        Throw(1);
        return default;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void GenericCatch()
    {
        Check(Catch<TestException, string>(Fail<string>) == 1);
        Check(Catch<TestException, int>(Fail<int>) == 1);
        Check(Catch<Exception, int>(() => Catch<OtherException, string>(Fail<string>)) == 1);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static (A, B) Swap<A, B>((B, A) t)
    {
        Keep(t);
        return (t.Item2, t.Item1);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Tuples()
    {
        (string, int) t = (("x", 2));
        for (int i = 0; i < 3; i++)
            t = Swap(Swap(t));
        Check(t == ("x", 2));
        Keep(Tuple.Create(1, "x", new Mark(1)));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Collections()
    {
        var map = new Dictionary<string, List<int>>();
        for (int i = 0; i < 30; i++)
        {
            string key = (i % 7).ToString();
            if (!map.TryGetValue(key, out List<int> list))
                map[key] = list = new List<int>();
            list.Add(i);
        }
        var sorted = new SortedDictionary<int, string>();
        foreach ((string key, List<int> list) in map)
            sorted[-list[0]] = key;
        Check(sorted.First().Value == "6");
        var queue = new PriorityQueue<Mark, int>();
        for (int i = 0; i < 20; i++)
            queue.Enqueue(new Mark(i), i * 7 % 20);
        while (queue.TryDequeue(out Mark m, out _))
            Keep(m);
        try
        {
            foreach (KeyValuePair<string, List<int>> pair in map)
                map.Remove("nothing " + map.Remove(pair.Key) + map.TryAdd("new", null));
            Check(false);
        }
        catch (InvalidOperationException)
        {
            Several();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ArrayInterface()
    {
        IList<string> list = new[] { "a", "b", "c" };
        foreach (string s in list)
            Callee();
        Check(list.IndexOf("c") == 2);
        try
        {
            list.Add("d");
            Check(false);
        }
        catch (NotSupportedException)
        {
            Several();
        }
        IReadOnlyList<object> covariant = new[] { "a", "b" };
        Check(covariant.Count == 2);
        foreach (object o in covariant)
            Callee();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static long Sum<A, B, C, D>(A a, B b, C c, D d, long e, double f, Pair<A, B> g, Pair<C, D> h, int i, string j)
    {
        Keep(a);
        Keep(b);
        Keep(g);
        Keep(h);
        return e + (long)f + i + j.Length;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ManyArguments()
    {
        Check(Sum("x", 1, new Mark(1), 2.5f, 10, 20.0, default, default, 3, "four") == 37);
        Check(Sum(1, 2, 3, 4, 10, 20.0, default, default, 3, "four") == 37);
    }

    ref struct Slice<T>
    {
        public Span<T> Span;

        [MethodImpl(MethodImplOptions.NoInlining)]
        public int Go()
        {
            Keep(Span.ToArray());
            return Span.Length;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void RefStruct()
    {
        Check(new Slice<string> { Span = new string[3] }.Go() == 3);
        Check(new Slice<byte> { Span = stackalloc byte[4] }.Go() == 4);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Reflection()
    {
        var identity = typeof(Program).GetMethod(nameof(Identity),
            System.Reflection.BindingFlags.Static | System.Reflection.BindingFlags.NonPublic);
        foreach (Type t in new[] { typeof(string), typeof(int), typeof(Pair<int, string>), typeof(Container<Mark>) })
            identity.MakeGenericMethod(t).Invoke(null, new[] { t.IsValueType ? Activator.CreateInstance(t) : null });
        Keep(Activator.CreateInstance(typeof(Dictionary<,>).MakeGenericType(typeof(Mark), typeof(Pair<int, string>))));
    }
}
