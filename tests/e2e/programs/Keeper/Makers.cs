// One method for each kind of keeping. Each writes down all that it makes and that may live on (Ledger), so that every
// object of these types from these methods is known; what the libraries make for it is taken out of them by its fields.
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Runtime.Loader;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Keeping;

static class Makers
{
    static object Field(object of, string name)
    {
        for (Type type = of.GetType(); type != null; type = type.BaseType)
        {
            FieldInfo field = type.GetField(name, BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.Public | BindingFlags.DeclaredOnly);
            if (field != null)
                return field.GetValue(of);
        }
        throw new MissingFieldException(of.GetType().Name, name);
    }

    /* What a combined delegate holds: an array of objects, or on .NET 11, in another field, of structs. */
    static Array Combined(Delegate work)
    {
        for (Type type = work.GetType(); type != null; type = type.BaseType)
            foreach (FieldInfo field in type.GetFields(BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.DeclaredOnly))
                if (field.GetValue(work) is Array list)
                    return list;
        return null;
    }

    /* Takes the libraries' own objects out of theirs; what that makes is made under this method, none of the places. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void TrackField(object of, string name, Place place)
    {
        if (Field(of, name) is object found)
            Ledger.Track(found, place);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Lists(int n)
    {
        var list = Ledger.Keep(new List<Item>(), At.Lists);
        for (int i = 0; i < n; i++)
            list.Add(Ledger.Track(new Item { A = i }, At.Lists));
        TrackField(list, "_items", At.Lists); // those that it outgrew are dead
    }

    public static List<Item> List => (List<Item>)At.Lists.Kept[0];

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Dictionaries(int n)
    {
        var map = Ledger.Keep(new Dictionary<int, Item>(), At.Dictionaries);
        for (int i = 0; i < n; i++)
            map.Add(i, Ledger.Track(new Item(), At.Dictionaries));
        TrackField(map, "_buckets", At.Dictionaries);
        TrackField(map, "_entries", At.Dictionaries);
    }

    public static Dictionary<int, Item> Map => (Dictionary<int, Item>)At.Dictionaries.Kept[0];

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void WeakReferences(int n)
    {
        for (int i = 0; i < n; i++)
            Ledger.Keep(new WeakReference<Item>(WeakTargets(i), i % 4 == 0), At.WeakReferences);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Item WeakTargets(int i)
    {
        Item target = Ledger.Track(new Item(), At.WeakTargets);
        if (i % 3 == 0)
            At.WeakTargets.Kept.Add(target); // the others die, and their references stay
        return target;
    }

    static readonly ConditionalWeakTable<Key, Held> table = new ConditionalWeakTable<Key, Held>();

    /// Values refer to their own keys: only a table of ephemerons lets them die.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void TableKeys(int n)
    {
        for (int i = 0; i < n; i++)
        {
            Key key = Ledger.Keep(new Key(), At.TableKeys);
            AddToTable(key, TableValues(key));
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void AddToTable(Key key, Held value) => table.Add(key, value);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Held TableValues(Key key) => Ledger.Track(new Held { By = key }, At.TableValues);

    static readonly List<GCHandle> pins = new List<GCHandle>(1 << 16);

    public static int Pins => pins.Count;

    /// Pinned objects with others between them that die: what is moved has to go around them.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void PinnedHandles(int n)
    {
        for (int i = 0; i < n; i++)
        {
            pins.Add(GCHandle.Alloc(Ledger.Track(new byte[i % 200], At.PinnedHandles), GCHandleType.Pinned));
            BetweenPinned(i);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void BetweenPinned(int i)
    {
        for (int j = 0; j < i % 5; j++)
            if (i % 7 == 0)
                Ledger.Keep(new long[i % 50], At.BetweenPinned);
            else
                Ledger.Track(new long[i % 50], At.BetweenPinned);
    }

    /// Lets all go but each every-th; 0: all.
    public static void Unpin(int every)
    {
        GCHandle[] all = pins.ToArray();
        pins.Clear();
        for (int i = 0; i < all.Length; i++)
            if (every != 0 && i % every == 0)
                pins.Add(all[i]);
            else
                all[i].Free();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Large(int n)
    {
        for (int i = 0; i < n; i++)
            Ledger.Keep(new byte[84_976 + 1000 * i], At.Large); // the first is 85,000 bytes long
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void LargeOfReferences(int n)
    {
        for (int i = 0; i < n; i++)
        {
            Item[] made = Ledger.Keep(new Item[11_000 + 100 * i], At.LargeOfReferences);
            for (int j = 0; j < 10; j++)
                made[j * 1000] = Ledger.Track(new Item(), At.LargeOfReferences);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void PinnedHeap(int n)
    {
        for (int i = 0; i < n; i++)
        {
            Ledger.Keep(GC.AllocateArray<byte>(10 + 300 * (i % 40), pinned: true), At.PinnedHeap, pinned: true);
            Ledger.Keep(GC.AllocateUninitializedArray<long>(3 * i, pinned: true), At.PinnedHeap, pinned: true);
        }
    }

    static readonly List<(Thread Thread, ManualResetEventSlim End)> parked = new();

    public static int Parked => parked.Count;

    public static void ParkThreads(int n)
    {
        for (int i = 0; i < n; i++)
        {
            var end = new ManualResetEventSlim();
            var ready = new ManualResetEventSlim();
            var thread = new Thread(() =>
            {
                ThreadStatics();
                ready.Set();
                end.Wait();
            }) { IsBackground = true };
            thread.Start();
            ready.Wait();
            parked.Add((thread, end));
        }
    }

    /// What a thread keeps for as long as it lives.
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void ThreadStatics()
    {
        PerThread.Mine = Ledger.Track(new Item(), At.ThreadStatics);
        PerThread.Ours = Ledger.Track(new Item[20], At.ThreadStatics);
        for (int i = 0; i < PerThread.Ours.Length; i++)
            PerThread.Ours[i] = Ledger.Track(new Item(), At.ThreadStatics);
    }

    public static void EndThreads(int n)
    {
        for (int i = 0; i < n; i++)
        {
            parked[i].End.Set();
            parked[i].Thread.Join();
        }
        parked.RemoveRange(0, n);
    }

    /// Half of them are interned: those live for ever.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Interned(int n)
    {
        for (int i = 0; i < n; i++)
            Intern(Ledger.Track(new string((char)('a' + i % 26), 20 + i), At.Interned), i);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Intern(string made, int i)
    {
        if (i % 2 == 0 && !ReferenceEquals(string.Intern(made), made))
            throw new InvalidOperationException(); // a text would be one more interned string
    }

    /* Literals come to life when their method is compiled, under the method's first caller. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Literals() => UseLiterals();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void UseLiterals()
    {
        Ledger.Track("kept literal 1", At.Literals);
        Ledger.Track("kept literal number 2", At.Literals);
        Ledger.Track("kept literal number three", At.Literals);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Boxes(int n)
    {
        for (int i = 0; i < n; i++)
        {
            object number = i, pair = new Pair { Second = i }, day = (DayOfWeek)(i % 7);
            Ledger.Keep(number, At.Boxes);
            Ledger.Keep(pair, At.Boxes);
            Ledger.Keep(day, At.Boxes);
        }
        long? some = n;
        NullableBox = Ledger.Track((object)some, At.Boxes);
    }

    public static object NullableBox;

    /* Static structures with references: the runtime boxes them when it prepares the class. */
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void StaticBoxes() => TouchStatics();

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void TouchStatics()
    {
        Statics<int>.Value.Second = 1;
        Statics<string>.Value.Second = 2;
        NoteBox(ref Statics<int>.Value);
        NoteBox(ref Statics<string>.Value);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static unsafe void NoteBox(ref Pair value)
    {
        IntPtr box = (IntPtr)Unsafe.AsPointer(ref value) - sizeof(IntPtr);
        if (*(IntPtr*)box != typeof(Pair).TypeHandle.Value)
            throw new InvalidOperationException("a static structure is in no box");
        Ledger.Track(Unsafe.AsRef<object>(&box), At.StaticBoxes);
    }

    public static readonly List<TaskCompletionSource<int>> Gates = new List<TaskCompletionSource<int>>(1 << 16);

    /// State machines that wait.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Tasks(int n)
    {
        for (int i = 0; i < n; i++)
        {
            var gate = Ledger.Track(new TaskCompletionSource<int>(), At.Tasks);
            Ledger.Track(gate.Task, At.Tasks);
            Gates.Add(gate);
            NoteMachine(Wait(gate.Task, Ledger.Track(new Item(), At.Tasks)));
        }
    }

    static async Task<int> Wait(Task<int> gate, Item held)
    {
        int n = await gate;
        return n + (int)held.A;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void NoteMachine(Task<int> waiting)
    {
        Ledger.Track(waiting, At.Machines, ".*AsyncStateMachineBox.*");
        if (Field(waiting, "StateMachine") is object machine && !machine.GetType().IsValueType)
            Ledger.Track(machine, At.MachineObjects, "Keeping\\.Makers\\.<Wait>d__[0-9]+");
    }

    /// Lets n machines run to their ends.
    public static void Open(int n)
    {
        for (int i = 0; i < n; i++)
            Gates[i].SetResult(i);
        Gates.RemoveRange(0, n);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Finalizers(int n)
    {
        for (int i = 0; i < n; i++)
            Ledger.Keep(new Finalized { Part = Ledger.Track(new Part(), At.Finalizers) }, At.Finalizers);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void InFinalizer()
    {
        Ledger.Keep(new Part(), At.InFinalizer);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Resurrected(int n)
    {
        for (int i = 0; i < n; i++)
            Ledger.Keep(new Lazarus { Returns = 2 }, At.Resurrected);
    }

    /// Their finalizers will run once more.
    public static void DropResurrected()
    {
        foreach (object one in At.Resurrected.Kept)
            GC.ReRegisterForFinalize(one);
        At.Resurrected.Kept.Clear();
    }

    /// This assembly once more, in a context that goes when nothing of it is kept.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void LoadContext(int n)
    {
        var context = new AssemblyLoadContext("kept", isCollectible: true);
        Assembly again = context.LoadFromAssemblyPath(typeof(Makers).Assembly.Location);
        again.GetType("Keeping.Inside").GetMethod("Make").Invoke(null, new object[]
        {
            n, new Func<object, string, object>((made, type) => Ledger.Track(made, At.Context, type)),
            new Action<object>(At.Context.Kept.Add)
        });
        context.Unload();
    }

    /// A cache that nobody empties.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Grown(int n)
    {
        for (int i = 0; i < n; i++)
            Ledger.Keep(new Item { A = i }, At.Grown);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Clones(int n)
    {
        var first = Ledger.Track(new Copied(), At.Clones);
        var array = Ledger.Track(new long[30], At.Clones);
        for (int i = 0; i < n; i++)
        {
            Ledger.Keep(array.Clone(), At.Clones);
            Ledger.Keep(first.Clone(), At.Copied); // MemberwiseClone
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void ArraysOfArrays(int n)
    {
        for (int i = 0; i < n; i++)
        {
            var outer = Ledger.Keep(new Item[i % 10 + 1][], At.ArraysOfArrays);
            for (int j = 0; j < outer.Length; j++)
                outer[j] = Ledger.Track(new Item[j], At.ArraysOfArrays);
            outer[0] = null; // an empty one dies at once
            Ledger.Keep(new Pair[i % 3 + 1, 2], At.ArraysOfArrays);
            Ledger.Keep(new Item[2, 1, i % 4], At.ArraysOfArrays);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Delegates(int n)
    {
        for (int i = 0; i < n; i++)
        {
            Item target = Ledger.Track(new Item(), At.Delegates);
            var first = Ledger.Track(new Work(target.Read), At.Delegates);
            var second = Ledger.Track(new Work(target.Read), At.Delegates);
            NoteCombined(i % 2 == 0 ? first + second : first);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void NoteCombined(Work work)
    {
        At.Delegates.Kept.Add(work);
        if (Combined(work) is Array list)
        {
            Ledger.Track(work, At.Delegates);
            Ledger.Track(list, At.Delegates);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Closures(int n)
    {
        for (int i = 0; i < n; i++)
        {
            Item held = Ledger.Track(new Item(), At.Closures);
            int number = i;
            NoteClosure(() => number + (int)held.A);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void NoteClosure(Work work)
    {
        Ledger.Keep(work, At.Closures);
        Ledger.Track(work.Target, At.Closures, "Keeping\\.Makers\\.<>c__DisplayClass[0-9_]+");
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Builders(int n)
    {
        for (int i = 0; i < n; i++)
        {
            var text = new StringBuilder();
            for (int j = 0; j < i % 60; j++)
                text.Append((char)('a' + j % 26), 50);
            NoteBuilder(text);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void NoteBuilder(StringBuilder text)
    {
        At.Builders.Kept.Add(text);
        for (object chunk = text; chunk != null; chunk = Field(chunk, "m_ChunkPrevious"))
        {
            Ledger.Track(chunk, At.Builders);
            TrackField(chunk, "m_ChunkChars", At.Builders);
        }
    }

    /// A tree that has more nodes than the collector's mark stack is deep. Children first: a collection while they are made would
    /// leave a node older than the ledger believes, which sees it when it is complete.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static Node Trees(int depth)
    {
        if (depth == 0)
            return null;
        Node left = Trees(depth - 1), right = Trees(depth - 1);
        return Ledger.Track(new Node { Left = left, Right = right }, At.Trees);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void LinkedLists(int n)
    {
        Item last = null;
        for (int i = 0; i < n; i++)
            last = Ledger.Track(new Item { Next = last }, At.LinkedLists);
        At.LinkedLists.Kept.Add(last);
    }

    /// Lets all but the first n of the list go.
    public static void Shorten(int n)
    {
        var item = (Item)At.LinkedLists.Kept[0];
        for (int i = 1; i < n; i++)
            item = item.Next;
        item.Next = null;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Reflected(int n)
    {
        for (int i = 0; i < n; i++)
        {
            Ledger.Keep(Activator.CreateInstance(typeof(Part)), At.Reflected);
            Ledger.Keep(RuntimeHelpers.GetUninitializedObject(typeof(Item)), At.Reflected);
            Ledger.Keep(Array.CreateInstance(typeof(Pair), i % 9), At.Reflected);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Exceptions(int n)
    {
        for (int i = 0; i < n; i++)
            try
            {
                throw Ledger.Track(new Trouble(), At.Exceptions);
            }
            catch (Trouble trouble)
            {
                if (i % 2 == 0)
                    At.Exceptions.Kept.Add(trouble);
            }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Young(int n)
    {
        for (int i = 0; i < n; i++)
        {
            Item next = Ledger.Track(new Item(), At.Young);
            Ledger.Track(new Item { Next = next }, At.Young).Next = null;
        }
    }

    /// Random replacement: what a thread keeps changes all the time, while the main thread has it collected.
    public static void Churn(Item[][] slots, Item[][] large, GCHandle[] pinned, int seed, int steps)
    {
        var random = new Random(seed);
        for (int i = 0; i < steps; i++)
        {
            int at = random.Next(slots.Length), kind = random.Next(100);
            if (kind == 0)
                large[at % large.Length] = ReplaceLarge(random.Next(12_000, 14_000));
            else if (kind < 5)
            {
                if (pinned[at % pinned.Length].IsAllocated)
                    pinned[at % pinned.Length].Free();
                pinned[at % pinned.Length] = GCHandle.Alloc(ReplacePinned(random.Next(300)), GCHandleType.Pinned);
            }
            else
                slots[at] = Replace(random.Next(20), slots[random.Next(slots.Length)]);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Item[] Replace(int length, Item[] before)
    {
        Item[] made = Ledger.Track(new Item[length + 1], At.Replace);
        made[0] = Ledger.Track(new Item { Next = before?[0] }, At.Replace);
        if (made[0].Next != null)
            made[0].Next.Next = null;
        return made;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static Item[] ReplaceLarge(int length) => Ledger.Track(new Item[length], At.ReplaceLarge);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static byte[] ReplacePinned(int length) => Ledger.Track(new byte[length], At.ReplacePinned);
}
