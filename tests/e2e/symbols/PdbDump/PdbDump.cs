// What System.Reflection.Metadata reads from an assembly's PDB, line by line as tests/e2e/symbols/pdb_dump.c prints it
// from src/tool/symbols: documents, Source Link, every sequence point, every state machine, and the line of every IL offset
// at which one may change, found the plain way.
//
//   dotnet PdbDump.dll ASSEMBLY [FOLDER]    FOLDER: where the PDB is, if it is neither embedded nor beside

using System.IO.Compression;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;
using System.Text;

var assembly = args[0];
var output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false), 1 << 16) { NewLine = "\n" };

using var file = File.OpenRead(assembly);
using var pe = new PEReader(file);
Func<string, Stream?> open = path =>
{
    foreach (var folder in new[] { Path.GetDirectoryName(Path.GetFullPath(assembly))!, args.Length > 1 ? args[1] : "" })
    {
        var candidate = Path.Combine(folder, Path.GetFileName(path));
        if (File.Exists(candidate))
            return File.OpenRead(candidate);
    }
    return null;
};
if (!pe.TryOpenAssociatedPortablePdb(assembly, open, out var provider, out _) || provider is null)
{
    Console.Error.WriteLine($"{assembly}: no PDB");
    return 1;
}

var pdb = provider.GetMetadataReader();
var embeddedSource = new Guid("0E8A571B-6926-466E-B4AD-8AB04611F5FE");
var sourceLink = new Guid("CC110556-A091-4D38-9FEC-25AB9A351A6A");

output.WriteLine($"methods {pe.GetMetadataReader().MethodDefinitions.Count}");
foreach (var handle in pdb.Documents)
{
    var document = pdb.GetDocument(handle);
    var hash = document.Hash.IsNil ? "" : Convert.ToHexStringLower(pdb.GetBlobBytes(document.Hash));
    output.WriteLine($"document {MetadataTokens.GetRowNumber(handle)} {pdb.GetString(document.Name)} {hash} {Source(handle)}");
}
foreach (var handle in pdb.GetCustomDebugInformation(EntityHandle.ModuleDefinition))
{
    var custom = pdb.GetCustomDebugInformation(handle);
    if (pdb.GetGuid(custom.Kind) == sourceLink)
        output.WriteLine($"link {Fingerprint(pdb.GetBlobBytes(custom.Value))}");
}
foreach (var handle in pdb.MethodDebugInformation)
{
    var method = pdb.GetMethodDebugInformation(handle);
    var token = 0x06000000 | MetadataTokens.GetRowNumber(handle);
    var points = method.GetSequencePoints().ToList();

    foreach (var p in points)
        output.WriteLine(p.IsHidden
            ? $"point {token:x8} {p.Offset} hidden {Name(p.Document)}"
            : $"point {token:x8} {p.Offset} {p.StartLine},{p.StartColumn}-{p.EndLine},{p.EndColumn} {Name(p.Document)}");
    var offsets = points.SelectMany(p => new[] { p.Offset - 1, p.Offset, p.Offset + 1 }).Where(il => il >= 0);
    foreach (var il in offsets.Distinct().Order())
    {
        var before = points.Where(p => p.Offset <= il).ToList();
        // Code before the first statement belongs to that statement.
        var nearest = before.Any(p => !p.IsHidden) || before.Count == 0 ? before : points;
        var visible = nearest == before ? before.LastOrDefault(p => !p.IsHidden) : points.FirstOrDefault(p => !p.IsHidden);
        output.WriteLine(nearest.Any(p => !p.IsHidden)
            ? $"line {token:x8} {il} {visible.StartLine} {Name(visible.Document)}{(before.Last().IsHidden ? " hidden" : "")}"
            : $"line {token:x8} {il} none");
    }
}
output.Flush();
return 0;

string Name(DocumentHandle handle) => pdb.GetString(pdb.GetDocument(handle).Name);

string Source(DocumentHandle handle)
{
    foreach (var h in pdb.GetCustomDebugInformation(handle))
    {
        var custom = pdb.GetCustomDebugInformation(h);
        if (pdb.GetGuid(custom.Kind) != embeddedSource)
            continue;
        var blob = pdb.GetBlobBytes(custom.Value);
        var size = BitConverter.ToInt32(blob, 0);
        if (size == 0)
            return Fingerprint(blob[4..]);
        using var inflate = new DeflateStream(new MemoryStream(blob, 4, blob.Length - 4), CompressionMode.Decompress);
        var text = new MemoryStream();
        inflate.CopyTo(text);
        return Fingerprint(text.ToArray());
    }
    return "-";
}

// Size and FNV-1a.
static string Fingerprint(byte[] bytes)
{
    var hash = 0xcbf29ce484222325UL;
    foreach (var b in bytes)
        hash = unchecked((hash ^ b) * 0x100000001b3UL);
    return $"{bytes.Length}/{hash:x16}";
}
