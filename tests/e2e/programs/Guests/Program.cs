// Own methods that the JIT inlines into the framework's. Every line that makes an object makes one of another type, T
// and the number of the line. For test_line_truth.py.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;

static class Sink
{
    public static object O;
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Keep(object o) { O = o; return 1; }
}

// The framework's code for a value type is compiled for it alone: its methods are inlined without any profile.
struct Key : IEquatable<Key>
{
    public int N;
    public bool Equals(Key other)
    {
        Sink.O = new T0022();
        return N == other.N;
    }
    public override int GetHashCode()
    {
        Sink.O = new T0027();
        Sink.O = new T0028[1];
        return N & 7;
    }
}

struct Weight : IComparable<Weight>
{
    public int N;
    public int CompareTo(Weight other)
    {
        Sink.O = new T0038();
        return N - other.N;
    }
}

struct ByWeight : IComparer<int>
{
    public int Compare(int a, int b)
    {
        if (a > b)
            Sink.O = new T0048();
        else
            Sink.O = new T0050();
        return a - b;
    }
}

struct Walk : IEnumerator<int>
{
    int at;
    public int Current { get { Sink.O = new T0058(); return at; } }
    object System.Collections.IEnumerator.Current => null;
    public bool MoveNext()
    {
        Sink.O = Made(at);
        return at++ < 4;
    }
    static object Made(int n) => n > 1 ? new T0065() : new T0065();
    public void Reset() { }
    public void Dispose() { }
}

// A method that is not inlined, called by one that is: the call's line is in no frame of the machine.
struct Deep : IEquatable<Deep>
{
    public int N;
    public bool Equals(Deep other)
    {
        Sink.Keep(null);
        Below();
        return N == other.N;
    }
    public override int GetHashCode() => N & 1;
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Below()
    {
        Sink.O = new T0084();
    }
}

static class Values
{
    static readonly Dictionary<Key, int> table = new();
    static readonly Dictionary<Deep, int> deep = new();
    static readonly Dictionary<T0124, int> plain = new();
    static readonly List<Key> list = new();
    static readonly Weight[] weights = new Weight[6];
    static readonly int[] numbers = new int[6];

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Run(int i)
    {
        int s = 0;
        table.TryAdd(new Key { N = i & 3 }, i);
        table.TryGetValue(new Key { N = i & 3 }, out s);
        deep[new Deep { N = i & 3 }] = s;
        if (list.Count < 4)
            list.Add(new Key { N = i & 3 });
        s += list.IndexOf(new Key { N = 2 });
        for (int k = 0; k < weights.Length; k++)
        {
            weights[k].N = (k * 5 + i) % 6;
            numbers[k] = (k * 5 + i) % 6;
        }
        Array.Sort(weights);
        s += Array.BinarySearch(weights, new Weight { N = 3 });
        numbers.AsSpan().Sort(new ByWeight());
        s += Count(new Walk());
        for (int k = 0; k < 4; k++)
            if (IsPlain(i + k))
                s++;
        return s;
    }

    // Without IEquatable the framework boxes keys. The last call is not a tail call: that would leave no frame.
    static bool IsPlain(int i) =>
        (plain.Count == 0 ? plain.TryAdd(new T0124 { Text = "1" }, i) : plain.ContainsKey(new T0124 { N = i & 3, Text = "1" })) & i >= 0;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Count<T>(T walk) where T : struct, IEnumerator<int>
    {
        int s = 0;
        while (walk.MoveNext())
            s += walk.Current;
        return s;
    }
}

// With profiles, lambdas too, and what is virtual.
sealed class ByText : IComparer<string>, IEqualityComparer<string>
{
    public int Compare(string a, string b)
    {
        Sink.O = new T0141();
        return string.CompareOrdinal(a, b);
    }
    public bool Equals(string a, string b)
    {
        Sink.O = new T0146();
        return a == b;
    }
    public int GetHashCode(string text)
    {
        Sink.O = new T0151();
        return text.Length;
    }
}

static class Lambdas
{
    static readonly string[] words = { "c", "a", "dd", "b", "eee" };
    static readonly List<string> list = new(words);
    static readonly Dictionary<string, int> table = new(new ByText());

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Run(int i)
    {
        int s = 0;
        var made = Enumerable.Range(i, 8).Select(n =>
            new T0167(n)).ToArray();
        s += made.Length;
        s += words.Select(word =>
        {
            Sink.O = new T0171();
            return Wrap(word);
        }).ToList().Count;
        s += words.Where(word =>
        {
            Sink.O = new T0176();
            return word.Length == 1;
        }).Count();
        list.ForEach(word =>
            Sink.O = new T0180());
        s += Array.ConvertAll<string, object>(words, word =>
            word.Length > 1 ? Other(word) : new T0182()).Length;
        s += Array.FindIndex(words, word =>
        {
            Sink.O = new T0185();
            return word.Length == 3;
        });
        s += words.Aggregate(0, (sum, word) =>
        {
            Sink.O = new T0190();
            return sum + word.Length;
        });
        list.Sort(new ByText());
        table["a"] = i;
        table["dd"] = i;
        return s;
    }

    static object Wrap(string word)
    {
        if (word.Length == 1)
            return new T0202();
        return new T0203();
    }

    static object Other(string word)
    {
        return new T0208();
    }
}

static class Program
{
    static int Main(string[] a)
    {
        int n = int.Parse(a[0]), rounds = int.Parse(a[1]), s = 0;

        for (int r = 0; r < rounds; r++)
        {
            for (int i = 0; i < n; i++)
                s += Values.Run(i) + Lambdas.Run(i);
            Thread.Sleep(200); // optimised code is made
        }
        Console.WriteLine(s & 1);
        return 0;
    }
}

struct T0124 { public int N; public string Text; }
class T0022 { }
class T0027 { }
class T0028 { }
class T0038 { }
class T0048 { }
class T0050 { }
class T0058 { }
class T0065 { }
class T0084 { }
class T0141 { }
class T0146 { }
class T0151 { }
class T0167 { public readonly int N; public T0167(int n) { N = n; } }
class T0171 { }
class T0176 { }
class T0180 { }
class T0182 { }
class T0185 { }
class T0190 { }
class T0202 { }
class T0203 { }
class T0208 { }
