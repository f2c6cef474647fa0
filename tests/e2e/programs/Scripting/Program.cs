// Scripts (Jint) that call into the program and back. Prints what they come to.
// usage: Scripting [TIMES]      all of it TIMES times, 1 by default
using System.Globalization;
using Jint;
using Jint.Native;
using Jint.Native.Object;

var store = new Dictionary<string, List<Order>>();
var engine = new Engine(options => options.LimitRecursion(100))
    .SetValue("order", new Func<string, double, Order>(Place))
    .SetValue("total", new Func<string, double>(name => store[name].Sum(one => one.Price)))
    .SetValue("log", new Action<object>(value => Console.Out.Flush()));
engine.Execute("""
    function shop(rounds) {
        const names = ['ann', 'bob', 'eve'];
        const prices = [];
        for (let i = 0; i < rounds; i++) {
            const one = order(names[i % 3], i * 1.5);
            prices.push({ name: one.Name, price: one.Price, tags: one.Tags.length });
        }
        log(prices.length);
        return prices.filter(p => p.price > 10).map(p => p.name + ':' + p.price);
    }
    """);
var made = new List<string>();
for (int times = args.Length > 0 ? int.Parse(args[0]) : 1; times > 0; times--)
{
    store.Clear();
    made.Clear();
    for (int round = 0; round < 20; round++)
        made.AddRange(Texts(engine.Invoke("shop", 300)));
}
Console.WriteLine($"{made.Count} {made.Distinct().Count()} {string.Join(' ', store.Select(pair => $"{pair.Key}={Shown(pair.Value)}"))}");

Order Place(string name, double price)
{
    if (!store.TryGetValue(name, out var orders))
        store[name] = orders = [];
    var made = new Order(name, price, [.. Tags(price)]);
    orders.Add(made);
    return made;
}

static IEnumerable<string> Tags(double price)
{
    if (price > 100)
        yield return "dear";
    foreach (var digit in price.ToString(CultureInfo.InvariantCulture))
        yield return digit.ToString();
}

static IEnumerable<string> Texts(JsValue value) =>
    ((ObjectInstance)value).GetOwnProperties().Where(pair => pair.Key.ToString() != "length").Select(pair => pair.Value.Value.ToString());

static string Shown(List<Order> orders) => orders.Sum(one => one.Price).ToString("0.0", CultureInfo.InvariantCulture);

sealed record Order(string Name, double Price, string[] Tags);
