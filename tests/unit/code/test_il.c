/* Which instruction of a body of IL made a call: choices, damaged IL, names of any form. */
#include "code/il_match.h"
#include "code/il_search.h"

#include "unit/metadata/fake_info.h"

#include "base/il.h"
#include "base/memory.h"
#include "metadata/internal.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>

enum { APP = 0x2000, PROGRAM = 0x100, MAIN = 0x500 };

static const struct fake_type types[] = {
    {0x02000002, u"App.Program", 0},
    {0x02000003, u"App.Widget", 0},
    {0x02000004, u"App.List`1", 0},
    {0, NULL, 0},
};
static const struct fake_parameter parameters[] = {{0x02000004, 0, u"T"}, {0, 0, NULL}};
static const uint8_t nothing[] = {0, 0, 1}, takes_int[] = {0, 1, 1, 8}, constructs[] = {0x20, 0, 1},
                     list_of_widget[] = {0x15, 0x12, 4 << 2, 1, 0x12, 3 << 2};
static const struct fake_blob blobs[] = {
    {0x06000001, 0x02000002, u"Main", nothing, sizeof(nothing)},
    {0x06000002, 0x02000002, u"First", nothing, sizeof(nothing)},
    {0x06000003, 0x02000002, u"Second", nothing, sizeof(nothing)},
    {0x06000004, 0x02000002, u"Second", takes_int, sizeof(takes_int)}, /* an overload */
    {0x06000005, 0x02000003, u".ctor", constructs, sizeof(constructs)},
    {0x06000006, 0x02000003, u"First", nothing, sizeof(nothing)}, /* another type's */
    {0x0A000002, 0x1B000001, u".ctor", constructs, sizeof(constructs)},
    {0x0A000003, 0x02000003, u"Invoke", nothing, sizeof(nothing)},
    {0x1B000001, 0, NULL, list_of_widget, sizeof(list_of_widget)},
    {0, 0, NULL, NULL, 0},
};
static struct fake_metadata fake = {
    .base = {&fake_metadata_vtbl}, .types = types, .parameters = parameters, .blobs = blobs};
static struct fake_module modules[] = {{APP, u"/app/App.dll", u"App", 1, &fake},
                                       {0, NULL, NULL, 0, NULL}};
static struct fake_class classes[] = {{.id = PROGRAM, .module = APP, .token = 0x02000002},
                                      {.id = 0}};
static struct fake_function functions[] = {
    {.id = MAIN, .class = PROGRAM, .module = APP, .token = 0x06000001}, {.id = 0}};
static struct fake_info info = {
    .base = {&fake_info_vtbl}, .modules = modules, .classes = classes, .functions = functions};
static struct metadata *metadata;
static struct metadata_method *caller;

#define TOKEN(row, table) (row), 0, 0, (table)
#define CALL(row)         0x28, TOKEN(row, 0x06)
#define INVOKE            0x6F, TOKEN(3, 0x0A)
#define NEWOBJ(row)       0x73, TOKEN(row, 0x06)
#define NEWOBJ_REF(row)   0x73, TOKEN(row, 0x0A)
#define NEWARR(row)       0x8D, TOKEN(row, 2)
#define POP               0x26
#define RET               0x2A

static int setup(void **state)
{
    const struct metadata_config config = {.info = &info.base, .info_version = 15};

    (void)state;
    return metadata_new(&config, &metadata) || metadata_method_map(metadata, MAIN, &caller) ? -1
                                                                                            : 0;
}

static int teardown(void **state)
{
    (void)state;
    metadata_free(metadata);
    return load_relaxed(&fake.references_held) ? -1 : 0;
}

TEST_EACH(setup, teardown);

/* il_find at `from` in a body whose map has the given offsets. */
static int32_t find(const uint8_t *code, uint32_t size, const uint32_t *mapped, uint32_t count,
                    uint32_t from, const struct il_target *target)
{
    const struct il_code il = {.code = code, .size = size};
    struct il_pieces pieces;
    int32_t found;

    assert_int_equal(il_pieces_new(caller, &il, mapped, count, NULL, &pieces), 0);
    found = il_find(caller, &pieces, from, target);
    il_pieces_free(&pieces);
    return found;
}

