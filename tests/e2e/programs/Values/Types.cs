// What is passed around.
using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Values;

enum Color { Red, Green, Blue = 10 }
enum Small : byte { None, Most = 255 }
enum Sign : sbyte { Minus = -1, Plus = 1 }
enum Big : ulong { One = 1, Top = 1UL << 63 }
[Flags] enum Bits { None = 0, A = 1, B = 2, C = 4, AB = 3, High = 1 << 30 }

struct Tiny { public byte One; }
struct Pair { public int X, Y; }
struct Mixed { public double D; public int I; }
struct Turned { public int I; public double D; }
struct TwoFloats { public float A, B; }
struct ThreeFloats { public float A, B, C; }
struct TwoDoubles { public double A, B; }
struct Three { public long A, B, C; }
struct Wide { public long A; public double B; public string C; public Pair D; public Color E; public decimal F; }
struct WithText { public string Text; public int N; }
struct TextAndReal { public string Text; public double D; }
struct Odd { public byte A; public short B; public byte C; }
struct Nested { public Pair First; public Tiny Second; public Color Third; }
struct Auto<T> { public T Value { get; set; } public int N { get; set; } }
[StructLayout(LayoutKind.Explicit)] struct Union { [FieldOffset(0)] public int I; [FieldOffset(0)] public float F; [FieldOffset(8)] public long L; }
[StructLayout(LayoutKind.Auto)] struct Shuffled { public byte A; public long B; public string C; public short D; }
struct Empty { }

class Item { public int N = 3; }
sealed class Other : Item { }

interface IWork { int Work(int a, string b); int Default(Pair p) { Say.In("Values.IWork.Default", "this", Say.Of(this), "p", Say.Of(p)); int r = p.X; Say.Out("Values.IWork.Default", Say.Of(r)); return r; } }
