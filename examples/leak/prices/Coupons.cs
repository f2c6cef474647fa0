using System;
using System.Collections.Concurrent;

namespace Prices;

static class Catalogue
{
    static readonly ConcurrentDictionary<string, decimal> prices = new();

    /// As many entries as there are articles: this cache fills, and then stays as it is.
    public static decimal PriceOf(string article) => prices.GetOrAdd(article, name => name.Length * 1.25m);
}

sealed class Coupon
{
    public required string Customer, Code;
    public decimal Share;
    public DateTime Until;
}

static class Coupons
{
    static readonly ConcurrentDictionary<(string, string, DateTime), Coupon> known = new();

    /// The key holds the time until which a coupon is good, to the tick: it is never found again, and never taken out.
    public static Coupon Of(string customer, string code)
    {
        DateTime until = DateTime.UtcNow.AddHours(1);

        return known.GetOrAdd((customer, code, until), key => Look(key.Item1, key.Item2, key.Item3));
    }

    static Coupon Look(string customer, string code, DateTime until)
    {
        return new Coupon { Customer = customer, Code = code, Share = 0.1m, Until = until };
    }
}
