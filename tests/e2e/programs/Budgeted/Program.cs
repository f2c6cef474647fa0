// What a gate is tried on. Each line that allocates does it as often as it says, whatever the run; that of Noise as often as
// a coin says.
//
//   Budgeted [--plant]
//
// --plant: one of 1,000 calls of Cart.Add makes one object more, at the line that says "planted". Prints "ok".
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

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
        bool plant = args.Length > 0 && args[0] == "--plant";
        var cart = new Cart();

        for (int i = 0; i < 1000; i++)
            cart.Add(i, plant && i == 500);
        Noise();
        Console.WriteLine("ok");
    }
}
