// Allocates 100 MB in its first moments, as a program does that reads its configuration, and 10 MB once a byte comes on stdin:
// by then samples are to count. Says what GC.GetTotalAllocatedBytes(true) was: when it began to wait, when the byte came (no
// thread allocates between), and at the end.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Late;

static class Program
{
    static object last;

    /* Itself: a stream allocates when it has read. */
    [DllImport("libc")]
    static extern nint read(int file, byte[] to, nint size);

    static void Make(int count)
    {
        for (int i = 0; i < count; i++)
            last = new byte[976]; /* 1,000 bytes each */
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Work()
    {
        Make(10_000);
    }

    static void Main()
    {
        Make(100_000);
        var one = new byte[1];
        Console.WriteLine("waits");
        long waits = GC.GetTotalAllocatedBytes(true);
        read(0, one, 1);
        long works = GC.GetTotalAllocatedBytes(true);
        Work();
        long ends = GC.GetTotalAllocatedBytes(true);
        Console.WriteLine(waits + " " + works + " " + ends);
    }
}