/* The same behind an epilog, where only an operand that names the target is believed. */
static int32_t find_lost(const uint8_t *code, uint32_t size, const struct il_target *target)
{
    const struct il_code il = {.code = code, .size = size};
    struct il_pieces pieces;
    int32_t found;

    assert_int_equal(il_pieces_new(caller, &il, NULL, 0, NULL, &pieces), 0);
    found = il_find_lost(caller, &pieces, target);
    il_pieces_free(&pieces);
    return found;
}

/* Shared code names what it makes by its parameters. */
TEST(type_arguments_may_differ_from_those_in_the_code)
{
    static const char *const same[] = {"App.List<App.Widget>"};
    static const char *const other[] = {"App.List<A>.Inner", "App.Lists<A>", "<>c", "",
                                        "App.List<"};
    static const uint8_t code[] = {NEWOBJ_REF(2), POP, RET};
    static struct metadata_class_entry made;
    const uint32_t mapped[] = {0, 6};

    for (size_t i = 0; i < COUNT_OF(same); i++) {
        store_relaxed(&made.record.text, same[i]);
        assert_int_equal(
            find(code, sizeof(code), mapped, 2, 0, &(const struct il_target){.made = &made.record}),
            0);
    }
    for (size_t i = 0; i < COUNT_OF(other); i++) {
        const struct il_target target = {.made = &made.record};

        store_relaxed(&made.record.text, other[i]);
        assert_int_equal(find_lost(code, sizeof(code), &target), IL_UNKNOWN);
    }
}

struct known_rank {
    struct il_rank base;
    struct cpu_rank value;
};

static struct cpu_rank read_known(struct il_rank *rank)
{
    return container_of(rank, struct known_rank, base)->value;
}

/* The evaluation stack stays in use between the two: one statement. */
TEST(equal_calls_of_a_statement_are_told_apart_by_their_order)
{
    static const uint8_t code[] = {0x17, NEWARR(3), 0x17, NEWARR(3), POP, POP, RET};
    static struct metadata_class_entry made;
    const uint32_t mapped[] = {0};
    struct il_target target = {.made = &made.record};
    struct known_rank known = {{.read = read_known}, {.place = 0, .count = 2, .ordered = true}};

    store_relaxed(&made.record.text, "App.Widget[]");
    made.record.rank = 1;
    assert_int_equal(find(code, sizeof(code), mapped, 1, 0, &target), IL_UNKNOWN);
    target.rank = &known.base;
    assert_int_equal(find(code, sizeof(code), mapped, 1, 0, &target), 1);
    known.value.place = 1;
    assert_int_equal(find(code, sizeof(code), mapped, 1, 0, &target), 7);
    known.value.ordered = false;
    assert_int_equal(find(code, sizeof(code), mapped, 1, 0, &target), IL_UNKNOWN);
}

/* What is known of the calls around one that names nothing. */
struct known_between {
    struct il_rank base;
    struct il_between value;
};

static struct cpu_rank read_none(struct il_rank *rank)
{
    (void)rank;
    return (struct cpu_rank){0, 0, false};
}

static struct il_between between_known(struct il_rank *rank)
{
    return container_of(rank, struct known_between, base)->value;
}

TEST(what_no_operand_names_lies_between_the_calls_around_it)
{
    static const uint8_t code[] = {0x17,      NEWARR(3), 0x17, NEWARR(3), 0x17, NEWARR(3), 0x17,
                                   NEWARR(3), POP,       POP,  POP,       POP,  RET};
    static struct metadata_class_entry made;
    const uint32_t mapped[] = {0};
    struct known_between known = {{read_none, between_known}, {IL_UNKNOWN, IL_UNKNOWN}};
    struct il_target target = {.made = &made.record, .rank = &known.base};
    static const struct {
        struct il_between known;
        uint32_t first, last;
    } cases[] =
        {
            {{-1, -1}, 1, 19},  {{1, 13}, 7, 7},   {{7, 19}, 13, 13},
            {{13, -1}, 19, 19}, {{-1, 7}, 1, 1},   {{1, 19}, 7, 13},
            {{1, -1}, 7, 19},   {{-1, 19}, 1, 13}, {{7, 13}, 1, 19}, /* none is in between */
        };
    int32_t il;

    store_relaxed(&made.record.text, "App.Other");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        known.value = cases[i].known;
        il = find(code, sizeof(code), mapped, 1, 0, &target);
        assert_int_equal(il_first(il), cases[i].first);
        assert_int_equal(il_last(il), cases[i].last);
    }
}

