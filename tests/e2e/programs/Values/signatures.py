#!/usr/bin/env python3
"""Writes Signatures.cs: methods of all kinds, each of which prints what it is called with and what it returns."""
import random

# type, expression
VALUES = [
    ('bool', 'true'), ('bool', 'false'), ('char', "'x'"), ('char', "'\\u20ac'"), ('sbyte', '-5'), ('byte', '200'),
    ('short', '-300'), ('ushort', '60000'), ('int', '-7'), ('int', 'int.MinValue'), ('uint', '4000000000'),
    ('long', '1L << 40'), ('long', 'long.MinValue'), ('ulong', 'ulong.MaxValue'), ('float', '1.5f'), ('float', '0.1f'),
    ('float', 'float.NaN'), ('double', '-2.25'), ('double', 'double.PositiveInfinity'), ('double', '1e-300'),
    ('decimal', '123.4500m'), ('decimal', '-0.001m'), ('decimal', '0m'), ('decimal', 'decimal.MaxValue'),
    ('nint', '-9'), ('nuint', '9'),
    ('string', '"abc"'), ('string', '""'), ('string', 'null'), ('string', '"quote\\" \\\\ \\n \\u0001 \\u00fc \\U0001F600"'),
    ('string', "new string('y', 300)"), ('string', '"a\\0b\\ud800"'),
    ('object', 'null'), ('object', '5'), ('object', '5L'), ('object', 'Color.Blue'), ('object', 'new Pair { X = 1, Y = 2 }'),
    ('object', '1.50m'), ('object', '"text"'), ('object', 'new Item()'), ('object', 'new[] { 1, 2 }'),
    ('Item', 'new Other()'), ('Item', 'null'),
    ('Color', 'Color.Green'), ('Color', '(Color)77'), ('Small', 'Small.Most'), ('Sign', 'Sign.Minus'), ('Big', 'Big.Top'),
    ('Bits', 'Bits.A | Bits.C'), ('Bits', 'Bits.AB | Bits.C | Bits.High'), ('Bits', '(Bits)64'), ('Bits', 'Bits.None'),
    ('int?', '5'), ('int?', 'null'), ('Color?', 'Color.Red'), ('Pair?', 'new Pair { X = 3 }'), ('decimal?', '2.5m'), ('Wide?', 'null'),
    ('Tiny', 'new Tiny { One = 9 }'), ('Pair', 'new Pair { X = 1, Y = -2 }'), ('Mixed', 'new Mixed { D = 1.25, I = 7 }'),
    ('Turned', 'new Turned { D = 1.25, I = 7 }'), ('TwoFloats', 'new TwoFloats { A = 1, B = 2.5f }'),
    ('ThreeFloats', 'new ThreeFloats { A = 1, B = 2.5f, C = -1 }'), ('TwoDoubles', 'new TwoDoubles { A = 1, B = 2.5 }'),
    ('Three', 'new Three { A = 1, B = 2, C = 3 }'),
    ('Wide', 'new Wide { A = 1, B = 2, C = "c", D = new Pair { X = 4 }, E = Color.Blue, F = 1.0m }'),
    ('WithText', 'new WithText { Text = "t", N = 4 }'), ('TextAndReal', 'new TextAndReal { Text = "u", D = 0.5 }'),
    ('Odd', 'new Odd { A = 1, B = 2, C = 3 }'), ('Nested', 'new Nested { First = new Pair { X = 1 }, Third = Color.Blue }'),
    ('Auto<int>', 'new Auto<int> { Value = 4, N = 5 }'), ('Auto<string>', 'new Auto<string> { Value = "v", N = 6 }'),
    ('Union', 'new Union { I = 0x3f800000, L = 12 }'), ('Shuffled', 'new Shuffled { A = 1, B = 2, C = "3", D = 4 }'),
    ('Guid', 'new Guid(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)'), ('DateTime', 'new DateTime(2020, 2, 3)'),
    ('TimeSpan', 'TimeSpan.FromSeconds(90)'), ('Half', '(Half)1.5f'), ('Int128', '-3'),
    ('(int, string)', '(1, "two")'), ('(int A, double B, Pair C)', '(1, 2.5, new Pair { Y = 6 })'),
    ('(int, int, int, int, int, int, int, int, int)', '(1, 2, 3, 4, 5, 6, 7, 8, 9)'), ('Tuple<int, string>', 'Tuple.Create(1, "x")'),
    ('Tuple<int, string>', 'null'), ('object', 'Tuple.Create("o", 2.5)'), ('Tuple<byte>[]', 'new[] { Tuple.Create((byte)1), null }'),
    ('Tuple<Pair, Tuple<long, Color>>', 'Tuple.Create(new Pair { X = 1 }, Tuple.Create(7L, Color.Blue))'),
    ('Tuple<int, byte, string, int, long, int, int, Tuple<string>>', 'Tuple.Create(1, (byte)2, "3", 4, 5L, 6, 7, "8")'),
    ('KeyValuePair<string, int>', 'new KeyValuePair<string, int>("k", 1)'), ('Vector2', 'new Vector2(1, 2)'),
    ('Vector3', 'new Vector3(1, 2, 3)'), ('Vector4', 'new Vector4(1, 2, 3, 4)'),
    ('int[]', 'new[] { 1, 2, 3 }'), ('int[]', 'new int[20]'), ('int[]', 'null'), ('string[]', 'new[] { "a", null, "c" }'),
    ('Pair[]', 'new[] { new Pair { X = 1 }, new Pair { Y = 2 } }'), ('int[][]', 'new[] { new[] { 1 }, null }'),
    ('int[,]', 'new int[2, 3] { { 1, 2, 3 }, { 4, 5, 6 } }'), ('object[]', 'new object[] { 1, "x", null, Color.Red, new Item() }'),
    ('Color[]', 'new[] { Color.Red, Color.Blue }'), ('decimal[]', 'new[] { 1.5m }'), ('bool[]', 'new[] { true, false }'),
    ('int?[]', 'new int?[] { 1, null }'), ('List<int>', 'new List<int> { 1 }'), ('Dictionary<string, Pair>', 'new Dictionary<string, Pair>()'),
    ('Action', 'Nothing'), ('Func<int, string>', 'x => null'), ('Type', 'typeof(int)'), ('Exception', 'new InvalidOperationException("no")'),
    ('IEnumerable<int>', 'new List<int>()'), ('IComparable', '7'), ('Memory<int>', 'new Memory<int>(new[] { 1, 2 })'),
]

