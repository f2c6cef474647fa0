// Each allocation has another type, and next to the type its logical path: the program's own methods, leaf first.
// Where a path stands several times the method was started there, and there, and each of them is one.
using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
using static Logical.Kept;

namespace Logical;

[AttributeUsage(AttributeTargets.Class, AllowMultiple = true)]
sealed class PathAttribute(string path) : Attribute
{
    public string Path => path;
}

static class Kept
{
    static object kept;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Keep(object it) => kept = it;
}

static class Program
{
    static void Main(string[] args)
    {
        int rounds = args.Length > 0 ? int.Parse(args[0]) : 1;

        for (int i = 0; i < rounds; i++)
        {
            Tasks.Run();
            ValueTasks.Run();
            Pooled.Run();
            Void.Run();
            Streams.Run();
            All.Run();
            Awaiters.Run();
            Configured.Run();
            Contexts.Run();
            Failing.Run();
            Recursion.Run();
            Generic.Run();
            Lambdas.Run();
            Sources.Run();
            Shared.Run();
            Moved.Run();
            Passed.Run();
            Again.Run();
            Background.Run();
        }
        foreach (Type type in typeof(Program).Assembly.GetTypes())
            foreach (PathAttribute path in type.GetCustomAttributes<PathAttribute>())
                Console.WriteLine(type.FullName.Replace('+', '.') + "\t" + path.Path);
    }
}

static class Tasks
{
    [Path("Tasks.Outer < Tasks.Run < Program.Main")] class Before;
    [Path("Tasks.Outer < Tasks.Run < Program.Main")] class After;
    [Path("Tasks.Middle < Tasks.Outer < Tasks.Run < Program.Main")] class InMiddle;
    [Path("Tasks.Leaf < Tasks.Middle < Tasks.Outer < Tasks.Run < Program.Main")] class LeafBefore;
    [Path("Tasks.Leaf < Tasks.Middle < Tasks.Outer < Tasks.Run < Program.Main")] class LeafAfter;
    [Path("Tasks.Leaf < Tasks.Middle < Tasks.Outer < Tasks.Run < Program.Main")] class LeafAgain;
    [Path("Tasks.Helper < Tasks.Leaf < Tasks.Middle < Tasks.Outer < Tasks.Run < Program.Main")] class Below;
    [Path("Tasks.Second < Tasks.Outer < Tasks.Run < Program.Main")] class InSecond;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run() => Outer().GetAwaiter().GetResult();

    static async Task Outer()
    {
        Keep(new Before());
        await Middle();
        Keep(new After());
        await Second(); // begun by a continuation
    }

    static async Task<int> Middle()
    {
        int n = await Leaf();

        Keep(new InMiddle());
        return n;
    }

    static async Task<int> Leaf()
    {
        Keep(new LeafBefore());
        await Task.Yield();
        Keep(new LeafAfter());
        Helper();
        await Task.Delay(1);
        Keep(new LeafAgain());
        return 5;
    }

    static async Task Second()
    {
        await Task.Yield();
        Keep(new InSecond());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Helper() => Keep(new Below());
}

static class ValueTasks
{
    [Path("ValueTasks.Outer < ValueTasks.Run < Program.Main")] class After;
    [Path("ValueTasks.Leaf < ValueTasks.Outer < ValueTasks.Run < Program.Main")] class InLeaf;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run() => Outer().AsTask().GetAwaiter().GetResult();

    static async ValueTask Outer()
    {
        await Leaf();
        Keep(new After());
    }

    static async ValueTask<int> Leaf()
    {
        await Task.Yield();
        Keep(new InLeaf());
        return 1;
    }
}

// Its boxes are used again: the second call makes none.
static class Pooled
{
    [Path("Pooled.Outer < Pooled.Run < Program.Main")] class After;
    [Path("Pooled.Leaf < Pooled.Outer < Pooled.Run < Program.Main")] class InLeaf;
    [Path("Pooled.Twice < Pooled.One < Pooled.Outer < Pooled.Run < Program.Main")]
    [Path("Pooled.Twice < Pooled.Two < Pooled.Outer < Pooled.Run < Program.Main")]
    class InTwice;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run() => Outer().GetAwaiter().GetResult();

