using System;
using System.Collections.Generic;
using System.Linq;
using System.Net.Http;
using System.Net.Http.Json;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Prices;

sealed record Line(string Article, int Count);

sealed record Basket(string Customer, string? Coupon, List<Line> Lines);

sealed record Answer(string Customer, decimal Total, string[] Articles);

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
        await using WebApplication app = builder.Build();

        app.MapPost("/price", (Basket basket) =>
        {
            decimal total = basket.Lines.Sum(line => line.Count * Catalogue.PriceOf(line.Article));

            if (basket.Coupon != null)
                total *= 1 - Coupons.Of(basket.Customer, basket.Coupon).Share;
            return Results.Json(new Answer(basket.Customer, total, basket.Lines.Select(line => line.Article).ToArray()));
        });
        app.MapPost("/stop", () => app.Lifetime.StopApplication());

        await app.StartAsync();
        Console.WriteLine($"{Environment.ProcessId} {app.Urls.First()}");
        await app.WaitForShutdownAsync();
    }

    /// Sequential requests from a separate process: one in ten has a coupon.
    static async Task Load(string url, int count)
    {
        using var client = new HttpClient { BaseAddress = new Uri(url) };

        for (int i = 0; i < count; i++)
        {
            var lines = Enumerable.Range(0, 5).Select(n => new Line("article " + (i + n) % 100, n + 1)).ToList();
            var basket = new Basket("customer " + i % 7, i % 10 == 0 ? "SUMMER" : null, lines);

            using HttpResponseMessage answer = await client.PostAsJsonAsync("/price", basket);
            answer.EnsureSuccessStatusCode();
            await answer.Content.ReadAsByteArrayAsync();
        }
        if (count == 0)
            await client.PostAsync("/stop", null);
    }
}
