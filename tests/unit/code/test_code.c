#include "code/code.h"

#include "unit/metadata/fake_info.h"

#include "base/memory.h"
#include "code/il_search.h"
#include "code/internal.h"
#include "metadata/internal.h"
#include "rich/rich.h"
#include "support/test.h"

#include <shadowtrace/log_reader.h>

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { APP = 0x2000, GUESTS = 0x3000, PROGRAM = 0x100, STRING, LIST, WIDGET, WIDGETS };
enum { MAIN = 0x500, FIRST, SECOND, LAMBDA, GROW, DYNAMIC, STUB, UNHOOKED, SOLE, GUEST };
enum {
    CODE = 0x100000,
    COLD = 0x200000,
    OSR = 0x300000,
    OTHER_CODE = 0x400000,
    DYNAMIC_CODE = 0x500000,
    STUB_CODE = 0x600000,
    SOLE_CODE = 0x700000,
    JUMP = 0x780000, /* nobody knows it */
    END_OF_CODE = 0x800000
};

static const struct fake_type types[] = {
    {0x02000002, u"App.Program", 0},
    {0x02000003, u"App.Widget", 0},
    {0x02000004, u"App.List`1", 0},
    {0x02000005, u"System.String", 0},
    {0, NULL, 0},
};
static const struct fake_parameter parameters[] = {{0x02000004, 0, u"T"}, {0, 0, NULL}};
static const uint8_t nothing[] = {0, 0, 1}, takes_int[] = {0, 1, 1, 8},
                     takes_t[] = {0x20, 1, 1, 0x13, 0},
                     list_of_widget[] = {0x15, 0x12, 4 << 2, 1, 0x12, 3 << 2},
                     generic[] = {0x0A, 1, 0x0E};
static const struct fake_blob blobs[] = {
    {0x06000001, 0x02000002, u"Main", nothing, sizeof(nothing)},
    {0x06000002, 0x02000002, u"First", nothing, sizeof(nothing)},
    {0x06000003, 0x02000002, u"Second", nothing, sizeof(nothing)},
    {0x06000004, 0x02000002, u"Second", takes_int, sizeof(takes_int)}, /* an overload */
    {0x06000005, 0x02000003, u".ctor", nothing, sizeof(nothing)},
    {0x06000006, 0x02000002, u"<Main>b__0", nothing, sizeof(nothing)},
    {0x06000007, 0x02000004, u"Grow", nothing, sizeof(nothing)},
    {0x0A000001, 0x1B000001, u"Add", takes_t, sizeof(takes_t)}, /* of App.List<App.Widget> */
    {0x0A000002, 0x1B000001, u".ctor", nothing, sizeof(nothing)},
    {0x1B000001, 0, NULL, list_of_widget, sizeof(list_of_widget)},
    {0x2B000001, 0x06000002, NULL, generic, sizeof(generic)}, /* First<string> */
    {0, 0, NULL, NULL, 0},
};
static struct fake_metadata fake = {
    .base = {&fake_metadata_vtbl}, .types = types, .parameters = parameters, .blobs = blobs};

#define TOKEN(row, table) (row), 0, 0, (table)
#define CALL(row)         0x28, TOKEN(row, 0x06)
#define CALLVIRT(row)     0x6F, TOKEN(row, 0x0A)
#define NEWOBJ(row)       0x73, TOKEN(row, 0x06)

/*
 * The statements of Main: each begins at a multiple of 32 and ends with a branch to the next, so that none runs on into
 * another; nop in between.
 */
enum { IL_SIZE = 32 * 7 };
static uint8_t il_body[12 + IL_SIZE];
#define NEXT(at) 0x2B, 32 - (at)-2 /* br.s */
static const struct {
    uint32_t at;
    uint8_t code[32];
} statements[] = {
    {0, {CALL(2), CALL(3), 0x17, CALL(4), NEXT(16)}},                 /* First, Second, Second(1) */
    {32, {0x17, CALL(2), 0x26, NEXT(7)}},                             /* ldc.i4.1, First, pop */
    {64, {0x17, 0x8D, TOKEN(3, 2), NEWOBJ(5), 0x26, 0x26, NEXT(13)}}, /* new Widget[1], Widget() */
    {96, {0x17, 0x26, NEXT(2)}},                                      /* calls nothing */
    {128, {0x14, 0x14, CALLVIRT(1), 0x28, TOKEN(1, 0x2B), NEXT(12)}}, /* Add, First<string> */
    {160, {0x17, 0x45, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, CALL(3), NEXT(19)}}, /* switch; Second */
    {192, {0x17, 0x8C, TOKEN(3, 2), 0x26, 0x12, 0, 0xFE, 0x15, TOKEN(3, 2), 0x2A}}, /* box, ... */
};