out, calls, count = [], [], 0
NO_INLINE = '[MethodImpl(MethodImplOptions.NoInlining)] '


def name():
    global count
    count += 1
    return 'M%03d' % count


def body(full, shown, result=None, expression=None, show='Say.Of(r)'):
    text = 'Say.In("%s"%s); ' % (full, ''.join(', "%s", %s' % pair for pair in shown))
    if result:
        text += '%s r = %s; Say.Out("%s", %s); return r;' % (result, expression, full, show)
    return '{ ' + text + ' }'


def static(parameters, result=None, generic='', call='', attributes=''):
    """parameters: (type, name, expression); result: index of the one that is returned."""
    m = name()
    full = 'Values.Signatures.' + m
    shown = [(n, 'Say.Of(%s)' % n) for _, n, _ in parameters]
    type_ = parameters[result][0] if result is not None else None
    out.append('    %sstatic %s %s%s(%s) %s' % (
        NO_INLINE + attributes, type_ or 'void', m, generic, ', '.join('%s %s' % p[:2] for p in parameters),
        body(full, shown, type_, type_ and parameters[result][1])))
    calls.append('%s%s(%s);' % (m, call, ', '.join(p[2] for p in parameters)))


def plain_methods():
    for type_, expression in VALUES:
        static([(type_, 'a', expression)], 0)
    dice = random.Random(8)
    for _ in range(45):
        chosen = [dice.choice(VALUES) for _ in range(dice.randint(2, 10))]
        static([(t, 'a%d' % i, e) for i, (t, e) in enumerate(chosen)], dice.randrange(len(chosen)))
    static([])


