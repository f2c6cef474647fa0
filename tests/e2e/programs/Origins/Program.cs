// Objects that a compiler or the runtime makes for a line, each with the words for its type, and code that a program wrote.
//
//   // W: WORDS     the line makes an object that is called so
//   // G: BYTES     generated code makes these bytes for the line, which was written by hand
//
// Prints "ok".
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

namespace Origins;

struct Key
{
    public int Number;
}

static class Table
{
    public static readonly byte[] Bytes = new byte[40000];
}

static class Program
{
    static object kept;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Box(int number)
    {
        kept = new Key { Number = number }; // W: boxed Key
        kept = number; // W: boxed int
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static IEnumerable<int> Items(int count)
    {
        for (int i = 0; i < count; i++)
            yield return i;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Walk(IEnumerable<int> items)
    {
        foreach (int i in items) // W: boxed enumerator of List<int>
            kept = items;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Close(int number)
    {
        Func<object> f = () => number; // W: closure of Program.Close
        kept = f();
    }

    static async Task Wait()
    {
        await Task.Yield(); // W: async state of Program.Wait
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Generated()
    {
        kept = Made.Make(); // G: 5024
        kept = Marked.Make(); // G: 6024
    }

    static void Main()
    {
        Box(1);
        kept = Items(3); // W: iterator of Program.Items
        Walk(new List<int> { 1, 2 });
        Close(1);
        Wait().Wait();
        Generated();
        kept = Table.Bytes.Length;
        Console.WriteLine("ok");
    }
}
