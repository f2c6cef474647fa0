// Prints what a method was called with and what it returns, as the trace is to show it; told by reflection.
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Reflection;
using System.Text;

namespace Values;

static class Say
{
    const int MaxText = 100, MaxItems = 10;

    public static void In(string method, params string[] pairs)
    {
        var all = new List<string>();
        for (int i = 0; i < pairs.Length; i += 2)
            all.Add(Quote(pairs[i]) + ":" + pairs[i + 1]);
        Console.WriteLine("in\t" + method + "\t{" + string.Join(",", all) + "}");
    }

    public static void Back(string method, string name, string value) =>
        Console.WriteLine("back\t" + method + "\t{" + Quote(name) + ":" + value + "}");

    public static void Out(string method, string value) => Console.WriteLine("out\t" + method + "\t" + value);

    public static string Of<T>(T value) => Text(value, typeof(T));
    public static string Ref(string text) => "{\"ref\":" + text + "}";
    public static string Span<T>(ReadOnlySpan<T> span) =>
        "{\"length\":" + span.Length + ",\"items\":[" +
        string.Join(",", span.Slice(0, Math.Min(span.Length, MaxItems)).ToArray().Select(x => Of(x))) + "]}";
    public static unsafe string Pointer(void* p, string target) =>
        "{\"pointer\":\"0x" + ((ulong)p).ToString("x") + "\"" + (target == null ? "" : ",\"target\":" + target) + "}";
    public const string Missing = "{\"out\":true}", Moved = "{\"moved\":true}";

    static string Quote(string s)
    {
        var b = new StringBuilder("\"");
        for (int i = 0; i < s.Length; i++)
        {
            bool pair = char.IsHighSurrogate(s[i]) && i + 1 < s.Length && char.IsLowSurrogate(s[i + 1]);
            if (pair)
                b.Append("\\u").Append(((int)s[i]).ToString("x4")).Append("\\u").Append(((int)s[++i]).ToString("x4"));
            else if (s[i] == 0 || char.IsSurrogate(s[i]))
                b.Append("\\ufffd"); // no JSON text of a log holds these
            else
                b.Append("\\u").Append(((int)s[i]).ToString("x4"));
        }
        return b.Append('"').ToString();
    }

    public static string Name(Type t)
    {
        if (t.IsArray)
            return Name(t.GetElementType()) + "[" + new string(',', t.GetArrayRank() - 1) + "]";
        var args = t.GetGenericArguments();
        var chain = new List<Type>();
        for (var at = t; at != null; at = at.DeclaringType)
            chain.Insert(0, at);
        int used = 0;
        var b = new StringBuilder(t.Namespace == null ? "" : t.Namespace + ".");
        foreach (var part in chain)
        {
            int tick = part.Name.IndexOf('`'), count = part.GetGenericArguments().Length;
            b.Append(part == chain[0] ? "" : ".").Append(tick < 0 ? part.Name : part.Name.Substring(0, tick));
            if (count > used)
                b.Append('<').Append(string.Join(", ", args.Skip(used).Take(count - used).Select(Name))).Append('>');
            used = count;
        }
        return b.ToString();
    }

    static string Number(IConvertible v)
    {
        if (v is float || v is double)
        {
            double d = v.ToDouble(null);
            return double.IsFinite(d) ? d.ToString("R", CultureInfo.InvariantCulture)
                                      : Quote(d.ToString(CultureInfo.InvariantCulture));
        }
        string s = v.ToString(CultureInfo.InvariantCulture);
        return Math.Abs(decimal.Parse(s, CultureInfo.InvariantCulture)) <= (1L << 53) - 1 ? s : Quote(s);
    }

    static string Enumeration(object v)
    {
        string s = v.ToString();
        return s.Length > 0 && (char.IsDigit(s[0]) || s[0] == '-')
                   ? Number((IConvertible)Convert.ChangeType(v, Enum.GetUnderlyingType(v.GetType())))
                   : Quote(s);
    }

    static string Array(Array a)
    {
        var items = new List<string>();
        foreach (var x in a)
        {
            if (items.Count == MaxItems)
                break;
            items.Add(Text(x, a.GetType().GetElementType()));
        }
        string length = a.Rank == 1
                            ? "\"length\":" + a.Length
                            : "\"lengths\":[" + string.Join(",", Enumerable.Range(0, a.Rank).Select(a.GetLength)) + "]";
        return "{\"type\":" + Quote(Name(a.GetType())) + "," + length + ",\"items\":[" + string.Join(",", items) + "]}";
    }

    static string Fields(object v)
    {
        var all = new List<string>();
        foreach (var f in v.GetType().GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic))
        {
            string name = f.Name[0] == '<'         ? f.Name.Substring(1, f.Name.IndexOf('>') - 1)
                          : f.Name.StartsWith("m_") ? f.Name.Substring(2)
                                                    : f.Name;
            all.Add(Quote(name) + ":" + Text(f.GetValue(v), f.FieldType));
        }
        return "{" + string.Join(",", all) + "}";
    }

    static string Text(object v, Type declared)
    {
        if (v == null)
            return "null";
        var t = v.GetType();
        if (!t.IsArray && t.FullName.StartsWith("System.Tuple`"))
            return "{\"type\":" + Quote(Name(t)) + ",\"value\":" + Fields(v) + "}";
        if (t.IsValueType && !declared.IsValueType)
            return "{\"type\":" + Quote(Name(t)) + ",\"value\":" + Text(v, t) + "}";
        return v switch {
            string s when s.Length > MaxText =>
                "{\"length\":" + s.Length + ",\"text\":" + Quote(s.Substring(0, MaxText)) + "}",
            string s => Quote(s),
            bool b => b ? "true" : "false",
            char c => Quote(c.ToString()),
            decimal d => Quote(d.ToString(CultureInfo.InvariantCulture)),
            nint n => Number((long)n),
            nuint n => Number((ulong)n),
            Enum => Enumeration(v),
            Array a => Array(a),
            _ when t.IsPrimitive => Number((IConvertible)v),
            _ when t.IsValueType => Fields(v),
            _ => "{\"type\":" + Quote(Name(t)) + "}",
        };
    }
}
