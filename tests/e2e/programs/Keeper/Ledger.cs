// What is alive, as the runtime says itself: a long weak handle to each object. It keeps nothing alive, and is empty once
// the collector has taken the object's memory, not before: a finalizer that still has to run, a resurrection, a
// reference forgotten in a register all count as what they are. The book is kept in separate memory, and the sizes come
// from the types' layouts in the runtime, so nothing in here is known from the tracer.
using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;

namespace Keeping;

/// A method that makes objects; Method is a regular expression for its name without parameters and type arguments.
sealed class Place
{
    public readonly string Method;
    public readonly List<object> Kept = new List<object>(1 << 16);

    public Place(string method) { Method = method; }

    /// Drops all but each every-th of what is kept; 0: all.
    public void Leave(int every, int from = 0)
    {
        for (int i = from; i < Kept.Count; i++)
            if (every == 0 || i % every != 0)
                Kept[i] = null;
    }

    public int Count
    {
        get
        {
            int n = 0;
            foreach (object o in Kept)
                n += o == null ? 0 : 1;
            return n;
        }
    }
}

sealed class Row
{
    public Place Place;
    public string Type; // a regular expression
    public long Made, MadeBytes, Alive, AliveBytes;
    public bool AgesKnown = true;
    public readonly SortedDictionary<(int Generation, long Age), (long Objects, long Bytes)> Died = new();
}

static unsafe class Ledger
{
    struct Entry
    {
        public IntPtr Handle;
        public long Bytes, Born; // the number of the last collection before it was made
        public int Row;
        public sbyte Generation; // after the last collection; negative: it was in none yet
    }

    const int Large = 3, Pinned = 4, LargeFrom = 85_000;

    static readonly object gate = new object();
    static readonly List<Row> rows = new List<Row>(256);
    static readonly Dictionary<(Place, string), int> numbers = new(256);
    static readonly Dictionary<(Place, IntPtr), int> byType = new(256);
    static Entry* entries;
    static long used, room;
    static long lastIndex;
    static int moments;

    sealed class Raw
    {
        public byte First;
    }

    /// From the type's base size and the size of a component: what the collector itself goes by.
    public static long Size(object o)
    {
        ref byte first = ref Unsafe.As<Raw>(o).First;
        IntPtr type = Unsafe.As<byte, IntPtr>(ref Unsafe.Subtract(ref first, sizeof(IntPtr)));
        uint flags = *(uint*)type;
        long size = *(uint*)(type + 4);

        if ((flags & 0x8000_0000) != 0)
            size += (long)(flags & 0xFFFF) * Unsafe.As<byte, uint>(ref first);
        return (size + 7) & ~7L;
    }

    /// As a regular expression: Namespace.Outer<A, B>.Inner[].
    public static string NameOf(Type type)
    {
        if (type.IsArray)
            return NameOf(type.GetElementType()) + "\\[" + new string(',', type.GetArrayRank() - 1) + "\\]";
        Type[] arguments = type.GetGenericArguments();
        string name = "";
        int used = 0;
        for (string part = type.IsGenericType ? type.GetGenericTypeDefinition().FullName : type.FullName; part != "";)
        {
            int end = part.IndexOf('+');
            string one = end < 0 ? part : part.Substring(0, end);
            part = end < 0 ? "" : part.Substring(end + 1);
            int arity = one.IndexOf('`');
            name += (name == "" ? "" : ".") + (arity < 0 ? one : one.Substring(0, arity));
            if (arity < 0)
                continue;
            var names = new List<string>();
            for (int n = int.Parse(one.Substring(arity + 1)); n > 0; n--)
                names.Add(NameOf(arguments[used++]));
            name += "<" + string.Join(", ?", names) + ">";
        }
        return name.Replace(".", "\\.").Replace("\\\\.", "\\.");
    }

    static int NumberOf(Place place, string type)
    {
        if (!numbers.TryGetValue((place, type), out int number))
        {
            number = rows.Count;
            rows.Add(new Row { Place = place, Type = type });
            numbers.Add((place, type), number);
        }
        return number;
    }

    /// Writes an object down, and hands it back. type: a regular expression, for types that may be unloaded or whose names
    /// depend on the compiler.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static T Track<T>(T made, Place place, string type = null, bool pinned = false) where T : class
    {
        long bytes = Size(made);
        IntPtr handle = (IntPtr)GCHandle.Alloc(made, GCHandleType.WeakTrackResurrection);

        lock (gate)
        {
            int number;
            if (type != null)
                number = NumberOf(place, type);
            else
            {
                IntPtr id = made.GetType().TypeHandle.Value;
                if (!byType.TryGetValue((place, id), out number))
                    byType.Add((place, id), number = NumberOf(place, NameOf(made.GetType())));
            }
            if (used == room)
                entries = (Entry*)NativeMemory.Realloc(entries, (nuint)((room = Math.Max(1 << 16, 2 * room)) * sizeof(Entry)));
            entries[used++] = new Entry
            {
                Handle = handle, Bytes = bytes, Born = GC.CollectionCount(0), Row = number,
                Generation = (sbyte)(pinned ? -Pinned : -1)
            };
            rows[number].Made++;
            rows[number].MadeBytes += bytes;
        }
        return made;
    }

