// A program that starts others: Spawner [--scale N] [--outlive] FILE ARGUMENT…   starts the command N times at once and
// waits for all (with --outlive it does not wait); exit status: the sum of theirs.
using System;
using System.Diagnostics;

namespace Spawner;

static class Program
{
    static int Main(string[] args)
    {
        int copies = 1, at = 0;
        bool outlive = false;
        for (; at < args.Length && args[at].StartsWith("--"); at++)
            if (args[at] == "--scale")
                copies = int.Parse(args[++at]);
            else if (args[at] == "--outlive")
                outlive = true;
        var children = new Process[copies];
        for (int i = 0; i < copies; i++)
        {
            var start = new ProcessStartInfo(args[at]);
            foreach (string argument in args[(at + 1)..])
                start.ArgumentList.Add(argument);
            children[i] = Process.Start(start);
        }
        int status = 0;
        if (!outlive)
            foreach (Process child in children)
            {
                child.WaitForExit();
                status += child.ExitCode;
            }
        Console.WriteLine("ok");
        return status;
    }
}