    static async Task Outer()
    {
        await Leaf();
        Keep(new After());
        await One();
        await Two();
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    static async ValueTask<int> Leaf()
    {
        await Task.Yield();
        Keep(new InLeaf());
        return 1;
    }

    static async Task One() => await Twice();
    static async Task Two() => await Twice();

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    static async ValueTask Twice()
    {
        await Task.Yield();
        Keep(new InTwice());
    }
}

static class Void
{
    [Path("Void.Fire < Void.Run < Program.Main")] class Fired;

    static readonly SemaphoreSlim done = new(0);

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run()
    {
        Fire();
        done.Wait();
    }

    static async void Fire()
    {
        await Task.Yield();
        Keep(new Fired());
        done.Release();
    }
}

static class Streams
{
    [Path("Streams.Numbers < Streams.Outer < Streams.Run < Program.Main")] class InNumbers;
    [Path("Streams.Numbers < Streams.Outer < Streams.Run < Program.Main")] class LaterInNumbers;
    [Path("Streams.Outer < Streams.Run < Program.Main")] class Each;
    [Path("Streams.Outer < Streams.Run < Program.Main")] class After;
    [Path("Streams.Letters < Streams.Words < Streams.Outer < Streams.Run < Program.Main")] class InLetters;
    [Path("Streams.Words < Streams.Outer < Streams.Run < Program.Main")] class InWords;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run() => Outer().GetAwaiter().GetResult();

    static async Task Outer()
    {
        await foreach (int _ in Numbers())
            Keep(new Each());
        await foreach (int _ in Words())
            ;
        Keep(new After());
    }

    static async IAsyncEnumerable<int> Numbers()
    {
        for (int i = 0; i < 3; i++)
        {
            await Task.Yield();
            Keep(new InNumbers());
            yield return i;
            await Task.Yield();
            Keep(new LaterInNumbers());
        }
    }

    static async IAsyncEnumerable<int> Words()
    {
        await foreach (int i in Letters())
        {
            Keep(new InWords());
            yield return i;
        }
    }

    static async IAsyncEnumerable<int> Letters()
    {
        yield return 1;
        await Task.Yield();
        Keep(new InLetters());
        yield return 2;
    }
}

static class All
{
    [Path("All.Outer < All.Run < Program.Main")] class After;
    [Path("All.Outer < All.Run < Program.Main")] class AfterAny;
    [Path("All.First < All.Outer < All.Run < Program.Main")] class InFirst;
    [Path("All.Second < All.Outer < All.Run < Program.Main")] class InSecond;
    [Path("All.Third < All.Outer < All.Run < Program.Main")] class InThird;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run() => Outer().GetAwaiter().GetResult();

    static async Task Outer()
    {
        await Task.WhenAll(First(), Second());
        Keep(new After());
        await Task.WhenAny(Third(), Task.Delay(10000));
        Keep(new AfterAny());
    }

    static async Task First()
    {
        await Task.Delay(2);
        Keep(new InFirst());
    }

    static async Task Second()
    {
        await Task.Yield();
        Keep(new InSecond());
    }

    static async Task Third()
    {
        await Task.Yield();
        Keep(new InThird());
    }
}

static class Awaiters
{
    [Path("Awaiters.Outer < Awaiters.Run < Program.Main")] class After;
    [Path("Awaiters.Leaf < Awaiters.Outer < Awaiters.Run < Program.Main")] class InLeaf;
    [Path("Awaiters.Custom.Complete")] class InComplete;

    struct Custom : INotifyCompletion
    {
        public Custom GetAwaiter() => this;
        public bool IsCompleted => false;
        public int GetResult() => 3;
        public void OnCompleted(Action continuation) => new Thread(Complete).Start(continuation);

        static void Complete(object continuation)
        {
            Keep(new InComplete());
            ((Action)continuation)();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run() => Outer().GetAwaiter().GetResult();

    static async Task Outer()
    {
        await Leaf();
        Keep(new After());
    }

    static async Task Leaf()
    {
        await new Custom();
        Keep(new InLeaf());
    }
}

static class Configured
{
    [Path("Configured.Outer < Configured.Run < Program.Main")] class After;
    [Path("Configured.Leaf < Configured.Outer < Configured.Run < Program.Main")] class InLeaf;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run() => Outer().GetAwaiter().GetResult();

