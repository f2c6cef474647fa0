namespace Shop;

public sealed record Line(string Product, int Cents);

public sealed class Basket
{
    readonly List<Line> _lines = new(4);

    public void Add(string product, int cents) => _lines.Add(new Line(product, cents));

    public int Total()
    {
        int cents = 0;
        foreach (Line line in _lines)
            cents += line.Cents;
        return cents;
    }
}