def generic_methods():
    for type_, expression in dice_values():
        m = name()
        full = 'Values.Signatures.' + m
        out.append('    %sstatic T %s<T>(T a, int n) %s' % (
            NO_INLINE, m, body(full, [('a', 'Say.Of(a)'), ('n', 'Say.Of(n)')], 'T', 'a')))
        calls.append('%s<%s>(%s, 3);' % (m, type_, expression))
        m = name()
        full = 'Values.Signatures.' + m
        out.append('    %sstatic T[] %s<T>(Auto<T> a, T[] b, (T, int) c) %s' % (
            NO_INLINE, m, body(full, [(n, 'Say.Of(%s)' % n) for n in 'abc'], 'T[]', 'b')))
        calls.append('%s<%s>(new Auto<%s> { Value = %s }, new %s[] { %s }, (%s, 4));' % (
            m, type_, type_, expression, type_, expression, expression))
        calls.append('{ var x = new Holder<%s>(%s); x.Get(2); x.Twice<string>("u", %s); Holder<%s>.Make(%s); }' % (
            type_, expression, expression, type_, expression))
        calls.append('{ var x = new Slot<%s> { Value = %s }; x.Get(2); }' % (type_, expression))
        calls.append('for (int i = 0; i < 2; i++) new Map<char, %s>().Whole(new KeyValuePair<char, %s>(\'k\', %s));' % (
            type_, type_, expression))
        calls.append('new Map<char, %s>().Put(\'k\', %s, default);' % (type_, expression))


def dice_values():
    return [('int', '5'), ('string', '"s"'), ('Pair', 'new Pair { X = 1 }'), ('Item', 'new Item()'), ('double', '0.5'),
            ('Color', 'Color.Blue'), ('object', '1'), ('WithText', 'new WithText { Text = "w" }')]


def by_reference():
    for type_, expression in [('int', '5'), ('string', '"s"'), ('Pair', 'new Pair { X = 1 }'), ('Wide', 'new Wide { C = "w" }'),
                              ('Item', 'new Item()'), ('Color', 'Color.Blue'), ('double', '1.5'), ('int?', '4')]:
        for kind, given in ('ref', 'ref x'), ('in', 'in x'), ('out', 'out x'):
            m = name()
            full = 'Values.Signatures.' + m
            shown = 'Say.Missing' if kind == 'out' else 'Say.Ref(Say.Of(a))'
            back = {'ref': 'a = default; ', 'out': 'a = %s; ' % expression, 'in': ''}[kind]
            if back:
                back += 'Say.Back("%s", "a", Say.Of(a)); ' % full
            out.append('    %sstatic void %s(%s %s a) { Say.In("%s", "a", %s); %s}' % (
                NO_INLINE, m, kind, type_, full, shown, back))
            calls.append('{ %s x = %s; %s(%s); }' % (type_, 'default' if kind == 'out' else expression, m, given))
    m = name()
    full = 'Values.Signatures.' + m
    out.append('    %sstatic long %s(out string a, int b) { Say.In("%s", "a", Say.Missing, "b", Say.Of(b)); a = "t" + b; '
               'Say.Back("%s", "a", Say.Of(a)); Say.Out("%s", Say.Of(4L)); return 4; }' % (NO_INLINE, m, full, full, full))
    calls.append('%s(out string _, 5);' % m)
    m = name()
    full = 'Values.Signatures.' + m
    out.append('    %sstatic void %s(ref int a) { Say.In("%s", "a", Say.Ref(Say.Of(a))); a++; GC.Collect(); '
               'Say.Back("%s", "a", Say.Moved); }' % (NO_INLINE, m, full, full))
    calls.append('%s(ref new[] { 1, 2 }[1]);' % m)
    # In the heap: read where they were as long as nothing is collected.
    for type_, given, back in [('int', 'ref new[] { 1, 2 }[1]', 'a++'), ('string', 'ref new[] { "s", null }[0]', 'a = "t"'),
                               ('Wide', 'ref (new Wide[3])[2]', 'a = new Wide { A = 7, C = "w" }'),
                               ('int', 'ref new Item().N', 'a = 9'), ('Item', 'ref kept', 'a = new Item()')]:
        m = name()
        full = 'Values.Signatures.' + m
        out.append('    %sstatic void %s(ref %s a) { int n = GC.CollectionCount(0); Say.In("%s", "a", Say.Ref(Say.Of(a))); '
                   '%s; Say.Back("%s", "a", GC.CollectionCount(0) == n ? Say.Of(a) : Say.Moved); }' % (
                       NO_INLINE, m, type_, full, back, full))
        calls.append('%s(%s);' % (m, given))
    m = name()
    out.append('    %sstatic ref int %s(int[] a) { Say.In("Values.Signatures.%s", "a", Say.Of(a)); Say.Out("Values.Signatures.%s", '
               'Say.Ref(Say.Of(a[1]))); return ref a[1]; }' % (NO_INLINE, m, m, m))
    calls.append('%s(new[] { 1, 2 });' % m)


