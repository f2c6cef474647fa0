using System;
using System.Reflection;
using System.Text.RegularExpressions;

namespace Shadowtrace;

internal static class Names
{
    /// <summary>
    /// A method as reports name it, whatever its parameters and type arguments: a lambda is of the method that it is written
    /// in, "Tests.Reads+lambda"; a local function "Tests.Reads+Work".
    /// </summary>
    public static string Pattern(MethodInfo method)
    {
        Type type = method.DeclaringType!;

        while (type.DeclaringType != null && type.Name.StartsWith('<')) // of the compiler: what lambdas share, what they capture
            type = type.DeclaringType;
        string owner = Regex.Replace((type.IsGenericType ? type.GetGenericTypeDefinition() : type).FullName!, "`[0-9]+", "*");
        Match made = Regex.Match(method.Name, @"^<(.*?)>(b__|g__([^|]*))");
        string name = !made.Success ? method.Name
            : made.Groups[3].Success ? $"{made.Groups[1].Value}+{made.Groups[3].Value}"
            : $"{made.Groups[1].Value}+lambda";

        return $"{owner.Replace('+', '?')}.{name}*";
    }
}
