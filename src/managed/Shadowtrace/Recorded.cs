using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text.Json;
using System.Text.RegularExpressions;
using Shadowtrace.Common;

namespace Shadowtrace;

/// <summary>What the log has of a scope, as the command reports it.</summary>
internal sealed record Recorded(long Objects, long Bytes, IReadOnlyList<AllocationSite> Sites)
{
    /// <param name="from">The mark that it begins with.</param>
    /// <param name="to">The mark that it ends with.</param>
    /// <param name="thread">The log's id of its thread, 0 of all.</param>
    /// <param name="below">Only what is allocated below a method of that name; null all.</param>
    /// <param name="ended">What the tracer said to its end: 0, or that it does not stand in the log.</param>
    public static Recorded Read(string from, string to, long thread, string? below, int ended)
    {
        string log = Tracer.Log();
        var words = new List<string> { "report", "--by", "site", "--names", "short", "--format", "json", "--from", from, "--to", to };

        if (ended != 0)
            throw new CommandException($"the log {log} did not take the end of the scope within 2 s");
        if (thread > 0)
            words.AddRange(["--thread", thread.ToString(CultureInfo.InvariantCulture)]);
        if (below != null)
            words.AddRange(["--below", below]);
        words.Add(log);
        try
        {
            return From(Command.Json([.. words]));
        }
        catch (CommandException e) when (e.Message.Contains("no method matches", System.StringComparison.Ordinal))
        {
            return new Recorded(0, 0, []); // a log names only what allocates
        }
    }

    private static Recorded From(JsonElement report) =>
        new(Rows.Total(report, "allocs"), Rows.Total(report, "bytes"),
            report.GetProperty("rows").EnumerateArray().Select(row => SiteOf(report, row)).ToList());

    private static AllocationSite SiteOf(JsonElement report, JsonElement row)
    {
        List<JsonElement> path = Rows.PathOf(report, row);

        return new(row.GetProperty("allocs").GetInt64(), row.GetProperty("bytes").GetInt64(),
                   row.GetProperty("type").GetString()!, Rows.LineOf(Rows.WithLine(path)), Rows.Shown(path));
    }
}