    static async Task Outer()
    {
        await Leaf().ConfigureAwait(false);
        Keep(new After());
    }

    static async Task<int> Leaf()
    {
        await Task.Delay(1).ConfigureAwait(false);
        Keep(new InLeaf());
        return 0;
    }
}

static class Contexts
{
    [Path("Contexts.Outer < Contexts.Run < Program.Main")] class After;
    [Path("Contexts.Leaf < Contexts.Outer < Contexts.Run < Program.Main")] class InLeaf;

    sealed class Pump : SynchronizationContext
    {
        public readonly BlockingCollection<(SendOrPostCallback, object)> Queue = new();

        public override void Post(SendOrPostCallback d, object state) => Queue.Add((d, state));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run()
    {
        Pump pump = new();
        SynchronizationContext before = SynchronizationContext.Current;

        SynchronizationContext.SetSynchronizationContext(pump);
        Task task = Outer();
        task.ContinueWith(_ => pump.Queue.CompleteAdding(), TaskScheduler.Default);
        foreach ((SendOrPostCallback d, object state) in pump.Queue.GetConsumingEnumerable())
            d(state);
        SynchronizationContext.SetSynchronizationContext(before);
        task.GetAwaiter().GetResult();
    }

    static async Task Outer()
    {
        await Leaf();
        Keep(new After());
    }

    static async Task Leaf()
    {
        await Task.Delay(1);
        Keep(new InLeaf());
    }
}

static class Failing
{
    [Path("Failing.Outer < Failing.Run < Program.Main")] class Caught;
    [Path("Failing.Outer < Failing.Run < Program.Main")] class Finally;
    [Path("Failing.Leaf < Failing.Outer < Failing.Run < Program.Main")] class InLeaf;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run() => Outer().GetAwaiter().GetResult();

    static async Task Outer()
    {
        try
        {
            await Leaf();
        }
        catch (InvalidOperationException)
        {
            await Task.Yield();
            Keep(new Caught());
        }
        finally
        {
            await Task.Yield();
            Keep(new Finally());
        }
    }

    static async Task Leaf()
    {
        await Task.Yield();
        Keep(new InLeaf());
        throw new InvalidOperationException();
    }
}

static class Recursion
{
    [Path("Recursion.Down < Recursion.Down < Recursion.Down < Recursion.Run < Program.Main")] class AtBottom;
    [Path("Recursion.Down < Recursion.Run < Program.Main")]
    [Path("Recursion.Down < Recursion.Down < Recursion.Run < Program.Main")]
    [Path("Recursion.Down < Recursion.Down < Recursion.Down < Recursion.Run < Program.Main")]
    class Resumed;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run() => Down(3).GetAwaiter().GetResult();

    static async Task Down(int n)
    {
        if (n == 1)
            Keep(new AtBottom());
        else
            await Down(n - 1);
        await Task.Yield();
        Keep(new Resumed());
    }
}

static class Generic
{
    [Path("Generic.Of < Generic.Outer < Generic.Run < Program.Main")] class InOf;
    [Path("Generic.Other < Generic.Outer < Generic.Run < Program.Main")] class InOther;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run() => Outer().GetAwaiter().GetResult();

    static async Task Outer()
    {
        await Of("x");
        await Other(1);
    }

    static async Task<T> Of<T>(T it) where T : class
    {
        await Task.Yield();
        Keep(new InOf());
        return it;
    }

    static async Task<T> Other<T>(T it) where T : struct
    {
        await Task.Yield();
        Keep(new InOther());
        return it;
    }
}

static class Lambdas
{
    [Path("Lambdas.Run+lambda < Lambdas.Run < Program.Main")] class InLambda;
    [Path("Lambdas.Run+Local < Lambdas.Run < Program.Main")] class InLocal;
    [Path("Lambdas.Started+lambda")] class OnPool; // the pool calls it: nobody started it there

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run()
    {
        Func<Task> lambda = async () =>
        {
            await Task.Yield();
            Keep(new InLambda());
        };

        lambda().GetAwaiter().GetResult();
        Local().GetAwaiter().GetResult();
        Started().GetAwaiter().GetResult();

        static async Task Local()
        {
            await Task.Yield();
            Keep(new InLocal());
        }
    }

