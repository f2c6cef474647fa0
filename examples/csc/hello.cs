using System;
using System.Collections.Generic;
using System.Linq;

record Item(string Name, int Count);

static class Hello
{
    static void Main(string[] args)
    {
        var items = new List<Item> { new("apple", 3), new("pear", 5) };
        var total = items.Where(i => i.Count > 3).Select(i => i.Name.ToUpperInvariant()).ToArray();

        Console.WriteLine($"{string.Join(", ", total)}: {items.Sum(i => i.Count)}");
    }
}
