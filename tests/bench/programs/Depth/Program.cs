// Cost against stack depth: the trees of Tree at 10, 100, 1,000 and 10,000 frames. One operation is one allocation.
//
//   Depth [--operations 200000] [--repetitions 5] [--seconds 0.6]      (for each depth)
using System.Collections.Generic;
using System.Threading;

namespace Bench;

static class Depth
{
    static void Main(string[] args)
    {
        var rows = new List<Row>();
        var worker = new Thread(() =>
        {
            foreach (long depth in new long[] { 10, 30, 100, 300, 1_000, 3_000, 10_000 })
                Trees.AtDepth(depth, (long)Options.Get(args, "--operations", 200_000),
                    (int)Options.Get(args, "--repetitions", 5), Options.Get(args, "--seconds", 0.6), rows);
        }, 256 << 20);
        worker.Start();
        worker.Join();
        Output.Print(rows);
    }
}
