// Allocates numbers drawn from a seed, of known types at known places, and prints what a log of it must say.
//
//   KnownAllocs [--seed N] [--threads N] [--scale N]
//
// One JSON object per line:
//   {"kind":"seed","seed":N}
//   {"kind":"expect","method":RE,"type":RE,"allocs":N,"bytes":N,"heap":"large|pinned|frozen","path":[RE,…]}
//       allocations of that type whose nearest frame of this program is that method; bytes, heap and path where they are
//       known. path: the callers of the method that follow, nearest first.
//   {"kind":"thread","name":NAME,"os":N,"region":METHOD,"bytes":N}
//       what GC.GetAllocatedBytesForCurrentThread grew by around the one call of METHOD on that thread: the sum of the
//       bytes of that thread's events whose stack contains METHOD, frozen ones left out (they lie outside the GC heap).
// and the line `ok` at the end. RE is a regular expression for the whole text without parameters and type arguments.
//
// Sizes: 8 (header) + 8 (type) + fields, for arrays 8 + 8 + 8 (length) + elements, for strings 22 + 2 per character, all
// rounded up to 8; a multi-dimensional array has 8 bytes more per dimension.
using System;
using System.Collections;
using System.Collections.Generic;
using System.IO;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Known;

class Plain
{
    public long A;
    public int B;
}

class Derived : Plain
{
    public object Part;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public Derived() { Part = new PartOf(); }
}

class PartOf { }

class Node<T>
{
    public T Value;
}

struct Cell
{
    public long Value;
}

struct Point
{
    public int X, Y, Z;
}

enum Colour : byte { Red, Green }

class Finalized
{
    ~Finalized() { Value = 1; }
    public static volatile int Value;
}

class KnownException : Exception { }

class InTry { }
class InCatch { }
class InFilter { }
class InFinally { }
class AfterCatch { }
class Level1 { }
class Level2 { }
class Level3 { }
class Recursive { }
class Cloned
{
    public long A, B, C;
    [MethodImpl(MethodImplOptions.NoInlining)]
    public Cloned Copy() => (Cloned)MemberwiseClone();
}
class Activated { }
class ByReflection { }
class InDelegate { }
class InLambda { }
class InLocalFunction { }
class InIterator { }
class InAsync { }
class InStaticConstructor { }
class ViaInterface { }
class ViaVirtual { }
class ViaGenericVirtual<T> { }
class InGenericClass<T> { }
class Uninitialized { public long A; }
class InFinalizer { }

delegate void Callback(object o);

interface IMaker
{
    object Make();
}

sealed class InterfaceMaker : IMaker
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public object Make() => new ViaInterface();
}

abstract class Maker
{
    public abstract object Make();
    public abstract object Make<T>();
}

sealed class VirtualMaker : Maker
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public override object Make() => new ViaVirtual();
    [MethodImpl(MethodImplOptions.NoInlining)]
    public override object Make<T>() => new ViaGenericVirtual<T>();
}

class Once<T>
{
    public static object Value = new Node<T>();
    public static readonly object First;
    [MethodImpl(MethodImplOptions.NoInlining)]
    static Once() { First = new InStaticConstructor(); }
}

sealed class GenericClass<T>
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Make(int n)
    {
        for (int i = 0; i < n; i++)
            Places.Keep(new InGenericClass<T>());
    }
}

