// Runs before Main (DOTNET_STARTUP_HOOKS): throws and catches there, and again when an exception ends the program.
using System;
using System.Runtime.CompilerServices;
using System.Threading;

public static class StartupHook
{
    static object kept;

    public static void Initialize()
    {
        ThrowAndCatch("hook");
        AppDomain.CurrentDomain.UnhandledException += (_, e) =>
        {
            ThrowAndCatch("handler");
            if (Environment.GetEnvironmentVariable("CORECLR_ENABLE_PROFILING") == "1")
                Thread.Sleep(1100); /* what was recorded is in the log after a second */
            Console.WriteLine("unhandled: " + e.ExceptionObject.GetType());
        };
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Throw(string where)
    {
        kept = new object[2];
        throw new InvalidOperationException(where);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThrowAndCatch(string where)
    {
        for (int i = 0; i < 10; i++)
        {
            try
            {
                try
                {
                    Throw(where);
                }
                finally
                {
                    kept = new object[3];
                }
            }
            catch (InvalidOperationException e) when (e.Message.Length > 0)
            {
                kept = new object[4];
            }
            kept = new object[5];
        }
    }
}
