// Allocations below a deep stack: binary trees built with D frames beneath. One operation is one allocation.
//
//   Tree [--depth 20] [--operations 400000] [--repetitions 10] [--seconds 3] [--threads 1]
using System.Collections.Generic;
using System.Linq;
using System.Threading;

namespace Bench;

static class Tree
{
    static void Main(string[] args)
    {
        var rows = Enumerable.Range(0, (int)Options.Get(args, "--threads", 1)).Select(_ => new List<Row>()).ToArray();
        var workers = rows.Select(mine => new Thread(() => Trees.AtDepth((long)Options.Get(args, "--depth", 20),
            (long)Options.Get(args, "--operations", 400_000), (int)Options.Get(args, "--repetitions", 10),
            Options.Get(args, "--seconds", 3), mine), 256 << 20)).ToArray();
        foreach (Thread worker in workers)
            worker.Start();
        foreach (Thread worker in workers)
            worker.Join();
        Output.Print(rows.SelectMany(mine => mine).ToList());
    }
}
