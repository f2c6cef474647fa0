using System;
using System.Runtime.InteropServices;

namespace Floats;

/// <summary>Threads whose first managed frame has floating-point arguments, which a hook must not change.</summary>
internal static unsafe class Program
{
    [DllImport("e2enative")]
    private static extern int e2e_thread_floats(
        delegate* unmanaged<double, double, double, double, double, double, double, double, double> call, int threads);

    [UnmanagedCallersOnly]
    private static double Add(double a, double b, double c, double d, double e, double f, double g, double h)
    {
        GC.KeepAlive(new object());
        return a + b + c + d + e + f + g + h;
    }

    private static int Main()
    {
        int wrong = e2e_thread_floats(&Add, 300);

        Console.WriteLine(wrong == 0 ? "ok" : wrong + " of 300 results were wrong");
        return wrong == 0 ? 0 : 1;
    }
}
