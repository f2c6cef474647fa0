using System;
using System.Runtime.InteropServices;
using System.Text;

namespace Shadowtrace;

/// <summary>The tracer in this process, if there is one: include/shadowtrace/shadowtrace.h.</summary>
internal static class Tracer
{
    private const string Library = "libshadowtrace.so";

    [DllImport(Library)] private static extern unsafe nint sst_scope_begin(byte* name);
    [DllImport(Library)] private static extern unsafe int sst_scope_end(nint scope, byte* name);
    [DllImport(Library)] private static extern nint sst_thread();
    [DllImport(Library)] private static extern unsafe nint sst_log(byte* buffer, nint size);

    /// <summary>Whether this process is recorded, by a tracer that knows scopes.</summary>
    public static bool Here { get; } = Find();

    private static unsafe bool Find()
    {
        if (!NativeLibrary.TryLoad(Library, out nint library) || !NativeLibrary.TryGetExport(library, nameof(sst_scope_begin), out _))
            return false;
        // Each once: what the runtime makes for a first call is no part of what is measured.
        sst_scope_end(0, null);
        sst_scope_begin(null);
        return sst_thread() > 0 && sst_log(null, 0) >= 0;
    }

    /// <summary>A name as the tracer takes it: UTF-8, short enough, ended.</summary>
    public static byte[] Name(string name)
    {
        while (Encoding.UTF8.GetByteCount(name) > 4000)
            name = name[..(name.Length / 2)];
        return Encoding.UTF8.GetBytes((name.Length > 0 ? name : "scope").Replace('\0', ' ') + '\0');
    }

    public static unsafe long Begin(byte[] name)
    {
        fixed (byte* at = name)
            return sst_scope_begin(at);
    }

    /// <summary>0 once all that came before stands in the log.</summary>
    public static unsafe int End(long scope, byte[] name)
    {
        fixed (byte* at = name)
            return sst_scope_end((nint)scope, at);
    }

    public static long Thread() => sst_thread();

    /// <summary>The log's path, as it is now.</summary>
    public static unsafe string Log()
    {
        var path = new byte[4097];

        fixed (byte* at = path)
            return Encoding.UTF8.GetString(path, 0, (int)Math.Max(0, Math.Min(sst_log(at, path.Length), path.Length - 1)));
    }
}
