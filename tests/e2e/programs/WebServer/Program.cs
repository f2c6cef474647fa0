// Kestrel under load from clients in the same process; handlers that answer JSON, stream, wait, and throw.
//
//   WebServer [--scale N] [--seconds S] [--clients C] [--pad N] [--until eof] [--total yes] [--churn yes]
//
// N times 200 requests from 4 clients, or from C, or as many as S seconds allow, or until its input ends; names padded to N characters
// and trimmed again, so that one line allocates more and the answers stay as they were. With --churn, load contexts and threads come
// and go beside them (Churn.cs).
//
// Prints `requests N, R per second` and `ok`; with --total `allocated N`, what the runtime itself counts before a Marker is made;
// with --churn `load contexts N, all unloaded`.
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Net.Http;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace WebServer;

public sealed record Item(int Number, string Name, DateTime When);

public sealed class Marker { }

public sealed class ShopException : Exception
{
    public ShopException(string text) : base(text) { }
}

static class Program
{
    static int clients = 4, pad, answered;
    static object last;

    static async Task<int> Main(string[] args)
    {
        int scale = 1;
        double seconds = 0;
        bool eof = false, total = false, churn = false;
        for (int i = 0; i + 1 < args.Length; i += 2)
            if (args[i] == "--scale")
                scale = int.Parse(args[i + 1]);
            else if (args[i] == "--seconds")
                seconds = double.Parse(args[i + 1]);
            else if (args[i] == "--clients")
                clients = int.Parse(args[i + 1]);
            else if (args[i] == "--pad")
                pad = int.Parse(args[i + 1]);
            else if (args[i] == "--until")
                eof = true;
            else if (args[i] == "--total")
                total = true;
            else if (args[i] == "--churn")
                churn = true;

        // The host watches its content root, with a watch for each folder in it: not the working directory, which others fill.
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder(new WebApplicationOptions { ContentRootPath = AppContext.BaseDirectory });
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        await using WebApplication app = builder.Build();
        app.Use(async (context, next) =>
        {
            try
            {
                await next(context);
            }
            catch (ShopException e) when (e.Message.StartsWith("known"))
            {
                context.Response.StatusCode = 418;
                await context.Response.WriteAsync(e.Message);
            }
        });
        app.MapGet("/items/{n:int}", (int n) =>
            Enumerable.Range(0, n).Select(i => new Item(i, ("item " + i).PadRight(pad).TrimEnd(), DateTime.UnixEpoch.AddDays(i))).ToArray());
        app.MapGet("/throw/{kind}", (string kind) => Fail(kind));
        app.MapGet("/late/{kind}", async (string kind) =>
        {
            await Task.Delay(1);
            return Fail(kind);
        });
        app.MapGet("/stream", (HttpContext context) => Stream(context));
        app.MapPost("/echo", async (HttpContext context) =>
        {
            Item item = await context.Request.ReadFromJsonAsync<Item>();
            return Results.Json(item with { Number = item.Number + 1 });
        });
        await app.StartAsync();

        using var stop = new CancellationTokenSource();
        app.Lifetime.ApplicationStopping.Register(stop.Cancel); // a signal
        if (seconds > 0)
            stop.CancelAfter(TimeSpan.FromSeconds(seconds));
        if (eof)
            new Thread(() =>
            {
                Console.OpenStandardInput().ReadByte();
                stop.Cancel();
            }) { IsBackground = true }.Start();
        Task<string> churned = churn ? Task.Factory.StartNew(() => Churn.Run(stop.Token), TaskCreationOptions.LongRunning) : null;
        Stopwatch watch = Stopwatch.StartNew();
        await Task.WhenAll(Enumerable.Range(0, clients).Select(c => Task.Run(() => Client(
            app.Urls.First(), seconds > 0 ? int.MaxValue : scale * 200 / clients, stop.Token))));
        Console.WriteLine($"requests {answered}, {answered / watch.Elapsed.TotalSeconds:F0} per second");
        await app.StopAsync();
        if (churn)
        {
            stop.Cancel();
            Console.WriteLine(await churned);
        }
        if (total)
        {
            long allocated = GC.GetTotalAllocatedBytes(true);
            last = new Marker();
            Console.WriteLine($"allocated {allocated}");
        }
        Console.WriteLine("ok");
        return 0;
    }

    static string Fail(string kind)
    {
        try
        {
            return kind switch
            {
                "known" => throw new ShopException("known trouble"),
                "null" => ((string)null).ToUpper(),
                "parse" => int.Parse(kind).ToString(),
                _ => kind
            };
        }
        finally
        {
            GC.KeepAlive(new List<string> { kind });
        }
    }

    static async Task Stream(HttpContext context)
    {
        await foreach (string line in Lines(context.RequestAborted))
            await context.Response.WriteAsync(line);
    }

    static async IAsyncEnumerable<string> Lines(
        [System.Runtime.CompilerServices.EnumeratorCancellation] CancellationToken token)
    {
        for (int i = 0; i < 5; i++)
        {
            await Task.Yield();
            token.ThrowIfCancellationRequested();
            yield return "line " + i + "\n";
        }
    }

    static async Task Client(string url, int requests, CancellationToken stop)
    {
        // The default of 100 seconds is less than what a busy machine may stand still.
        using var client = new HttpClient { BaseAddress = new Uri(url), Timeout = TimeSpan.FromHours(1) };
        for (int i = 0; i < requests && !stop.IsCancellationRequested; i++)
        {
            (string path, int status) = (i % 8) switch
            {
                1 => ("/throw/known", 418),
                2 => ("/throw/null", 500),
                3 => ("/late/parse", 500),
                4 => ("/late/fine", 200),
                5 => ("/stream", 200),
                6 => ("/nowhere", 404),
                _ => ("/items/" + i % 50, 200)
            };
            using HttpResponseMessage answer = i % 8 == 7
                ? await client.PostAsync("/echo", new StringContent("{\"number\":1,\"name\":\"x\",\"when\":\"2000-01-01T00:00:00\"}",
                                                                    System.Text.Encoding.UTF8, "application/json"))
                : await client.GetAsync(path);
            if (i % 8 == 7)
                status = 200;
            if ((int)answer.StatusCode != status)
                throw new InvalidOperationException($"{path}: {(int)answer.StatusCode}");
            string text = await answer.Content.ReadAsStringAsync();
            if (i % 8 == 5 && text.Length != 35)
                throw new InvalidOperationException("stream: " + text);
            Interlocked.Increment(ref answered);
        }
    }
}