def spans():
    for type_, items in [('int', '1, 2, 3'), ('char', "'a', 'b'"), ('Pair', 'new Pair { X = 1 }'), ('string', '"a", null'), ('byte', '1')]:
        for span in 'Span', 'ReadOnlySpan':
            m = name()
            full = 'Values.Signatures.' + m
            out.append('    %sstatic %s<%s> %s(%s<%s> a, int b) %s' % (
                NO_INLINE, span, type_, m, span, type_,
                body(full, [('a', 'Say.Span<%s>(a)' % type_), ('b', 'Say.Of(b)')], '%s<%s>' % (span, type_), 'a',
                     'Say.Span<%s>(r)' % type_)))
            calls.append('%s(new %s[] { %s }, 1);' % (m, type_, items))
    m = name()
    out.append('    %sstatic void %s(Span<int> a) { Say.In("Values.Signatures.%s", "a", Say.Span<int>(a)); }' % (NO_INLINE, m, m))
    calls.append('%s(stackalloc int[] { 4, 5 });' % m)
    calls.append('%s(default);' % m)


def pointers():
    for type_, expression in [('int', '5'), ('Pair', 'new Pair { X = 1 }'), ('double', '1.5'), ('Color', 'Color.Red')]:
        m = name()
        out.append('    %sstatic unsafe void %s(%s* a) { Say.In("Values.Signatures.%s", "a", Say.Pointer(a, a == null ? "null" : '
                   'Say.Of(*a))); }' % (NO_INLINE, m, type_, m))
        calls.append('unsafe { %s x = %s; %s(&x); %s(null); }' % (type_, expression, m, m))
    m = name()
    out.append('    %sstatic unsafe void %s(int* a) { Say.In("Values.Signatures.%s", "a", Say.Pointer(a, "{\\"unreadable\\":true}")); }' % (
        NO_INLINE, m, m))
    calls.append('unsafe { %s((int*)16); }' % m)
    m = name()
    out.append('    %sstatic unsafe void* %s(void* a, nint b) { Say.In("Values.Signatures.%s", "a", Say.Pointer(a, null), "b", Say.Of(b)); '
               'Say.Out("Values.Signatures.%s", Say.Pointer(a, null)); return a; }' % (NO_INLINE, m, m, m))
    calls.append('unsafe { %s((void*)0x1234, 5); }' % m)


def instances():
    for i, (type_, expression) in enumerate(dice_values()):
        calls.append('new Thing(%s).Do(%d, %s);' % ('"t%d"' % i, i, expression))
    calls.append('Base b = new Derived(); b.Virtual(1, 2.5); b.Virtual(-1, new Pair { X = 2 }.X); '
                 'IWork w = new Derived(); w.Work(3, "w"); w.Default(new Pair { X = 5 }); w = new Worker { N = 6 }; w.Work(4, null);')
    calls.append('var v = new Pair { X = 1, Y = 2 }; v.Sum(3); Adder add = "a".Appended; add(4); var h = new Hidden { A = 1, B = 2.5, C = "c" }; '
                 'h.Get(1m); _ = h + 1; h[2, "z"] = 3; _ = h[2, "z"]; h.Property = 4;')
    calls.append('Many(); Many(1); Many(1, 2, 3); Text("f{0}", 1, "x"); "ext".Extended(2);')
    calls.append('Async(3, "a").Wait(); Quick(4).AsTask().Wait(); Later<string>("z").Wait(); int local = 5; '
                 'Func<int, int> f = x => { return x + local; }; f(1); Static<Worker>(2); new Recursive().Down(3);')


