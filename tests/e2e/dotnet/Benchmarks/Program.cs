// Benchmarks whose allocations are known; "// 2 Leaf 24" behind a line: objects of a type and bytes each, an operation.
using System;
using BenchmarkDotNet.Attributes;
using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Running;
using BenchmarkDotNet.Toolchains.InProcess.Emit;
using Shadowtrace.BenchmarkDotNet;

// Two minutes are not enough for BenchmarkDotNet's build on a machine that does other things, too.
ManualConfig config = ManualConfig.Create(DefaultConfig.Instance).WithBuildTimeout(TimeSpan.FromHours(1));

if (args is ["in-process"])
    BenchmarkRunner.Run<Inside>(config.AddJob(Job.Dry.WithToolchain(InProcessEmitToolchain.Instance)));
else
    BenchmarkRunner.Run<Known>(config);

public sealed class Leaf
{
    public int Value;
}

[MemoryDiagnoser, ShadowtraceDiagnoser(Page = true), JsonExporterAttribute.Full]
[SimpleJob(launchCount: 1, warmupCount: 1, iterationCount: 3, invocationCount: 3200)]
public class Known
{
    private static Leaf Make(int value)
    {
        return new Leaf { Value = value }; // 2 Leaf 24
    }

    [Benchmark]
    public object Nested()
    {
        var pair = new Leaf[2]; // 1 Leaf[] 40
        for (int i = 0; i < pair.Length; i++)
            pair[i] = Make(i);
        return pair;
    }

    [Benchmark]
    [Arguments(3)]
    [Arguments(100)]
    public object Bytes(int length)
    {
        return new byte[length];
    }

    [Benchmark]
    public int Nothing()
    {
        return 42;
    }
}

[ShadowtraceDiagnoser]
public class Inside
{
    [Benchmark]
    public object Leaf()
    {
        return new Leaf();
    }
}
