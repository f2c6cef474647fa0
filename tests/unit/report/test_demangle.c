/* Names as they were written. */
#include "report/demangle.h"

#include "base/atomics.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[][2] = {
    {"Ns.Foo.<BarAsync>d__3.MoveNext()", "Ns.Foo.BarAsync"},
    {"Ns.Foo<System.String>.<Bar>d__3<T, U>.MoveNext()", "Ns.Foo<System.String>.Bar<T, U>"},
    {"Ns.Foo.<Ns-IBar-Do>d__0.MoveNext()", "Ns.Foo.Ns.IBar.Do"},
    {"Ns.Foo.<Bar>d__3.System.IDisposable.Dispose()", "Ns.Foo.Bar+System.IDisposable.Dispose()"},
    {"Ns.Foo.<>c.<Bar>b__0_1(System.Int32)", "Ns.Foo.Bar+lambda_0_1(System.Int32)"},
    {"Ns.Foo.<>c__DisplayClass3_0<T>.<Bar>b__1(System.Func<T, X>)",
     "Ns.Foo.Bar+lambda_1(System.Func<T, X>)"},
    {"Ns.Foo.<Bar>g__Local|2_0(System.Int32)", "Ns.Foo.Bar+Local(System.Int32)"},
    {"Ns.Foo.<Bar>g__Local|2_0<T>(T)", "Ns.Foo.Bar+Local<T>(T)"},
    {"Ns.Foo.<>c.<<Bar>b__0_1>d.MoveNext()", "Ns.Foo.Bar+lambda_0_1"},
    {"Ns.Foo.<<Bar>g__Local|0_0>d.MoveNext()", "Ns.Foo.Bar+Local"},
    {"Program.<Main>$(System.String[])", "Program.Main(System.String[])"},
    {"Program.<<Main>$>d__0.MoveNext()", "Program.Main"},
    {"Program.<Main>(System.String[])", "Program.Main(System.String[])"},
    {"App.parse@12-1.Invoke(System.Int32)", "App.parse+lambda@12-1(System.Int32)"},
    {"App.fetch@15.MoveNext()", "App.fetch"},
    /* as written, or not known: left alone */
    {"Ns.Foo.Bar(System.Collections.Generic.List<T>)", NULL},
    {"Ns.Foo.<>c..cctor()", NULL},
    {"Ns.Foo.<>c..ctor()", NULL},
    {"Ns.Foo<T>..ctor()", NULL},
    {"App.parse@12-1..cctor()", NULL},
    {"Ns.Box<App.fetch@15>.MoveNext()", NULL},
    {"Ns.Box<App.parse@12-1>.Invoke(System.Int32)", NULL},
    {"<PrivateImplementationDetails>.ThrowSwitch(System.Object)", NULL},
    {"<>f__AnonymousType0<A>.ToString()", NULL},
    {"MoveNext()", NULL},
    {"", NULL},
    {"<", NULL},
    {"<>", NULL},
    {"a.<", NULL},
    {"a.<b", NULL},
    {"a.<>b__", NULL},
    {"a.<b>>", NULL},
    {"a.<b>g__", "a.b+"},
    {"a.)", NULL},
    {"@1.Invoke()", NULL},
    {"?method 0x06000001", NULL},
};

TEST(names_are_as_they_were_written)
{
    struct buffer b = BUFFER_INIT;

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *demangled = report_demangle(&b, names[i][0]);

        assert_string_equal(demangled, names[i][1] ? names[i][1] : names[i][0]);
    }
    buffer_free(&b);
}

/* Every prefix and every suffix, each in memory of exactly its size. */
TEST(no_name_is_read_past)
{
    struct buffer b = BUFFER_INIT;

    for (size_t i = 0; i < COUNT_OF(names); i++)
        for (size_t from = 0; from <= strlen(names[i][0]); from++)
            for (size_t to = from; to <= strlen(names[i][0]); to++) {
                char *part = strndup(names[i][0] + from, to - from);

                assert_non_null(report_demangle(&b, part));
                (void)report_demangle_is_machine(part);
                free(part);
            }
    buffer_free(&b);
}

TEST(state_machines_are_known)
{
    assert_true(report_demangle_is_machine("Ns.Foo.<BarAsync>d__3.MoveNext()"));
    assert_true(report_demangle_is_machine("Ns.Foo.<>c.<<Bar>b__0_1>d.MoveNext()"));
    assert_false(report_demangle_is_machine("Ns.Foo.<BarAsync>d__3.Dispose()"));
    assert_false(report_demangle_is_machine("Ns.Foo.MoveNext()"));
}
