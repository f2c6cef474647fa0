using System.Runtime.CompilerServices;

namespace Origins;

static class Made
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static object Make()
    {
        return new byte[5000];
    }
}