    static Task Started() => Task.Run(async () =>
    {
        await Task.Yield();
        Keep(new OnPool());
    });
}

// A continuation that runs where somebody completed what it waits for.
static class Sources
{
    [Path("Sources.Wait < Sources.Run < Program.Main")] class Resumed;
    [Path("Sources.Set < Sources.Run < Program.Main")] class Setting;
    [Path("Sources.Set < Sources.Run < Program.Main")] class Done;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run()
    {
        TaskCompletionSource source = new();
        Task task = Wait(source.Task);

        Set(source);
        task.GetAwaiter().GetResult();
    }

    static async Task Wait(Task task)
    {
        await task;
        Keep(new Resumed());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Set(TaskCompletionSource source)
    {
        Keep(new Setting());
        source.SetResult();
        Keep(new Done());
    }
}

static class Shared
{
    [Path("Shared.Leaf < Shared.First < Shared.Outer < Shared.Run < Program.Main")]
    [Path("Shared.Leaf < Shared.Second < Shared.Outer < Shared.Run < Program.Main")]
    class InLeaf;

    [Path("Shared.First < Shared.Outer < Shared.Run < Program.Main")] class InFirst;
    [Path("Shared.Second < Shared.Outer < Shared.Run < Program.Main")] class InSecond;
    [Path("Shared.Inner < Shared.Leaf < Shared.First < Shared.Outer < Shared.Run < Program.Main")]
    [Path("Shared.Inner < Shared.Leaf < Shared.Second < Shared.Outer < Shared.Run < Program.Main")]
    class InInner;

    // Begun in two places, but only one of them has it wait.
    [Path("Shared.Maybe < Shared.Outer < Shared.Run < Program.Main")] class Waited;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run() => Outer().GetAwaiter().GetResult();

    static async Task Outer()
    {
        await Task.WhenAll(First(), Second());
        await Maybe(true);
        await Never();
    }

    static async Task First()
    {
        await Leaf(2);
        Keep(new InFirst());
    }

    static async Task Second()
    {
        await Leaf(1);
        Keep(new InSecond());
    }

    static async Task Leaf(int ms)
    {
        await Task.Delay(ms);
        Keep(new InLeaf());
        await Inner();
    }

    static async Task Inner()
    {
        await Task.Yield();
        Keep(new InInner());
    }

    static async Task Never() => await Maybe(false);

    static async Task Maybe(bool wait)
    {
        Keep(new object());
        if (wait)
        {
            await Task.Yield();
            Keep(new Waited());
        }
    }
}

// Begun by two at once, and moved by collections while it waits: what goes on belongs to the one that began it.
static class Moved
{
    [Path("Moved.Leaf < Moved.First < Moved.Outer < Moved.Run < Program.Main")] class ForFirst;
    [Path("Moved.Inner < Moved.Leaf < Moved.First < Moved.Outer < Moved.Run < Program.Main")] class BelowFirst;
    [Path("Moved.Leaf < Moved.Second < Moved.Outer < Moved.Run < Program.Main")] class ForSecond;
    [Path("Moved.Inner < Moved.Leaf < Moved.Second < Moved.Outer < Moved.Run < Program.Main")] class BelowSecond;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run()
    {
        Task[] tasks = new Task[16];

        for (int i = 0; i < tasks.Length; i++)
            tasks[i] = Outer(i);
        Task.WaitAll(tasks);
    }

    static async Task Outer(int i)
    {
        TaskCompletionSource source = new(TaskCreationOptions.RunContinuationsAsynchronously);
        Task first = First(source.Task), second = Second(source.Task);

        if (i % 4 == 0)
            GC.Collect(i / 4 % 3, GCCollectionMode.Forced, true, true);
        source.SetResult();
        await first;
        await second;
    }

    static async Task First(Task task) => await Leaf(task, true);
    static async Task Second(Task task) => await Leaf(task, false);

