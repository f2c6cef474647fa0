// A program of several owners: it, its library, a package, the framework, a plugin, and code that is made in memory. Frames
// of the program lie above and below frames of the others, with exceptions, awaits and generics over its own types between.
//
//   OwnApp [plugin PATH | bytes PATH]...
//
// Prints the sum of what it did, and `ok`.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Emit;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using System.Threading.Tasks;
using OwnLib;

namespace OwnApp;

public sealed class Item : IComparable<Item>
{
    public int Number;
    public int CompareTo(Item other) => Number.CompareTo(new Item { Number = other.Number }.Number);
}

public sealed class Waited { public int Number; }
public sealed class Mapped { public int Number; }
public sealed class Weight { public int Number; }
public sealed class Known : Exception { }

static class Program
{
    static object last;

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Sorted(int count)
    {
        var items = new List<Item>();
        for (int i = 0; i < count; i++)
            items.Add(new Item { Number = i * 7 % count });
        items.Sort();
        return items.Select(item => Maker.Make(item.Number)).Where(part => part.Number % 2 == 0).Sum(part => part.Number);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Thrown(int count)
    {
        int caught = 0;
        for (int i = 0; i < count; i++)
        {
            try
            {
                Enumerable.Range(0, 3).ToList().ForEach(n => { if (n == 2) throw new Known(); });
            }
            catch (Known) when (Maker.Make(i).Number == i)
            {
                caught++;
            }
        }
        return caught;
    }

    static async Task<int> Inner(int number)
    {
        await Task.Yield();
        last = new Waited { Number = number };
        return number;
    }

    static async Task<int> Outer(int count)
    {
        int sum = 0;
        for (int i = 0; i < count; i++)
            sum += await Inner(i);
        return sum;
    }

#if PACKAGE
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Packaged(int count)
    {
        var list = Microsoft.FSharp.Collections.ListModule.OfSeq(Enumerable.Range(0, count));
        var made = Microsoft.FSharp.Collections.ListModule.Map(
            Microsoft.FSharp.Core.FuncConvert.FromFunc<int, Mapped>(n => new Mapped { Number = n }), list);
        return made.Sum(one => one.Number);
    }
#else
    static int Packaged(int count) => 0;
#endif

    /// <summary>An assembly made now: a method that makes a part.</summary>
    static int Emitted(int count)
    {
        AssemblyBuilder assembly = AssemblyBuilder.DefineDynamicAssembly(new AssemblyName("Emitted"), AssemblyBuilderAccess.Run);
        TypeBuilder type = assembly.DefineDynamicModule("Emitted").DefineType("Emitted.Made", TypeAttributes.Public);
        MethodBuilder method = type.DefineMethod("Run", MethodAttributes.Public | MethodAttributes.Static, typeof(object),
                                                 new[] { typeof(int) });
        ILGenerator il = method.GetILGenerator();
        il.Emit(OpCodes.Ldarg_0);
        il.EmitCall(OpCodes.Call, typeof(Maker).GetMethod("Make"), null);
        il.Emit(OpCodes.Ret);
        var run = (Func<int, object>)type.CreateType().GetMethod("Run").CreateDelegate(typeof(Func<int, object>));
        for (int i = 0; i < count; i++)
            last = run(i);
        return ((Part)last).Number;
    }

    static int Plugin(string how, string path)
    {
        Assembly assembly = how == "bytes" ? Assembly.Load(File.ReadAllBytes(path))
                                           : new AssemblyLoadContext("plugin").LoadFromAssemblyPath(Path.GetFullPath(path));
        return (int)assembly.GetType("OwnPlugin.Plugin").GetMethod("Run").Invoke(null, new object[] { 20 });
    }

    static async Task<int> Main(string[] args)
    {
        int sum = Sorted(50) + Thrown(10) + Packaged(20) + Emitted(20);
        sum += Maker.Each(new[] { 1, 2, 3 }, n => new Weight { Number = n }.Number);
        sum += await Outer(20);
        for (int i = 0; i + 1 < args.Length; i += 2)
            sum += Plugin(args[i], args[i + 1]);
        Console.WriteLine("sum " + sum);
        Console.WriteLine("ok");
        return 0;
    }
}
