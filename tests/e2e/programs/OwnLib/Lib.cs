// A library of the user's that OwnApp refers to as a project.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;

namespace OwnLib;

public sealed class Part
{
    public int Number;
}

public static class Maker
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static Part Make(int number) => new Part { Number = number };

    /// <summary>A lambda of the caller's, called by a library, inside the framework's Select.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Each<T>(IEnumerable<T> items, Func<T, int> weigh)
    {
        int sum = 0;
        foreach (T item in items)
            sum += weigh(item);
        return sum;
    }
}
