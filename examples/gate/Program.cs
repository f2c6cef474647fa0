using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

// 1,000 baskets of two objects each; with the argument "coupon" one of them has one object more.
sealed class Price
{
    public int Cents;
}

sealed class Basket
{
    public required Price Price;
    public Price? Discount;
}

static class Program
{
    static readonly List<Basket> All = new(1000);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Basket Make(int number, bool coupon)
    {
        var basket = new Basket { Price = new Price { Cents = number } };

        if (coupon && number == 500)
            basket.Discount = new Price { Cents = 100 }; // one of 1,000 baskets
        return basket;
    }

    static void Main(string[] args)
    {
        for (int i = 0; i < 1000; i++)
            All.Add(Make(i, args.Length > 0));
        Console.WriteLine($"{All.Count} baskets");
    }
}