static const struct clr_debug_il_to_native_map main_map[] = {
    {32, 0x40, 0x50},     {PROLOG, 0x00, 0x10},     {0, 0x10, 0x20},   {NO_MAPPING, 0x20, 0x28},
    {0, 0x28, 0x30},      {NO_MAPPING, 0x30, 0x40}, {64, 0x50, 0x50},  {64, 0x50, 0x60},
    {96, 0x60, 0x70},     {128, 0x70, 0x80},        {160, 0x80, 0x90}, {192, 0x90, 0xA0},
    {EPILOG, 0xA0, 0xA8}, {NO_MAPPING, 0xA8, 0xC0}, /* 0xB0 and on: cold */
};
static const struct clr_debug_il_to_native_map osr_map[] = {
    {PROLOG, 0, 8}, {64, 8, 0x18}, {192, 0x18, 0x20}};

/* nop; First; ret: one instruction only that calls */
static const uint8_t sole_body[] = {7 << 2 | CorILMethod_TinyFormat, 0, CALL(2), 0x2A};
static const struct clr_debug_il_to_native_map sole_map[] = {{PROLOG, 0, 8}, {0, 8, 0x20}};

static struct fake_module modules[] = {
    {APP, u"/app/App.dll", u"App", 1, &fake},
    {GUESTS, u"/app/Guests.dll", u"Guests", 2, &fake},
    {0, NULL, NULL, 0, NULL},
};
static struct fake_class classes[] = {
    {.id = PROGRAM, .module = APP, .token = 0x02000002},
    {.id = WIDGET, .module = APP, .token = 0x02000003},
    {.id = LIST, .module = APP, .token = 0x02000004, .args = 1, .arg = {WIDGET}},
    {.id = STRING, .module = APP, .token = 0x02000005},
    {.id = WIDGETS, .rank = 1, .element = WIDGET},
    {.id = 0},
};
static struct fake_function functions[] = {
    {.id = MAIN,
     .class = PROGRAM,
     .module = APP,
     .token = 0x06000001,
     .code = {CODE, OSR},
     .il = il_body,
     .il_size = sizeof(il_body)},
    {.id = FIRST, .class = PROGRAM, .module = APP, .token = 0x06000002},
    {.id = SECOND, .class = PROGRAM, .module = APP, .token = 0x06000004},
    {.id = LAMBDA, .class = PROGRAM, .module = APP, .token = 0x06000006},
    {.id = GROW, .class = LIST, .module = APP, .token = 0x06000007},
    {.id = UNHOOKED, .class = PROGRAM, .module = APP, .token = 0x06000003},
    {.id = SOLE,
     .class = PROGRAM,
     .module = APP,
     .token = 0x06000003,
     .code = {SOLE_CODE},
     .il = sole_body,
     .il_size = sizeof(sole_body)},
    {.id = GUEST, .class = PROGRAM, .module = GUESTS, .token = 0x06000002},
    {.id = DYNAMIC, .dynamic = true, .name = u"MyDynamicMethod"},
    {.id = STUB, .dynamic = true, .name = u"IL_STUB_PInvoke"},
    {.id = 0},
};
static struct fake_code codes[] = {
    {CODE, MAIN, {{CODE, 0xB0}, {COLD, 0x10}}, 2, main_map, COUNT_OF(main_map)},
    {OSR, MAIN, {{OSR, 0x20}}, 1, osr_map, COUNT_OF(osr_map)},
    {SOLE_CODE, SOLE, {{SOLE_CODE, 0x20}}, 1, sole_map, COUNT_OF(sole_map)},
    {OTHER_CODE, UNHOOKED, {{OTHER_CODE, 0x20}}, 1, NULL, 0},
    {DYNAMIC_CODE, DYNAMIC, {{DYNAMIC_CODE, 0x20}}, 1, NULL, 0},
    {STUB_CODE, STUB, {{STUB_CODE, 0x20}}, 1, NULL, 0},
    {0},
};
static struct fake_info info = {.base = {&fake_info_vtbl},
                                .modules = modules,
                                .classes = classes,
                                .functions = functions,
                                .codes = codes};
static struct metadata *metadata;
static struct metadata_method *caller;

static struct metadata_method *method_of(uintptr_t id)
{
    struct metadata_method *m = NULL;

    assert_int_equal(metadata_method_map(metadata, id, &m), 0);
    return m;
}

static struct metadata_class *class_of(uintptr_t id)
{
    struct metadata_class *c = NULL;

    assert_int_equal(metadata_class_get(metadata, id, &c), 0);
    return c;
}

static int setup(void **state)
{
    const struct metadata_config config = {
        .info = &info.base, .info_version = 15, .forget = code_bodies_free};
    uint8_t *il = il_body + 12;

    (void)state;
    memset(il_body, 0, sizeof(il_body));
    il_body[0] = CorILMethod_FatFormat;
    il_body[4] = IL_SIZE;
    for (size_t i = 0; i < COUNT_OF(statements); i++)
        memcpy(il + statements[i].at, statements[i].code, sizeof(statements[i].code));
    store_relaxed(&info.maps, 0);
    if (metadata_new(&config, &metadata))
        return -1;
    caller = method_of(MAIN);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    metadata_free(metadata);
    return load_relaxed(&fake.references_held) ? -1 : 0;
}

