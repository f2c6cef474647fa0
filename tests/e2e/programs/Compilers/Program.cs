// The C# and the F# compiler as packages, for runtimes that the SDK's own do not run on.
//
//   Compilers cs|fs FILE [COUNT]
//
// Compiles FILE, against what this program runs with, COUNT times. Prints what the compiler says of a file that is wrong, the
// size of what it made, and `ok`.
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using FSharp.Compiler.CodeAnalysis;
using FSharp.Compiler.Diagnostics;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Emit;
using Microsoft.FSharp.Control;
using Microsoft.FSharp.Core;

namespace Compilers;

static class Program
{
    static IEnumerable<string> References() =>
        ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")).Split(':').Where(path => !Path.GetFileName(path).StartsWith("Compilers"));

    static long CSharp(string file)
    {
        CSharpCompilation compilation = CSharpCompilation.Create("made", new[] { CSharpSyntaxTree.ParseText(File.ReadAllText(file), path: file) },
            References().Select(path => MetadataReference.CreateFromFile(path)), new CSharpCompilationOptions(OutputKind.ConsoleApplication));
        using var made = new MemoryStream();
        EmitResult result = compilation.Emit(made);
        foreach (Diagnostic diagnostic in result.Diagnostics.Where(d => d.Severity == DiagnosticSeverity.Error))
            Console.WriteLine(diagnostic);
        return result.Success ? made.Length : 0;
    }

    static long FSharp(string file)
    {
        string made = Path.Combine(Path.GetTempPath(), "made-" + Environment.ProcessId + ".dll");
        string[] arguments = new[] { "fsc.exe", "--noframework", "--nowin32manifest", "--targetprofile:netcore", "-o:" + made }
            .Concat(References().Select(path => "-r:" + path)).Append(file).ToArray();
        FSharpChecker checker = FSharpChecker.Create(null, null, null, null, null, null, null, null, null, null, null, null, null, null);
        var result = FSharpAsync.RunSynchronously(checker.Compile(arguments, null), null, null);
        foreach (FSharpDiagnostic diagnostic in result.Item1.Where(d => d.Severity.IsError))
            Console.WriteLine(diagnostic);
        long size = File.Exists(made) ? new FileInfo(made).Length : 0;
        File.Delete(made);
        return size;
    }

    static int Main(string[] args)
    {
        int count = args.Length > 2 ? int.Parse(args[2]) : 1;
        long size = 0;
        for (int i = 0; i < count; i++)
            if ((size = args[0] == "fs" ? FSharp(args[1]) : CSharp(args[1])) == 0)
                return 1;
        Console.WriteLine($"made {size} bytes");
        Console.WriteLine("ok");
        return 0;
    }
}
