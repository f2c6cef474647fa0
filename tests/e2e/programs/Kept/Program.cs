// Holds objects whose references are known, and does what lines of its input say; after each it says "ok". Ends with its
// input.
//
//   Kept [--nodes N]     a list of N Nodes (1000) that a static holds; each has another Load, and all share one Common;
//                        an array of N Marks; a Key, and a Value that lives as long as it; a Gone that only a WeakReference
//                        refers to
//
//   drop       forgets the list
//   collect    GC.Collect()
//   marks N    makes N Marks, and drops them
//   threads    from here on one thread after the other is started, and allocates
//   hold PATH  a thread waits for a byte of that pipe, in native code that no collection can stop: the runtime waits for it
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using System.Threading;

namespace Kept;

public sealed class Load
{
    public long Number;
}

public sealed class Common
{
}

public sealed class Mark
{
}

public sealed class Key
{
}

public sealed class Value
{
}

public sealed class Gone
{
}

public sealed class Node
{
    public Node Next;
    public Load Load;
    public Common Common;
}

static class Program
{
    static Node list;
    static Mark[] marks;
    static Key key = new Key();
    static ConditionalWeakTable<Key, Value> table = new ConditionalWeakTable<Key, Value>();
    static WeakReference weak;
    static Mark last;
    static volatile bool held;

    [DllImport("libc", EntryPoint = "open")]
    static extern int Open(string path, int flags);

    [DllImport("libc", EntryPoint = "read")]
    [SuppressGCTransition]
    static extern unsafe nint Read(int file, byte* to, nint size);

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Make(int nodes)
    {
        Common common = new Common();
        for (int n = 0; n < nodes; n++)
            list = new Node { Next = list, Load = new Load { Number = n }, Common = common };
        marks = new Mark[nodes];
        for (int n = 0; n < nodes; n++)
            marks[n] = new Mark();
        table.Add(key, new Value());
        weak = new WeakReference(new Gone());
    }

    static unsafe void Hold(string path)
    {
        byte to = 0;
        int file = Open(path, 0);

        Read(-1, &to, 1); // what it needs is loaded before
        held = true;
        Read(file, &to, 1);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static void MakeMarks(int count)
    {
        for (int n = 0; n < count; n++)
            last = new Mark();
        last = null;
    }

    static void Start()
    {
        Thread thread = new Thread(() => GC.KeepAlive(new Common())) { IsBackground = true };
        thread.Start();
        thread.Join();
    }

    static void StartAll()
    {
        for (;;)
            Start();
    }

    static int Main(string[] args)
    {
        Make(args.Length > 1 && args[0] == "--nodes" ? int.Parse(args[1]) : 1000);
        Console.WriteLine("ok");
        for (string line; (line = Console.ReadLine()) != null; Console.WriteLine("ok"))
        {
            string[] words = line.Split(' ');
            if (words[0] == "drop")
                list = null;
            else if (words[0] == "collect")
                GC.Collect();
            else if (words[0] == "marks")
                MakeMarks(int.Parse(words[1]));
            else if (words[0] == "threads")
                new Thread(StartAll) { IsBackground = true }.Start();
            else if (words[0] == "hold")
            {
                held = false;
                new Thread(() => Hold(words[1])) { IsBackground = true }.Start();
                while (!held)
                    Thread.Sleep(1);
            }
        }
        GC.KeepAlive(list);
        return 0;
    }
}
