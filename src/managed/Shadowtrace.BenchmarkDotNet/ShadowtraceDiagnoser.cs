using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;
using BenchmarkDotNet.Analysers;
using BenchmarkDotNet.Columns;
using BenchmarkDotNet.Diagnosers;
using BenchmarkDotNet.Engines;
using BenchmarkDotNet.Exporters;
using BenchmarkDotNet.Loggers;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;
using BenchmarkDotNet.Toolchains;
using BenchmarkDotNet.Validators;
using Shadowtrace.Common;

namespace Shadowtrace.BenchmarkDotNet;

/// <summary>
/// One more run of each benchmark, in a process that records its allocations: a column of objects per operation, and below the
/// table the call sites. The log has sums by call site, so that its size does not grow with the operations.
/// </summary>
internal sealed class ShadowtraceDiagnoser(bool page) : IDiagnoser
{
    private const int RowsMax = 10;

    private readonly Dictionary<BenchmarkCase, string> logs = [];
    private readonly Dictionary<BenchmarkCase, long> operations = [];
    private readonly Dictionary<BenchmarkCase, string> problems = [];
    private readonly Dictionary<BenchmarkCase, Recording> recordings = [];

    /// <inheritdoc/>
    public IEnumerable<string> Ids => [nameof(ShadowtraceDiagnoser)];

    /// <inheritdoc/>
    public IEnumerable<IExporter> Exporters => [];

    /// <inheritdoc/>
    public IEnumerable<IAnalyser> Analysers => [];

    /// <inheritdoc/>
    public RunMode GetRunMode(BenchmarkCase benchmarkCase) =>
        WhyNotAtAll() == null && !IsInProcess(benchmarkCase) ? RunMode.ExtraRun : RunMode.None;

    /// <summary>One line for what cannot be recorded; the benchmarks run without it.</summary>
    public IEnumerable<ValidationError> Validate(ValidationParameters validationParameters)
    {
        string[] inProcess = validationParameters.Benchmarks.Where(IsInProcess).Select(Name).Distinct().ToArray();

        if (WhyNotAtAll() is { } why)
            yield return new(isCritical: false, $"ShadowtraceDiagnoser: {why}");
        else if (inProcess.Length > 0)
            yield return new(isCritical: false, "ShadowtraceDiagnoser: not recorded, because the process of BenchmarkDotNet itself " +
                             $"runs it, which was not started to be recorded: {string.Join(", ", inProcess)}");
    }

    private static string? WhyNotAtAll() =>
        !OperatingSystem.IsLinux() || RuntimeInformation.ProcessArchitecture != Architecture.X64
            ? $"nothing is recorded on {RuntimeInformation.RuntimeIdentifier}; it needs Linux on x86-64"
        : Command.Find() == null
            ? "nothing is recorded, because the command shadowtrace is not found: dotnet tool install --global shadowtrace, " +
              "or set SHADOWTRACE to its path"
        : null;

    private static bool IsInProcess(BenchmarkCase benchmark) =>
        benchmark.Job.Infrastructure.TryGetToolchain(out IToolchain? toolchain) && toolchain.IsInProcess;

    private static string Name(BenchmarkCase benchmark) =>
        $"{benchmark.Descriptor.Type.Name}.{benchmark.Descriptor.WorkloadMethod.Name}";

    /// <inheritdoc/>
    public void Handle(HostSignal signal, DiagnoserActionParameters parameters)
    {
        try
        {
            if (signal == HostSignal.BeforeProcessStart)
                Prepare(parameters);
            else if (signal == HostSignal.BeforeActualRun) // the process waits, here and at the end: no operation is cut
                Start(parameters);
            else if (signal == HostSignal.AfterActualRun)
                Stop(parameters);
        }
        catch (CommandException e)
        {
            problems.TryAdd(parameters.BenchmarkCase, e.Message);
        }
    }

    private static void Start(DiagnoserActionParameters parameters)
    {
        Command.Run("ctl", parameters.Process.Id.ToString(CultureInfo.InvariantCulture), "start");
        Operations.Counter.Begin();
    }

    private void Stop(DiagnoserActionParameters parameters)
    {
        operations[parameters.BenchmarkCase] = Operations.Counter.End();
        Command.Run("ctl", parameters.Process.Id.ToString(CultureInfo.InvariantCulture), "stop");
    }

