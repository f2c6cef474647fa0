using System;
using BenchmarkDotNet.Configs;

namespace Shadowtrace.BenchmarkDotNet;

/// <summary>Runs each benchmark of the class once more, recorded, and shows what it allocates per operation.</summary>
[AttributeUsage(AttributeTargets.Class | AttributeTargets.Assembly)]
public sealed class ShadowtraceDiagnoserAttribute : Attribute, IConfigSource
{
    private bool page;

    /// <summary>Also make a page for a browser of each benchmark, beside its log.</summary>
    public bool Page
    {
        get => page;
        set => Config = Make(page = value);
    }

    /// <inheritdoc/>
    public IConfig Config { get; private set; } = Make(page: false);

    private static IConfig Make(bool page) => ManualConfig.CreateEmpty().AddDiagnoser(new ShadowtraceDiagnoser(page))
        .AddLogger(Operations.Counter);
}
