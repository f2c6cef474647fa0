namespace Shadowtrace;

/// <summary>Objects of one type that one call path made.</summary>
/// <param name="Objects">How many.</param>
/// <param name="Bytes">Of all of them.</param>
/// <param name="Type">Their type, as it is written in C#.</param>
/// <param name="Line">"File.cs:12" of the nearest frame whose source is known, or "-".</param>
/// <param name="Path">Methods from the outermost to the one that allocates, " &gt; " between them.</param>
public sealed record AllocationSite(long Objects, long Bytes, string Type, string Line, string Path);
