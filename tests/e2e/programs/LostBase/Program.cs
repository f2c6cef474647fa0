class Program : Base
{
    static void Main() => System.Console.WriteLine("not reached");
}
