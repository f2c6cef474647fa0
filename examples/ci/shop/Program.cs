using Shop;

var basket = new Basket();
for (int i = 0; i < 100; i++)
    basket.Add("tea", 350);
Console.WriteLine($"{basket.Total()} cents");
