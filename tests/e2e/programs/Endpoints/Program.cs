// Endpoints of a minimal API, each as short as people write them: the JIT would inline them into what the framework
// compiles for each. Every line that makes an object makes one of another type, T and the number of the line, for each
// of N requests. For test_line_truth.py.
//
//   Endpoints N
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Logging;

var builder = WebApplication.CreateSlimBuilder(new WebApplicationOptions { ContentRootPath = AppContext.BaseDirectory });
builder.Logging.ClearProviders();
builder.WebHost.UseUrls("http://127.0.0.1:0");
var app = builder.Build();
var asked = 0;

app.MapGet("/static", static () => new T0017());
app.MapGet("/closure", () => new T0018(asked++));
app.MapGet("/result", (int id) => Results.Ok(new T0019(id)));
app.MapGet("/typed", (int id) => TypedResults.Ok(new T0020(id)));
app.MapGet("/method", Shop.Find);
app.MapGet("/async", async (HttpContext context) =>
{
    await Task.Yield();
    return new T0025();
});
app.MapGet("/bound", (T0043 key) => key.ToString());

await app.StartAsync();
using var client = new HttpClient { BaseAddress = new Uri(app.Urls.First()) };
for (var i = 0; i < int.Parse(args[0]); i++)
    foreach (var path in new[] { "/static", "/closure", "/result?id=3", "/typed?id=4", "/method?id=5", "/async", "/bound?key=6" })
        await client.GetStringAsync(path);
await app.StopAsync();

static class Shop
{
    public static T0038 Find(int id) => new T0038(id);
}

record T0043(int Key)
{
    public static bool TryParse(string text, out T0043 key) { key = new T0043(int.Parse(text)); return true; }
}

record T0017;
record T0018(int N);
record T0019(int N);
record T0020(int N);
record T0025;
record T0038(int N);
