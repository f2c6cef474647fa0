using System;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

namespace Shadowtrace;

/// <summary>
/// What a piece of code allocates:
/// <code>
/// using AllocationScope made = Allocations.Measure();
/// Parse(line);
/// made.AssertAtMost(bytes: 0);
/// </code>
/// In a process that nobody records it costs two reads of the runtime's counter, and bytes are all that is known.
/// </summary>
public static class Allocations
{
    /// <summary>Whether this process is recorded by shadowtrace.</summary>
    public static bool IsTraced => Tracer.Here;

    /// <summary>Begins a scope of this thread, or of all threads; <see cref="AllocationScope.Stop"/> ends it.</summary>
    public static AllocationScope Measure(bool allThreads = false, [CallerMemberName] string name = "") =>
        new(name, allThreads ? Reach.All : Reach.Thread);

    /// <summary>
    /// What an action allocates on this thread. Code that runs for the first time also allocates what the runtime needs for
    /// it: call it once before, where that is not wanted.
    /// </summary>
    public static AllocationScope Of(Action action, [CallerMemberName] string name = "")
    {
        ArgumentNullException.ThrowIfNull(action);
        var scope = new AllocationScope(name, Reach.Thread);

        action();
        return scope.Stop();
    }

    /// <summary>
    /// What an asynchronous call allocates, on all threads that it uses. In a recorded process it is identified by the
    /// call path, from the method of <paramref name="action"/>; two calls of the same method at the same time count in both.
    /// Else it is what all threads allocate meanwhile: <see cref="AllocationScope.IsOnlyItsOwn"/> is false.
    /// </summary>
    public static async Task<AllocationScope> OfAsync(Func<Task> action, [CallerMemberName] string name = "")
    {
        ArgumentNullException.ThrowIfNull(action);
        var scope = new AllocationScope(name, Reach.Call, Names.Pattern(action.Method));

        await action().ConfigureAwait(false);
        return scope.Stop();
    }

    /// <summary>Throws <see cref="AllocationException"/> if the action allocates more.</summary>
    /// <inheritdoc cref="AllocationScope.AssertAtMost" path="/exception"/>
    public static void Assert(Action action, long? maxBytes = null, long? maxObjects = null, [CallerMemberName] string name = "") =>
        Of(action, name).AssertAtMost(maxBytes, maxObjects);

    /// <inheritdoc cref="Assert"/>
    public static async Task AssertAsync(Func<Task> action, long? maxBytes = null, long? maxObjects = null,
                                         [CallerMemberName] string name = "") =>
        (await OfAsync(action, name).ConfigureAwait(false)).AssertAtMost(maxBytes, maxObjects);
}