    static async Task Leaf(Task task, bool first)
    {
        byte[] moved = new byte[100]; // what dies leaves a gap

        await task;
        Keep(first ? new ForFirst() : new ForSecond());
        await Inner(first);
        Keep(null); // else it may be a tail call
    }

    static async Task Inner(bool first)
    {
        await Task.Yield();
        GC.Collect(0);
        await Task.Yield();
        Keep(first ? new BelowFirst() : new BelowSecond());
    }
}

// Begun in two places, with all kinds of arguments around the one by which the runtime resumes a method: `this`, where to put a
// structure that is returned, for which types shared code runs; and with arguments that look like addresses.
static class Passed
{
    [Path("Passed.Static < Passed.All < Passed.First < Passed.Outer < Passed.Run < Program.Main")] internal class StaticFirst;
    [Path("Passed.Static < Passed.All < Passed.Second < Passed.Outer < Passed.Run < Program.Main")] internal class StaticSecond;
    [Path("Passed.Generic < Passed.All < Passed.First < Passed.Outer < Passed.Run < Program.Main")] internal class GenericFirst;
    [Path("Passed.Generic < Passed.All < Passed.Second < Passed.Outer < Passed.Run < Program.Main")] internal class GenericSecond;
    [Path("Passed.Generic < Passed.All < Passed.First < Passed.Outer < Passed.Run < Program.Main")] internal class ValuesFirst;
    [Path("Passed.Generic < Passed.All < Passed.Second < Passed.Outer < Passed.Run < Program.Main")] internal class ValuesSecond;
    [Path("Passed.Returned < Passed.All < Passed.First < Passed.Outer < Passed.Run < Program.Main")] internal class ReturnedFirst;
    [Path("Passed.Returned < Passed.All < Passed.Second < Passed.Outer < Passed.Run < Program.Main")] internal class ReturnedSecond;
    [Path("Passed.ReturnedGeneric < Passed.All < Passed.First < Passed.Outer < Passed.Run < Program.Main")] internal class ReturnedGenericFirst;
    [Path("Passed.ReturnedGeneric < Passed.All < Passed.Second < Passed.Outer < Passed.Run < Program.Main")] internal class ReturnedGenericSecond;
    [Path("Passed.ReturnedLater < Passed.All < Passed.First < Passed.Outer < Passed.Run < Program.Main")] internal class ReturnedLaterFirst;
    [Path("Passed.ReturnedLater < Passed.All < Passed.Second < Passed.Outer < Passed.Run < Program.Main")] internal class ReturnedLaterSecond;
    [Path("Instance.Plain < Passed.All < Passed.First < Passed.Outer < Passed.Run < Program.Main")] internal class InstanceFirst;
    [Path("Instance.Plain < Passed.All < Passed.Second < Passed.Outer < Passed.Run < Program.Main")] internal class InstanceSecond;
    [Path("Instance.Virtual < Passed.All < Passed.First < Passed.Outer < Passed.Run < Program.Main")] internal class VirtualFirst;
    [Path("Instance.Virtual < Passed.All < Passed.Second < Passed.Outer < Passed.Run < Program.Main")] internal class VirtualSecond;
    [Path("IDefault.Default < Passed.All < Passed.First < Passed.Outer < Passed.Run < Program.Main")] internal class DefaultFirst;
    [Path("IDefault.Default < Passed.All < Passed.Second < Passed.Outer < Passed.Run < Program.Main")] internal class DefaultSecond;
    [Path("Instance.Returned < Passed.All < Passed.First < Passed.Outer < Passed.Run < Program.Main")] internal class InstanceReturnedFirst;
    [Path("Instance.Returned < Passed.All < Passed.Second < Passed.Outer < Passed.Run < Program.Main")] internal class InstanceReturnedSecond;
    [Path("Instance.Generic < Passed.All < Passed.First < Passed.Outer < Passed.Run < Program.Main")] internal class InstanceGenericFirst;
    [Path("Instance.Generic < Passed.All < Passed.Second < Passed.Outer < Passed.Run < Program.Main")] internal class InstanceGenericSecond;
    [Path("Structure.Plain < Passed.All < Passed.First < Passed.Outer < Passed.Run < Program.Main")] internal class StructureFirst;
    [Path("Structure.Plain < Passed.All < Passed.Second < Passed.Outer < Passed.Run < Program.Main")] internal class StructureSecond;
    [Path("Structure.Virtual < Passed.All < Passed.First < Passed.Outer < Passed.Run < Program.Main")] internal class StructureVirtualFirst;
    [Path("Structure.Virtual < Passed.All < Passed.Second < Passed.Outer < Passed.Run < Program.Main")] internal class StructureVirtualSecond;
    [Path("Of < Passed.All < Passed.First < Passed.Outer < Passed.Run < Program.Main")] internal class OfStaticFirst;
    [Path("Of < Passed.All < Passed.Second < Passed.Outer < Passed.Run < Program.Main")] internal class OfStaticSecond;
    [Path("Of < Passed.All < Passed.First < Passed.Outer < Passed.Run < Program.Main")] internal class OfInstanceFirst;
    [Path("Of < Passed.All < Passed.Second < Passed.Outer < Passed.Run < Program.Main")] internal class OfInstanceSecond;
    [Path("StructureOf < Passed.All < Passed.First < Passed.Outer < Passed.Run < Program.Main")] internal class OfStructureFirst;
    [Path("StructureOf < Passed.All < Passed.Second < Passed.Outer < Passed.Run < Program.Main")] internal class OfStructureSecond;

