// Every line that makes an object makes one of another type, T and the number of the line. For test_line_truth.py.
using System; using System.Collections.Generic; using System.Threading.Tasks; using System.Runtime.CompilerServices;
static class Sink { public static object O; public static long N; [MethodImpl(MethodImplOptions.NoInlining)] public static void Keep(object o) { O = o; N++; } public static int Eat(object a, object b) { O = a; O = b; N += 2; return (int)N; } }
static class Chain0
{
    static int L5(int i)
    {
        Sink.O = new T0008(i);
        int r = i;
        Sink.O = new T0010(r);
        return r + 1;
    }
    static int L4(int i)
    {
        Sink.O = new T0015(i);
        int r = L5(i + 1);
        Sink.O = new T0017(r);
        return r + 1;
    }
    static int L3(int i)
    {
        Sink.O = new T0022(i);
        int r = L4(i + 1);
        Sink.O = new T0024(r);
        return r + 1;
    }
    static int L2(int i)
    {
        Sink.O = new T0029(i);
        int r = L3(i + 1);
        Sink.O = new T0031(r);
        return r + 1;
    }
    static int L1(int i)
    {
        Sink.O = new T0036(i);
        int r = L2(i + 1);
        Sink.O = new T0038(r);
        return r + 1;
    }
    public static int Run(int i)
    {
        Sink.Keep(new T0043(i));
        int a = L1(i);
        Sink.Keep(new T0045(a));
        int b = L1(a);
        return L2(b);
    }
}
static class Chain1
{
    static int L5(int i)
    {
        Sink.O = new T0054(i);
        int r = i;
        Sink.O = new T0056(r);
        return r + 1;
    }
    static int L4(int i)
    {
        Sink.O = new T0061(i);
        int r = L5(i + 1);
        Sink.O = new T0063(r);
        return r + 1;
    }
    static int L3(int i)
    {
        Sink.O = new T0068(i);
        int r = L4(i + 1);
        Sink.O = new T0070(r);
        return r + 1;
    }
    static int L2(int i)
    {
        Sink.O = new T0075(i);
        int r = L3(i + 1);
        Sink.O = new T0077(r);
        return r + 1;
    }
    static int L1(int i)
    {
        Sink.O = new T0082(i);
        int r = L2(i + 1);
        Sink.O = new T0084(r);
        return r + 1;
    }
    public static int Run(int i)
    {
        Sink.Keep(new T0089(i));
        int a = L1(i);
        Sink.Keep(new T0091(a));
        int b = L1(a);
        return L2(b);
    }
}
static class Flow0
{
    static int Pick(int i)
    {
        switch (i % 6)
        {
            case 0:
                Sink.O = new T0103(i);
                return Helper(i, 0);
            case 1:
                Sink.O = new T0106(i);
                return Helper(i, 1);
            case 2:
                Sink.O = new T0109(i);
                return Helper(i, 2);
            case 3:
                Sink.O = new T0112(i);
                return Helper(i, 3);
            case 4:
                Sink.O = new T0115(i);
                return Helper(i, 4);
            default:
                Sink.O = new T0118(i);
                return 1;
        }
    }
    static int Helper(int i, int c)
    {
        if (i > c)
            Sink.O = new T0125(i);
        else
            Sink.O = new T0127(i);
        return i - c;
    }
    public static int Run(int i)
    {
        int s = 0;
        for (int j = 0; j < 7; j++)
        {
            s += Pick(i + j);
            Sink.O = new T0136(j);
        }
        object o = i % 2 == 0
            ? new T0139(i)
            : (object)new T0140(i);
        Sink.O = o;
        while (s > 1000)
        {
            Sink.O = new T0144(s);
            s -= 400;
        }
        return s;
    }
}
static class Flow1
{
    static int Pick(int i)
    {
        switch (i % 6)
        {
            case 0:
                Sink.O = new T0157(i);
                return Helper(i, 0);
            case 1:
                Sink.O = new T0160(i);
                return Helper(i, 1);
            case 2:
                Sink.O = new T0163(i);
                return Helper(i, 2);
            case 3:
                Sink.O = new T0166(i);
                return Helper(i, 3);
            case 4:
                Sink.O = new T0169(i);
                return Helper(i, 4);
            default:
                Sink.O = new T0172(i);
                return 1;
        }
    }
    static int Helper(int i, int c)
    {
        if (i > c)
            Sink.O = new T0179(i);
        else
            Sink.O = new T0181(i);
        return i - c;
    }
    public static int Run(int i)
    {
        int s = 0;
        for (int j = 0; j < 7; j++)
        {
            s += Pick(i + j);
            Sink.O = new T0190(j);
        }
        object o = i % 2 == 0
            ? new T0193(i)
            : (object)new T0194(i);
        Sink.O = o;
        while (s > 1000)
        {
            Sink.O = new T0198(s);
            s -= 400;
        }
        return s;
    }
}
static class Try0
{
    static void Maybe(int i)
    {
        Sink.O = new T0208(i);
        if (i % 400 == 399)
            throw new InvalidOperationException();
        Sink.O = new T0211(i);
    }
    public static int Run(int i)
    {
        try
        {
            Sink.O = new T0217(i);
            Maybe(i);
            Sink.O = new T0219(i);
        }
        catch (InvalidOperationException)
        {
            Sink.O = new T0223(i);
        }
        finally
        {
            Sink.O = new T0227(i);
        }
        Sink.O = new T0229(i);
        return i;
    }
}
static class Try1
{
    static void Maybe(int i)
    {
        Sink.O = new T0237(i);
        if (i % 400 == 399)
            throw new InvalidOperationException();
        Sink.O = new T0240(i);
    }
    public static int Run(int i)
    {
        try
        {
            Sink.O = new T0246(i);
            Maybe(i);
            Sink.O = new T0248(i);
        }
        catch (InvalidOperationException)
        {
            Sink.O = new T0252(i);
        }
        finally
        {
            Sink.O = new T0256(i);
        }
        Sink.O = new T0258(i);
        return i;
    }
}
static class Gen0<T>
{
    static int Inner(T v, int i)
    {
        Sink.O = new T0266(i);
        object b = v;
        Sink.O = b;
        Sink.O = new T0269(i);
        return i;
    }
    static int Own<U>(U u, int i) where U : new()
    {
        Sink.O = new T0274(i);
        Sink.O = new List<U>(1);
        Sink.O = new T0276(i);
        return i + 1;
    }
    public static int Run(T v, int i)
    {
        int a = Inner(v, i);
        Sink.O = new T0282(i);
        a += Own<T2>(default, i);
        a += Own<object>(null, i);
        Sink.O = new T0285(i);
        return a;
    }
}
static class Gen1<T>
{
    static int Inner(T v, int i)
    {
        Sink.O = new T0293(i);
        object b = v;
        Sink.O = b;
        Sink.O = new T0296(i);
        return i;
    }
    static int Own<U>(U u, int i) where U : new()
    {
        Sink.O = new T0301(i);
        Sink.O = new List<U>(1);
        Sink.O = new T0303(i);
        return i + 1;
    }
    public static int Run(T v, int i)
    {
        int a = Inner(v, i);
        Sink.O = new T0309(i);
        a += Own<T2>(default, i);
        a += Own<object>(null, i);
        Sink.O = new T0312(i);
        return a;
    }
}
struct T2 { public int A, B; public long C; public T2() { A = 1; } }
static class Lam0
{
    static int Apply(Func<int, int> f, int i)
    {
        Sink.O = new T0321(i);
        return f(i);
    }
    public static int Run(int i)
    {
        int k = i + 1;
        int a = Apply(x =>
        {
            Sink.O = new T0329(x);
            return x + k;
        }, i);
        Sink.O = new T0332(i);
        int Local(int y)
        {
            Sink.O = new T0335(y);
            return y + k;
        }
        a += Local(a);
        a += Apply(static x => { Sink.O = x; return x; }, 3);
        Sink.O = new T0340(i);
        return a;
    }
}
static class Lam1
{
    static int Apply(Func<int, int> f, int i)
    {
        Sink.O = new T0348(i);
        return f(i);
    }
    public static int Run(int i)
    {
        int k = i + 1;
        int a = Apply(x =>
        {
            Sink.O = new T0356(x);
            return x + k;
        }, i);
        Sink.O = new T0359(i);
        int Local(int y)
        {
            Sink.O = new T0362(y);
            return y + k;
        }
        a += Local(a);
        a += Apply(static x => { Sink.O = x; return x; }, 3);
        Sink.O = new T0367(i);
        return a;
    }
}
struct V0 { public long A, B, C, D; public V0 With(long a) { var c = this; c.A = a; return c; } }
sealed class Prop0
{
    V0 v;
    object Fresh => new T0375(1);
    static object Make(int i) => new T0376(i);
    static object Two(int i) => Pass(new T0377(i));
    static object Pass(object o) => o;
    public static int Run(int i)
    {
        var p = new Prop0();
        p.v = p.v.With(i).With(3);
        Sink.O = p.Fresh;
        Sink.O = Make(i);
        Sink.O = Two(i);
        int r = Sink.Eat(
            new T0387(i),
            new T0388(i));
        r += Sink.Eat(Pass(
            new T0390(i)),
            Pass(new T0391(i)));
        Sink.O = new object[]
        {
            new T0394(i),
            new T0395(i),
            Make(i),
            new T0397(i)
        };
        Sink.O = (object)new T0399 { X = i };
        Sink.O = new T0400(i);
        return r;
    }
}
struct V1 { public long A, B, C, D; public V1 With(long a) { var c = this; c.A = a; return c; } }
sealed class Prop1
{
    V1 v;
    object Fresh => new T0408(1);
    static object Make(int i) => new T0409(i);
    static object Two(int i) => Pass(new T0410(i));
    static object Pass(object o) => o;
    public static int Run(int i)
    {
        var p = new Prop1();
        p.v = p.v.With(i).With(3);
        Sink.O = p.Fresh;
        Sink.O = Make(i);
        Sink.O = Two(i);
        int r = Sink.Eat(
            new T0420(i),
            new T0421(i));
        r += Sink.Eat(Pass(
            new T0423(i)),
            Pass(new T0424(i)));
        Sink.O = new object[]
        {
            new T0427(i),
            new T0428(i),
            Make(i),
            new T0430(i)
        };
        Sink.O = (object)new T0432 { X = i };
        Sink.O = new T0433(i);
        return r;
    }
}
static class It0
{
    static IEnumerable<int> Seq(int i)
    {
        Sink.O = new T0441(i);
        yield return i;
        Sink.O = new T0443(i);
        for (int j = 0; j < 3; j++)
        {
            Sink.O = new T0446(j);
            yield return j;
        }
    }
    public static int Run(int i)
    {
        int s = 0;
        foreach (int x in Seq(i))
        {
            Sink.O = new T0455(x);
            s += x;
        }
        return s;
    }
}
static class It1
{
    static IEnumerable<int> Seq(int i)
    {
        Sink.O = new T0465(i);
        yield return i;
        Sink.O = new T0467(i);
        for (int j = 0; j < 3; j++)
        {
            Sink.O = new T0470(j);
            yield return j;
        }
    }
    public static int Run(int i)
    {
        int s = 0;
        foreach (int x in Seq(i))
        {
            Sink.O = new T0479(x);
            s += x;
        }
        return s;
    }
}
static class As0
{
    static async Task<int> Deep(int i)
    {
        Sink.O = new T0489(i);
        if (i % 100 == 0)
            await Task.Yield();
        Sink.O = new T0492(i);
        return i;
    }
    public static async Task<int> RunA(int i)
    {
        Sink.O = new T0497(i);
        int a = await Deep(i);
        Sink.O = new T0499(i);
        a += await Deep(a + 1);
        Sink.O = new T0501(i);
        return a;
    }
    public static int Run(int i) => RunA(i).GetAwaiter().GetResult();
}
static class As1
{
    static async Task<int> Deep(int i)
    {
        Sink.O = new T0510(i);
        if (i % 100 == 0)
            await Task.Yield();
        Sink.O = new T0513(i);
        return i;
    }
    public static async Task<int> RunA(int i)
    {
        Sink.O = new T0518(i);
        int a = await Deep(i);
        Sink.O = new T0520(i);
        a += await Deep(a + 1);
        Sink.O = new T0522(i);
        return a;
    }
    public static int Run(int i) => RunA(i).GetAwaiter().GetResult();
}
abstract class Obj0
{
    public object F;
    protected Obj0(int i)
    {
        F = new T0532(i);
    }
    public abstract int Go(int i);
    public sealed class A : Obj0
    {
        object g;
        public A(int i) : base(i)
        {
            g = new T0540(i);
        }
        public override int Go(int i)
        {
            Sink.O = new T0544(i);
            return Tail(i);
        }
        static int Tail(int i)
        {
            Sink.O = new T0549(i);
            return Sink.Eat(null, null) + i;
        }
    }
    public static int Run(int i)
    {
        Obj0 o = new A(i);
        Sink.O = new T0556(i);
        return o.Go(i);
    }
}
abstract class Obj1
{
    public object F;
    protected Obj1(int i)
    {
        F = new T0565(i);
    }
    public abstract int Go(int i);
    public sealed class A : Obj1
    {
        object g;
        public A(int i) : base(i)
        {
            g = new T0573(i);
        }
        public override int Go(int i)
        {
            Sink.O = new T0577(i);
            return Tail(i);
        }
        static int Tail(int i)
        {
            Sink.O = new T0582(i);
            return Sink.Eat(null, null) + i;
        }
    }
    public static int Run(int i)
    {
        Obj1 o = new A(i);
        Sink.O = new T0589(i);
        return o.Go(i);
    }
}
static class Program
{
    static int Main(string[] a)
    {
        int n = a.Length > 0 ? int.Parse(a[0]) : 60, rounds = a.Length > 1 ? int.Parse(a[1]) : 6; long s = 0;
        for (int r = 0; r < rounds; r++)
        {
            for (int i = 0; i < n; i++) s += All(i);
            System.Threading.Thread.Sleep(200);
        }
        Console.WriteLine(s & 1);
        return 0;
    }
    static long All(int i)
    {
        long s = 0;
        s += Chain0.Run(i);
        s += Chain1.Run(i);
        s += Flow0.Run(i);
        s += Flow1.Run(i);
        s += Try0.Run(i);
        s += Try1.Run(i);
        s += Gen0<string>.Run("x", i);
        s += Gen0<T2>.Run(default, i);
        s += Gen1<string>.Run("x", i);
        s += Gen1<T2>.Run(default, i);
        s += Lam0.Run(i);
        s += Lam1.Run(i);
        s += Prop0.Run(i);
        s += Prop1.Run(i);
        s += It0.Run(i);
        s += It1.Run(i);
        s += As0.Run(i);
        s += As1.Run(i);
        s += Obj0.Run(i);
        s += Obj1.Run(i);
        return s;
    }
}
