using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

// Allocations that can be counted by reading: 1,000 orders, each with 3 lines and one array for them.
sealed class Line
{
    public int Product, Count;
}

sealed class Order
{
    public required Line[] Lines;
}

static class Program
{
    static readonly List<Order> Book = new(1000); // grows never: one array of 1,000 references

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Line MakeLine(int product) => new() { Product = product, Count = 1 };

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Order MakeOrder(int number)
    {
        var order = new Order { Lines = new Line[3] };

        for (int i = 0; i < order.Lines.Length; i++)
            order.Lines[i] = MakeLine(number + i);
        return order;
    }

    static void Main()
    {
        for (int i = 0; i < 1000; i++)
            Book.Add(MakeOrder(i));
        Console.WriteLine($"{Book.Count} orders");
    }
}
