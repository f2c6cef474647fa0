using Xunit;

public sealed class Leaf
{
    public int Value;
}

public class Leaves
{
    [Theory]
    [InlineData(3)]
    [InlineData(4)]
    public void AreMade(int count)
    {
        var made = new Leaf[count];
        for (int i = 0; i < count; i++)
            made[i] = new Leaf { Value = i }; // 7 in all
        Assert.Equal(count, made.Length);
    }
}