TEST(what_has_to_be_named_is_not_guessed)
{
    static const uint8_t code[] = {CALL(2), CALL(3), RET}, one[] = {CALL(2), RET};
    const uint32_t mapped[] = {0};
    struct il_target target = {.callee = "App.Program.Second()", .sure = true};

    assert_int_equal(find(code, sizeof(code), mapped, 1, 0, &target), 5);
    target.callee = "App.Program.Third()";
    assert_int_equal(find(code, sizeof(code), mapped, 1, 0, &target), IL_UNKNOWN);
    assert_int_equal(find(one, sizeof(one), mapped, 1, 0, &target), IL_UNKNOWN);
    target.sure = false;
    assert_int_equal(find(one, sizeof(one), mapped, 1, 0, &target), 0);
}

static struct cpu_rank read_never(struct il_rank *rank)
{
    (void)rank;
    fail_msg("the code was read");
    return (struct cpu_rank){0, 0, false};
}

TEST(code_is_not_read_where_one_instruction_only_names_the_target)
{
    static const uint8_t code[] = {0x17, NEWARR(3), POP, RET};
    static struct metadata_class_entry made;
    const uint32_t mapped[] = {0};
    struct il_rank never = {.read = read_never};
    struct il_target target = {.made = &made.record, .rank = &never};

    store_relaxed(&made.record.text, "App.Widget[]");
    made.record.rank = 1;
    assert_int_equal(find(code, sizeof(code), mapped, 1, 0, &target), 1);
}

/* The result of the first statement is computed where the second one uses it: the first has no entry. */
TEST(a_statement_without_entry_is_looked_for_where_it_leads_to)
{
    static const uint8_t code[] = {0x17, POP, CALL(2), CALL(3), RET};
    const uint32_t mapped[] = {0, 7, 12};

    assert_int_equal(find(code, sizeof(code), mapped, 3, 7,
                          &(const struct il_target){.callee = "App.Program.First()"}),
                     2);
    assert_int_equal(find(code, sizeof(code), mapped, 3, 7,
                          &(const struct il_target){.callee = "App.Program.Second()"}),
                     7);
}

/* The second statement has a separate entry, yet its call is under that of the first. */
TEST(where_nothing_can_call_the_only_instruction_that_fits_is_meant)
{
    static const uint8_t once[] = {0x17, POP, CALL(2), RET};
    static const uint8_t twice[] = {0x17, POP, CALL(2), CALL(2), RET};
    const uint32_t mapped[] = {0, 2, 7};
    const struct il_target first = {.callee = "App.Program.First()"};
    const struct il_target other = {.callee = "App.Other.First()"};

    assert_int_equal(find(once, sizeof(once), mapped, 2, 0, &first), 2);
    assert_int_equal(find(once, sizeof(once), mapped, 2, 0, &other), IL_UNKNOWN);
    assert_int_equal(find(twice, sizeof(twice), mapped, 3, 0, &first), IL_UNKNOWN);
}

TEST(overloads_are_told_apart)
{
    static const uint8_t code[] = {CALL(3), 0x17, CALL(4), RET};
    const uint32_t mapped[] = {0};

    assert_int_equal(find(code, sizeof(code), mapped, 1, 0,
                          &(const struct il_target){.callee = "App.Program.Second(System.Int32)"}),
                     6);
    assert_int_equal(find(code, sizeof(code), mapped, 1, 0,
                          &(const struct il_target){.callee = "App.Program.Second()"}),
                     0);
}

