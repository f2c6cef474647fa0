using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;

namespace Shop;

sealed record Order(int Number, string Customer, decimal Price, DateTime Placed);

/// What an object-relational mapper does: rows become objects, and it remembers what they were to find what changed.
sealed class Repository
{
    sealed record Tracked(Order Entity, object[] Original);

    readonly Order[] rows = Enumerable.Range(0, 2000)
        .Select(i => new Order(i, "customer " + i % 40, i * 1.25m, DateTime.UnixEpoch.AddHours(i))).ToArray();

    public async Task<List<Order>> OfCustomerAsync(string customer)
    {
        var tracked = new List<Tracked>();

        await Task.Yield(); // the way to the database
        foreach (Order row in rows)
            if (row.Customer == customer)
                tracked.Add(Track(row));
        return tracked.Select(t => t.Entity).ToList();
    }

    static Tracked Track(Order row)
    {
        Order entity = row with { };

        return new Tracked(entity, new object[] { entity.Number, entity.Customer, entity.Price, entity.Placed });
    }

    public IEnumerable<Order> All() => rows;
}
