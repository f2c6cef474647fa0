using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.Json;
using System.Text.RegularExpressions;
using BenchmarkDotNet.Running;
using Shadowtrace.Common;

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
                                         Rows.Total(report, "allocs") < operations)
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
        new(log, operations, Rows.Total(report, "allocs"), Rows.Total(report, "bytes"),
            report.GetProperty("rows").EnumerateArray().Select(row => SiteOf(report, row)).ToList());

    private static Site SiteOf(JsonElement report, JsonElement row)
    {
        List<JsonElement> path = Rows.PathOf(report, row);

        return new(row.GetProperty("allocs").GetInt64(), row.GetProperty("bytes").GetInt64(),
                   row.GetProperty("type").GetString()!, Rows.LineOf(Rows.WithLine(path)), Rows.Shown(path));
    }

    /// <summary>The benchmark method, as names in a log have it, whatever its type arguments and its parameters are.</summary>
    public static string Pattern(Descriptor benchmark)
    {
        string type = benchmark.Type.IsGenericType ? benchmark.Type.GetGenericTypeDefinition().FullName! : benchmark.Type.FullName!;

        return Regex.Replace(type, "`[0-9]+", "*").Replace('+', '?') + "." + benchmark.WorkloadMethod.Name;
    }
}