REST = '''
delegate int Adder(int n);

static class Extensions
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Sum(this ref Pair p, int n) { Say.In("Values.Extensions.Sum", "p", Say.Ref(Say.Of(p)), "n", Say.Of(n)); int r = p.X + n; p.Y = r; Say.Back("Values.Extensions.Sum", "p", Say.Of(p)); Say.Out("Values.Extensions.Sum", Say.Of(r)); return r; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static int Appended(this string s, int n) { Say.In("Values.Extensions.Appended", "s", Say.Of(s), "n", Say.Of(n)); Say.Out("Values.Extensions.Appended", Say.Of(n)); return n; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static string Extended(this string s, int n) { Say.In("Values.Extensions.Extended", "s", Say.Of(s), "n", Say.Of(n)); string r = s + n; Say.Out("Values.Extensions.Extended", Say.Of(r)); return r; }
}

class Thing
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public Thing(string s) { Say.In("Values.Thing..ctor", "this", Say.Of(this), "s", Say.Of(s)); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public Three Do<T>(int n, T x) { Say.In("Values.Thing.Do", "this", Say.Of(this), "n", Say.Of(n), "x", Say.Of(x)); var r = new Three { A = n }; Say.Out("Values.Thing.Do", Say.Of(r)); return r; }
}

class Base
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public virtual double Virtual(int a, double b) { Say.In("Values.Base.Virtual", "this", Say.Of(this), "a", Say.Of(a), "b", Say.Of(b)); Say.Out("Values.Base.Virtual", Say.Of(b)); return b; }
}

class Derived : Base, IWork
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public override double Virtual(int a, double b) { Say.In("Values.Derived.Virtual", "this", Say.Of(this), "a", Say.Of(a), "b", Say.Of(b)); double r = a < 0 ? a : base.Virtual(a, b); Say.Out("Values.Derived.Virtual", Say.Of(r)); return r; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public int Work(int a, string b) { Say.In("Values.Derived.Work", "this", Say.Of(this), "a", Say.Of(a), "b", Say.Of(b)); Say.Out("Values.Derived.Work", Say.Of(a)); return a; }
}

struct Worker : IWork, IMaker<Worker>
{
    public int N;
    [MethodImpl(MethodImplOptions.NoInlining)]
    public int Work(int a, string b) { Say.In("Values.Worker.Work", "this", Say.Ref(Say.Of(this)), "a", Say.Of(a), "b", Say.Of(b)); Say.Out("Values.Worker.Work", Say.Of(N)); return N; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static Worker Make(int n) { Say.In("Values.Worker.Make", "n", Say.Of(n)); var r = new Worker { N = n }; Say.Out("Values.Worker.Make", Say.Of(r)); return r; }
}

interface IMaker<T> { static abstract T Make(int n); }

struct Hidden
{
    public int A; public double B; public string C;
    [MethodImpl(MethodImplOptions.NoInlining)]
    public decimal Get(decimal d) { Say.In("Values.Hidden.Get", "this", Say.Ref(Say.Of(this)), "d", Say.Of(d)); decimal r = d + A; Say.Out("Values.Hidden.Get", Say.Of(r)); return r; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static Hidden operator +(Hidden h, int n) { Say.In("Values.Hidden.op_Addition", "h", Say.Of(h), "n", Say.Of(n)); h.A += n; Say.Out("Values.Hidden.op_Addition", Say.Of(h)); return h; }
    public int this[int i, string s]
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        get { Say.In("Values.Hidden.get_Item", "this", Say.Ref(Say.Of(this)), "i", Say.Of(i), "s", Say.Of(s)); Say.Out("Values.Hidden.get_Item", Say.Of(A)); return A; }
        [MethodImpl(MethodImplOptions.NoInlining)]
        set { Say.In("Values.Hidden.set_Item", "this", Say.Ref(Say.Of(this)), "i", Say.Of(i), "s", Say.Of(s), "value", Say.Of(value)); A = value; }
    }
    public int Property
    {
        [MethodImpl(MethodImplOptions.NoInlining)]
        set { Say.In("Values.Hidden.set_Property", "this", Say.Ref(Say.Of(this)), "value", Say.Of(value)); A = value; }
    }
}

class Holder<T>
{
    readonly T value;
    [MethodImpl(MethodImplOptions.NoInlining)]
    public Holder(T a) { Say.In("Values.Holder..ctor", "this", Say.Of(this), "a", Say.Of(a)); value = a; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public T Get(int n) { Say.In("Values.Holder.Get", "this", Say.Of(this), "n", Say.Of(n)); Say.Out("Values.Holder.Get", Say.Of(value)); return value; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public U Twice<U>(U u, T t) { Say.In("Values.Holder.Twice", "this", Say.Of(this), "u", Say.Of(u), "t", Say.Of(t)); Say.Out("Values.Holder.Twice", Say.Of(u)); return u; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static T[] Make(T t) { Say.In("Values.Holder.Make", "t", Say.Of(t)); var r = new[] { t }; Say.Out("Values.Holder.Make", Say.Of(r)); return r; }
}

struct Slot<T>
{
    public T Value;
    [MethodImpl(MethodImplOptions.NoInlining)]
    public T Get(int n) { Say.In("Values.Slot.Get", "this", Say.Ref(Say.Of(this)), "n", Say.Of(n)); Say.Out("Values.Slot.Get", Say.Of(Value)); return Value; }
}

class Map<K, V>
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public KeyValuePair<K, V> Whole(KeyValuePair<K, V> w) { Say.In("Values.Map.Whole", "this", Say.Of(this), "w", Say.Of(w)); Say.Out("Values.Map.Whole", Say.Of(w)); return w; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    public V Put(K k, V v, Pair p) { Say.In("Values.Map.Put", "this", Say.Of(this), "k", Say.Of(k), "v", Say.Of(v), "p", Say.Of(p)); Say.Out("Values.Map.Put", Say.Of(v)); return v; }
}

class Recursive
{
    [MethodImpl(MethodImplOptions.NoInlining)]
    public int Down(int n) { Say.In("Values.Recursive.Down", "this", Say.Of(this), "n", Say.Of(n)); int r = n == 0 ? 0 : Down(n - 1) + 1; Say.Out("Values.Recursive.Down", Say.Of(r)); return r; }
}
'''

