// What tracing does to what is traced: bytes that the runtime says each section allocates. Framework code that is compiled
// again without optimisation allocates objects that its precompiled code does not.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text;

static class Observed
{
    const int Times = 500;

    static object kept;

    static void Texts()
    {
        for (int i = 0; i < Times; i++)
            kept = string.Create(CultureInfo.InvariantCulture, $"text {i} of {Times}: {i * 0.5}");
    }

    static void Boxes()
    {
        for (int i = 0; i < Times; i++)
            kept = i;
    }

    static void Arrays()
    {
        for (int i = 0; i < Times; i++)
            kept = new byte[i];
    }

    static void Tables()
    {
        for (int i = 0; i < Times / 50; i++) {
            var table = new Dictionary<DayOfWeek, int>();
            for (int k = 0; k < 7; k++)
                table[(DayOfWeek)k] = k;
            kept = table;
        }
    }

    static void Queries()
    {
        for (int i = 0; i < Times / 50; i++)
            kept = Enumerable.Range(0, 20).Where(k => k % 2 == 0).OrderBy(k => -k).ToList();
    }

    static void Builders()
    {
        for (int i = 0; i < Times / 50; i++)
            kept = new StringBuilder().Append(i).Append(CultureInfo.InvariantCulture, $"{i:x8}").ToString();
    }

    static void Main()
    {
        (string Name, Action Run)[] sections = {
            ("texts", Texts), ("boxes", Boxes), ("arrays", Arrays), ("tables", Tables), ("queries", Queries), ("builders", Builders)};

        foreach (var section in sections)
            section.Run(); // what is made once is not counted
        foreach (var section in sections) {
            long before = GC.GetAllocatedBytesForCurrentThread();
            section.Run();
            long bytes = GC.GetAllocatedBytesForCurrentThread() - before;
            Console.WriteLine($"{section.Name} {bytes}");
        }
    }
}
