using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text;
using Shadowtrace.Common;

namespace Shadowtrace;

/// <summary>What counts in a scope.</summary>
internal enum Reach
{
    /// <summary>The thread that began it.</summary>
    Thread,
    /// <summary>All threads.</summary>
    All,
    /// <summary>What an asynchronous call does, whatever threads it goes on with.</summary>
    Call
}

/// <summary>
/// A part of a program, from <see cref="Allocations.Measure"/> to <see cref="Stop"/>, and what was allocated in it. Bytes
/// are the runtime's own count. Objects, types and call sites are the tracer's: they need a process that is recorded.
/// </summary>
public sealed class AllocationScope : IDisposable
{
    private readonly Reach reach;
    private readonly string name;
    private readonly byte[] mark;
    private readonly long scope, thread, begin;
    private readonly string? below;
    private bool stopped;
    private long end;
    private int ended;
    private Recorded? recorded;

    internal AllocationScope(string name, Reach reach, string? below = null)
    {
        this.name = name;
        this.reach = reach;
        this.below = below;
        mark = Tracer.Name(name);
        thread = Tracer.Here && reach == Reach.Thread ? Tracer.Thread() : 0;
        scope = Tracer.Here ? Tracer.Begin(mark) : 0;
        begin = Now();
    }

    private long Now() => reach == Reach.Thread ? GC.GetAllocatedBytesForCurrentThread() : GC.GetTotalAllocatedBytes(precise: true);

    /// <summary>Ends it; a second time does nothing. Of one thread: on that thread.</summary>
    public AllocationScope Stop()
    {
        if (stopped)
            return this;
        end = Now();
        ended = scope > 0 ? Tracer.End(scope, mark) : 0;
        stopped = true;
        return this;
    }

    /// <inheritdoc cref="Stop"/>
    public void Dispose() => Stop();

    /// <summary>
    /// By the runtime's count, to the byte: of the thread; of all threads of the process, where it is a scope of all, or of an
    /// asynchronous call, which the count alone cannot tell from what other threads do meanwhile (<see cref="IsOnlyItsOwn"/>).
    /// </summary>
    public long Bytes => reach == Reach.Call && IsTraced ? Read().Bytes : Counted;

    private long Counted => (stopped ? end : Now()) - begin;

    /// <summary>Whether bytes are those of the scope alone, and not also what other threads allocated meanwhile.</summary>
    public bool IsOnlyItsOwn => reach != Reach.Call || IsTraced;

    /// <summary>Whether the process is recorded, so that objects and call sites are known.</summary>
    public bool IsTraced => scope > 0;

    /// <summary>How many objects; null: nobody recorded them. Reads the log: the scope ends.</summary>
    public long? Objects => IsTraced ? Read().Objects : null;

    /// <summary>Who made them, most bytes first; empty where nobody recorded them. Reads the log: the scope ends.</summary>
    public IReadOnlyList<AllocationSite> Sites => IsTraced ? Read().Sites : [];

    private Recorded Read()
    {
        Stop();
        return recorded ??= Recorded.Read(Mark("begin"), Mark("end"), thread, below, ended);
    }

    private string Mark(string what) =>
        string.Create(CultureInfo.InvariantCulture, $"{Encoding.UTF8.GetString(mark, 0, mark.Length - 1)} #{scope} {what}");

    /// <summary>Throws <see cref="AllocationException"/>, with the call sites, if there was more.</summary>
    /// <exception cref="NotTracedException">
    /// Objects are to be counted, something was allocated, and nobody records the process: not judged, so not passed.
    /// </exception>
    public AllocationScope AssertAtMost(long? bytes = null, long? objects = null)
    {
        Stop();
        if (bytes is { } most && Bytes > most)
            throw new AllocationException(Failure(FormattableString.Invariant($"{Bytes:N0} bytes, at most {most:N0} were allowed")));
        if (objects is not { } count || Counted == 0)
            return this;
        if (Objects is not { } found)
            throw count == 0 && reach == Reach.Thread
                ? new AllocationException(Failure(FormattableString.Invariant($"{Bytes:N0} bytes, and no object was allowed")))
                : new NotTracedException($"{name}: objects are counted only in a process that is recorded: {Advice}");
        if (found > count)
            throw new AllocationException(Failure(FormattableString.Invariant($"{found:N0} objects, at most {count:N0} were allowed")));
        return this;
    }

    private const string Advice = "run the tests with `dotnet test --settings FILE`, FILE being what `shadowtrace env --format runsettings` prints";
    private const int Shown = 10;

    private string Failure(string what)
    {
        var text = new StringBuilder($"{name}: {what}");

        if (!IsTraced)
            return text.Append(". Who made them is known in a process that is recorded: ").Append(Advice).Append('.').ToString();
        try
        {
            foreach (AllocationSite site in Sites.Take(Shown))
                text.Append(CultureInfo.InvariantCulture,
                            $"\n{site.Bytes,12:N0} bytes {site.Objects,9:N0} objects  {site.Type}  {site.Line}  {site.Path}");
            if (Sites.Count > Shown)
                text.Append(CultureInfo.InvariantCulture, $"\nand {Sites.Count - Shown} more call sites");
        }
        catch (CommandException e) // the failure is what matters
        {
            text.Append(". Who made them cannot be told: ").Append(e.Message);
        }
        return text.ToString();
    }

    /// <summary>"1,234 bytes in 5 objects".</summary>
    public override string ToString() =>
        FormattableString.Invariant(IsTraced ? (FormattableString)$"{Bytes:N0} bytes in {Objects:N0} objects" : $"{Bytes:N0} bytes");
}