/* Whom a method was inlined by may have other parameters; where that is known, it is no call of it. */
TEST(a_call_has_as_many_parameters_as_what_it_calls)
{
    static const struct {
        const char *callee;
        bool fits; /* a call with one parameter */
    } calls[] = {
        {"App.Other.Second(System.String)", true},
        {"App.Other.Second(App.List<A, B[,]>)", true},
        {"App.Other.Second()", false},
        {"App.Other.Second(A, B)", false},
        {"App.Other.Second(A[,], App.List<A, B>, C)", false},
        {"App.Other.Second(A, B", true}, /* cut off */
    };
    struct il_instruction call = {.opcode = 0x28, .token = 0x06000004};

    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        const struct il_target target = {.callee = calls[i].callee};
        struct il_match match;

        il_match_init(&match, caller, &target);
        assert_int_equal(il_match_fit(&match, &call, false), FIT_NAME);
        match.exact = true;
        assert_int_equal(il_match_fit(&match, &call, false), calls[i].fits ? FIT_NAME : 0);
    }
}

/* A call that is not virtual goes to the method that it names. */
TEST(a_method_of_another_type_is_not_meant_by_its_name)
{
    static const uint8_t other[] = {CALL(2), RET}, same[] = {CALL(6), RET};
    const struct metadata_method first = {.module = caller->module, .token = 0x06000006};
    struct il_target target = {.callee = "App.Widget.First()"};

    assert_int_equal(find_lost(other, sizeof(other), &target), 0); /* of an unknown method */
    target.record = &first;
    assert_int_equal(find_lost(other, sizeof(other), &target), IL_UNKNOWN);
    assert_int_equal(find_lost(same, sizeof(same), &target), 0);
}

TEST(a_lambda_is_called_by_what_names_nobody)
{
    static const uint8_t one[] = {INVOKE, CALL(2), POP, RET};
    static const uint8_t two[] = {INVOKE, INVOKE, CALL(2), POP, RET};
    static const uint8_t far_off[] = {INVOKE, CALL(2), RET};
    const uint32_t mapped[] = {0, 5, 10};
    const struct il_target lambda = {.callee = "App.Program.<>c.<Main>b__0_1()"};

    assert_int_equal(find(one, sizeof(one), mapped, 1, 0, &lambda), 0);
    assert_int_equal(find(two, sizeof(two), mapped, 1, 0, &lambda), IL_UNKNOWN);
    assert_int_equal(find(two, sizeof(two), mapped, 3, 10, &lambda), IL_UNKNOWN);
    assert_int_equal(find(far_off, sizeof(far_off), mapped, 2, 5, &lambda), IL_UNKNOWN);
}

/* An inlined method of the callee's type may have called it, or a delegate. */
TEST(what_no_operand_names_may_be_called_by_a_delegate)
{
    static const uint8_t made[] = {NEWOBJ(5), POP, RET}, both[] = {NEWOBJ(5), POP, INVOKE, RET};
    const struct il_target hidden = {.callee = "App.Widget.Hidden()"};
    const struct {
        const uint8_t *code;
        uint32_t size;
        int32_t il;
    } cases[] = {{made, sizeof(made), 0}, {both, sizeof(both), IL_UNKNOWN}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct il_code il = {.code = cases[i].code, .size = cases[i].size};
        struct il_pieces pieces;

        assert_int_equal(il_pieces_new(caller, &il, NULL, 0, NULL, &pieces), 0);
        assert_int_equal(il_search(caller, &pieces, IL_NOWHERE, &hidden), cases[i].il);
        il_pieces_free(&pieces);
    }
}

TEST(loops_and_branches_of_any_kind_end)
{
    /* br.s to itself; brtrue.s back; a switch with targets outside; leave into the middle of an instruction. */
    static const uint8_t code[] = {0x2B, 0xFE, 0x17, 0x2D, 0xFB, 0x17, 0x45, 2,    0,    0,
                                   0,    0xFF, 0xFF, 0xFF, 0x7F, 0,    0,    0,    0x80, 0xDE,
                                   0xF0, 0xDD, 0,    0,    0,    0x80, RET,  0x2B, 0x7F};
    const struct il_target target = {.callee = "App.Program.First()"};
    uint32_t mapped[sizeof(code)];

    for (uint32_t i = 0; i < sizeof(code); i++)
        mapped[i] = i;
    for (uint32_t count = 0; count <= sizeof(code); count++)
        for (uint32_t from = 0; from < sizeof(code); from++)
            assert_int_equal(find(code, sizeof(code), mapped, count, from, &target), IL_UNKNOWN);
}

/* An offset in the code, several, or none. */
static void within(int32_t il, uint32_t size)
{
    if (il == IL_UNKNOWN)
        return;
    assert_in_range(il, 0, IL_SEVERAL | (IL_SEVERAL - 1));
    assert_in_range(il_last(il), il_first(il), size - 1);
}

