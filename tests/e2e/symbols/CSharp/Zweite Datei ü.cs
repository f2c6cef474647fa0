// Code that claims to come from elsewhere: several documents in one method, hidden parts, spans, large line numbers.
namespace Shapes;

public static class Mapped
{
    public static int Mixed(int a)
    {
        var b = a + 1;
#line 700 "C:\\generated\\First.razor"
        b *= 2;
        b += a;
#line hidden
        b ^= 1;
#line 5 "/generated/Second.razor"
        b *= 3;
#line (1,1)-(3,20) 9 "/generated/Third.cshtml"
        b -= 7;
#line default
        b++;
#line 16707500 "/generated/Far.cs"
        b--;
        return b;
#line default
    }

    public static int Hidden(int a)
    {
#line hidden
        a++;
        a *= 2;
        return a;
#line default
    }

    public static string Long(int a)
    {
        if (a > 3) { a--; } else { a++; } return a.ToString() + "a very long line, so that columns need two bytes ................................................................................................................................................................" + a.ToString() + (a > 2 ? "b" : "c");
    }
}
