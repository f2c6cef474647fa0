using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.InteropServices;
using System.Runtime.Versioning;

namespace Shadowtrace.Shim;

/// <summary>
/// What `dotnet` starts as the tool where it does not start the native command itself: an SDK older than 10, which knows
/// managed tools only, and a machine that the native command is not for. It becomes that command, or says in one line what
/// the package runs on.
/// </summary>
internal static unsafe class Program
{
    private const string Name = "shadowtrace";
    /// <summary>From the folder of this file, tools/FRAMEWORK/RID in the package: there once for all frameworks.</summary>
    private const string Natives = "../../net10.0";

    /// <summary>The command's exit status for what cannot be read.</summary>
    private const int CannotRead = 3;

    private const int SIGPIPE = 13;
    private const int ENOENT = 2, ENOEXEC = 8, EACCES = 13;

    [DllImport("libc", SetLastError = true)]
    private static extern int execv(byte* path, byte** arguments);

    [DllImport("libc")]
    private static extern nint signal(int number, nint handler);

    private static int Main(string[] arguments)
    {
        string machine = RuntimeInformation.RuntimeIdentifier;
        string cpu = machine[(machine.LastIndexOf('-') + 1)..];
        string native = Path.GetFullPath(Path.Combine(AppContext.BaseDirectory, Natives, "linux-" + cpu, Name));

        if (!IsSupported(machine) || !Directory.Exists(Path.GetDirectoryName(native)))
            return Refuse($"does not run on {machine}; {RunsOn}");
        if (!File.Exists(native))
            return Refuse($"{native} is missing; install the tool again");
        return Refuse(Become(native, arguments));
    }

    private static int Refuse(string why)
    {
        Console.Error.WriteLine($"{Name}: {why}");
        return CannotRead;
    }

    /// <summary>The package has a folder for each machine that it runs on.</summary>
    private static string RunsOn =>
        Directory.Exists(Path.Combine(AppContext.BaseDirectory, Natives, "linux-arm64"))
            ? "it needs Linux on x86-64 or arm64 with glibc (linux-x64, linux-arm64)"
            : "it needs Linux on x86-64 with glibc (linux-x64)";

    /// <summary>By its name in .NET: linux-x64, linux-musl-x64, fedora.41-x64, osx-arm64.</summary>
    [SupportedOSPlatformGuard("linux")]
    private static bool IsSupported(string machine) =>
        OperatingSystem.IsLinux() && !machine.StartsWith("osx", StringComparison.Ordinal) &&
        !machine.Contains("musl", StringComparison.Ordinal) && !machine.Contains("alpine", StringComparison.Ordinal);

    /// <summary>Runs the command in this process, and returns only when that fails: with the reason.</summary>
    [SupportedOSPlatform("linux")]
    private static string Become(string native, string[] arguments)
    {
        byte** list = List(arguments);
        byte* path = (byte*)Marshal.StringToCoTaskMemUTF8(native);

        signal(SIGPIPE, 0); // .NET ignores it, and what is ignored stays so in the next program
        execv(path, list);
        int error = Marshal.GetLastPInvokeError();
        if (error == EACCES && MakeExecutable(native))
        {
            execv(path, list);
            error = Marshal.GetLastPInvokeError();
        }
        return $"cannot start {native}: " + error switch
        {
            ENOENT => $"its dynamic linker, glibc's, is not on this machine; {RunsOn}",
            ENOEXEC => $"it is damaged, or not for this processor; {RunsOn}",
            _ => Marshal.GetPInvokeErrorMessage(error),
        };
    }

    /// <summary>NuGet keeps no permissions of what it unpacks.</summary>
    [SupportedOSPlatform("linux")]
    private static bool MakeExecutable(string native)
    {
        try
        {
            File.SetUnixFileMode(native, File.GetUnixFileMode(native) | UnixFileMode.UserExecute |
                                 UnixFileMode.GroupExecute | UnixFileMode.OtherExecute);
            return true;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return false;
        }
    }

    /// <summary>argv for execve: bytes as they were given, which need not be UTF-8, as a string would have to be.</summary>
    private static byte** List(string[] arguments)
    {
        List<byte[]> words = Words(File.ReadAllBytes("/proc/self/cmdline"));
        byte** list = (byte**)NativeMemory.AllocZeroed((nuint)arguments.Length + 2, (nuint)sizeof(byte*));

        list[0] = (byte*)Marshal.StringToCoTaskMemUTF8(Name);
        for (int i = 0; i < arguments.Length; i++)
        {
            byte[] word = words[words.Count - arguments.Length + i];
            list[i + 1] = (byte*)NativeMemory.AllocZeroed((nuint)word.Length + 1);
            Marshal.Copy(word, 0, (nint)list[i + 1], word.Length);
        }
        return list;
    }

    /// <summary>Each word of a command line ends with a zero.</summary>
    private static List<byte[]> Words(byte[] line)
    {
        var words = new List<byte[]>();

        for (int start = 0, end; start < line.Length; start = end + 1)
        {
            end = Array.IndexOf(line, (byte)0, start);
            words.Add(line[start..end]);
        }
        return words;
    }
}