    /// Track, and keep for as long as the place does.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static T Keep<T>(T made, Place place, string type = null, bool pinned = false) where T : class
    {
        Track(made, place, type, pinned);
        place.Kept.Add(made);
        return made;
    }

    /// On a separate thread: its stack is gone when it returns, and keeps nothing alive.
    public static void Step(Action step)
    {
        Exception failed = null;
        var thread = new Thread(() =>
        {
            try
            {
                step();
            }
            catch (Exception e)
            {
                failed = e;
            }
        }, 8 << 20);
        thread.Start();
        thread.Join();
        if (failed != null)
            throw new InvalidOperationException("a step failed", failed);
    }

    /* Looks at every handle. What died since the last look, did so in this collection, if no other came in between. */
    static void Look(long index)
    {
        long kept = 0;

        foreach (Row row in rows)
            row.Alive = row.AliveBytes = 0;
        for (long i = 0; i < used; i++)
        {
            Entry entry = entries[i];
            Row row = rows[entry.Row];
            GCHandle handle = GCHandle.FromIntPtr(entry.Handle);
            object found = handle.Target;
            if (found == null)
            {
                long age = index - entry.Born - 1;
                row.AgesKnown &= age == 0 || index == lastIndex + 1;
                if (age > 0)
                {
                    (int, long) key = (entry.Generation, age);
                    row.Died.TryGetValue(key, out (long Objects, long Bytes) died);
                    row.Died[key] = (died.Objects + 1, died.Bytes + entry.Bytes);
                }
                handle.Free();
                continue;
            }
            if (entry.Born < index)
            {
                row.Alive++;
                row.AliveBytes += entry.Bytes;
                entry.Generation = (sbyte)(Math.Abs(entry.Generation) == Pinned ? Pinned :
                                           entry.Bytes >= LargeFrom ? Large : GC.GetGeneration(found));
            }
            entries[kept++] = entry;
        }
        used = kept;
    }

    /// One collection, and what is alive after it, on standard output.
    public static void Moment(TextWriter to, string name, int generation, bool compacting, int wait)
    {
        GC.Collect(generation, GCCollectionMode.Forced, blocking: true, compacting: compacting);
        long index = GC.GetGCMemoryInfo(GCKind.Any).Index;
        Step(() => Look(index));
        if (GC.CollectionCount(0) != index) // one came while we looked: what is alive after which?
        {
            Moment(to, name, generation, compacting, wait);
            return;
        }
        lastIndex = index;
        moments++;
        to.WriteLine("{\"kind\":\"moment\",\"moment\":" + moments + ",\"name\":\"" + name + "\",\"gc\":" + index + ",\"depth\":" + generation + "}");
        var text = new StringBuilder();
        foreach (Row row in rows)
        {
            text.Clear();
            text.Append("{\"kind\":\"alive\",\"moment\":").Append(moments).Append(",\"method\":\"").Append(row.Place.Method.Replace("\\", "\\\\"))
                .Append("\",\"type\":\"").Append(row.Type.Replace("\\", "\\\\")).Append("\",\"objects\":").Append(row.Alive)
                .Append(",\"bytes\":").Append(row.AliveBytes).Append(",\"made\":").Append(row.Made)
                .Append(",\"made_bytes\":").Append(row.MadeBytes).Append(row.AgesKnown ? ",\"died\":[" : ",\"maybe\":[");
            string between = "";
            foreach (var died in row.Died)
            {
                text.Append(between).Append('[').Append(died.Key.Generation).Append(',').Append(died.Key.Age).Append(',')
                    .Append(died.Value.Objects).Append(',').Append(died.Value.Bytes).Append(']');
                between = ",";
            }
            to.WriteLine(text.Append("]}").ToString());
        }
        to.Flush();
        Thread.Sleep(wait);
    }

    /// What the program itself knows to be alive at a place, of one type, against what the handles say.
    public static void Knows(Place place, string type, long alive)
    {
        foreach (Row row in rows)
            if (row.Place == place && row.Type == type)
            {
                if (row.Alive != alive)
                    Program.Surprise(place.Method + ", " + type + ": " + row.Alive + " alive, " + alive + " known");
                return;
            }
        Program.Surprise(place.Method + ", " + type + ": none made");
    }
}