    public struct Large
    {
        public long A, B, C;
        public object It;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run() => Outer().GetAwaiter().GetResult();

    static async Task Outer() => await Task.WhenAll(First(), Second());
    static async Task First() => await All(true);
    static async Task Second() => await All(false);

    static async Task All(bool first)
    {
        const long Some = 0x7f0000000008;
        object it = new();
        Instance instance = new();
        IDefault structure = new Structure();

        await Static(Some, -1, it, first);
        await Generic(it, Some, first);
        await Generic(Some, -1, first);
        await Returned(Some, it, first);
        await ReturnedGeneric(it, Some, first);
        await ReturnedLater(Some, it, first);
        await instance.Plain(Some, it, first);
        await instance.Virtual(Some, it, first);
        await ((IDefault)instance).Default(Some, it, first);
        await instance.Returned(Some, it, first);
        await instance.Generic(it, Some, first);
        await new Structure().Plain(Some, it, first);
        await structure.Virtual(Some, it, first);
        await Of<string>.Static(Some, it, first);
        await new Of<string>().Plain(Some, it, first);
        await new StructureOf<string>().Plain(Some, it, first);
        // Called for their tasks: nothing is passed then, and what lies in its place is another argument.
        await Task.WhenAll(
            Static(Some, Some, it, first), Generic(it, Some, first), Generic(Some, Some, first), Returned(Some, it, first),
            ReturnedGeneric(it, Some, first), ReturnedGeneric(Some, Some, first), ReturnedLater(Some, it, first).AsTask(),
            instance.Plain(Some, it, first), instance.Virtual(Some, it, first), ((IDefault)instance).Default(Some, it, first),
            instance.Returned(Some, it, first), instance.Generic(Some, Some, first), instance.Generic(it, Some, first),
            new Structure().Plain(Some, it, first), structure.Virtual(Some, it, first), Of<string>.Static(Some, it, first),
            Of<long>.Static(Some, it, first), new Of<string>().Plain(Some, it, first), new Of<long>().Plain(Some, it, first),
            new StructureOf<string>().Plain(Some, it, first), new StructureOf<long>().Plain(Some, it, first));
    }

    static async Task Static(long some, long other, object it, bool first)
    {
        await Task.Yield();
        Keep(first ? new StaticFirst() : new StaticSecond());
        await Task.Yield();
        Keep(it);
    }

    static async Task Generic<T>(T it, long some, bool first)
    {
        await Task.Yield();
        if (it is long)
            Keep(first ? new ValuesFirst() : new ValuesSecond());
        else
            Keep(first ? new GenericFirst() : new GenericSecond());
        await Task.Yield();
    }

    static async Task<Large> Returned(long some, object it, bool first)
    {
        await Task.Yield();
        Keep(first ? new ReturnedFirst() : new ReturnedSecond());
        await Task.Yield();
        return new Large { A = some, It = it };
    }

