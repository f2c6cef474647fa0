using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.Json;
using System.Text.RegularExpressions;

namespace Shadowtrace.Common;

/// <summary>Rows of `shadowtrace report --by site --format json`.</summary>
internal static class Rows
{
    public static long Total(JsonElement report, string what) => report.GetProperty("total").GetProperty(what).GetInt64();

    /// <summary>The frames of a row, the one that allocates first.</summary>
    public static List<JsonElement> PathOf(JsonElement report, JsonElement row)
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

    /// <summary>"File.cs:12", or "-".</summary>
    public static string LineOf(JsonElement frame) =>
        frame.ValueKind == JsonValueKind.Object && frame.TryGetProperty("file", out JsonElement file)
            ? $"{Path.GetFileName(file.GetString())}:{frame.GetProperty("line").GetInt32()}"
            : "-";

    /// <summary>The nearest of a path's frames that has a line, the innermost first.</summary>
    public static JsonElement WithLine(IEnumerable<JsonElement> path) =>
        path.FirstOrDefault(frame => frame.TryGetProperty("line", out _));

    /// <summary>Outermost first. Namespaces and parameters are for where names are alike; a path has room for less.</summary>
    public static string Shown(IEnumerable<JsonElement> path) =>
        string.Join(" > ", path.Reverse().Select(frame => Regex.Replace(frame.GetProperty("method").GetString()!, @"\(.*$", "")));
}
