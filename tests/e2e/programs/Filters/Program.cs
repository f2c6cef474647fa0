// Exceptions whose filters look at them, while another thread makes one collection follow the other: the
// exception that a filter gets is the one that was thrown. Says how many were right and how many were not.
using System;
using System.Threading;

class Trouble : Exception
{
    public readonly int Number;

    public Trouble(int number) : base("known trouble") => Number = number;
}

static class Program
{
    static volatile bool stop;
    static int right, wrong;
    static object keep;

    static int Main(string[] args)
    {
        int throws = int.Parse(args[0]);
        var allocates = new Thread(() =>
        {
            while (!stop)
                keep = new byte[3000];
        });
        allocates.Start();
        for (int i = 0; i < throws; i++)
            Once(i);
        stop = true;
        allocates.Join();
        Console.WriteLine($"{right} right, {wrong} wrong");
        return wrong == 0 ? 0 : 1;
    }

    static void Once(int number)
    {
        try
        {
            try
            {
                Throw(number);
            }
            catch (Trouble e) when (NestedIs(number) && Is(e, number))
            {
                if (e.Number == number)
                    right++;
                else
                    wrong++;
            }
        }
        catch (Exception)
        {
            wrong++;
        }
    }

    static bool Is(Trouble e, int number) => e.Number == number && e.Message[0] == 'k';

    // Every fourth filter throws and catches, too: one is caught, the other one leaves a filter, which counts as false.
    static bool NestedIs(int number)
    {
        if (number % 4 != 0)
            return true;
        try
        {
            Throw(-number);
        }
        catch (Trouble e) when (Leaves(number))
        {
            return false;
        }
        catch (Trouble e) when (Is(e, -number))
        {
            return true;
        }
        return false;
    }

    static bool Leaves(int number)
    {
        Throw(number + 1);
        return true;
    }

    static void Throw(int number) => throw new Trouble(number);
}
