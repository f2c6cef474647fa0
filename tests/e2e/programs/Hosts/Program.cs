// Own methods into which the JIT inlines the framework's. Every line that makes an object makes one of another type, T and
// the number of the line, or strings, which a mark at its end tells. For test_line_truth.py: Hosts ROUNDS [deep]
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

static class Sink
{
    public static object O;
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Keep(object o) { O = o; return 1; }
}

static class Program
{
    // Where a list grows, the JIT puts the call at the end of the code, and maps it to nothing.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int OneList(int count)
    {
        var list = new List<T0023>();
        int n = count & 7;
        for (int i = 0; i < count; i++)
            list.Add(new T0023());
        return n + list.Count;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int TwoLists(int count)
    {
        var first = new List<T0034>();
        var second = new List<T0035>();
        for (int i = 0; i < count; i++)
        {
            first.Add(new T0034());
            second.Add(new T0035());
        }
        return first.Count + second.Count;
    }

    // The code of a statement that begins with inlined methods may be mapped to the one before it.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Texts(int k, int count)
    {
        var list = new List<string>();
        for (int i = 0; i < count; i++)
            list.Add("item " + (k + 1000) + "/" + (i + 1000)); // text
        return list.Count;
    }

    // Two equal calls in one statement, which precompiled code does not map.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static List<string> Numbers(int k, int count)
    {
        var list = new List<string>();
        for (int i = 1000; i < count; i++)
            list.Add("item " + k + "/" + i); // text
        return list;
    }

    // The code before a method's first statement, to which the JIT maps it, may call already.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int OneText(int k)
    {
        string text = k.ToString(); // text
        return Sink.Keep(text);
    }

    // Two statements, each of which may have written out a number.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int TwoTexts(int k)
    {
        string one = (k + 1000).ToString(); // text
        int n = Sink.Keep(one);
        string two = (k + 2000).ToString(); // text
        return n + Sink.Keep(two);
    }

    // A text writer's ToString calls another of that name, both inlined into Written: all calls of that name are of one line.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    static string Written(int k)
    {
        var writer = new System.IO.StringWriter();
        writer.Write((char)('a' + k % 26));
        return writer.ToString(); // text
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int OneWriter(int k)
    {
        int n = Sink.Keep(null);
        return n + Written(k).Length;
    }

    // The list's constructor is called. Those of the small one, which are inlined, have other parameters.
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    static int Copied(T0098[] of)
    {
        return Sink.Keep(new Small()) + new List<T0098>(of).Count;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int OneCopy(T0098[] of)
    {
        int n = Sink.Keep(null);
        return n + Copied(of);
    }

    static void Main(string[] arguments)
    {
        int rounds = int.Parse(arguments[0]), n = 0;
        var some = new T0098[3];
        Sink.Keep(new System.IO.StringWriter()); // the first one makes texts
        foreach (var type in new[] { typeof(List<T0023>), typeof(List<T0034>), typeof(List<T0035>), typeof(List<T0098>) })
            RuntimeHelpers.RunClassConstructor(type.TypeHandle); // makes an array
        for (int i = 0; i < rounds; i++)
            n += OneList(100) + TwoLists(100) + Texts(i, 100) + OneText(i + 1000) + Numbers(i + 1000, 1100).Count + TwoTexts(i);
        for (int i = 0; arguments.Length > 1 && i < rounds; i++)
            n += OneWriter(i) + OneCopy(some);
        Sink.Keep(n.ToString());
    }
}

class T0023 { }
class T0034 { }
class T0035 { }
class T0098 { }
class Small : Smaller { }
class Smaller { }
