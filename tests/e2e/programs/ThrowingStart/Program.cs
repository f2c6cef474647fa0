// The static constructor of Main's class throws, so Main does not run.
class Program
{
    static readonly object[] kept;

    static Program()
    {
        kept = new object[6];
        throw new System.InvalidOperationException("start");
    }

    static void Main() => System.Console.WriteLine(kept.Length);
}
