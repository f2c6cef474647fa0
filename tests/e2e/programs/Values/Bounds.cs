// Values without an end, or not finished: each takes a few bytes.
using System;
using System.Runtime.CompilerServices;

namespace Values;

class Begun
{
    readonly object[] parts;
    [MethodImpl(MethodImplOptions.NoInlining)]
    protected Begun() { Seen(this, (this, 1)); parts = new object[] { this }; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    protected virtual void Seen(Begun self, (Begun, int) pair) { }
}

sealed class Whole : Begun
{
    readonly Pair pair;
    public Whole() { pair = new Pair { X = 1 }; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    protected override void Seen(Begun self, (Begun, int) pair) { Bounds.Refer(in this.pair); }
}

static class Bounds
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Refer(in Pair pair) { }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Huge(string text, int[] numbers, string[] texts) { }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Cyclic(object[] ring, Tuple<object> tuple) { }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Deep(object chain) { }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Next(int n) => n + 1;

    /* Faster than anybody writes; nothing is allocated meanwhile, where a callback could wait for the log's writer. */
    public static int Many()
    {
        for (int n = 0; n < 120_000;)
            n = Next(n);
        return 0;
    }

    public static int Run()
    {
        var texts = new string[100_000];
        Array.Fill(texts, new string('z', 100_000));
        Huge(new string('y', 20_000_000), new int[10_000_000], texts);
        var ring = new object[10];
        Array.Fill(ring, ring);
        var held = new object[1];
        var tuple = Tuple.Create<object>(held);
        held[0] = tuple;
        Cyclic(ring, tuple);
        object chain = 7;
        for (int i = 0; i < 10_000; i++)
            chain = Tuple.Create(chain);
        Deep(chain);
        new Whole();
        return 0;
    }
}
