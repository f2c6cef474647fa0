using Shop;
using Xunit;

public class BasketTests
{
    [Fact]
    public void SumsItsLines()
    {
        int cents = 0;

        for (int i = 0; i < 1000; i++)
        {
            var basket = new Basket();
            basket.Add("tea", 350);
            basket.Add("cup", 900);
            cents += basket.Total();
        }
        Assert.Equal(1000 * 1250, cents);
    }
}
