using Shop;
using Xunit;

public class BasketTests
{
    [Fact]
    public void SumsItsLines()
    {
        for (int i = 0; i < 1000; i++)
        {
            var basket = new Basket();
            basket.Add("tea", 350);
            basket.Add("cup", 900);
            Assert.Equal(1250, basket.Total());
        }
    }
}
