// What goes into a program and what comes out: arguments, environment, standard input, both outputs, exit status, signals.
//
//   Echo [args ARG…] [env NAME] [cat] [err TEXT] [tty] [wait] [status N]     done in this order of writing
using System;
using System.IO;
using System.Runtime.InteropServices;
using System.Threading;

namespace Echo;

static class Program
{
    static int Main(string[] args)
    {
        using Stream output = Console.OpenStandardOutput();
        for (int i = 0; i < args.Length; i++)
            switch (args[i])
            {
                case "args":
                    Console.Out.WriteLine(string.Join("|", args[(i + 1)..]));
                    i = args.Length;
                    break;
                case "env":
                    Console.Out.WriteLine(Environment.GetEnvironmentVariable(args[++i]) ?? "(unset)");
                    break;
                case "cat":
                    Console.Out.Flush();
                    using (Stream input = Console.OpenStandardInput())
                        input.CopyTo(output);
                    output.Flush();
                    break;
                case "err":
                    Console.Error.WriteLine(args[++i]);
                    break;
                case "out":
                    Console.Out.WriteLine(args[++i]);
                    break;
                case "wait": /* until a signal: prints its name, goes on */
                    using (var done = new ManualResetEventSlim())
                    {
                        Action<PosixSignalContext> seen = context =>
                        {
                            Console.Out.WriteLine("signal " + context.Signal);
                            context.Cancel = true;
                            done.Set();
                        };
                        using var a = PosixSignalRegistration.Create(PosixSignal.SIGINT, seen);
                        using var b = PosixSignalRegistration.Create(PosixSignal.SIGTERM, seen);
                        using var c = PosixSignalRegistration.Create(PosixSignal.SIGHUP, seen);
                        using var d = PosixSignalRegistration.Create(PosixSignal.SIGQUIT, seen);
                        Console.Out.WriteLine("waiting " + Environment.ProcessId);
                        Console.Out.Flush();
                        done.Wait();
                        Thread.Sleep(100); /* a signal that came twice would show */
                    }
                    break;
                case "sleep": /* for signals that kill */
                    Console.Out.WriteLine("sleeping " + Environment.ProcessId);
                    Console.Out.Flush();
                    Thread.Sleep(Timeout.Infinite);
                    break;
                case "status":
                    return int.Parse(args[++i]);
                default:
                    Console.Error.WriteLine("unknown argument " + args[i]);
                    return 2;
            }
        return 0;
    }
}
