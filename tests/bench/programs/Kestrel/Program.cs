// A minimal ASP.NET server that answers small JSON, on the loopback interface only.
//
//   Kestrel [--allocate N] [--throw N] [--calls N]
//
// Prints `listening URL`. Each request to /json allocates N more objects in the handler, and every N-th throws and
// catches an exception in it; it makes N more calls to its code. Ends on SIGTERM.
using System;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Threading;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Bench;

public sealed class Answer
{
    public int Id { get; set; }
    public string Name { get; set; }
    public double[] Values { get; set; }
}

static class Kestrel
{
    static int allocate, throwEvery, calls, requests;

    static Answer Find(int id)
    {
        var answer = new Answer { Id = id, Name = "answer " + id, Values = new double[] { 1, 2, 3 } };
        for (int i = 0; i < allocate; i++)
            answer.Name = Another(answer.Name, i);
        return answer;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Next(int id)
    {
        return id + 1;
    }

    static string Another(string name, int i)
    {
        return new string(name[0], 10 + i % 10);
    }

    static void Check(int id)
    {
        if (throwEvery > 0 && id % throwEvery == 0)
            throw new InvalidOperationException("asked for");
    }

    static IResult Handle()
    {
        int id = Interlocked.Increment(ref requests);
        try
        {
            Check(id);
        }
        catch (InvalidOperationException)
        {
            id = 0;
        }
        for (int i = 0; i < calls; i++)
            id = Next(id);
        return Results.Json(Find(id));
    }

    static void Main(string[] args)
    {
        allocate = (int)Options.Get(args, "--allocate", 0);
        throwEvery = (int)Options.Get(args, "--throw", 0);
        calls = (int)Options.Get(args, "--calls", 0);
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        WebApplication app = builder.Build();
        app.MapGet("/json", Handle);
        app.Start();
        Console.WriteLine("listening " + app.Urls.First());
        app.WaitForShutdown();
    }
}