/* Every beginning of every variation of the code, each in a block of exactly its size: no read past the end. */
TEST(damaged_il_is_not_read_past)
{
    static const uint8_t body[] = {2 | 28 << 2, 0x17, 0x45, 1,    0,           0,
                                   0,           3,    0,    0,    0,           CALL(2),
                                   NEWOBJ(5),   0x26, 0xFE, 0x15, TOKEN(3, 2), RET};
    const struct il_target target = {.callee = "App.Program.First()"};

    for (size_t size = 0; size <= sizeof(body); size++) {
        for (unsigned change = 0; change < 256; change += 5) {
            uint8_t *copy = malloc(size ? size : 1);
            struct il_code il;
            struct il_pieces pieces;

            memcpy(copy, body, size);
            if (size > 1) {
                copy[0] = (uint8_t)(2 | (size - 1) << 2);
                copy[1 + change % (size - 1)] ^= (uint8_t)change;
            }
            if (il_parse(copy, size, &il)) {
                assert_int_equal(
                    il_pieces_new(caller, &il, (const uint32_t[]){0, 2, 900}, 3, NULL, &pieces), 0);
                for (uint32_t from = 0; from < il.size + 2; from++)
                    within(il_find(caller, &pieces, from, &target), il.size);
                within(il_find_first(caller, &pieces, &target), il.size);
                within(il_find_lost(caller, &pieces, &target), il.size);
                within(il_search(caller, &pieces, IL_NOWHERE, &target), il.size);
                il_pieces_free(&pieces);
            }
            free(copy);
        }
    }
    assert_false(
        il_parse((const uint8_t[]){0x0A}, 1, &(struct il_code){0})); /* two bytes, none there */
    assert_true(il_parse((const uint8_t[]){0x06, RET}, 2, &(struct il_code){0}));
}

static const char *const texts[] = {"",
                                    ".",
                                    "..",
                                    "(",
                                    "()",
                                    "<",
                                    ">",
                                    ">>>",
                                    "a>",
                                    "<a",
                                    "A.b",
                                    ".b",
                                    "A.",
                                    "A..ctor()",
                                    "A.<b>",
                                    "A.<b>(",
                                    "A.b<c>()",
                                    "A<b.c>.d<e>()",
                                    "A.<>c.<M>b__0()",
                                    "?method 0x06000001",
                                    "App.List<",
                                    "App.List<>",
                                    "App.List<,>",
                                    "App.List< ",
                                    "App.List<]",
                                    "App.List<]]>>",
                                    "App.List<App.Widget",
                                    "App.List<App.Widget>[",
                                    "App.List<App.Widget>[*",
                                    "App.List<a, ",
                                    "]",
                                    "[]",
                                    "[*]",
                                    "[,"};

/* A load context's copy of a type has its name, and is another type; so it is when its module was unloaded. */
TEST(a_type_of_another_module_is_not_that_of_the_same_name)
{
    static const uint8_t code[] = {NEWOBJ(5), POP, RET};
    static struct metadata_module_entry unloaded;
    static struct metadata_class_entry made;
    const struct il_target target = {.made = &made.record};

    store_relaxed(&made.record.text, "App.Widget");
    made.record.token = 0x02000003;
    made.record.module = caller->module;
    assert_int_equal(find_lost(code, sizeof(code), &target), 0);
    made.record.module = &unloaded.record;
    assert_int_equal(find_lost(code, sizeof(code), &target), IL_UNKNOWN);
}

/* What is called, or made, may be named in any way; looking for it must end. */
TEST(any_text_is_taken_apart)
{
    static const uint8_t code[] = {CALL(2), NEWOBJ_REF(2), POP, 0x17, CALL(4), RET};
    static struct metadata_class_entry made;
    const uint32_t mapped[] = {0};

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        const struct il_target call = {.callee = texts[i]}, object = {.made = &made.record};

        store_relaxed(&made.record.text, texts[i]);
        find(code, sizeof(code), mapped, 1, 0, &call);
        find(code, sizeof(code), mapped, 1, 0, &object);
    }
    assert_int_equal(find(code, sizeof(code), mapped, 1, 0,
                          &(const struct il_target){.callee = "X<A.B>.Second<C.D>(System.Int32)"}),
                     12);
}

