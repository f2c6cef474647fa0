// What OwnApp loads from a path, into a separate load context.
using System.Runtime.CompilerServices;

namespace OwnPlugin;

public sealed class Piece
{
    public int Number;
}

public static class Plugin
{
    static object last;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Run(int count)
    {
        for (int i = 0; i < count; i++)
            last = new Piece { Number = i };
        return ((Piece)last).Number;
    }
}
