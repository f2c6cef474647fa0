// A program that speaks to its tracer: it pauses recording, goes on, marks a part of the log, and prints its own stack.
// Without a tracer the library is not there, and every call does nothing.
using System;
using System.Runtime.InteropServices;
using System.Text;

static class Tracer
{
    // include/shadowtrace/shadowtrace.h. The tracer is loaded already: its name is enough.
    [DllImport("libshadowtrace.so")] static extern int sst_mark([MarshalAs(UnmanagedType.LPUTF8Str)] string text);
    [DllImport("libshadowtrace.so")] static extern int sst_pause();
    [DllImport("libshadowtrace.so")] static extern int sst_resume();
    [DllImport("libshadowtrace.so")] static extern nint sst_dump(byte[]? buffer, nint size);

    static readonly bool here = NativeLibrary.TryLoad("libshadowtrace.so", out _);

    public static bool Here => here;
    public static bool Mark(string text) => here && sst_mark(text) == 0;
    public static bool Pause() => here && sst_pause() == 0;
    public static bool Resume() => here && sst_resume() == 0;

    public static string Stack()
    {
        if (!here || sst_dump(null, 0) < 0)
            return "{}";
        var buffer = new byte[sst_dump(null, 0) + 1024]; // the names of this call's own frames may make it longer
        nint length = sst_dump(buffer, buffer.Length);
        return Encoding.UTF8.GetString(buffer, 0, (int)Math.Min(length, buffer.Length - 1));
    }
}

sealed class Quiet { public int Number; }
sealed class Loud { public int Number; }

static class Program
{
    static object? last;

    static void MakeQuiet()
    {
        for (int i = 0; i < 500; i++)
            last = new Quiet { Number = i };
    }

    static void MakeLoud()
    {
        for (int i = 0; i < 1000; i++)
            last = new Loud { Number = i };
    }

    static void Main()
    {
        Console.Error.WriteLine(Tracer.Here ? "traced" : "not traced");
        Tracer.Pause();
        MakeQuiet();
        Tracer.Resume();
        Tracer.Mark("loud begins");
        MakeLoud();
        Tracer.Mark("loud ends");
        Console.WriteLine(Tracer.Stack());
    }
}