MORE = '''
    static Item kept;
    static void Nothing() { }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static int Many(params int[] n) { Say.In("Values.Signatures.Many", "n", Say.Of(n)); int r = n.Length; Say.Out("Values.Signatures.Many", Say.Of(r)); return r; }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Text(string f, params object[] o) { Say.In("Values.Signatures.Text", "f", Say.Of(f), "o", Say.Of(o)); }
    static async Task<int> Async(int n, string s) { Say.In("Values.Signatures.Async", "n", Say.Of(n), "s", Say.Of(s)); await Task.Yield(); return n; }
    static async ValueTask<int> Quick(int n) { Say.In("Values.Signatures.Quick", "n", Say.Of(n)); await Task.CompletedTask; return n; }
    static async Task Later<T>(T x) { Say.In("Values.Signatures.Later", "x", Say.Of(x)); await Task.Yield(); }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static void Static<T>(int n) where T : IMaker<T> { T.Make(n); }
'''

plain_methods()
generic_methods()
by_reference()
spans()
pointers()
instances()
print('''// Made by signatures.py.
using System;
using System.Collections.Generic;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

namespace Values;

static class Signatures
{''')
print('\n'.join(out))
print(MORE)
print('    static int Main(string[] args) =>\n        args.Length == 0 ? Run() : args[0] == "bounds" ? Bounds.Run() : args[0] == "many" ? Bounds.Many() : Exact.Run();\n\n    static int Run()\n    {')
for i, call in enumerate(calls):
    print('        Call%03d();' % i)
print('        return 0;\n    }\n')
for i, call in enumerate(calls):
    print('    static void Call%03d() { %s }' % (i, call))
print('}')
print(REST)
