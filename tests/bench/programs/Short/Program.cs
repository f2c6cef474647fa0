// A short program, as a command-line tool is: it starts, counts the words of a text, prints a table and ends.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;

namespace Bench;

static class Short
{
    static IEnumerable<string> Words(string text)
    {
        return text.Split(' ', '.', ',').Where(word => word.Length > 0).Select(word => word.ToLowerInvariant());
    }

    static void Main(string[] args)
    {
        string text = string.Join(" ", Enumerable.Range(0, 2_000).Select(i => "word" + i * 7919 % 257 + " and another."));
        var counts = new Dictionary<string, int>();
        foreach (string word in Words(text))
            counts[word] = counts.GetValueOrDefault(word) + 1;
        var table = new StringBuilder();
        foreach (var pair in counts.OrderByDescending(pair => pair.Value).ThenBy(pair => pair.Key).Take(5))
            table.AppendLine($"{pair.Value,6} {pair.Key}");
        Console.Write(table);
    }
}
