using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Text;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Shop;

sealed record Line(int Number, string Price);

sealed record Page(string Customer, List<Line> Lines);

static class Program
{
    static async Task Main(string[] args)
    {
        if (args.Length == 3 && args[0] == "load")
        {
            await Load(args[1], int.Parse(args[2]));
            return;
        }
        WebApplicationBuilder builder = WebApplication.CreateSlimBuilder();
        builder.Logging.ClearProviders();
        builder.WebHost.UseUrls("http://127.0.0.1:0");
        builder.Services.AddSingleton<Repository>();
        await using WebApplication app = builder.Build();

        app.MapGet("/orders/{customer}", async (string customer, Repository orders) =>
        {
            List<Order> found = await orders.OfCustomerAsync(customer);

            return Results.Json(new Page(customer, found.Select(o => new Line(o.Number, Text(o))).ToList()));
        });
        app.MapGet("/export", (Repository orders) => Export(orders));
        app.MapPost("/stop", () => app.Lifetime.StopApplication());

        await app.StartAsync();
        Console.WriteLine($"{Environment.ProcessId} {app.Urls.First()}");
        await app.WaitForShutdownAsync();
    }

#if BEFORE
    static string Text(Order order) => string.Format("{0} of {1:yyyy-MM-dd}: {2:F2}", order.Number, order.Placed, order.Price);
#else
    static string Text(Order order) => $"{order.Price:F2}";
#endif

    static byte[] Export(Repository orders)
    {
        using var made = new MemoryStream();

        foreach (Order order in orders.All())
            made.Write(Encoding.UTF8.GetBytes($"{order.Number};{order.Customer};{order.Price};{order.Placed:O}\n"));
        return made.ToArray();
    }

    /// Sequential requests from a separate process.
    static async Task Load(string url, int count)
    {
        using var client = new HttpClient { BaseAddress = new Uri(url) };

        for (int i = 0; i < count; i++)
            await client.GetByteArrayAsync(i % 50 == 49 ? "/export" : "/orders/customer " + i % 40);
        if (count == 0)
            await client.PostAsync("/stop", null);
    }
}
