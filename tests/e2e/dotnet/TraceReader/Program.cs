// Reads .nettrace files with PerfView's engine, and .perfView.xml.zip as PerfView's reader of them does but strictly, and
// prints what it found as JSON, an object for each file: totals, bytes by type and thread, [self, with calls] by method,
// with --stacks each stack and its bytes.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.IO.Compression;
using System.Linq;
using System.Text.Json;
using System.Xml;
using Microsoft.Diagnostics.Tracing.Etlx;
using Microsoft.Diagnostics.Tracing.Parsers.Clr;

bool stacks = args.Contains("--stacks");
var found = args.Where(path => path != "--stacks")
                .Select(path => path.EndsWith(".nettrace") ? ReadTrace(path, stacks) : ReadXml(path, stacks));
Console.WriteLine(JsonSerializer.Serialize(found.ToArray()));

static object ReadTrace(string path, bool wanted)
{
    string etlx = Path.ChangeExtension(path, ".etlx");
    long bytes = 0, events = 0;
    var types = new SortedDictionary<string, long>(StringComparer.Ordinal);
    var stacks = new SortedDictionary<string, long>(StringComparer.Ordinal);
    TraceLog.CreateFromEventPipeDataFile(path, etlx);
    using var log = new TraceLog(etlx);
    var threads = new SortedDictionary<int, long>();
    var methods = new Dictionary<string, double[]>(StringComparer.Ordinal);
    double last = 0;
    foreach (var tick in log.Events.ByEventType<GCAllocationTickTraceData>())
    {
        events++;
        bytes += tick.AllocationAmount64;
        threads[tick.ThreadID] = threads.GetValueOrDefault(tick.ThreadID) + tick.AllocationAmount64;
        last = Math.Max(last, tick.TimeStampRelativeMSec);
        types[tick.TypeName] = types.GetValueOrDefault(tick.TypeName) + tick.AllocationAmount64;
        var frames = new List<string>();
        var names = new List<string>();
        for (var at = tick.CallStack(); at != null; at = at.Caller)
        {
            var method = at.CodeAddress.Method;
            names.Add(method?.FullMethodName ?? "?");
            if (wanted)
                frames.Add((at.CodeAddress.ModuleName ?? "?") + "!" + names[^1] + "+" + at.CodeAddress.ILOffset);
        }
        AddMethods(methods, names, tick.AllocationAmount64);
        if (!wanted)
            continue;
        frames.Reverse();
        string stack = string.Join(";", frames) + ";[" + tick.TypeName + "]";
        stacks[stack] = stacks.GetValueOrDefault(stack) + tick.AllocationAmount64;
    }
    var process = log.Processes.FirstOrDefault(p => p.ProcessID > 0);
    return new { bytes, events, lost = log.EventsLost, types, methods, stacks, threads, last, pid = process?.ProcessID,
                 started = log.SessionStartTime.ToUniversalTime().ToString("s", CultureInfo.InvariantCulture) };
}

// A method that is on a stack twice counts once. names: innermost first.
static void AddMethods(Dictionary<string, double[]> methods, List<string> names, double bytes)
{
    if (names.Count == 0)
        return;
    foreach (string name in names.Distinct(StringComparer.Ordinal))
    {
        if (!methods.TryGetValue(name, out var sums))
            methods[name] = sums = new double[2];
        sums[1] += bytes;
    }
    methods[names[0]][0] += bytes;
}

// After PerfView's XmlStackSource.
static object ReadXml(string path, bool wanted)
{
    using var archive = ZipFile.OpenRead(path);
    if (archive.Entries.Count != 1)
        throw new InvalidDataException("not one entry");
    using var stream = archive.Entries[0].Open();
    var settings = new XmlReaderSettings { IgnoreWhitespace = true, IgnoreComments = true, CheckCharacters = true };
    using var reader = XmlReader.Create(stream, settings);
    string[] names = null;
    (int Caller, int Frame)[] nodes = null;
    double bytes = 0;
    long samples = 0, count = -1;
    string notes = null;
    var types = new SortedDictionary<string, double>(StringComparer.Ordinal);
    var found = new SortedDictionary<string, double>(StringComparer.Ordinal);
    var methods = new Dictionary<string, double[]>(StringComparer.Ordinal);
    int Number(string name) => int.Parse(reader.GetAttribute(name), CultureInfo.InvariantCulture);
    while (reader.Read())
    {
        if (reader.NodeType != XmlNodeType.Element)
            continue;
        switch (reader.Name)
        {
            case "Frames": names = new string[Number("Count")]; break;
            case "Stacks": nodes = new (int, int)[Number("Count")]; break;
            case "Samples": count = Number("Count"); break;
            case "Notes": notes = reader.ReadString(); break;
            case "Frame":
                int frame = Number("ID");
                if (names[frame] != null)
                    throw new InvalidDataException("frame " + frame + " twice");
                names[frame] = reader.ReadString();
                if (names[frame].Length == 0)
                    throw new InvalidDataException("frame " + frame + " has no name");
                break;
            case "Stack":
                int caller = Number("CallerID"), id = Number("ID");
                if (caller < -1 || caller >= id)
                    throw new InvalidDataException("stack " + id + " has caller " + caller);
                nodes[id] = (caller, Number("FrameID"));
                break;
            case "Sample":
                if (Number("ID") != samples)
                    throw new InvalidDataException("sample " + samples);
                samples++;
                float metric = float.Parse(reader.GetAttribute("Metric"), CultureInfo.InvariantCulture);
                int stack = Number("StackID");
                bytes += metric;
                string leaf = names[nodes[stack].Frame];
                types[leaf] = types.GetValueOrDefault(leaf) + metric;
                var frames = new List<string>();
                for (int at = stack; at >= 0; at = nodes[at].Caller)
                    frames.Add(names[nodes[at].Frame]);
                AddMethods(methods, frames.Skip(1).Select(name => name[(name.IndexOf('!') + 1)..]).ToList(), metric);
                if (!wanted)
                    break;
                frames.Reverse();
                string text = string.Join(";", frames);
                found[text] = found.GetValueOrDefault(text) + metric;
                break;
        }
    }
    if (names == null || names.Contains(null) || samples != count)
        throw new InvalidDataException("frames or samples are missing");
    return new { bytes, samples, types, methods, stacks = found, notes };
}
