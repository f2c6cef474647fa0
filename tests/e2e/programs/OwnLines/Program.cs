// Statements that leave a value on the evaluation stack for the next line, as the compiler makes of locals that are used
// once: the runtime's map has no entry between them. What the lines make is made by the framework, which has no hooks.
//
//   // M: TYPE BYTES; ...    made on behalf of that line, once each round or =N times in all, and of no line without the mark.
//
// Prints "rounds N" and "ok".
using System;
using System.Collections;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Text;
using System.Threading;

namespace OwnLines;

static class Program
{
    static readonly string Digits = new string('7', 251), Long = new string('7', 5001);
    static readonly byte[] Letters = Encoding.ASCII.GetBytes(new string('7', 3002));
    static int result;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Statics()
    {
        var digits = string.Concat("0123456789", Digits, Digits); // M: System.String 1048
        var bytes = Convert.FromHexString(digits); // M: System.Byte[] 280
        var text = Convert.ToBase64String(bytes); // M: System.String 712
        var letters = text.ToCharArray(); // M: System.Char[] 712
        Keep(letters.Length);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Constructors()
    {
        var stream = new MemoryStream(1001); // M: System.Byte[] 1032
        var builder = new StringBuilder(stream.Capacity + 10); // M: System.Char[] 2048
        var list = new List<long>(builder.Capacity); // M: System.Int64[] 8112
        var more = new List<long>(list.Capacity + 10); // M: System.Int64[] 8192
        Keep(more.Capacity);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Generics()
    {
        var array = Enumerable.ToArray(Integers); // M: System.Int32[] 1232
        var list = array.ToList(); // M: System.Int32[] 1232
        var part = Enumerable.ToArray(list); // M: System.Int32[] 1232
        Keep(part);
    }

    static readonly IEnumerable<int> Integers = new ArraySegment<int>(new int[310], 0, 301);

    /// <summary>The same method on each line.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Alike()
    {
        var one = string.Concat(Digits, Digits); // M: System.String 1032
        var two = string.Concat(one, Digits); // M: System.String 1528
        var three = string.Concat(two, Digits); // M: System.String 2032
        Keep(three.Length);
    }

    /// <summary>
    /// A call that finds its target when it runs, between two that do not: they have been called before, or who resolves
    /// its instruction may come too early to know them.
    /// </summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Virtual(int round)
    {
        var maker = Maker(round);
        var text = maker.ToString(); // M: System.String 6264=100; System.String 6272=100
        var letters = text.ToCharArray(); // M: System.Char[] 6264=100; System.Char[] 6280=100
        Keep(letters.Length);
    }

    static readonly object[] Makers =
    {
        new StringBuilder().Append('7', 3118), new StringWriter(new StringBuilder().Append('7', 3125)),
    };

    [MethodImpl(MethodImplOptions.NoInlining)]
    static object Maker(int round) => Makers[round % 2];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Looped(int times)
    {
        for (var i = 0; i < times; i++)
        {
            var text = string.Concat(Long, Digits); // M: System.String 10528
            var letters = text.ToCharArray(); // M: System.Char[] 10528
            Keep(letters.Length);
        }
    }

    /// <summary>In code of several instantiations.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Shared<T>(T[] items)
    {
        var list = new List<T>(items); // M: System.String[] 4032; System.Object[] 4032
        var part = Enumerable.ToArray(list); // M: System.String[] 4032; System.Object[] 4032
        Keep(part);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Keep(int number)
    {
        result += number;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Keep(ICollection items)
    {
        result += items.Count;
    }

    static void Main()
    {
        const int rounds = 200;
        var texts = new string[501]; // M: System.String[] 4032=1
        var objects = new object[501]; // M: System.Object[] 4032=1

        for (var i = 0; i < rounds; i++)
        {
            Statics();
            Constructors();
            Generics();
            Alike();
            Virtual(i);
            Looped(1);
            Shared(texts);
            Shared(objects);
            if (i == 60 || i == 120)
                Thread.Sleep(200); // for the JIT, which compiles again what is called often
        }
        Console.WriteLine("rounds " + rounds);
        Console.WriteLine(result != 0 ? "ok" : "?");
    }
}
