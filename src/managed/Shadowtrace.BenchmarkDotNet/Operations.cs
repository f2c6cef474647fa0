using System.Globalization;
using System.Text.RegularExpressions;
using BenchmarkDotNet.Loggers;

namespace Shadowtrace.BenchmarkDotNet;

/// <summary>
/// Counts the operations of the iterations between two moments, from the lines that the benchmark's process writes of each.
/// What BenchmarkDotNet gives a diagnoser, TotalOperations, has those of the warm-up and of the pilot stage, too.
/// </summary>
internal sealed class Operations : ILogger
{
    /// <summary>One for all: BenchmarkDotNet runs one benchmark after the other, and may leave out a second diagnoser.</summary>
    public static readonly Operations Counter = new();

    private readonly object gate = new();
    private bool isOpen;
    private long count;

    public string Id => nameof(Shadowtrace) + nameof(Operations);
    public int Priority => 0;

    public void Begin()
    {
        lock (gate)
            (isOpen, count) = (true, 0);
    }

    public long End()
    {
        lock (gate)
        {
            isOpen = false;
            return count;
        }
    }

    public void WriteLine(LogKind logKind, string text)
    {
        Match line = Regex.Match(text, "^WorkloadActual +[0-9]+: ([0-9]+) op,");

        if (!line.Success)
            return;
        lock (gate)
            count += isOpen ? long.Parse(line.Groups[1].Value, CultureInfo.InvariantCulture) : 0;
    }

    public void Write(LogKind logKind, string text)
    {
    }

    public void WriteLine()
    {
    }

    public void Flush()
    {
    }
}
