// Code shared by instantiations: each method says which of them it is, and every Mark is allocated below such methods.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;

namespace Values;

class Mark { }

// What runs, by its own account: typeof(T) inside of the method.
readonly struct Here : IDisposable
{
    [ThreadStatic] static List<string> stack;
    static List<string> Stack => stack ??= new List<string>();

    public Here(string name) => Stack.Add("Values." + name);
    public void Dispose() => Stack.RemoveAt(Stack.Count - 1);

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Allocate()
    {
        string line = "mark\t" + string.Join("\t", Stack);
        Keep = new Mark();
        lock (typeof(Mark))
            Console.WriteLine(line);
    }

    public static object Keep;
    public static string N<T>() => Say.Name(typeof(T));
}

class Cache<T>
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public U Get<U>(U u) { using var h = new Here("Cache<" + Here.N<T>() + ">.Get<" + Here.N<U>() + ">"); Here.Allocate(); return u; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Fill(T t) { using var h = new Here("Cache<" + Here.N<T>() + ">.Fill"); Here.Allocate(); new Cache<List<T>>().Get(t); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public virtual void Virtual<U>() { using var h = new Here("Cache<" + Here.N<T>() + ">.Virtual<" + Here.N<U>() + ">"); Here.Allocate(); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Throw<E>(int n) where E : Exception, new()
    {
        using var h = new Here("Cache<" + Here.N<T>() + ">.Throw<" + Here.N<E>() + ">");
        if (n == 0) { Here.Allocate(); throw new E(); }
        try { Throw<E>(n - 1); } finally { Here.Allocate(); }
    }
}

class Numbered<T> : Cache<T[]>
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public override void Virtual<U>() { using var h = new Here("Numbered<" + Here.N<T>() + ">.Virtual<" + Here.N<U>() + ">"); base.Virtual<Dictionary<T, U>>(); }
}

class Closed : Numbered<string> { }

interface IShape<T>
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    void Default() { using var h = new Here("IShape<" + Here.N<T>() + ">.Default"); Here.Allocate(); }
    void Plain<U>(U u);
}

struct Frame<T> : IShape<T>
{
    public T Value;
    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Plain<U>(U u) { using var h = new Here("Frame<" + Here.N<T>() + ">.Plain<" + Here.N<U>() + ">"); Here.Allocate(); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Own() { using var h = new Here("Frame<" + Here.N<T>() + ">.Own"); Here.Allocate(); }
}

class Outer<A>
{
    public class Inner<B>
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        public void Both<C>() { using var h = new Here("Outer<" + Here.N<A>() + ">.Inner<" + Here.N<B>() + ">.Both<" + Here.N<C>() + ">"); Here.Allocate(); }
    }
}

class Round : IShape<string>
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Plain<U>(U u) { using var h = new Here("Round.Plain<" + Here.N<U>() + ">"); Here.Allocate(); }
}

static class Exact
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Deep<T>(int n)
    {
        using var h = new Here("Exact.Deep<" + Here.N<T>() + ">");
        Here.Allocate();
        if (n > 0)
            Deep<List<T>>(n - 1);
        else
            new Cache<T>().Get<T>(default);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void All<T>(T t)
    {
        using var h = new Here("Exact.All<" + Here.N<T>() + ">");
        new Cache<T>().Get(t);
        new Cache<T>().Get("u");
        new Cache<T>().Get(new Item());
        new Cache<T>().Get(5);
        Cache<T>.Fill(t);
        new Cache<T>().Virtual<Exception>();
        Cache<T[]> c = new Numbered<T>();
        c.Virtual<T>();
        new Closed().Virtual<T>();
        IShape<T> s = new Frame<T> { Value = t };
        s.Default();
        s.Plain(t);
        s.Plain("p");
        new Frame<T> { Value = t }.Own();
        IShape<string> r = new Round();
        r.Default();
        r.Plain(t);
        new Outer<T>.Inner<string>().Both<Item>();
        new Outer<char>.Inner<T>().Both<T>();
        Deep<T>(3);
        Action<string> get = x => new Cache<(T, string)>().Get(x);
        get.Method.Invoke(get.Target, new object[] { "i" });
        try { new Cache<T>().Throw<InvalidOperationException>(3); } catch (InvalidOperationException) { Here.Allocate(); }
    }

    static async Task<T> Later<T>(T t)
    {
        await Task.Yield();
        Cache<T>.Fill(t);
        return t;
    }

    public static int Run()
    {
        for (int i = 0; i < 3; i++)
        {
            All("s");
            All(new Item());
            All(5);
            All(new Pair());
            All(new Dictionary<string, Item>());
            All(new Frame<Item>());
            All(new int[1]);
        }
        var threads = new Thread[2];
        for (int i = 0; i < threads.Length; i++)
        {
            threads[i] = new Thread(() => { All(new Exception()); All("t"); });
            threads[i].Start();
        }
        foreach (var thread in threads)
            thread.Join();
        Later("l").Wait();
        Later(new List<Pair>()).Wait();
        return 0;
    }
}
