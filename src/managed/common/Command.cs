using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Text.Json;
using System.Threading.Tasks;

namespace Shadowtrace.Common;

/// <summary>The command could not be run, or refused: its own words, in one line.</summary>
internal sealed class CommandException(string message) : Exception(message);

/// <summary>The command shadowtrace, a separate executable.</summary>
internal static class Command
{
    /// <summary>Names the command where it is not on PATH.</summary>
    private const string Variable = "SHADOWTRACE";
    private const string Name = "shadowtrace";

    /// <summary>Its path, or null.</summary>
    public static string? Find()
    {
        if (Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } named)
            return File.Exists(named) ? Path.GetFullPath(named) : null;

        string home = Environment.GetFolderPath(Environment.SpecialFolder.UserProfile);
        return (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator)
            .Append(Path.Combine(home, ".dotnet", "tools")) // of `dotnet tool install --global`
            .Where(folder => folder.Length > 0)
            .Select(folder => Path.Combine(folder, Name))
            .FirstOrDefault(File.Exists);
    }

    /// <summary>What it prints. Throws CommandException when its exit status is not 0.</summary>
    public static string Run(params string[] arguments)
    {
        var start = new ProcessStartInfo(Find() ?? Name, arguments)
        {
            RedirectStandardOutput = true, RedirectStandardError = true, UseShellExecute = false,
        };
        try
        {
            using Process process = Process.Start(start)!;
            Task<string> errors = process.StandardError.ReadToEndAsync();
            string said = process.StandardOutput.ReadToEnd();

            process.WaitForExit();
            if (process.ExitCode != 0)
                throw new CommandException(LastLine(errors.Result) ?? $"{Name} {arguments[0]} ended with {process.ExitCode}");
            return said;
        }
        catch (Win32Exception e)
        {
            throw new CommandException($"{Name} cannot be started: {e.Message}");
        }
    }

    /// <summary>The same, of a command that prints JSON.</summary>
    public static JsonElement Json(params string[] arguments)
    {
        using JsonDocument document = JsonDocument.Parse(Run(arguments));
        return document.RootElement.Clone();
    }

    /// <summary>The variables that make a process record itself.</summary>
    public static IEnumerable<KeyValuePair<string, string>> Variables(params string[] options)
    {
        foreach (JsonProperty one in Json(["env", "--format", "json", .. options]).EnumerateObject())
            yield return new(one.Name, one.Value.GetString()!);
    }

    private static string? LastLine(string text) =>
        text.Split('\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries).LastOrDefault();
}
