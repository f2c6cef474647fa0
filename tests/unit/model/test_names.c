/* Short names: what each becomes, and that no two become the same. */
#include "model/names.h"

#include "report/demangle.h"

#include "base/memory.h"
#include "base/name.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A log of names only. */
struct log {
    struct log_defs defs;
    struct names *names;
};

static void define(struct log_table *table, const char *name)
{
    assert_true(array_reserve(&table->defs, &table->capacity, table->count + 1));
    table->defs[table->count++] =
        (struct log_def){.name = memory_strdup(name), .path = "", .defined = true};
}

static void log_begin(struct log *l)
{
    *l = (struct log){.names = NULL};
    define(&l->defs.methods, "?");
    define(&l->defs.classes, "?");
}

static void table_end(struct log_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        memory_free((void *)(uintptr_t)table->defs[i].name);
    memory_free(table->defs);
}

static void log_end(struct log *l)
{
    names_free(l->names);
    table_end(&l->defs.methods);
    table_end(&l->defs.classes);
}

static const char *short_class(struct log *l, const char *name)
{
    if (!l->names)
        assert_int_equal(names_new(&l->defs, NAMES_SHORT, &l->names), 0);
    for (uint32_t i = 1; i < l->defs.classes.count; i++)
        if (strcmp(l->defs.classes.defs[i].name, name) == 0)
            return names_type(l->names, i);
    fail_msg("no class %s", name);
    return NULL;
}

static const char *short_method(struct log *l, const char *name)
{
    if (!l->names)
        assert_int_equal(names_new(&l->defs, NAMES_SHORT, &l->names), 0);
    for (uint32_t i = 1; i < l->defs.methods.count; i++)
        if (strcmp(l->defs.methods.defs[i].name, name) == 0)
            return names_method(l->names, i);
    fail_msg("no method %s", name);
    return NULL;
}