/* Code that cannot go is read where it lies: nothing in it calls. */
static int map_code(void **state)
{
    void *code = mmap((void *)CODE, END_OF_CODE - CODE, PROT_READ,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    (void)state;
    return code == (void *)CODE ? 0 : -1;
}

TEST_EACH(setup, teardown);
TEST_GROUP(map_code, NULL);

static int32_t call(uintptr_t offset, uintptr_t callee)
{
    return code_il_call(metadata, caller, CODE + offset, callee ? method_of(callee) : NULL, NULL);
}

static int32_t alloc(uintptr_t offset, uintptr_t class_id)
{
    return code_il_alloc(metadata, caller, CODE + offset, class_of(class_id), NULL);
}

TEST(a_return_address_belongs_to_the_call_before_it)
{
    assert_int_equal(call(0x50, FIRST), 33);             /* the last byte of the statement at 32 */
    assert_int_equal(call(0x41, FIRST), 33);             /* its first */
    assert_int_equal(call(0x51, 0), il_several(65, 70)); /* nothing tells which */
    assert_int_equal(code_il_call(metadata, caller, CODE + 0x50, NULL, NULL), 33);
}

TEST(code_that_belongs_to_no_statement_says_so)
{
    assert_int_equal(call(0x08, 0), CODE_IL_UNMAPPED); /* prolog */
    assert_int_equal(call(0xA4, 0), CODE_IL_UNMAPPED); /* epilog */
    assert_int_equal(call(0x34, LAMBDA), CODE_IL_UNMAPPED);
    assert_int_equal(call(0xA9, LAMBDA), CODE_IL_UNMAPPED);
    assert_int_equal(code_il_call(metadata, caller, 0, NULL, NULL), CODE_IL_NONE);
}

TEST(code_without_a_mapping_inside_a_statement_is_that_statements)
{
    assert_int_equal(call(0x24, SECOND), 11);
    /* Which of the three calls led there nobody can tell: two are statements without an entry. */
    assert_int_equal(call(0x24, LAMBDA), CODE_IL_UNMAPPED);
}

TEST(elsewhere_only_an_operand_that_names_the_callee_is_believed)
{
    assert_int_equal(call(0x34, FIRST), 0);  /* in the statement before */
    assert_int_equal(call(0xA9, GROW), 130); /* the one call of its type: inlined there */
    assert_int_equal(call(0xA9, FIRST), CODE_IL_UNMAPPED); /* three calls of it */
    assert_int_equal(alloc(0xA9, WIDGETS), 65);
}

TEST(what_was_called_tells_the_instruction)
{
    assert_int_equal(call(0x18, FIRST), 0);
    assert_int_equal(call(0x18, UNHOOKED), 5);              /* Second() */
    assert_int_equal(call(0x18, SECOND), 11);               /* Second(int) */
    assert_int_equal(call(0x18, LAMBDA), CODE_IL_UNMAPPED); /* any of three */
    assert_int_equal(call(0x78, FIRST), 135);               /* through a MethodSpec */
    assert_int_equal(call(0x88, UNHOOKED), 174);            /* behind the table of a switch */
    assert_int_equal(call(0x88, SECOND), CODE_IL_UNMAPPED); /* an overload, which is not virtual */
}

TEST(what_was_made_tells_the_instruction)
{
    assert_int_equal(alloc(0x58, WIDGETS), 65);
    assert_int_equal(alloc(0x58, WIDGET), 70);
    assert_int_equal(alloc(0x58, STRING), 70);               /* the only call */
    assert_int_equal(alloc(0x98, WIDGET), 193);              /* boxed */
    assert_int_equal(alloc(0x68, STRING), CODE_IL_UNMAPPED); /* nothing there calls */
}

/* nop; nop; nop; call: it returns to CODE + 0x18. */
static void put_call(uintptr_t target)
{
    uint8_t *code = (uint8_t *)CODE + 0x10;
    int32_t distance = (int32_t)(target - (CODE + 0x18));

    assert_int_equal(mprotect((void *)CODE, END_OF_CODE - CODE, PROT_READ | PROT_WRITE), 0);
    memset(code, 0x90, 3);
    code[3] = 0xE8;
    memcpy(code + 4, &distance, sizeof(distance));
}

/* nop; nop; call [word]: it returns to CODE + offset. */
static void put_call_through(uintptr_t offset, uintptr_t word)
{
    uint8_t *code = (uint8_t *)CODE + offset - 8;
    int32_t distance = (int32_t)(word - (CODE + offset));

    assert_int_equal(mprotect((void *)CODE, END_OF_CODE - CODE, PROT_READ | PROT_WRITE), 0);
    memcpy(code, (uint8_t[]){0x90, 0x90, 0xFF, 0x15}, 4);
    memcpy(code + 4, &distance, sizeof(distance));
}

/* jmp through the word after it, as in a method whose code may change. */
static void put_stub(uintptr_t target)
{
    static const uint8_t jump[] = {0xFF, 0x25, 2, 0, 0, 0, 0, 0};

    memcpy((void *)JUMP, jump, sizeof(jump));
    memcpy((uint8_t *)JUMP + sizeof(jump), &target, sizeof(target));
}

/* The same before its code exists: the runtime compiles or counts, and gets the method as an argument. */
static void put_owned_stub(uintptr_t owner)
{
    static const uint8_t stub[] = {0xFF, 0x25, 0x3A, 0,    0,    0,    0x4C, 0x8B, 0x15, 0x3B,
                                   0,    0,    0,    0xFF, 0x25, 0x3D, 0,    0,    0};
    const uintptr_t words[] = {JUMP + 6, owner, 8};

    memcpy((void *)JUMP, stub, sizeof(stub));
    memcpy((uint8_t *)JUMP + 0x40, words, sizeof(words));
}

TEST(whom_the_machine_code_calls_tells_the_instruction)
{
    assert_int_equal(alloc(0x18, STRING), CODE_IL_UNMAPPED); /* made by any of three */
    put_call(OTHER_CODE);
    assert_int_equal(alloc(0x18, STRING), 5); /* Second() */
    put_call(DYNAMIC_CODE);
    assert_int_equal(alloc(0x18, STRING), CODE_IL_UNMAPPED);
    put_call(JUMP);
    assert_int_equal(alloc(0x18, STRING), CODE_IL_UNMAPPED); /* no jump is there */
    put_stub(OTHER_CODE);
    assert_int_equal(alloc(0x18, STRING), 5);
    put_stub(JUMP); /* to itself */
    assert_int_equal(alloc(0x18, STRING), CODE_IL_UNMAPPED);
    put_stub(8);
    assert_int_equal(alloc(0x18, STRING), CODE_IL_UNMAPPED);
    put_owned_stub(UNHOOKED);
    assert_int_equal(alloc(0x18, STRING), 5);
    put_owned_stub(0);
    assert_int_equal(alloc(0x18, STRING), CODE_IL_UNMAPPED);
    memset((void *)CODE, 0, 0x20);
}

/* Code of the JIT calls through the stub's word: until the method is compiled, it leads behind the jump. */
TEST(a_call_through_the_word_of_a_stub_tells_the_method_before_its_code_exists)
{
    put_owned_stub(UNHOOKED);
    put_call_through(0x18, JUMP + 0x40);
    assert_int_equal(alloc(0x18, STRING), 5);
    put_owned_stub(0);
    assert_int_equal(alloc(0x18, STRING), CODE_IL_UNMAPPED);
    memset((void *)CODE, 0, 0x20);
}

/* A loaded image of App with one cell, for what a signature says, that holds a word. */
enum { IMAGE = JUMP + 0x1000, IMAGE_SIZE = 0x400, CELL = IMAGE + 0x300 };

static void put_words(uint32_t at, size_t count, const uint32_t words[])
{
    memcpy((uint8_t *)IMAGE + at, words, count * sizeof(*words));
}
#define PUT(at, ...) \
    put_words(at, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (uint32_t[]){__VA_ARGS__})

static void put_image(void)
{
    enum { PE = 0x40, OPTIONAL = PE + 24, SECTION = OPTIONAL + 240, CLI = 0x200, READY = 0x280 };

    put_call_through(0x18, CELL);
    memset((void *)IMAGE, 0, IMAGE_SIZE);
    PUT(0, 0x5A4D);
    PUT(60, PE);
    PUT(PE, 0x4550, 1 << 16);
    PUT(PE + 20, 240);
    PUT(OPTIONAL, 0x20b);
    PUT(OPTIONAL + 56, IMAGE_SIZE);
    PUT(OPTIONAL + 112 + 14 * 8, CLI);
    PUT(SECTION + 8, IMAGE_SIZE);
    PUT(CLI + 64, READY, 16 + 2 * 12);
    PUT(READY, 0x00525452, 16, 0, 2, 101, 0x2C0, 20, 102, 0x2E0, 12);
    PUT(0x2C0, CELL - IMAGE, 8, 8 << 24, 0x310, 0);
    PUT(0x310, 0x320);
}

/* The instruction by the call that returns to an offset, through the cell; nothing was kept before. */
static int32_t made_through(uintptr_t offset, uintptr_t word)
{
    metadata_free(metadata);
    info.image = NULL;
    setup(NULL);
    info.image = (const uint8_t *)IMAGE;
    store_relaxed(&metadata->resolver, (uintptr_t)pthread_self());
    put_call_through(offset, CELL);
    memcpy((void *)CELL, &word, sizeof(word));
    return alloc(offset, STRING);
}

/* The same whatever the cell holds. */
static int32_t made(uintptr_t offset, const char *signature, size_t size)
{
    int32_t il;

    memcpy((uint8_t *)IMAGE + 0x320, signature, size);
    il = made_through(offset, 0);
    assert_int_equal(made_through(offset, 8), il);
    assert_int_equal(made_through(offset, DYNAMIC_CODE), il);
    assert_int_equal(made_through(offset, OTHER_CODE), il);
    return il;
}
#define MADE(offset, signature) made(offset, signature, sizeof(signature))

TEST(a_cell_of_precompiled_code_names_whom_a_call_goes_to_before_it_is_filled_in)
{
    put_image();
    assert_int_equal(MADE(0x18, "\x14\x02"), 0); /* First, by its row */
    assert_int_equal(MADE(0x18, "\x14\x03"), 5);
    assert_int_equal(MADE(0x18, "\x14\x04"), 11);
    assert_int_equal(MADE(0x18, "\x17\x04"), 11);                          /* virtual */
    assert_int_equal(MADE(0x18, "\x13\x00\x03"), 5);                       /* with flags */
    assert_int_equal(MADE(0x78, "\x15\x01"), 130);                         /* Add, by a MemberRef */
    assert_int_equal(MADE(0x78, "\x13\x50\x15\x12\x10\x01\x3E\x01"), 130); /* List<__Canon>.Add */
    assert_int_equal(MADE(0x78, "\x13\x04\x02\x01\x0E"), 135);             /* First<string> */
    assert_int_equal(MADE(0x18, "\x1C\x12\x08"), CODE_IL_UNMAPPED);        /* a helper */
    info.image = NULL;
    memset((void *)CODE, 0, 0x80);
}

TEST(a_cell_in_other_terms_tells_only_once_it_is_filled_in)
{
    static const char others[] = "\x94\x02", owner[] = "\x13\x40\x3F\x01\x12\x10\x02";

    put_image();
    memcpy((void *)(IMAGE + 0x320), others, sizeof(others));
    assert_int_equal(made_through(0x18, 8), CODE_IL_UNMAPPED);
    assert_int_equal(made_through(0x18, OTHER_CODE), 5);
    memcpy((void *)(IMAGE + 0x320), owner, sizeof(owner));
    assert_int_equal(made_through(0x18, OTHER_CODE), 5);
    info.image = NULL;
    memset((void *)CODE, 0, 0x80);
}

TEST(where_a_call_goes_is_kept_until_code_is_unloaded)
{
    store_relaxed(&metadata->resolver, (uintptr_t)pthread_self());
    put_call(JUMP);
    put_stub(DYNAMIC_CODE);
    assert_int_equal(alloc(0x18, STRING), CODE_IL_UNMAPPED);
    put_stub(OTHER_CODE); /* a method's code has come */
    assert_int_equal(alloc(0x18, STRING), 5);
    put_stub(8); /* not read again */
    assert_int_equal(alloc(0x18, STRING), 5);
    metadata_module_unloaded(metadata, 0x9999);
    assert_int_equal(alloc(0x18, STRING), CODE_IL_UNMAPPED);
    memset((void *)CODE, 0, 0x20);
}

TEST(a_call_of_the_runtime_itself_goes_to_no_method)
{
    store_relaxed(&metadata->resolver, (uintptr_t)pthread_self());
    metadata->config.native_low = JUMP;
    metadata->config.native_high = END_OF_CODE;
    put_call(JUMP);
    put_stub(OTHER_CODE);
    assert_int_equal(alloc(0x18, STRING), CODE_IL_UNMAPPED);
    metadata->config.native_high = JUMP; /* kept */
    assert_int_equal(alloc(0x18, STRING), CODE_IL_UNMAPPED);
    memset((void *)CODE, 0, 0x20);
}

TEST(code_that_may_have_been_unloaded_is_asked_for_again)
{
    struct fake_function old = functions[0];

    metadata_free(metadata);
    functions[0].class = 0; /* as of shared code on .NET 8 and 9 */
    setup(NULL);
    assert_int_equal(call(0x50, FIRST), 33);
    assert_int_equal(load_relaxed(&info.maps), 2);
    assert_int_equal(call(0x50, FIRST), 33);
    assert_int_equal(load_relaxed(&info.maps), 2);
    metadata_module_unloaded(metadata, 0x9999);
    assert_int_equal(call(0x50, FIRST), 33);
    assert_int_equal(load_relaxed(&info.maps), 4);
    functions[0] = old;
}

TEST(code_is_precompiled_if_it_lies_in_a_section_of_its_image)
{
    enum { HEADERS = 128, SECTION = HEADERS + 24, TEXT = 0x1000, TEXT_SIZE = 0x80 };
    static uint8_t image[TEXT + 2 * TEXT_SIZE];
    const uint32_t section[] = {TEXT_SIZE, TEXT, TEXT_SIZE, 0x200};

    image[60] = HEADERS;
    image[HEADERS + 6] = 1; /* sections */
    memcpy(image + SECTION + 8, section, sizeof(section));
    assert_false(code_precompiled(metadata, caller, (uintptr_t)image + TEXT)); /* no image */
    info.image = image;
    assert_true(code_precompiled(metadata, caller, (uintptr_t)image + TEXT));
    assert_true(code_precompiled(metadata, caller, (uintptr_t)image + TEXT + TEXT_SIZE - 1));
    assert_false(code_precompiled(metadata, caller, (uintptr_t)image + TEXT + TEXT_SIZE));
    assert_false(code_precompiled(metadata, caller, (uintptr_t)image - 1));
    assert_false(code_precompiled(metadata, caller, CODE));
    modules[0].flags |= COR_PRF_MODULE_FLAT_LAYOUT; /* runs from elsewhere */
    assert_false(code_precompiled(metadata, caller, (uintptr_t)image + TEXT));
    modules[0].flags &= ~(uint32_t)COR_PRF_MODULE_FLAT_LAYOUT;
    info.image = NULL;
}

TEST(cold_code_counts_on_from_hot_code)
{
    assert_int_equal(code_il_call(metadata, caller, COLD + 0x10, method_of(GROW), NULL), 130);
    assert_int_equal(code_il_call(metadata, caller, COLD + 0x11, NULL, NULL),
                     CODE_IL_STUB); /* past its end */
}

TEST(every_body_of_a_method_is_found_and_asked_for_once)
{
    assert_int_equal(code_il_alloc(metadata, caller, OSR + 0x10, class_of(WIDGET), NULL), 70);
    assert_int_equal(call(0x50, FIRST), 33);
    assert_int_equal(load_relaxed(&info.maps), 2);
    for (int i = 0; i < 10; i++)
        call(0x50, FIRST);
    assert_int_equal(load_relaxed(&info.maps), 2);
}

TEST(the_only_instruction_that_calls_needs_no_map)
{
    struct metadata_method *sole = method_of(SOLE);

    assert_int_equal(code_il_call(metadata, sole, SOLE_CODE + 0x10, method_of(FIRST), NULL), 1);
    assert_int_equal(load_relaxed(&info.maps), 0);
    /* What no operand names is looked for by the map, and so is all that follows. */
    assert_int_equal(code_il_call(metadata, sole, SOLE_CODE + 0x10, method_of(LAMBDA), NULL), 1);
    assert_int_equal(code_il_call(metadata, sole, SOLE_CODE + 4, NULL, NULL), CODE_IL_UNMAPPED);
    assert_int_equal(code_il_call(metadata, sole, SOLE_CODE + 0x10, method_of(FIRST), NULL), 1);
    assert_int_equal(load_relaxed(&info.maps), 1);
}

TEST(outside_of_the_method_it_says_where)
{
    static const char data[] = "not code";
    char *heap = malloc(64);

    (void)data;
    assert_int_equal(code_il_call(metadata, caller, OTHER_CODE + 4, NULL, NULL), CODE_IL_OTHER);
    assert_int_equal(code_il_call(metadata, NULL, CODE + 0x50, NULL, NULL), CODE_IL_OTHER);
    assert_int_equal(code_il_call(metadata, caller, DYNAMIC_CODE + 4, NULL, NULL), CODE_IL_DYNAMIC);
    assert_int_equal(code_il_call(metadata, caller, STUB_CODE + 4, NULL, NULL), CODE_IL_STUB);
    assert_int_equal(code_il_call(metadata, caller, (uintptr_t)heap + 8, NULL, NULL), CODE_IL_STUB);
    assert_int_equal(code_il_call(metadata, caller, (uintptr_t)(void *)&printf + 1, NULL, NULL),
                     CODE_IL_NATIVE);
    free(heap);
}

TEST(without_a_map_or_il_there_is_less_but_no_crash)
{
    struct fake_function old = functions[0];
    struct fake_code code = codes[0];

    functions[0].il = NULL;
    assert_int_equal(call(0x18, SECOND), 0);
    functions[0] = old;
    metadata_free(metadata);
    codes[0].map = NULL;
    setup(NULL);
    assert_int_equal(call(0x18, SECOND), CODE_IL_UNMAPPED);
    assert_int_equal(metadata_failures(metadata, NULL), 1);
    codes[0] = code;
}

TEST(a_body_for_which_memory_ran_out_is_asked_for_again)
{
    int32_t il;
    long n = 0;

    do {
        memory_fail_after(n++);
        il = code_il_call(metadata, caller, CODE + 0x50, NULL, NULL);
        memory_fail_after(-1);
        assert_true(il == 33 || il == CODE_IL_UNMAPPED);
    } while (il != 33);
}

/* ---- what the JIT says of inlined methods ---- */

enum { PROVIDER = 1, PRIVATE = 2, JITTING = 145, LOADED = 143, RICH_INFO = 189 };
static const struct clr_runtime runtime = {.info = &info.base, .info_version = 15, .major = 11};
static struct rich rich;
static uint8_t event[256];

static void event_put(size_t at, uint64_t value, size_t size)
{
    memcpy(event + at, &value, size);
}

static void rich_begin(void)
{
    rich = (struct rich){.metadata = NULL};
    setenv(RICH_VARIABLE, "1", 1);
    assert_true(rich_init(&rich, metadata, &runtime));
    store_relaxed(&rich.running, true);
    store_relaxed(&rich.provider, PROVIDER);
    store_relaxed(&rich.private_provider, PRIVATE);
    memset(event, 0, sizeof(event));
}

static void jitting(void)
{
    event_put(0, MAIN, 8);
    assert_false(rich_delivered(&rich, PROVIDER, JITTING, event, 8));
}

static void loaded(void)
{
    event_put(0, MAIN, 8);
    event_put(16, OSR, 8);
    event_put(24, 0x20, 4);
    assert_false(rich_delivered(&rich, PROVIDER, LOADED, event, 36));
}

static uint64_t inlinee = FIRST;

/* Main with First inlined: two nodes and one entry, 61 bytes, of which this is a part. */
static void chunk(size_t from, size_t size, bool last)
{
    uint8_t all[61] = {2, 0, 0, 0, 1};

    all[20] = 1; /* the root's child */
    memcpy(all + 28, &inlinee, sizeof(inlinee));
    event_put(2, MAIN, 8);
    event_put(26, last ? UINT32_C(0x80000000) : 0, 4);
    event_put(30, size, 4);
    memcpy(event + 34, all + from, size);
    assert_true(rich_delivered(&rich, PRIVATE, RICH_INFO, event, (uint32_t)(34 + size)));
}

static const struct rich_code osr = {OSR, 0x20};

TEST(a_body_without_a_header_is_looked_at_once)
{
    static const struct clr_runtime ten = {.info = &info.base, .info_version = 15, .major = 10};
    static const struct rich_code cold = {COLD, 0x10};
    static const uint8_t damaged[] = {0xFF};
    const uint64_t header[4] = {(uintptr_t)damaged, 0, 0, MAIN}, at = (uintptr_t)header;
    bool lost = true;

    setenv(RICH_VARIABLE, "1", 1);
    assert_true(rich_init(&rich, metadata, &ten));
    assert_null(rich_body_find(metadata, caller, &osr, &lost));
    assert_false(lost);
    assert_int_equal(mprotect((void *)CODE, END_OF_CODE - CODE, PROT_READ | PROT_WRITE), 0);
    memcpy((void *)(OSR - sizeof(at)), &at, sizeof(at)); /* damaged, if it is looked at */
    memcpy((void *)(COLD - sizeof(at)), &at, sizeof(at));
    assert_null(rich_body_find(metadata, caller, &osr, &lost));
    assert_false(lost);
    assert_null(rich_body_find(metadata, caller, &cold, &lost)); /* another body */
    assert_true(lost);
}

TEST(code_shared_by_instantiations_is_looked_at_again_since_other_code_may_be_there)
{
    static const struct clr_runtime ten = {.info = &info.base, .info_version = 15, .major = 10};
    static const uint8_t damaged[] = {0xFF};
    const uint64_t header[4] = {(uintptr_t)damaged, 0, 0, MAIN}, at = (uintptr_t)header;
    bool lost = true;

    setenv(RICH_VARIABLE, "1", 1);
    assert_true(rich_init(&rich, metadata, &ten));
    metadata_method_entry(caller)->recheck = true;
    assert_int_equal(mprotect((void *)CODE, END_OF_CODE - CODE, PROT_READ | PROT_WRITE), 0);
    memset((void *)(OSR - sizeof(at)), 0, sizeof(at));
    assert_null(rich_body_find(metadata, caller, &osr, &lost));
    assert_false(lost);
    memcpy((void *)(OSR - sizeof(at)), &at, sizeof(at));
    assert_null(rich_body_find(metadata, caller, &osr, &lost));
    assert_true(lost);
}

static void *find_rich(void *lost)
{
    return (void *)(uintptr_t)rich_body_find(metadata, caller, &osr, lost);
}

TEST(code_that_runs_before_the_jit_has_said_what_it_inlined_waits_for_that)
{
    const struct rich_body *body;
    pthread_t thread;
    void *found;
    bool lost = true;

    rich_begin();
    assert_null(rich_body_find(metadata, caller, &osr, &lost)); /* compiled ahead of time */
    assert_false(lost);
    jitting();
    assert_int_equal(pthread_create(&thread, NULL, find_rich, &lost), 0);
    while (!load_relaxed(&rich.counts.awaited))
        sched_yield();
    loaded();
    chunk(0, 30, false); /* in chunks, as what is longer than 40,000 bytes */
    chunk(30, 31, true);
    pthread_join(thread, &found);
    body = found ? found : rich_body_find(metadata, caller, &osr, &lost);
    assert_non_null(body);
    assert_int_equal(body->nodes, 2);
    assert_int_equal(body->node[1].function, FIRST);
    assert_int_equal(body->node[1].parent, 0);
    assert_int_equal(load_relaxed(&rich.counts.bodies), 1);
}

TEST(a_body_of_which_the_jit_says_nonsense_or_nothing_is_counted_and_has_no_instruction)
{
    uint32_t inlined = 0;
    bool lost;

    rich_begin();
    jitting();
    loaded();
    chunk(0, 30, true); /* cut */
    assert_null(rich_body_find(metadata, caller, &osr, &lost));
    assert_true(lost);
    assert_int_equal(load_relaxed(&rich.counts.lost[RICH_DAMAGED]), 1);
    assert_int_equal(code_il_alloc(metadata, caller, OSR + 0x10, class_of(WIDGET), &inlined),
                     CODE_IL_UNMAPPED);
    jitting(); /* and never again a word */
    assert_null(rich_body_find(metadata, caller, &osr, &lost));
    assert_true(lost);
    assert_int_equal(load_relaxed(&rich.counts.lost[RICH_LATE]), 1);
}

TEST(where_no_inlined_method_may_be_meant_the_map_tells_the_instruction)
{
    uint32_t inlined = 0;

    rich_begin();
    jitting();
    loaded();
    chunk(0, 61, true);
    assert_int_equal(code_il_alloc(metadata, caller, OSR + 0x10, class_of(WIDGET), &inlined), 70);
    assert_int_equal(inlined, 0);
}

static void own(uintptr_t module, enum sst_owner owner)
{
    struct metadata_module *record = NULL;

    assert_int_equal(metadata_module_get(metadata, module, &record), 0);
    record->owner = (uint8_t)owner;
}

static const struct rich_body *body_of_others(uintptr_t guest)
{
    const struct rich_body *body;
    bool lost;

    rich_begin();
    own(APP, SST_OWNER_FRAMEWORK);
    own(GUESTS, SST_OWNER_OWN);
    inlinee = method_of(guest)->function_id;
    jitting();
    loaded();
    chunk(0, 30, false);
    chunk(30, 31, true);
    inlinee = FIRST;
    body = rich_body_find(metadata, caller, &osr, &lost);
    assert_non_null(body);
    assert_false(lost);
    assert_int_equal(load_relaxed(&caller->rich_due), 0);
    return body;
}

TEST(of_other_code_it_is_kept_which_own_methods_are_inlined)
{
    const struct rich_body *body = body_of_others(GUEST);

    assert_int_equal(body->nodes, 2);
    assert_int_equal(body->node[1].function, GUEST);
    assert_int_equal(load_relaxed(&rich.counts.hosts), 1);
}

TEST(of_other_code_without_own_methods_only_that_is_kept)
{
    assert_int_equal(body_of_others(FIRST)->nodes, 1);
    assert_int_equal(load_relaxed(&rich.counts.hosts), 0);
    assert_int_equal(load_relaxed(&rich.counts.bytes), sizeof(struct rich_body));
}

TEST(what_is_inlined_into_other_code_and_can_be_nothing_own_leaves_the_map_to_tell)
{
    uint32_t inlined = 0;

    body_of_others(GUEST);
    assert_int_equal(code_il_alloc(metadata, caller, OSR + 0x10, class_of(WIDGET), &inlined), 70);
    assert_int_equal(inlined, 0);
}

TEST(what_is_inlined_into_code_shared_by_instantiations_is_known)
{
    uint32_t native;
    bool lost;

    body_of_others(GUEST);
    metadata_method_entry(caller)->recheck = true; /* as of a class that the runtime does not say */
    assert_non_null(code_rich(metadata, caller, &osr, 0x10, &native, &lost));
}

TEST(what_was_inlined_before_an_unloading_does_not_count_for_code_that_is_being_compiled)
{
    bool lost = false;

    body_of_others(GUEST);
    metadata_method_entry(caller)->recheck = true;
    metadata->epoch++;
    assert_non_null(rich_body_find(metadata, caller, &osr, &lost));
    jitting();
    assert_null(rich_body_find(metadata, caller, &osr, &lost));
    assert_true(lost);
}

TEST(a_call_in_optimised_code_did_not_make_what_another_statement_makes)
{
    assert_int_equal(code_il_alloc(metadata, caller, CODE + 0x48, class_of(STRING), NULL), 33);
    assert_int_equal(code_il_alloc(metadata, caller, CODE + 0x48, class_of(WIDGET), NULL),
                     CODE_IL_UNMAPPED);
}