    private void Prepare(DiagnoserActionParameters parameters)
    {
        BenchmarkCase benchmark = parameters.BenchmarkCase;
        string folder = Path.Combine(parameters.Config.ArtifactsPath, "shadowtrace");
        string name = Regex.Replace($"{benchmark.Descriptor.Type.FullName}.{benchmark.Descriptor.WorkloadMethod.Name}", @"[^\w.-]", "_");
        string log = Path.GetFullPath(Path.Combine(folder, $"{name}-{parameters.BenchmarkId.Value}.ndjson"));

        Directory.CreateDirectory(folder);
        File.Delete(log);
        logs[benchmark] = log;
        foreach ((string variable, string value) in Command.Variables("--own", "--paused", "--log", "sites", "--check", "0", "-o", log))
            parameters.Process.StartInfo.Environment[variable] = value;
    }

    /// <inheritdoc/>
    public IEnumerable<Metric> ProcessResults(DiagnoserResults results)
    {
        BenchmarkCase benchmark = results.BenchmarkCase;

        if (!logs.TryGetValue(benchmark, out string? log) || problems.ContainsKey(benchmark))
            return [];
        try
        {
            Recording recording = recordings[benchmark] = Recording.Read(log, benchmark, operations.GetValueOrDefault(benchmark));
            if (page && recording.Objects > 0)
                MakePage(log, Recording.Pattern(benchmark.Descriptor));
            return [new(ObjectsDescriptor.Instance, (double)recording.Objects / recording.Operations)];
        }
        catch (CommandException e)
        {
            problems[benchmark] = e.Message;
            return [];
        }
    }

    private static void MakePage(string log, string method)
    {
        string made = Path.ChangeExtension(log, ".html");

        File.Delete(made);
        Command.Run("html", "--below", method, log, "-o", made);
    }

    /// <inheritdoc/>
    public void DisplayResults(ILogger logger)
    {
        foreach ((BenchmarkCase benchmark, string why) in problems)
            logger.WriteLineError($"{benchmark.DisplayInfo}: not recorded: {why}");
        foreach ((BenchmarkCase benchmark, Recording recording) in recordings)
            Display(logger, benchmark, recording);
    }

    private static void Display(ILogger logger, BenchmarkCase benchmark, Recording recording)
    {
        string each(long all) => ((double)all / recording.Operations).ToString("#,0.####", CultureInfo.InvariantCulture);
        List<Site> rows = recording.Sites.OrderByDescending(site => site.Bytes).Take(RowsMax).ToList();
        int types = Math.Max(4, rows.Select(row => row.Type.Length).DefaultIfEmpty().Max());
        int lines = Math.Max(4, rows.Select(row => row.Line.Length).DefaultIfEmpty().Max());

        logger.WriteLine();
        logger.WriteLineHeader($"{benchmark.DisplayInfo}: {each(recording.Objects)} object{Plural(recording.Objects, recording.Operations)}, " +
                               $"{each(recording.Bytes)} bytes per operation " +
                               $"({recording.Operations.ToString("#,0", CultureInfo.InvariantCulture)} operations)");
        if (rows.Count > 0)
            logger.WriteLineStatistic($"  {"objects",10} {"bytes",12}  {"type".PadRight(types)}  {"line".PadRight(lines)}  call path");
        foreach (Site row in rows)
            logger.WriteLineStatistic($"  {each(row.Objects),10} {each(row.Bytes),12}  {row.Type.PadRight(types)}  {row.Line.PadRight(lines)}  {row.Path}");
        if (recording.Sites.Count > rows.Count)
            logger.WriteLineStatistic($"  … {recording.Sites.Count - rows.Count} more");
        logger.WriteLineHint($"  shadowtrace report {recording.Log}");
    }

    private static string Plural(long all, long operations) => all == operations ? "" : "s";

    private sealed class ObjectsDescriptor : IMetricDescriptor
    {
        public static readonly ObjectsDescriptor Instance = new();

        public string Id => "Shadowtrace objects";
        public string DisplayName => "Objects";
        public string Legend => "Objects allocated per operation by the benchmark method and what it calls";
        public string NumberFormat => "#,0.####";
        public UnitType UnitType => UnitType.Dimensionless;
        public string Unit => "";
        public bool TheGreaterTheBetter => false;
        public int PriorityInCategory => 0;
        public bool GetIsAvailable(Metric metric) => true;
    }
}
