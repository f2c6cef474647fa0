// Every kind of code for which the C# compiler has a special layout of sequence points.
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;

namespace Shapes;

public abstract class Base
{
    public abstract int Nothing();
    public virtual string Name { get; init; } = "base";
    public static readonly Dictionary<string, int> Table = new()
    {
        ["one"] = 1,
        ["two"] = 2,
    };
    ~Base() => Console.WriteLine(Name);
}

public partial class Shapes<T>(T seed) : Base where T : notnull
{
    private readonly List<T> items = [seed];
    public event Action<T>? Added;

    public override int Nothing() => 0;
    public void Empty() { }

    public async Task<int> Async(int n)
    {
        var sum = 0;
        for (var i = 0; i < n; i++)
        {
            try
            {
                await Task.Yield();
                sum += await Inner(i);
            }
            catch (InvalidOperationException e) when (e.Message.Length > 3)
            {
                sum -= await Inner(-i);
            }
            finally
            {
                await Task.Delay(0);
            }
        }
        return sum;

        async ValueTask<int> Inner(int x)
        {
            await Task.Yield();
            return x < 0 ? throw new InvalidOperationException("negative") : x;
        }
    }

    public IEnumerable<(T Item, int At)> Numbered()
    {
        var at = 0;
        foreach (var item in items)
        {
            if (at > 100)
                yield break;
            yield return (item, at++);
        }
    }

    public async IAsyncEnumerable<T> Streamed()
    {
        await foreach (var pair in Wrap())
            yield return pair;

        async IAsyncEnumerable<T> Wrap()
        {
            foreach (var item in items)
            {
                await Task.Yield();
                yield return item;
            }
        }
    }

    public Func<int, Func<int, int>> Curried(int a) => b => c =>
    {
        var d = a + b;
        return d + c;
    };

    public string Classify(object o) => o switch
    {
        null => "null",
        int i when i > 10 => "large",
        int => "int",
        string { Length: > 3 } s => s[..3],
        (int x, int y) => $"{x} and {y:x4}",
        _ => o.ToString() ?? ""
    };

    public unsafe int Blocks(int[] values, object gate)
    {
        var total = 0;
        lock (gate)
        {
            using var stream = new System.IO.MemoryStream();
            fixed (int* p = values)
                for (var i = 0; i < values.Length; i++)
                    total += p[i];
            checked { total += (int)stream.Length; }
        }
        do
        {
            total--;
            switch (total % 3)
            {
                case 0: continue;
                case 1: goto done;
                default: total -= 2; break;
            }
        } while (total > 0);
    done:
        return total;
    }

    public int Query() => (from i in items
                           let s = i.ToString()
                           where s.Length > 1
                           orderby s descending
                           select s.Length).Sum();

    public T this[int i]
    {
        get => items[i];
        set
        {
            items[i] = value;
            Added?.Invoke(value);
        }
    }

    public static Shapes<T> operator +(Shapes<T> a, T b)
    {
        a.items.Add(b); return a;
    }
}

public record Point(int X, int Y)
{
    public double Length => Math.Sqrt(X * X + Y * Y);
}

public record struct Pair<A, B>(A First, B Second);