    static async Task<Large> ReturnedGeneric<T>(T it, long some, bool first)
    {
        await Task.Yield();
        Keep(first ? new ReturnedGenericFirst() : new ReturnedGenericSecond());
        await Task.Yield();
        return new Large { A = some, It = it };
    }

    static async ValueTask<Large> ReturnedLater(long some, object it, bool first)
    {
        await Task.Yield();
        Keep(first ? new ReturnedLaterFirst() : new ReturnedLaterSecond());
        await Task.Yield();
        return new Large { A = some, It = it };
    }
}

interface IDefault
{
    async Task Default(long some, object it, bool first)
    {
        await Task.Yield();
        Keep(first ? new Passed.DefaultFirst() : new Passed.DefaultSecond());
        await Task.Yield();
    }

    Task Virtual(long some, object it, bool first);
}

class Instance : IDefault
{
    public async Task Plain(long some, object it, bool first)
    {
        await Task.Yield();
        Keep(first ? new Passed.InstanceFirst() : new Passed.InstanceSecond());
        await Task.Yield();
    }

    public virtual async Task Virtual(long some, object it, bool first)
    {
        await Task.Yield();
        Keep(first ? new Passed.VirtualFirst() : new Passed.VirtualSecond());
        await Task.Yield();
    }

    public async Task<Passed.Large> Returned(long some, object it, bool first)
    {
        await Task.Yield();
        Keep(first ? new Passed.InstanceReturnedFirst() : new Passed.InstanceReturnedSecond());
        await Task.Yield();
        return new Passed.Large { A = some, It = it };
    }

    public async Task<Passed.Large> Generic<T>(T it, long some, bool first)
    {
        await Task.Yield();
        Keep(first ? new Passed.InstanceGenericFirst() : new Passed.InstanceGenericSecond());
        await Task.Yield();
        return new Passed.Large { A = some, It = it };
    }
}

struct Structure : IDefault
{
    public async Task Plain(long some, object it, bool first)
    {
        await Task.Yield();
        Keep(first ? new Passed.StructureFirst() : new Passed.StructureSecond());
        await Task.Yield();
    }

    public async Task Virtual(long some, object it, bool first)
    {
        await Task.Yield();
        Keep(first ? new Passed.StructureVirtualFirst() : new Passed.StructureVirtualSecond());
        await Task.Yield();
    }
}

class Of<T>
{
    public static async Task Static(long some, object it, bool first)
    {
        await Task.Yield();
        Keep(first ? new Passed.OfStaticFirst() : new Passed.OfStaticSecond());
        await Task.Yield();
    }

    public async Task Plain(long some, object it, bool first)
    {
        await Task.Yield();
        Keep(first ? new Passed.OfInstanceFirst() : new Passed.OfInstanceSecond());
        await Task.Yield();
    }
}

struct StructureOf<T>
{
    public async Task Plain(long some, object it, bool first)
    {
        await Task.Yield();
        Keep(first ? new Passed.OfStructureFirst() : new Passed.OfStructureSecond());
        await Task.Yield();
    }
}

// Goes on by beginning itself anew, without an end that the log could hold.
static class Again
{
    class InStep;

    static readonly SemaphoreSlim done = new(0);

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run()
    {
        Step(100);
        done.Wait();
    }

    static async void Step(int left)
    {
        await Task.Yield();
        Keep(new InStep());
        if (left > 0)
            Step(left - 1);
        else
            done.Release();
    }
}

// Awaited long after it was started, by another method: where it was started counts.
static class Background
{
    [Path("Background.Work < Background.Start < Background.Outer < Background.Run < Program.Main")] class InWork;
    [Path("Background.Wait < Background.Outer < Background.Run < Program.Main")] class Waited;

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Run() => Outer().GetAwaiter().GetResult();

    static async Task Outer() => await Wait(Start());

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Task Start() => Work();

    static async Task Work()
    {
        await Task.Delay(1);
        Keep(new InWork());
    }

    static async Task Wait(Task task)
    {
        await task;
        Keep(new Waited());
    }
}
