using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.Json;
using System.Text.RegularExpressions;
using BenchmarkDotNet.Running;

namespace Shadowtrace.BenchmarkDotNet;

/// <summary>Objects of one type that one call path makes; the path begins at the benchmark method.</summary>
internal sealed record Site(long Objects, long Bytes, string Type, string Line, string Path);

/// <summary>What a benchmark allocated in its measured iterations.</summary>
internal sealed record Recording(string Log, long Operations, long Objects, long Bytes, IReadOnlyList<Site> Sites)
{
    /// <summary>Reads a log of call sites. Throws CommandException when it does not say what was allocated.</summary>
    public static Recording Read(string log, BenchmarkCase benchmark, long operations)
    {
        string method = Pattern(benchmark.Descriptor);
        JsonElement report = Report(log, benchmark);

        if (operations == 0)
            throw new CommandException("no iteration was measured");
        if (!report.GetProperty("log").GetProperty("complete").GetBoolean())
            throw new CommandException($"its log is not complete: shadowtrace report {log}");
        try
        {
            return From(Report(log, benchmark, "--below", method), log, operations);
        }
        catch (CommandException e) when (e.Message.Contains("no method matches", StringComparison.Ordinal) &&
                                         Total(report, "allocs") < operations)
        {
            return new Recording(log, operations, 0, 0, []); // a log names only what allocates
        }
    }

    private static JsonElement Report(string log, BenchmarkCase benchmark, params string[] more)
    {
        string folder = System.IO.Path.GetDirectoryName(benchmark.Descriptor.Type.Assembly.Location)!;

        return Command.Json(["report", "--by", "site", "--names", "short", "--format", "json", "--symbols", folder, .. more, log]);
    }

    private static Recording From(JsonElement report, string log, long operations) =>
        new(log, operations, Total(report, "allocs"), Total(report, "bytes"),
            report.GetProperty("rows").EnumerateArray().Select(row => SiteOf(report, row)).ToList());

    private static long Total(JsonElement report, string what) => report.GetProperty("total").GetProperty(what).GetInt64();

    private static Site SiteOf(JsonElement report, JsonElement row)
    {
        List<JsonElement> path = PathOf(report, row);
        JsonElement nearest = path.FirstOrDefault(frame => frame.TryGetProperty("line", out _)); // innermost first

        return new(row.GetProperty("allocs").GetInt64(), row.GetProperty("bytes").GetInt64(),
                   row.GetProperty("type").GetString()!, LineOf(nearest),
                   string.Join(" > ", path.AsEnumerable().Reverse().Select(frame => Short(frame.GetProperty("method").GetString()!))));
    }

    private static string LineOf(JsonElement frame) =>
        frame.ValueKind == JsonValueKind.Object && frame.TryGetProperty("file", out JsonElement file)
            ? $"{System.IO.Path.GetFileName(file.GetString())}:{frame.GetProperty("line").GetInt32()}"
            : "-";

    /// <summary>The frames of a row, the one that allocates first.</summary>
    private static List<JsonElement> PathOf(JsonElement report, JsonElement row)
    {
        JsonElement stacks = report.GetProperty("stacks"), frames = report.GetProperty("frames");
        var path = new List<JsonElement>();

        for (JsonElement at = row.GetProperty("stack"); at.ValueKind == JsonValueKind.Number;)
        {
            JsonElement stack = stacks[at.GetInt32()];
            path.Add(frames[stack.GetProperty("frame").GetInt32()]);
            at = stack.GetProperty("parent");
        }
        return path;
    }

    /// <summary>Namespaces and parameters are for where names are alike; a path has room for less.</summary>
    private static string Short(string method) => Regex.Replace(method, @"\(.*$", "");

    /// <summary>The benchmark method, as names in a log have it, whatever its type arguments and its parameters are.</summary>
    public static string Pattern(Descriptor benchmark)
    {
        string type = benchmark.Type.IsGenericType ? benchmark.Type.GetGenericTypeDefinition().FullName! : benchmark.Type.FullName!;

        return Regex.Replace(type, "`[0-9]+", "*").Replace('+', '?') + "." + benchmark.WorkloadMethod.Name;
    }
}