/* Pairs of a name and what it becomes, all in one log; NULL: it stays. */
static void expect(const char *const (*classes)[2], size_t class_count,
                   const char *const (*methods)[2], size_t method_count)
{
    struct log l;

    log_begin(&l);
    for (size_t i = 0; i < class_count; i++)
        define(&l.defs.classes, classes[i][0]);
    for (size_t i = 0; i < method_count; i++)
        define(&l.defs.methods, methods[i][0]);
    for (size_t i = 0; i < class_count; i++)
        assert_string_equal(short_class(&l, classes[i][0]),
                            classes[i][1] ? classes[i][1] : classes[i][0]);
    for (size_t i = 0; i < method_count; i++)
        assert_string_equal(short_method(&l, methods[i][0]),
                            methods[i][1] ? methods[i][1] : methods[i][0]);
    log_end(&l);
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

TEST(types_are_as_csharp_has_them)
{
    static const char *const classes[][2] = {
        {"System.String", "string"},
        {"System.Object[]", "object[]"},
        {"System.Byte[]", "byte[]"},
        {"System.Int32[,]", "int[,]"},
        {"System.Int32[,][]", "int[][,]"}, /* an array of 2-D arrays */
        {"System.Int32[][,,][,]*[][,]", "int[,][,,][]*[,][]"},
        {"System.Int32[*]", "int[*]"},
        {"System.Char*", "char*"},
        {"System.Void**", "void**"},
        {"System.Double&", "ref double"},
        {"System.Nullable<System.Int32>", "int?"},
        {"System.Nullable<System.Int32>[]", "int?[]"},
        {"System.Nullable<System.ValueTuple<System.Int32, System.String>>", "(int, string)?"},
        {"System.Collections.Generic.Dictionary<System.String, System.Collections.Generic.List<"
         "System.UInt64[]>>",
         "Dictionary<string, List<ulong[]>>"},
        {"System.Collections.Generic.List<T>.Enumerator", "List<T>.Enumerator"},
        {"System.IntPtr", "nint"},
        {"System.Int32.Nested", "Int32.Nested"},
        {"delegate*<System.Int32, System.Void>", "delegate*<int, void>"},
        {"delegate* unmanaged[Cdecl]<System.IntPtr, System.Void>[]",
         "delegate* unmanaged[Cdecl]<nint, void>[]"},
        {"Shop.Basket.<>c__DisplayClass1_0", "Basket.<>c__DisplayClass1_0"},
        {"Shop.Basket.<AddAsync>d__3", "Basket.<AddAsync>d__3"},
        {"<>f__AnonymousType0<System.Int32, Shop.Basket>", "<>f__AnonymousType0<int, Basket>"},
        {"<PrivateImplementationDetails>.__StaticArrayInitTypeSize=24", NULL},
        {"Global", NULL},
    };

    expect(classes, COUNT(classes), NULL, 0);
}

TEST(tuples_have_parentheses)
{
#define SEVEN "System.Int32, System.Int32, System.Int32, System.Int32, A.B, A.C, System.Int64"
#define SHORT "int, int, int, int, B, C, long"
    static const char *const classes[][2] = {
        {"System.ValueTuple<System.Int32, System.String>", "(int, string)"},
        {"System.ValueTuple<System.Int32, System.String>[]", "(int, string)[]"},
        {"System.ValueTuple<System.Int32>", "ValueTuple<int>"},
        {"System.ValueTuple", "ValueTuple"},
        {"System.ValueTuple<" SEVEN ">", "(" SHORT ")"},
        {"System.ValueTuple<" SEVEN ", System.ValueTuple<System.Byte>>", "(" SHORT ", byte)"},
        {"System.ValueTuple<" SEVEN ", System.ValueTuple<System.Byte, A.B>>",
         "(" SHORT ", byte, B)"},
        {"System.ValueTuple<" SEVEN ", System.ValueTuple<" SEVEN ", System.ValueTuple<A.B>>>",
         "(" SHORT ", " SHORT ", B)"},
        /* no tuples of the language */
        {"System.ValueTuple<" SEVEN ", System.Byte>", "ValueTuple<" SHORT ", byte>"},
        {"System.ValueTuple<" SEVEN ", System.ValueTuple<A.B>[]>",
         "ValueTuple<" SHORT ", ValueTuple<B>[]>"},
        {"System.Func<System.ValueTuple<System.Int32, A.B>>", "Func<(int, B)>"},
    };

    expect(classes, COUNT(classes), NULL, 0);
}

TEST(namespaces_stay_where_two_would_look_alike)
{
    static const char *const classes[][2] = {
        {"A.B.Node", "B.Node"},
        {"A.C.Node", "C.Node"},
        {"A.B.Node[]", "B.Node[]"},
        {"X.Leaf", "X.Leaf"},
        {"Leaf", "Leaf"},
        {"A.Tree", "Tree"},
        {"A.Tree.Leaf", "Tree.Leaf"},
        {"System.Collections.IEnumerable", "IEnumerable"},
        {"System.Collections.Generic.IEnumerable<T>", "IEnumerable<T>"},
        {"N.T", "N.T"}, /* T is a parameter, too */
        {"N.List<N.T>", "List<N.T>"},
        {"N.List<T>", "List<T>"},
    };

    expect(classes, COUNT(classes), NULL, 0);
}

TEST(a_type_in_a_type_keeps_the_outer_one)
{
    static const char *const classes[][2] = {
        {"System.Reflection.Metadata.MetadataBuilder.ParamRow[]", "MetadataBuilder.ParamRow[]"},
        {"System.Collections.Immutable.ImmutableArray<Shop.Item>.Builder",
         "ImmutableArray<Item>.Builder"},
        {"Shop.Unknown.Inner", "Inner"}, /* nothing tells that Shop.Unknown is a type */
    };
    static const char *const methods[][2] = {
        {"System.Reflection.Metadata.MetadataBuilder..ctor()", "MetadataBuilder..ctor"},
        {"Shop.Basket.Lines.Count()", "Basket.Lines.Count"},
        {"Shop.Basket..cctor()", "Basket..cctor"},
    };

    expect(classes, COUNT(classes), methods, COUNT(methods));
}

TEST(methods_have_parameters_only_to_be_told_apart)
{
    static const char *const methods[][2] = {
        {"Shop.Basket.Add(System.Int32)", "Basket.Add(int)"},
        {"Shop.Basket.Add(System.Int32&, Shop.Item[])", "Basket.Add(ref int, Item[])"},
        {"Shop.Basket.Add()", "Basket.Add()"},
        {"Shop.Basket.Remove(System.Int32)", "Basket.Remove"},
        {"Shop.Basket.Map<System.Int32>(System.Int32)", "Basket.Map<int>"},
        {"Shop.Basket.Map<T>(T)", "Basket.Map<T>"},
        {"System.Collections.Generic.List<System.String>.Add(System.String)", "List<string>.Add"},
        {"System.Collections.Generic.List<T>.Add(T)", "List<T>.Add"},
        {"System.String.Concat(System.String, System.String)", "string.Concat"},
        {"System.ValueTuple<System.Int32, T>.Equals(System.Object)", "ValueTuple<int, T>.Equals"},
        {"Shop.Money.op_Addition(Shop.Money, Shop.Money)", "Money.op_Addition"},
        {"Main(System.String[])", NULL},
    };

    expect(NULL, 0, methods, COUNT(methods));
}

TEST(what_compilers_made_is_as_it_was_written)
{
    static const char *const methods[][2] = {
        {"Shop.Basket.<AddAsync>d__3.MoveNext()", "Basket.AddAsync"},
        {"Shop.Basket.AddAsync(System.Int32)", "Basket.AddAsync"}, /* the same method */
        {"Shop.Basket.<>c__DisplayClass1_0.<M>b__2(System.Int32)", "Basket.M+lambda_2"},
        {"Shop.Basket.<M>g__Local|2_0<T>(T)", "Basket.M+Local<T>"},
        {"Shop.Basket.<Lines>d__3.System.IDisposable.Dispose()",
         "Basket.Lines+System.IDisposable.Dispose"},
        {"Shop.Basket.<Lines>d__3.System.Collections.Generic.IEnumerable<A.B>.GetEnumerator()",
         "Basket.Lines+System.Collections.Generic.IEnumerable<B>.GetEnumerator"},
        {"Program.<Main>$(System.String[])", "Program.Main"},
        {"App.parse@12-1.Invoke(System.Int32)", "App.parse+lambda@12-1"},
        {"Shop.Basket..ctor()", "Basket..ctor"},
    };

    expect(NULL, 0, methods, COUNT(methods));
}

TEST(interfaces_implemented_by_name_lose_their_namespace)
{
    static const char *const classes[][2] = {{"Shop.Basket", "Basket"},
                                             {"Shop.Tree<T>", "Tree<T>"}};
    static const char *const methods[][2] = {
        {"Shop.Basket.System.IDisposable.Dispose()", "Basket.IDisposable.Dispose"},
        {"Shop.Tree<T>.System.Collections.Generic.IEnumerable<T>.GetEnumerator()",
         "Tree<T>.IEnumerable<T>.GetEnumerator"},
        {"Shop.Tree<T>.System.Collections.IEnumerable.GetEnumerator()",
         "Tree<T>.IEnumerable.GetEnumerator"},
        {"Shop.Tree<T>.System.IComparable<Shop.Pair<T,System.Int32>>.CompareTo(T)",
         "Tree<T>.IComparable<Pair<T, int>>.CompareTo"},
        {"Shop.Basket.IPrivate.Do()", "Basket.IPrivate.Do"},
    };

    expect(classes, COUNT(classes), methods, COUNT(methods));
}

TEST(names_of_fsharp_may_have_blanks_and_ticks)
{
    static const char *const methods[][2] = {
        {"App.Tests.adds two numbers(System.Int32)", "Tests.adds two numbers"},
        {"App.Tests.it's ``odd``(Microsoft.FSharp.Core.Unit)", "Tests.it's ``odd``"},
    };

    expect(NULL, 0, methods, COUNT(methods));
}

TEST(what_is_no_name_stays_as_it_is)
{
    static const char *const classes[][2] = {
        {"", NULL},
        {"A.", NULL},
        {".", NULL},
        {"A<", NULL},
        {"A.B>", NULL},
        {"A.B<C", NULL},
        {"A.B<C,>", NULL},
        {"A.B<>", NULL},
        {"A.B[", NULL},
        {"A.B<C>>", NULL},
        {"\xFF\xFE.\xC3", "\xC3"},
        {"(what)", NULL},
    };
    static const char *const methods[][2] = {
        {"(one of 3 callers)", NULL},   {"(path not kept)", NULL}, {"A.B.C(System.Int32", NULL},
        {"A.B.C(System.Int32))", NULL}, {"A.B<.C()", NULL},        {"A..C()", "A..C"},
        {"A.B.C(\xE2\x80\xA6", NULL},
    };

    expect(classes, COUNT(classes), methods, COUNT(methods));
}

TEST(a_keyword_that_a_program_uses_itself_is_told_apart)
{
    static const char *const classes[] = {"System.String", "string", "System.Int32", "Shop.int"};
    struct log l;

    log_begin(&l);
    for (size_t i = 0; i < COUNT(classes); i++)
        define(&l.defs.classes, classes[i]);
    assert_string_not_equal(short_class(&l, "System.String"), short_class(&l, "string"));
    assert_string_not_equal(short_class(&l, "System.Int32"), short_class(&l, "Shop.int"));
    log_end(&l);
}

TEST(full_and_raw_are_as_ever)
{
    struct names *full, *raw;
    struct log l;

    log_begin(&l);
    define(&l.defs.methods, "Ns.Foo.<BarAsync>d__3.MoveNext()");
    define(&l.defs.classes, "System.String");
    assert_int_equal(names_new(&l.defs, NAMES_FULL, &full), 0);
    assert_int_equal(names_new(&l.defs, NAMES_RAW, &raw), 0);
    assert_string_equal(names_method(full, 1), "Ns.Foo.BarAsync");
    assert_ptr_equal(names_method(full, 1), names_method(full, 1));
    assert_string_equal(names_method(raw, 1), "Ns.Foo.<BarAsync>d__3.MoveNext()");
    assert_string_equal(names_class(full, 1), "System.String");
    assert_string_equal(names_class(raw, 1), "System.String");
    names_free(full);
    names_free(raw);
    log_end(&l);
}

TEST(an_id_that_nobody_defined_stays_as_it_is)
{
    struct log l;

    log_begin(&l);
    define(&l.defs.methods, "A.method 12 (not defined)");
    l.defs.methods.defs[1].defined = false;
    assert_string_equal(short_method(&l, "A.method 12 (not defined)"), "A.method 12 (not defined)");
    assert_string_equal(names_method(l.names, 0), "?");
    log_end(&l);
}

TEST(names_that_come_later_are_given_in_full)
{
    struct log l;

    log_begin(&l);
    define(&l.defs.methods, "A.B.C()");
    assert_string_equal(short_method(&l, "A.B.C()"), "B.C");
    define(&l.defs.methods, "A.D.E()");
    assert_string_equal(short_method(&l, "A.D.E()"), "A.D.E()");
    log_end(&l);
}

TEST(logs_side_by_side_have_the_same_names)
{
    struct names *beside;
    struct log a, b;

    log_begin(&a);
    log_begin(&b);
    define(&a.defs.classes, "A.Node");
    define(&a.defs.methods, "A.Tree.Add(System.Int32)");
    define(&b.defs.classes, "B.Node");
    define(&b.defs.classes, "A.Node");
    define(&b.defs.methods, "A.Tree.Add(System.Int64)");
    assert_int_equal(names_new(&a.defs, NAMES_SHORT, &a.names), 0);
    assert_int_equal(names_beside(a.names, &b.defs, &beside), 0);
    assert_string_equal(names_class(a.names, 1), "A.Node");
    assert_string_equal(names_class(beside, 1), "B.Node");
    assert_string_equal(names_class(beside, 2), "A.Node");
    assert_string_equal(names_method(a.names, 1), "Tree.Add(int)");
    assert_string_equal(names_method(beside, 1), "Tree.Add(long)");
    names_free(beside);
    log_end(&b);
    log_end(&a);
}

TEST(names_of_a_living_process_need_no_log)
{
    static const char *const methods[] = {"Shop.Basket.Add(System.Int32)", "Shop.Program.Main()"};
    static const char *const classes[] = {"System.Byte[]"};
    const struct names_texts texts = {methods, classes, 2, 1};
    struct names *names;

    assert_int_equal(names_of_texts(&texts, NAMES_SHORT, &names), 0);
    assert_string_equal(names_method(names, 0), "Basket.Add");
    assert_string_equal(names_method(names, 1), "Program.Main");
    assert_string_equal(names_class(names, 0), "byte[]");
    names_free(names);
    for (long fail = 0; fail < 4; fail++) {
        memory_fail_after(fail);
        assert_int_equal(names_of_texts(&texts, NAMES_SHORT, &names), -ENOMEM);
        memory_fail_after(-1);
        assert_null(names);
    }
}

/* ---- properties ---- */

static unsigned seed;

static unsigned random_below(unsigned limit)
{
    seed = seed * 1103515245 + 12345;
    return seed / 65536 % limit;
}

static void random_type(struct buffer *b, unsigned depth)
{
    static const char *const paths[] = {
        "System.Int32", "System.String", "int",  "string",    "A.B.C",  "A.C",       "C",
        "B.C",          "A.B",           "T",    "A.T",       "A.B.IC", "System.IC", "IC",
        "A.<>c",        "System.Object", "A.B.", "A.<M>d__1", "A.int",  "A.B C",     "A.B+C",
        "\x1b.\xFF",    "ref int",       "(int", "A.B(int)",  "A,B",
    };
    static const char *const generic[] = {
        "A.G", "B.G", "System.Nullable", "System.ValueTuple", "A.B.G.Inner", "delegate*"};
    static const char *const suffixes[] = {"", "", "", "", "[]", "[,]", "[][,]", "*", "&", "?"};

    if (depth > 3 || random_below(3)) {
        buffer_text(b, paths[random_below(COUNT(paths))]);
    } else {
        unsigned count = random_below(10) ? 1 + random_below(3) : 8;

        buffer_text(b, generic[random_below(COUNT(generic))]);
        for (unsigned i = 0; i < count; i++) {
            buffer_text(b, i ? ", " : "<");
            random_type(b, depth + 1);
        }
        buffer_text(b, random_below(30) ? ">" : ">>");
        if (!random_below(4))
            buffer_text(b, ".N");
    }
    buffer_text(b, suffixes[random_below(COUNT(suffixes))]);
}

static void random_method(struct buffer *b)
{
    static const char *const methods[] = {"M",
                                          "N",
                                          ".ctor",
                                          "System.IC.Do",
                                          "IC.Do",
                                          "<M>b__0",
                                          "<M>d__1.MoveNext",
                                          "<>c.<M>b__0_1",
                                          "<M>g__L|1_0",
                                          "f@12.Invoke",
                                          "M+lambda_0",
                                          "Do"};

    random_type(b, 0);
    buffer_char(b, '.');
    buffer_text(b, methods[random_below(COUNT(methods))]);
    if (!random_below(5)) {
        buffer_char(b, '<');
        random_type(b, 2);
        buffer_char(b, '>');
    }
    buffer_char(b, '(');
    for (unsigned i = 0, count = random_below(3); i < count; i++) {
        buffer_text(b, i ? ", " : "");
        random_type(b, 2);
    }
    buffer_text(b, random_below(40) ? ")" : "");
}

struct seen {
    const char *shown, *full;
};

static int by_shown(const void *a, const void *b)
{
    return strcmp(((const struct seen *)a)->shown, ((const struct seen *)b)->shown);
}

/* Whether two full names are those of one method: without the parameters of a state machine. */
static bool is_one(const char *a, const char *b)
{
    const char *end_a = name_parameters(a), *end_b = name_parameters(b);

    return strcmp(a, b) == 0 || ((!*end_a || !*end_b) && end_a - a == end_b - b &&
                                 strncmp(a, b, (size_t)(end_a - a)) == 0);
}

static void assert_apart(struct log *l, bool methods)
{
    const struct log_table *table = methods ? &l->defs.methods : &l->defs.classes;
    struct seen *seen = calloc(table->count, sizeof(*seen));
    struct buffer b = BUFFER_INIT;

    for (uint32_t i = 0; i < table->count; i++) {
        seen[i].shown = methods ? names_method(l->names, i) : names_class(l->names, i);
        seen[i].full =
            strdup(methods ? report_demangle(&b, table->defs[i].name) : table->defs[i].name);
    }
    qsort(seen, table->count, sizeof(*seen), by_shown);
    for (size_t i = 0; i + 1 < table->count; i++)
        if (strcmp(seen[i].shown, seen[i + 1].shown) == 0 &&
            !is_one(seen[i].full, seen[i + 1].full))
            fail_msg("both are %s: %s and %s", seen[i].shown, seen[i].full, seen[i + 1].full);
    for (size_t i = 0; i < table->count; i++)
        free((void *)(uintptr_t)seen[i].full);
    free(seen);
    buffer_free(&b);
}

TEST(no_two_names_of_a_log_become_the_same)
{
    for (unsigned round = 0; round < 300; round++) {
        struct buffer b = BUFFER_INIT;
        struct log l;

        seed = round;
        log_begin(&l);
        for (unsigned i = 0; i < 200; i++) {
            buffer_clear(&b);
            random_type(&b, 0);
            define(&l.defs.classes, b.data);
            buffer_clear(&b);
            random_method(&b);
            define(&l.defs.methods, b.data);
        }
        assert_int_equal(names_new(&l.defs, NAMES_SHORT, &l.names), 0);
        assert_apart(&l, true);
        assert_apart(&l, false);
        buffer_free(&b);
        log_end(&l);
    }
}

TEST(any_bytes_are_a_name)
{
    static const char letters[] = "AB.<>()[],*& +@|`\x1b\xFF\xE2";
    char name[64];
    struct log l;

    log_begin(&l);
    seed = 7;
    for (unsigned i = 0; i < 20000; i++) {
        unsigned size = random_below(sizeof(name));

        for (unsigned at = 0; at < size; at++)
            name[at] = letters[random_below(sizeof(letters) - 1)];
        name[size] = '\0';
        define(i % 2 ? &l.defs.classes : &l.defs.methods, name);
    }
    assert_int_equal(names_new(&l.defs, NAMES_SHORT, &l.names), 0);
    assert_apart(&l, true);
    assert_apart(&l, false);
    log_end(&l);
}

static char *repeated(const char *before, const char *text, size_t count, const char *after)
{
    struct buffer b = BUFFER_INIT;

    buffer_text(&b, before);
    while (count--)
        buffer_text(&b, text);
    buffer_text(&b, after);
    return buffer_take(&b);
}

TEST(very_long_names_stay_or_become_shorter)
{
    static const struct {
        const char *before, *text, *after;
    } parts[] = {
        {"A.B", "<A", "()"},         {"A.B<C", ">", "()"}, {"", "A.", "B()"},
        {"A.B(", "A.B, ", "C)"},     {"A.B", "[]", "()"},  {"A.", "<>", "M()"},
        {"A.B<C", ", C", ">.M()"},   {"", "(", ")"},       {"A.M()", "()", ""},
        {"A.", "System.IX.", "M()"}, {"A.", "\x1b", "()"},
    };
    struct log l;

    log_begin(&l);
    for (size_t i = 0; i < COUNT(parts); i++) {
        char *name = repeated(parts[i].before, parts[i].text, 100000 / strlen(parts[i].text),
                              parts[i].after);

        define(&l.defs.methods, name);
        define(&l.defs.classes, name);
        memory_free(name);
    }
    assert_int_equal(names_new(&l.defs, NAMES_SHORT, &l.names), 0);
    for (uint32_t i = 0; i < l.defs.methods.count; i++) {
        assert_true(strlen(names_method(l.names, i)) <= strlen(l.defs.methods.defs[i].name));
        assert_true(strlen(names_class(l.names, i)) <= strlen(l.defs.classes.defs[i].name));
    }
    log_end(&l);
}

TEST(every_failed_allocation_leaves_a_name)
{
    for (long fail = 0; fail < 60; fail++) {
        struct names *names;
        struct log l;

        log_begin(&l);
        define(&l.defs.methods, "Shop.Basket.Add(System.Int32)");
        define(&l.defs.methods, "Shop.Basket.Add(System.String)");
        define(&l.defs.classes, "Shop.Basket[]");
        memory_fail_after(fail);
        if (names_new(&l.defs, NAMES_SHORT, &names) == 0) {
            assert_non_null(names_method(names, 1));
            assert_non_null(strstr(names_method(names, 2), "Basket.Add"));
            assert_non_null(strstr(names_class(names, 1), "Basket[]"));
        }
        memory_fail_after(-1);
        names_free(names);
        log_end(&l);
    }
}

/* ---- what objects are called ---- */

static void expect_words(const char *const (*classes)[2], const enum sst_sort *sorts, size_t count,
                         const char *const *methods, size_t method_count)
{
    struct log l;

    log_begin(&l);
    for (size_t i = 0; i < count; i++) {
        define(&l.defs.classes, classes[i][0]);
        l.defs.classes.defs[i + 1].sort = sorts ? (uint8_t)sorts[i] : SST_SORT_NONE;
    }
    for (size_t i = 0; i < method_count; i++)
        define(&l.defs.methods, methods[i]);
    assert_int_equal(names_new(&l.defs, NAMES_SHORT, &l.names), 0);
    for (uint32_t i = 0; i < count; i++)
        assert_string_equal(names_class(l.names, i + 1), classes[i][1]);
    log_end(&l);
}

TEST(objects_of_value_types_are_boxes)
{
    static const char *const classes[][2] = {
        {"Shop.Key", "boxed Key"},
        {"System.Int32", "boxed int"},
        {"System.Int32[]", "int[]"},
        {"System.String", "string"},
        {"System.Collections.Generic.List<System.Int32>.Enumerator",
         "boxed enumerator of List<int>"},
        {"System.Collections.Generic.List<System.String>.Enumerator", "List<string>.Enumerator"},
        {"System.SZGenericArrayEnumerator<System.Int32>", "enumerator of int[]"},
        {"System.Collections.Generic.KeyValuePair<System.Int32, Shop.Key>",
         "boxed KeyValuePair<int, Key>"},
    };
    static const enum sst_sort sorts[COUNT(classes)] = {
        SST_SORT_VALUE, SST_SORT_NONE, SST_SORT_NONE, SST_SORT_NONE,
        SST_SORT_VALUE, SST_SORT_NONE, SST_SORT_NONE, SST_SORT_VALUE};

    expect_words(classes, sorts, COUNT(classes), NULL, 0);
}

TEST(what_compilers_make_is_called_by_what_it_is_for)
{
    static const char *const classes[][2] = {
        {"Shop.Basket.<>c__DisplayClass1_0", "closure of Basket.Add"},
        {"Shop.Basket.<>c__DisplayClass1_1", "closure of Basket.Add (<>c__DisplayClass1_1)"},
        {"Shop.Basket.<>c__DisplayClass2_0", "closure of Basket"}, /* of a method not in the log */
        {"Shop.Basket.<>c", "lambdas of Basket"},
        {"Shop.Basket.<Items>d__3", "iterator of Basket.Items"},
        {"Shop.Basket.<Items>d__4", "iterator of Basket.Items (<Items>d__4)"},
        {"Shop.Basket.<AddAsync>d__5", "async machine of Basket.AddAsync"},
        {"Shop.Basket.<Old>d__6<System.Int32>", "state machine of Basket.Old<int>"},
        {"System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.Int32>."
         "AsyncStateMachineBox<Shop.Basket.<PayAsync>d__7>",
         "async state of Basket.PayAsync"},
        {"<>f__AnonymousType0<System.Int32, Shop.Basket>", "anonymous type of int, Basket"},
        {"Shop.Till", "Till"},
        {"Shop.Fun", "Fun"},
        {"Shop.Till._Closure$__1-0", "closure of Till"},
        {"Shop.Till.VB$StateMachine_3_Work", "async machine of Till.Work"},
        {"Shop.Fun.work@12-1", "closure of Fun.work@12-1"},
        {"Shop.Basket.<>c__DisplayClass9_0[]", "Basket.<>c__DisplayClass9_0[]"},
    };
    static const enum sst_sort sorts[COUNT(classes)] = {[4] = SST_SORT_ITERATOR,
                                                        [5] = SST_SORT_ITERATOR,
                                                        [6] = SST_SORT_ASYNC,
                                                        [13] = SST_SORT_ASYNC};
    static const char *const methods[] = {
        "Shop.Basket.<>c__DisplayClass1_0.<Add>b__0()",
        "Shop.Basket.<>c__DisplayClass1_1.<Add>b__1(System.Int32)",
        "Shop.Till._Closure$__1-0._Lambda$__0()",
        "Shop.Basket.Add(System.Int32)",
    };

    expect_words(classes, sorts, COUNT(classes), methods, COUNT(methods));
}
