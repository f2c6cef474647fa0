// The heap of a process as ClrMD walks it, in lines of words, while the process stands still:
//   HeapReader PID
//     object ADDRESS BYTES TYPE HEAP NAME, then "refers" and the addresses that it refers to
//     free   ADDRESS BYTES                      what is between objects
//     root   ADDRESS KIND                       what holds an object
//     pair   KEY VALUE                          a dependent handle
// Exit status 4: the process cannot be attached to.
using System;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using Microsoft.Diagnostics.Runtime;

static class Program
{
    static string Hex(ulong address) => address.ToString("x", CultureInfo.InvariantCulture);

    static void Tell(ClrHeap heap, TextWriter to)
    {
        foreach (ClrSegment segment in heap.Segments)
            foreach (ClrObject o in segment.EnumerateObjects())
            {
                if (o.IsFree)
                {
                    to.WriteLine("free {0} {1}", Hex(o.Address), o.Size);
                    continue;
                }
                to.Write("object {0} {1} {2} {3} {4} refers", Hex(o.Address), o.Size, Hex(o.Type.MethodTable), segment.Kind,
                         (o.Type.Name ?? "?").Replace(' ', '_'));
                foreach (ClrObject other in o.EnumerateReferences(carefully: false, considerDependantHandles: false))
                    to.Write(" {0}", Hex(other.Address));
                to.WriteLine();
            }
        foreach (ClrRoot root in heap.EnumerateRoots())
            to.WriteLine("root {0} {1}", Hex(root.Object.Address), root.RootKind);
        foreach (ClrHandle handle in heap.Runtime.EnumerateHandles().Where(h => h.HandleKind == ClrHandleKind.Dependent))
            to.WriteLine("pair {0} {1}", Hex(handle.Object.Address), Hex(handle.Dependent.Address));
    }

    static int Main(string[] arguments)
    {
        DataTarget target;
        try
        {
            target = DataTarget.AttachToProcess(int.Parse(arguments[0], CultureInfo.InvariantCulture), suspend: true);
        }
        catch (Exception e) when (e is ClrDiagnosticsException or UnauthorizedAccessException)
        {
            Console.Error.WriteLine(e.Message);
            return 4;
        }
        using (target)
        using (ClrRuntime runtime = target.ClrVersions.Single().CreateRuntime())
        using (StreamWriter to = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false), 1 << 16))
            Tell(runtime.Heap, to);
        return 0;
    }
}
