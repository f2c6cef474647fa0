// A bus in memory (MassTransit): orders are published, each is answered by an invoice. Prints what was invoiced.
using System.Collections.Concurrent;
using MassTransit;
using Shop;

var invoiced = new ConcurrentDictionary<int, decimal>();
var done = new TaskCompletionSource();
const int Orders = 500;
var bus = Bus.Factory.CreateUsingInMemory(configured =>
{
    configured.ReceiveEndpoint("orders", endpoint => endpoint.Consumer(() => new Billing()));
    configured.ReceiveEndpoint("invoices", endpoint => endpoint.Handler<Invoice>(context =>
    {
        invoiced[context.Message.Number] = context.Message.Lines.Sum(line => line.Price * line.Count);
        if (invoiced.Count == Orders)
            done.TrySetResult();
        return Task.CompletedTask;
    }));
});
await bus.StartAsync();
foreach (var batch in Enumerable.Range(1, Orders).Chunk(50))
    await Task.WhenAll(batch.Select(number => bus.Publish(new Order(number, Items(number).ToArray()))));
await done.Task;
await bus.StopAsync();
Console.WriteLine($"{invoiced.Count} {invoiced.Values.Sum()}");

static IEnumerable<string> Items(int number)
{
    for (int i = 0; i <= number % 5; i++)
        yield return $"item {number * 7 % 11 + i}";
}

namespace Shop
{
    public record Order(int Number, string[] Items);
    public record Line(string Item, int Count, decimal Price);
    public record Invoice(int Number, List<Line> Lines);

    sealed class Billing : IConsumer<Order>
    {
        public async Task Consume(ConsumeContext<Order> context)
        {
            var lines = context.Message.Items.GroupBy(item => item).Select(group => new Line(group.Key, group.Count(), 1.5m * group.Key.Length)).ToList();
            await Task.Yield();
            await context.Publish(new Invoice(context.Message.Number, lines));
        }
    }
}
