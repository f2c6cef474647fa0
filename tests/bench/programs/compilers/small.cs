// What the C# compiler compiles when it is measured.
using System;
using System.Collections.Generic;
using System.Linq;

namespace Small;

record Item(string Name, decimal Price, int Count);

static class Program
{
    static IEnumerable<Item> Items()
    {
        for (int i = 0; i < 100; i++)
            yield return new Item($"item {i}", i * 1.5m, i % 7);
    }

    static void Main()
    {
        var byCount = from item in Items() group item by item.Count into same orderby same.Key select same;
        foreach (var group in byCount)
            Console.WriteLine($"{group.Key}: {group.Sum(item => item.Price * item.Count)}");
    }
}