/* A body's calls name the same few methods again and again. */
TEST(what_a_call_does_to_the_stack_is_asked_once)
{
    static const struct fake_blob none[] = {{0, 0, NULL, NULL, 0}};
    struct il_memo *memo = il_memo_new();
    struct signature_shape shape = {0};

    assert_true(il_memo_shape(memo, &fake.base, 0x06000004, &shape));
    fake.blobs = none;
    shape = (struct signature_shape){0};
    assert_true(il_memo_shape(memo, &fake.base, 0x06000004, &shape));
    assert_int_equal(shape.parameters, 1);
    assert_false(shape.has_this || shape.returns);
    assert_false(il_memo_shape(memo, &fake.base, 0x06000003, &shape)); /* not met before */
    assert_false(il_memo_shape(NULL, &fake.base, 0x06000004, &shape));
    fake.blobs = blobs;
    assert_true(il_memo_shape(memo, &fake.base, 0x06000003, &shape)); /* that was no answer */
    memory_free(memo);
}

TEST(without_memory_nothing_is_found_and_nothing_leaks)
{
    static const uint8_t code[] = {CALL(2), CALL(3), RET}, call[] = {CALL(2)};
    uint8_t calls[200 * sizeof(call)]; /* more than lies on the stack */
    const struct il_code il = {.code = code, .size = sizeof(code)},
                         large = {.code = calls, .size = sizeof(calls)};
    const struct il_target target = {.callee = "App.Program.Second()"};
    struct il_pieces pieces;
    int32_t found = IL_UNKNOWN;

    memory_fail_after(0);
    assert_int_not_equal(il_pieces_new(caller, &il, NULL, 0, NULL, &pieces), 0);
    assert_null(pieces.piece);
    for (size_t at = 0; at < sizeof(calls); at += sizeof(call))
        memcpy(calls + at, call, sizeof(call));
    for (long n = 0; n < 4;
         n++) { /* what leads there, pieces, instructions, and the block of both */
        memory_fail_after(n);
        assert_int_not_equal(il_pieces_new(caller, &large, NULL, 0, NULL, &pieces), 0);
        memory_fail_after(-1);
        assert_null(pieces.piece);
    }
    assert_int_equal(il_pieces_new(caller, &large, NULL, 0, NULL, &pieces), 0);
    assert_int_equal(pieces.reaches, 200);
    il_pieces_free(&pieces);
    assert_int_equal(il_pieces_new(caller, &il, NULL, 0, NULL, &pieces), 0);
    for (long n = 0; n < 100 && found == IL_UNKNOWN; n++) {
        memory_fail_after(n);
        found = il_find(caller, &pieces, 0, &target);
        memory_fail_after(-1);
    }
    assert_int_equal(found, 5);
    il_pieces_free(&pieces);
}

/* Optimised code: the map gives the end of a loop to its condition, which calls something. */
TEST(a_call_is_doubtful_if_another_instruction_makes_the_object)
{
    static const uint8_t code[] = {0x17, NEWARR(3), POP, CALL(2), RET};
    static const uint8_t only[] = {CALL(2), RET};
    static struct metadata_class_entry made;
    const struct il_target target = {.made = &made.record};
    struct il_pieces pieces;

    store_relaxed(&made.record.text, "App.Widget[]");
    made.record.rank = 1;
    assert_int_equal(il_pieces_new(caller, &(struct il_code){.code = code, .size = sizeof(code)},
                                   (uint32_t[]){0, 7}, 2, NULL, &pieces),
                     0);
    assert_true(il_doubtful(caller, &pieces, 7, &target));
    assert_false(il_doubtful(caller, &pieces, 1, &target));
    assert_false(il_doubtful(caller, &pieces, il_several(1, 7), &target));
    il_pieces_free(&pieces);
    assert_int_equal(il_pieces_new(caller, &(struct il_code){.code = only, .size = sizeof(only)},
                                   (uint32_t[]){0}, 1, NULL, &pieces),
                     0);
    assert_false(il_doubtful(caller, &pieces, 0, &target));
    il_pieces_free(&pieces);
}