/// <summary>Where the marked allocations are made. Each place keeps what it makes, so that nothing can be elided.</summary>
static class Places
{
    static readonly object[] kept = new object[256];
    static int number;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Keep(object o)
    {
        kept[Interlocked.Increment(ref number) & 255] = o;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void MakePlain(int n)
    {
        for (int i = 0; i < n; i++)
            Keep(new Plain { A = i });
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void MakeDerived(int n)
    {
        for (int i = 0; i < n; i++)
            Keep(new Derived());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void MakeNode<T>(T value, int n)
    {
        for (int i = 0; i < n; i++)
            Keep(new Node<T> { Value = value });
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void BoxPoint(int n)
    {
        for (int i = 0; i < n; i++)
            Keep(new Point { X = i });
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void BoxColour(int n)
    {
        for (int i = 0; i < n; i++)
            Keep(i % 2 == 0 ? Colour.Red : Colour.Green);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void BoxNullable(int n)
    {
        for (int i = 0; i < n; i++)
        {
            Cell? some = new Cell { Value = i }, none = null;
            Keep(some);
            Keep(none);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void MakeArrays(int n, int length)
    {
        for (int i = 0; i < n; i++)
            Keep(new Cell[length]);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void MakeReferences(int n, int length)
    {
        for (int i = 0; i < n; i++)
            Keep(new Plain[length]);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void MakeMatrix(int n, int rows, int columns)
    {
        for (int i = 0; i < n; i++)
            Keep(new Cell[rows, columns]);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void MakeCube(int n, int side)
    {
        for (int i = 0; i < n; i++)
            Keep(new Point[side, side, side]);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void MakeJagged(int n, int rows, int columns)
    {
        for (int i = 0; i < n; i++)
        {
            var outer = new Cell[rows][];
            for (int j = 0; j < rows; j++)
                outer[j] = new Cell[columns];
            Keep(outer);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void MakeStrings(int n, int length)
    {
        for (int i = 0; i < n; i++)
            Keep(new string('x', length));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Concatenate(int n, string left, string right)
    {
        for (int i = 0; i < n; i++)
            Keep(string.Concat(left, right));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void MakeLarge(int n, int length)
    {
        for (int i = 0; i < n; i++)
            Keep(new Cell[length]);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void MakePinned(int n, int length)
    {
        for (int i = 0; i < n; i++)
            Keep(GC.AllocateArray<Cell>(length, pinned: true));
    }

    /* Literals come to life when their method is compiled, under the method's first caller. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void UseLiterals()
    {
        Literals();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Literals()
    {
        Keep("known literal 1");
        Keep("known literal number 2");
        Keep("known literal number three");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Nest1(int n1, int n2, int n3)
    {
        for (int i = 0; i < n1; i++)
        {
            Keep(new Level1());
            Nest2(n2, n3);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Nest2(int n2, int n3)
    {
        for (int i = 0; i < n2; i++)
        {
            Keep(new Level2());
            Nest3(n3);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Nest3(int n3)
    {
        for (int i = 0; i < n3; i++)
            Keep(new Level3());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Recurse(int depth)
    {
        if (depth == 0)
            return;
        Recurse(depth - 1);
        Keep(new Recursive());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static bool Filter(int n)
    {
        for (int i = 0; i < n; i++)
            Keep(new InFilter());
        return true;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw()
    {
        throw new KnownException();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Handlers(int inTry, int inFilter, int inCatch, int inFinally, int after)
    {
        try
        {
            try
            {
                for (int i = 0; i < inTry; i++)
                    Keep(new InTry());
                Throw();
            }
            catch (KnownException) when (Filter(inFilter))
            {
                for (int i = 0; i < inCatch; i++)
                    Keep(new InCatch());
            }
        }
        finally
        {
            for (int i = 0; i < inFinally; i++)
                Keep(new InFinally());
        }
        for (int i = 0; i < after; i++)
            Keep(new AfterCatch());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void FinallyWhileUnwinding(int n)
    {
        try
        {
            Throw();
        }
        finally
        {
            for (int i = 0; i < n; i++)
                Keep(new InFinally());
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Unwinding(int n)
    {
        try
        {
            FinallyWhileUnwinding(n);
        }
        catch (KnownException)
        {
            Keep(new InCatch());
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Clone(int n)
    {
        var original = new Cloned();
        for (int i = 0; i < n; i++)
            Keep(original.Copy());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Activate(int n)
    {
        for (int i = 0; i < n; i++)
            Keep(Activator.CreateInstance<Activated>());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Reflect(int n)
    {
        for (int i = 0; i < n; i++)
            Keep(Activator.CreateInstance(typeof(ByReflection)));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void MakeUninitialized(int n)
    {
        for (int i = 0; i < n; i++)
            Keep(RuntimeHelpers.GetUninitializedObject(typeof(Uninitialized)));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Called(object o)
    {
        Keep(new InDelegate());
    }

    static readonly Callback called = Called; /* separate: the compiler's cache for `+= Called` may be filled twice */

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void MakeDelegates(int n)
    {
        for (int i = 0; i < n; i++)
        {
            Callback call = new Callback(new Receiver().Call);
            call += called;
            Keep(call);
            call(null);
        }
    }

    sealed class Receiver
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Call(object o) { Keep(new InDelegate()); }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Closures(int n)
    {
        for (int i = 0; i < n; i++)
        {
            int captured = i;
            Func<object> make = () => new Node<int[]> { Value = captured < 0 ? kept[0] as int[] : null };
            Keep(make);
            Keep(make());
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Lambdas(int n)
    {
        Func<object> make = static () => new InLambda();
        for (int i = 0; i < n; i++)
            Keep(make());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void LocalFunctions(int n)
    {
        for (int i = 0; i < n; i++)
            Keep(Make());

        [MethodImpl(MethodImplOptions.NoInlining)]
        static object Make() => new InLocalFunction();
    }

    static IEnumerable Generate(int n)
    {
        for (int i = 0; i < n; i++)
            yield return new InIterator();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Iterate(int n)
    {
        foreach (object o in Generate(n))
            Keep(o);
    }

    static async Task RunAsync(int n)
    {
        for (int i = 0; i < n; i++)
        {
            Keep(new InAsync());
            await Task.CompletedTask;
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Await(int n)
    {
        RunAsync(n).GetAwaiter().GetResult();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Dispatch(IMaker maker, Maker other, int n)
    {
        for (int i = 0; i < n; i++)
        {
            Keep(maker.Make());
            Keep(other.Make());
            Keep(other.Make<string>());
            Keep(other.Make<Cell>());
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void GenericClasses(int n)
    {
        new GenericClass<string>().Make(n);
        new GenericClass<Point>().Make(n);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Finalizers(int n)
    {
        for (int i = 0; i < n; i++)
            Keep(new Finalized());
    }

    /* A list of 0 grows to 4, 8, 16, …: the arrays are made deep inside the class library. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Grow(int n)
    {
        var list = new List<Plain[]>();
        for (int i = 0; i < n; i++)
            list.Add(null);
        Keep(list);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Many(params Colour[] colours) { Keep(colours); }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Params(int n)
    {
        for (int i = 0; i < n; i++)
            Many(Colour.Green, (Colour)(i & 1), Colour.Red);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void LowerBound(int n, int length)
    {
        int[] lengths = { length }, bounds = { 5 };
        for (int i = 0; i < n; i++)
            Keep(Array.CreateInstance(typeof(Cell), lengths, bounds));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void StaticConstructors()
    {
        Keep(Once<Plain>.Value);
        Keep(Once<Cell>.Value);
    }
}

/// <summary>What the log must say, added up over threads.</summary>
static class Expect
{
    sealed class Row
    {
        public string Method, Type, Heap;
        public string[] Path;
        public long Allocs, Bytes;
    }

    static readonly Dictionary<string, Row> rows = new();

    public static void Add(string method, string type, long allocs, long bytes, string heap = null, params string[] path)
    {
        if (allocs == 0)
            return;
        lock (rows)
        {
            string key = method + "|" + type + "|" + heap + "|" + string.Join("|", path);
            if (!rows.TryGetValue(key, out Row row))
                rows[key] = row = new Row { Method = method, Type = type, Heap = heap, Path = path };
            row.Allocs += allocs;
            row.Bytes = bytes < 0 || row.Bytes < 0 ? -1 : row.Bytes + allocs * bytes;
        }
    }

    static string Quote(string s) => "\"" + s.Replace("\\", "\\\\").Replace("\"", "\\\"") + "\"";

    public static void Print(TextWriter to)
    {
        var names = new List<string>(rows.Keys);
        names.Sort(string.CompareOrdinal);
        foreach (string name in names)
        {
            Row row = rows[name];
            var line = new StringBuilder("{\"kind\":\"expect\",\"method\":" + Quote(row.Method) + ",\"type\":" + Quote(row.Type) +
                                         ",\"allocs\":" + row.Allocs);
            if (row.Bytes >= 0)
                line.Append(",\"bytes\":" + row.Bytes);
            if (row.Heap != null)
                line.Append(",\"heap\":" + Quote(row.Heap));
            if (row.Path.Length > 0)
                line.Append(",\"path\":[" + string.Join(",", Array.ConvertAll(row.Path, Quote)) + "]");
            to.WriteLine(line.Append('}'));
        }
    }
}

/// <summary>The numbers of one thread.</summary>
sealed class Plan
{
    ulong state;
    readonly int scale;
    public readonly Dictionary<string, int> Numbers = new();

    public Plan(ulong seed, int thread, int scale)
    {
        state = (seed + 1) * 0x9E3779B97F4A7C15UL ^ (ulong)(thread + 1) * 0xD1B54A32D192ED03UL;
        this.scale = scale;
    }

    /* xorshift64*: the same numbers on every framework */
    int Next(int limit)
    {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return (int)((state * 0x2545F4914F6CDD1DUL >> 33) % (ulong)limit);
    }

    public int Number(int limit = 24) => 1 + Next(limit * scale);
    public int Length(int limit = 30) => Next(limit);
}

sealed class Worker
{
    readonly string name;
    readonly IMaker maker = new InterfaceMaker();
    readonly Maker other = new VirtualMaker();
    readonly string left, right;
    public long Cold, Warm, OsThread;

    /* Filled before the thread starts. */
    readonly int[][] n = new int[2][];
    const int Draws = 64;
    int next;

    int[] numbers;

    int N() => numbers[next++];

    public Worker(ulong seed, int index, int scale)
    {
        name = "known-" + index;
        var plan = new Plan(seed, index, scale);
        left = new string('l', 1 + plan.Length());
        right = new string('r', 1 + plan.Length());
        for (int pass = 0; pass < 2; pass++)
        {
            n[pass] = Draw(plan);
            Account(n[pass]);
        }
    }

    /* In the order in which Region uses them. */
    static int[] Draw(Plan p)
    {
        var draw = new List<int>
        {
            p.Number(), p.Number(), p.Number(), p.Number(), p.Number(), /* plain, derived, node of string, int, Point */
            p.Number(), p.Number(), p.Number(), /* boxes */
            p.Number(), p.Length(), p.Number(), p.Length(), /* arrays */
            p.Number(), p.Length(9), p.Length(9), p.Number(), p.Length(6), /* matrix, cube */
            p.Number(6), p.Length(9), p.Length(), /* jagged */
            p.Number(), 1 + p.Length(90), p.Number(), /* strings, concatenations */
            1 + p.Length(4), 10625 + p.Length(3000), 1 + p.Length(9), 1 + p.Length(), /* large, pinned */
            p.Number(5), 1 + p.Length(5), 1 + p.Length(5), p.Number(12), /* nesting, recursion */
            p.Number(), p.Number(), p.Number(), p.Number(), p.Number(), p.Number(), /* handlers, unwinding */
            p.Number(), p.Number(), p.Number(), p.Number(), /* clone, activate, reflect, uninitialized */
            p.Number(), p.Number(), p.Number(), p.Number(), /* delegates, closures, lambdas, local functions */
            p.Number(), p.Number(), p.Number(), p.Number(), /* iterator, async, dispatch, generic classes */
            p.Number(), p.Number(60), p.Number(), p.Number(8), p.Length(), /* finalizers, growth, params, lower bound */
        };
        return draw.ToArray();
    }

    static long Up(long bytes) => (bytes + 7) & ~7L;
    static long ArrayBytes(long length, long element) => Up(24 + length * element);

    const string P = "Known\\.Places\\.";

    void Account(int[] draw)
    {
        int i = 0;
        int N() => draw[i++];
        int a, b, c, d, e;

        Expect.Add(P + "MakePlain", "Known\\.Plain", N(), 32);
        Expect.Add(P + "MakeDerived", "Known\\.Derived", a = N(), 40);
        Expect.Add("Known\\.Derived\\.\\.ctor", "Known\\.PartOf", a, 24, null, P + "MakeDerived");
        Expect.Add(P + "MakeNode", "Known\\.Node<System\\.String>", N(), 24);
        Expect.Add(P + "MakeNode", "Known\\.Node<System\\.Int32>", N(), 24);
        Expect.Add(P + "MakeNode", "Known\\.Node<Known\\.Point>", N(), 32);
        Expect.Add(P + "BoxPoint", "Known\\.Point", N(), 32);
        Expect.Add(P + "BoxColour", "Known\\.Colour", N(), 24);
        Expect.Add(P + "BoxNullable", "Known\\.Cell", N(), 24);
        a = N();
        Expect.Add(P + "MakeArrays", "Known\\.Cell\\[\\]", a, ArrayBytes(N(), 8));
        a = N();
        Expect.Add(P + "MakeReferences", "Known\\.Plain\\[\\]", a, ArrayBytes(N(), 8));
        a = N();
        b = N();
        Expect.Add(P + "MakeMatrix", "Known\\.Cell\\[,\\]", a, ArrayBytes(b * N() + 2, 8));
        a = N();
        b = N();
        Expect.Add(P + "MakeCube", "Known\\.Point\\[,,\\]", a, ArrayBytes(b * b * b + 2, 12));
        a = N();
        b = N();
        c = N();
        Expect.Add(P + "MakeJagged", "Known\\.Cell\\[\\]\\[\\]", a, ArrayBytes(b, 8));
        Expect.Add(P + "MakeJagged", "Known\\.Cell\\[\\]", a * b, ArrayBytes(c, 8));
        a = N();
        Expect.Add(P + "MakeStrings", "System\\.String", a, Up(22 + 2 * N()));
        Expect.Add(P + "Concatenate", "System\\.String", N(), Up(22 + 2 * (left.Length + right.Length)));
        a = N();
        Expect.Add(P + "MakeLarge", "Known\\.Cell\\[\\]", a, ArrayBytes(N(), 8), "large");
        a = N();
        Expect.Add(P + "MakePinned", "Known\\.Cell\\[\\]", a, ArrayBytes(N(), 8), "pinned");
        a = N();
        b = N();
        c = N();
        Expect.Add(P + "Nest1", "Known\\.Level1", a, 24);
        Expect.Add(P + "Nest2", "Known\\.Level2", a * b, 24, null, P + "Nest1");
        Expect.Add(P + "Nest3", "Known\\.Level3", a * b * c, 24, null, P + "Nest2", P + "Nest1");
        a = N();
        Expect.Add(P + "Recurse", "Known\\.Recursive", a, 24);
        a = N();
        b = N();
        c = N();
        d = N();
        e = N();
        Expect.Add(P + "Handlers", "Known\\.InTry", a, 24);
        Expect.Add(P + "Throw", "Known\\.KnownException", 1, -1, null, P + "Handlers");
        /* a filter's method is on the stack twice: the second time as the filter */
        Expect.Add(P + "Filter", "Known\\.InFilter", b, 24, null, P + "Handlers");
        Expect.Add(P + "Handlers", "Known\\.InCatch", c, 24);
        Expect.Add(P + "Handlers", "Known\\.InFinally", d, 24);
        Expect.Add(P + "Handlers", "Known\\.AfterCatch", e, 24);
        Expect.Add(P + "Throw", "Known\\.KnownException", 1, -1, null, P + "FinallyWhileUnwinding", P + "Unwinding");
        Expect.Add(P + "FinallyWhileUnwinding", "Known\\.InFinally", N(), 24, null, P + "Unwinding");
        Expect.Add(P + "Unwinding", "Known\\.InCatch", 1, 24);
        Expect.Add(P + "Clone", "Known\\.Cloned", 1, 40);
        Expect.Add("Known\\.Cloned\\.Copy", "Known\\.Cloned", N(), 40, null, P + "Clone");
        Expect.Add(P + "Activate", "Known\\.Activated", N(), 24);
        Expect.Add(P + "Reflect", "Known\\.ByReflection", N(), 24);
        Expect.Add(P + "MakeUninitialized", "Known\\.Uninitialized", N(), 24);
        a = N();
        Expect.Add(P + "MakeDelegates", "Known\\.Places\\.Receiver", a, 24);
        Expect.Add(P + "MakeDelegates", "Known\\.Callback", 2 * a, Environment.Version.Major >= 11 ? 56 : 64); /* the second comes from combining two */
        Expect.Add("Known\\.Places\\.Receiver\\.Call", "Known\\.InDelegate", a, 24, null, P + "MakeDelegates");
        Expect.Add(P + "Called", "Known\\.InDelegate", a, 24, null, P + "MakeDelegates");
        a = N();
        Expect.Add(P + "Closures", P + "<>c__DisplayClass[0-9_]+", a, 24);
        Expect.Add(P + "<>c__DisplayClass[0-9_]+\\.<Closures>b__[0-9_]+", "Known\\.Node<System\\.Int32\\[\\]>", a, 24, null, P + "Closures");
        Expect.Add(P + "<>c\\.<Lambdas>b__[0-9_]+", "Known\\.InLambda", N(), 24, null, P + "Lambdas");
        Expect.Add(P + "<LocalFunctions>g__Make\\|[0-9_]+", "Known\\.InLocalFunction", N(), 24, null, P + "LocalFunctions");
        Expect.Add(P + "<Generate>d__[0-9]+\\.MoveNext", "Known\\.InIterator", N(), 24, null, P + "Iterate");
        Expect.Add(P + "<RunAsync>d__[0-9]+\\.MoveNext", "Known\\.InAsync", N(), 24);
        a = N();
        Expect.Add("Known\\.InterfaceMaker\\.Make", "Known\\.ViaInterface", a, 24, null, P + "Dispatch");
        Expect.Add("Known\\.VirtualMaker\\.Make", "Known\\.ViaVirtual", a, 24, null, P + "Dispatch");
        Expect.Add("Known\\.VirtualMaker\\.Make", "Known\\.ViaGenericVirtual<System\\.String>", a, 24, null, P + "Dispatch");
        Expect.Add("Known\\.VirtualMaker\\.Make", "Known\\.ViaGenericVirtual<Known\\.Cell>", a, 24, null, P + "Dispatch");
        a = N();
        Expect.Add(P + "GenericClasses", "Known\\.GenericClass<System\\.String>", 1, 24);
        Expect.Add(P + "GenericClasses", "Known\\.GenericClass<Known\\.Point>", 1, 24);
        Expect.Add("Known\\.GenericClass\\.Make", "Known\\.InGenericClass<System\\.String>", a, 24, null, P + "GenericClasses");
        Expect.Add("Known\\.GenericClass\\.Make", "Known\\.InGenericClass<Known\\.Point>", a, 24, null, P + "GenericClasses");
        Expect.Add(P + "Finalizers", "Known\\.Finalized", N(), 24);
        a = N();
        for (int capacity = 4; ; capacity *= 2)
        {
            Expect.Add(P + "Grow", "Known\\.Plain\\[\\]\\[\\]", 1, ArrayBytes(capacity, 8));
            if (capacity >= a)
                break;
        }
        Expect.Add(P + "Params", "Known\\.Colour\\[\\]", N(), ArrayBytes(3, 1));
        a = N();
        Expect.Add(P + "LowerBound", "Known\\.Cell\\[\\*\\]", a, ArrayBytes(N() + 1, 8));
        if (i != draw.Length)
            throw new InvalidOperationException("draws and places differ");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    void Region()
    {
        int a, b, c, d, e;

        next = 0;
        Places.MakePlain(N());
        Places.MakeDerived(N());
        Places.MakeNode<string>(null, N());
        Places.MakeNode<int>(1, N());
        Places.MakeNode<Point>(default, N());
        Places.BoxPoint(N());
        Places.BoxColour(N());
        Places.BoxNullable(N());
        a = N();
        Places.MakeArrays(a, N());
        a = N();
        Places.MakeReferences(a, N());
        a = N();
        b = N();
        Places.MakeMatrix(a, b, N());
        a = N();
        Places.MakeCube(a, N());
        a = N();
        b = N();
        Places.MakeJagged(a, b, N());
        a = N();
        Places.MakeStrings(a, N());
        Places.Concatenate(N(), left, right);
        a = N();
        Places.MakeLarge(a, N());
        a = N();
        Places.MakePinned(a, N());
        a = N();
        b = N();
        Places.Nest1(a, b, N());
        Places.Recurse(N());
        a = N();
        b = N();
        c = N();
        d = N();
        e = N();
        Places.Handlers(a, b, c, d, e);
        Places.Unwinding(N());
        Places.Clone(N());
        Places.Activate(N());
        Places.Reflect(N());
        Places.MakeUninitialized(N());
        Places.MakeDelegates(N());
        Places.Closures(N());
        Places.Lambdas(N());
        Places.LocalFunctions(N());
        Places.Iterate(N());
        Places.Await(N());
        Places.Dispatch(maker, other, N());
        Places.GenericClasses(N());
        Places.Finalizers(N());
        Places.Grow(N());
        Places.Params(N());
        a = N();
        Places.LowerBound(a, N());
    }

    /* The same twice: while the code is compiled for the first time, and when it is not. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    void ColdRegion()
    {
        numbers = n[0];
        Region();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    void WarmRegion()
    {
        numbers = n[1];
        Region();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Body()
    {
        string self = new FileInfo("/proc/thread-self").ResolveLinkTarget(false).Name;
        OsThread = long.Parse(self);
        long before = GC.GetAllocatedBytesForCurrentThread();
        ColdRegion();
        long between = GC.GetAllocatedBytesForCurrentThread();
        WarmRegion();
        long after = GC.GetAllocatedBytesForCurrentThread();
        Cold = between - before;
        Warm = after - between;
    }

    public Thread Start()
    {
        var thread = new Thread(Body) { Name = name };
        thread.Start();
        return thread;
    }

    public void Print(TextWriter to)
    {
        to.WriteLine("{\"kind\":\"thread\",\"name\":\"" + name + "\",\"os\":" + OsThread +
                     ",\"region\":\"Known\\\\.Worker\\\\.ColdRegion\",\"bytes\":" + Cold + "}");
        to.WriteLine("{\"kind\":\"thread\",\"name\":\"" + name + "\",\"os\":" + OsThread +
                     ",\"region\":\"Known\\\\.Worker\\\\.WarmRegion\",\"bytes\":" + Warm + "}");
    }
}

static class Program
{
    /* Once in the process, on the main thread. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void OnceRegion()
    {
        Places.Keep(new List<Plain[]>()); /* its shared empty array */
        Places.UseLiterals();
        Places.StaticConstructors();
    }

    static int Main(string[] args)
    {
        ulong seed = 1;
        int threads = 8, scale = 1;

        for (int i = 0; i < args.Length; i++)
            if (args[i] == "--seed" && i + 1 < args.Length)
                seed = ulong.Parse(args[++i]);
            else if (args[i] == "--threads" && i + 1 < args.Length)
                threads = int.Parse(args[++i]);
            else if (args[i] == "--scale" && i + 1 < args.Length)
                scale = int.Parse(args[++i]);
            else
            {
                Console.Error.WriteLine("unknown argument " + args[i]);
                return 2;
            }

        OnceRegion();
        Expect.Add("Known\\.Places\\.UseLiterals", "System\\.String", 3, -1, "frozen");
        Expect.Add("Known\\.Once\\.\\.cctor", "Known\\.InStaticConstructor", 2, 24, null);
        Expect.Add("Known\\.Once\\.\\.cctor", "Known\\.Node<Known\\.Plain>", 1, 24, null);
        Expect.Add("Known\\.Once\\.\\.cctor", "Known\\.Node<Known\\.Cell>", 1, 24, null);

        var workers = new Worker[threads];
        var running = new Thread[threads];
        for (int i = 0; i < threads; i++)
            workers[i] = new Worker(seed, i, scale);
        for (int i = 0; i < threads; i++)
            running[i] = workers[i].Start();
        foreach (Thread thread in running)
            thread.Join();

        var to = new StreamWriter(Console.OpenStandardOutput());
        to.WriteLine("{\"kind\":\"seed\",\"seed\":" + seed + "}");
        Expect.Print(to);
        foreach (Worker worker in workers)
            worker.Print(to);
        to.WriteLine("ok");
        to.Flush();
        return 0;
    }
}
