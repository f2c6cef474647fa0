// What a gate is tried on. Each line that allocates does it as often as it says, whatever the run; that of Noise as often as
// a coin says.
//
//   Budgeted [--plant]
//   Budgeted --rounds [--plant]
//
// --plant: one of 1,000 calls of Cart.Add makes one object more, at the line that says "planted". Prints "ok".
// --rounds: three rounds, each between the marks "round" and "over", then a full collection; with --plant the last one makes
// one object more, which stays.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Budgeted;

sealed class Item { public int Price; }
sealed class Rare { public int Price; }
sealed class Coin { public bool Up; }

sealed class Cart
{
    readonly List<object> items = new(4000); // 2 objects: the list and its array

    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Add(int price, bool more)
    {
        items.Add(new Item { Price = price }); // 1,000
        items.Add(new Item { Price = price }); // 1,000, at a line of the same text but for this
        if (more) items.Add(new Rare { Price = price }); // planted
    }
}

static class Rounds
{
    static readonly List<object> Stay = new(100);
    static object last;

    [DllImport("libshadowtrace.so")] static extern int sst_mark([MarshalAs(UnmanagedType.LPUTF8Str)] string text);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Round(bool more)
    {
        for (int i = 0; i < 100; i++)
            last = new Item(); // 100 in a round
        Stay.Add(new Coin()); // stays
        if (more) Stay.Add(new Rare()); // planted in a round
    }

    public static void Run(bool plant)
    {
        for (int i = 0; i < 3; i++)
        {
            sst_mark("round");
            Round(plant && i == 2);
            sst_mark("over");
        }
        last = null;
        GC.Collect();
        GC.KeepAlive(Stay);
    }
}

static class Program
{
    static readonly object[] Kept = new object[200];

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Noise()
    {
        for (int i = 0; i < Kept.Length; i++)
            if (Random.Shared.Next(2) == 0)
                Kept[i] = new Coin(); // some 100
    }

    static void Main(string[] args)
    {
        bool plant = args.Length > 0 && args[^1] == "--plant";
        if (args.Length > 0 && args[0] == "--rounds")
        {
            Rounds.Run(plant);
            return;
        }
        var cart = new Cart();

        for (int i = 0; i < 1000; i++)
            cart.Add(i, plant && i == 500);
        Noise();
        Console.WriteLine("ok");
    }
}
