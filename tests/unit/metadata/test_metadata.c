#include "metadata/metadata.h"

#include "fake_info.h"

#include "base/memory.h"
#include "metadata/internal.h"
#include "support/test.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* As long as nothing was unloaded, a record's number is its log id. */
static const struct metadata_class *class_by_id(const struct metadata *of, uint32_t id)
{
    bool listed;

    return metadata_class_at(of, id, &listed);
}

/* As long as nothing was unloaded, a record's number is its log id. */
static const struct metadata_module *module_by_id(const struct metadata *of, uint32_t id)
{
    bool listed;

    return metadata_module_at(of, id, &listed);
}

enum {
    CORELIB = 0x1000,
    APP = 0x2000,
    PLUGIN = 0x3000,
    OBJECT = 0x100,
    STRING,
    CANON,
    INT,
    LIST_OF_STRING,
    LIST_OF_CANON,
    STRINGS,
    GRID,
    POINTER,
    POINTERS,
    PLUG,
    LIST_OF_PLUG,
    PLUGS,
    UNKNOWN,
    MANY,
    FUNCTION_POINTERS,
    MAIN = 0x500,
    ADD,
    ADD_SHARED,
    PLUG_RUN,
    LIST_OF_PLUG_ADD,
    EH_THROW,
    EH_NESTED,
    SHARED_9,
    DYNAMIC,
    GENERIC_METHOD,
};

static const struct fake_type core_types[] = {
    {0x02000002, u"System.Object", 0},
    {0x02000003, u"System.String", 0},
    {0x02000004, u"System.__Canon", 0},
    {0x02000005, u"System.Int32", 0},
    {0x02000006, u"System.Collections.Generic.List`1", 0},
    {0x02000007, u"System.Runtime.EH", 0},
    {0x02000008, u"ExInfo", 0x02000007},
    {0x02000009, u"System.Runtime.StackFrameIterator", 0},
    {0x0200000A, u"System.Runtime.ExceptionServices.InternalCalls", 0},
    {0x0200000B, u"System.Many`10", 0},
    {0, NULL, 0},
};
static const struct fake_parameter core_parameters[] = {
    {0x02000006, 0, u"T"},  {0x0200000B, 0, u"T0"}, {0x0200000B, 1, u"T1"},
    {0x0200000B, 2, u"T2"}, {0x0200000B, 3, u"T3"}, {0x0200000B, 4, u"T4"},
    {0x0200000B, 5, u"T5"}, {0x0200000B, 6, u"T6"}, {0x0200000B, 7, u"T7"},
    {0x0200000B, 8, u"T8"}, {0x0200000B, 9, u"T9"}, {0x06000004, 0, u"TItem"},
    {0, 0, NULL},
};
static const uint8_t nothing[] = {0, 0, 1}, takes_t[] = {0x20, 1, 1, 0x13, 0},
                     takes_item[] = {0x10, 1, 1, 1, 0x1E, 0};
static const struct fake_blob core_blobs[] = {
    {0x06000001, 0x02000006, u"Add", takes_t, sizeof(takes_t)},
    {0x06000002, 0x02000007, u"RhThrowEx", nothing, sizeof(nothing)},
    {0x06000003, 0x02000008, u"Init", nothing, sizeof(nothing)},
    {0x06000004, 0x02000006, u"Each", takes_item, sizeof(takes_item)},
    {0, 0, NULL, NULL, 0},
};
static const struct fake_type app_types[] = {{0x02000002, u"App.Program", 0}, {0, NULL, 0}};
static const struct fake_blob app_blobs[] = {
    {0x06000001, 0x02000002, u"Main", nothing, sizeof(nothing)},
    {0, 0, NULL, NULL, 0},
};
static const struct fake_type plugin_types[] = {{0x02000002, u"Plug.In", 0}, {0, NULL, 0}};
static const struct fake_blob plugin_blobs[] = {
    {0x06000001, 0x02000002, u"Run", nothing, sizeof(nothing)},
    {0, 0, NULL, NULL, 0},
};

static struct fake_metadata core = {.base = {&fake_metadata_vtbl},
                                    .types = core_types,
                                    .parameters = core_parameters,
                                    .blobs = core_blobs};
static struct fake_metadata app = {
    .base = {&fake_metadata_vtbl}, .types = app_types, .blobs = app_blobs};
static struct fake_metadata plugin = {.base = {&fake_metadata_vtbl},
                                      .types = plugin_types,
                                      .blobs = plugin_blobs,
                                      .unmanaged_callers = 0x06000001};

static struct fake_module modules[] = {
    {CORELIB, u"/dotnet/System.Private.CoreLib.dll", u"System.Private.CoreLib", 1, &core},
    {APP, u"/app/App.dll", NULL, 1, &app},
    {PLUGIN, u"", u"Plugin", COR_PRF_MODULE_COLLECTIBLE | COR_PRF_MODULE_DYNAMIC, &plugin},
    {0, NULL, NULL, 0, NULL},
};
static const struct fake_class class_table[] = {
    {.id = OBJECT, .module = CORELIB, .token = 0x02000002},
    {.id = STRING, .module = CORELIB, .token = 0x02000003},
    {.id = CANON, .module = CORELIB, .token = 0x02000004},
    {.id = INT, .module = CORELIB, .token = 0x02000005},
    {.id = LIST_OF_STRING, .module = CORELIB, .token = 0x02000006, .args = 1, .arg = {STRING}},
    {.id = LIST_OF_CANON, .module = CORELIB, .token = 0x02000006, .args = 1, .arg = {CANON}},
    {.id = STRINGS, .rank = 1, .element = STRING, .element_type = ELEMENT_TYPE_STRING},
    {.id = GRID, .rank = 2, .element = STRINGS, .element_type = ELEMENT_TYPE_SZARRAY},
    {.id = POINTER},
    {.id = POINTERS, .rank = 1, .element = POINTER, .element_type = ELEMENT_TYPE_PTR},
    {.id = FUNCTION_POINTERS, .rank = 1, .element_type = ELEMENT_TYPE_FNPTR},
    {.id = PLUG, .module = PLUGIN, .token = 0x02000002},
    {.id = LIST_OF_PLUG, .module = CORELIB, .token = 0x02000006, .args = 1, .arg = {PLUG}},
    {.id = PLUGS, .rank = 1, .element = LIST_OF_PLUG},
    {.id = MANY,
     .module = CORELIB,
     .token = 0x0200000B,
     .args = 10,
     .arg = {INT, STRING, INT, CANON, INT, INT, INT, INT, POINTER, STRINGS}},
    {.id = 0},
};
static const struct fake_function function_table[] = {
    {.id = MAIN, .class = 0, .module = APP, .token = 0x06000001},
    {.id = ADD, .class = LIST_OF_STRING, .module = CORELIB, .token = 0x06000001},
    {.id = ADD_SHARED, .class = LIST_OF_CANON, .module = CORELIB, .token = 0x06000001},
    {.id = SHARED_9, .class = 0, .module = CORELIB, .token = 0x06000001},
    {.id = PLUG_RUN, .class = PLUG, .module = PLUGIN, .token = 0x06000001},
    {.id = LIST_OF_PLUG_ADD, .class = LIST_OF_PLUG, .module = CORELIB, .token = 0x06000001},
    {.id = EH_THROW, .class = 0, .module = CORELIB, .token = 0x06000002},
    {.id = EH_NESTED, .class = 0, .module = CORELIB, .token = 0x06000003},
    {.id = GENERIC_METHOD,
     .class = LIST_OF_STRING,
     .module = CORELIB,
     .token = 0x06000004,
     .args = 1,
     .arg = {INT}},
    {.id = DYNAMIC, .dynamic = true},
    {.id = 0},
};

static struct fake_class classes[COUNT_OF(class_table)];
static struct fake_function functions[COUNT_OF(function_table)];
static struct fake_info info = {
    .base = {&fake_info_vtbl}, .modules = modules, .classes = classes, .functions = functions};
static struct metadata *metadata;

static int setup(void **state)
{
    const struct metadata_config config = {.info = &info.base, .info_version = 15};

    (void)state;
    memcpy(classes, class_table, sizeof(classes));
    memcpy(functions, function_table, sizeof(functions));
    store_relaxed(&info.questions, 0);
    return metadata_new(&config, &metadata);
}

static int teardown(void **state)
{
    (void)state;
    metadata_free(metadata);
    metadata = NULL;
    return load_relaxed(&core.references_held) + load_relaxed(&app.references_held) +
                       load_relaxed(&plugin.references_held) ||
                   load_relaxed(&fake_enumerators)
               ? -1
               : 0;
}

TEST_EACH(setup, teardown);

static struct metadata_class *class_of(uintptr_t id)
{
    struct metadata_class *c = NULL;

    assert_int_equal(metadata_class_get(metadata, id, &c), 0);
    assert_non_null(c);
    return c;
}

static struct metadata_method *method_of(uintptr_t id)
{
    struct metadata_method *m = NULL;

    assert_int_equal(metadata_method_map(metadata, id, &m), 0);
    assert_non_null(m);
    assert_ptr_equal(metadata_method_find(metadata, id), m);
    return m;
}

static const char *class_text(uintptr_t id)
{
    return metadata_class_resolve(metadata, class_of(id));
}

static const char *method_text(uintptr_t id)
{
    return metadata_method_resolve(metadata, method_of(id));
}

TEST(a_record_is_made_once_and_then_nobody_is_asked)
{
    struct metadata_class *list = class_of(LIST_OF_STRING);
    struct metadata_method *add = method_of(ADD);
    uint64_t questions = load_relaxed(&info.questions);

    assert_ptr_equal(class_of(LIST_OF_STRING), list);
    assert_ptr_equal(method_of(ADD), add);
    assert_int_equal(load_relaxed(&info.questions), questions);
    assert_ptr_equal(add->owner, list);
    assert_ptr_equal(list->arg[0], class_of(STRING));
    assert_int_equal(add->function_id, ADD);
    assert_null(metadata_method_find(metadata, MAIN));
}

TEST(classes_are_written_as_their_developer_would)
{
    assert_string_equal(class_text(LIST_OF_STRING),
                        "System.Collections.Generic.List<System.String>");
    assert_string_equal(class_text(LIST_OF_CANON), "System.Collections.Generic.List<T>");
    assert_string_equal(class_text(STRINGS), "System.String[]");
    assert_string_equal(class_text(GRID), "System.String[][,]");
    assert_string_equal(class_text(POINTERS), "?*[]");
    assert_string_equal(class_text(FUNCTION_POINTERS), "delegate*<?>[]");
    assert_string_equal(
        class_text(MANY),
        "System.Many<System.Int32, System.String, System.Int32, T3, System.Int32, System.Int32, "
        "System.Int32, System.Int32, T8, System.String[]>");
    assert_string_equal(class_text(PLUGS), "System.Collections.Generic.List<Plug.In>[]");
}

TEST(methods_are_written_as_their_developer_would)
{
    assert_string_equal(method_text(MAIN), "App.Program.Main()");
    assert_string_equal(method_text(ADD),
                        "System.Collections.Generic.List<System.String>.Add(System.String)");
    assert_string_equal(method_text(ADD_SHARED), "System.Collections.Generic.List<T>.Add(T)");
    assert_string_equal(method_text(SHARED_9), "System.Collections.Generic.List<T>.Add(T)");
    assert_string_equal(
        method_text(GENERIC_METHOD),
        "System.Collections.Generic.List<System.String>.Each<System.Int32>(System.Int32)");
}

TEST(facts_about_classes_are_kept)
{
    assert_true(class_of(CANON)->canon);
    assert_false(class_of(OBJECT)->canon);
    assert_true(class_of(STRING)->variable_size);
    assert_true(class_of(STRINGS)->variable_size);
    assert_false(class_of(OBJECT)->variable_size);
    assert_int_equal(class_of(GRID)->rank, 2);
    assert_ptr_equal(class_of(GRID)->element, class_of(STRINGS));
    assert_null(class_of(POINTERS)->element);
    assert_true(class_of(PLUG)->collectible);
    assert_true(class_of(LIST_OF_PLUG)->collectible);
    assert_true(class_of(PLUGS)->collectible);
    assert_false(class_of(LIST_OF_STRING)->collectible);
}

TEST(modules_are_named_by_assembly_or_file)
{
    struct metadata_method *main_method = method_of(MAIN);

    method_of(ADD);
    method_of(PLUG_RUN);
    assert_string_equal(main_method->module->name, "App"); /* its assembly has no name to tell */
    assert_string_equal(main_method->module->path, "/app/App.dll");
    assert_string_equal(main_method->module->mvid, "03020100-0504-0706-0809-0a0b0c0d0e0f");
    assert_false(main_method->module->corelib);
    assert_true(module_by_id(metadata, 2)->corelib);
    assert_string_equal(module_by_id(metadata, 3)->path, "");
    assert_true(module_by_id(metadata, 3)->collectible);
    assert_null(module_by_id(metadata, 4));
    assert_null(module_by_id(metadata, 0));
}

TEST(what_the_snapshot_hides_is_marked)
{
    assert_true(method_of(EH_THROW)->hidden);
    assert_false(method_of(EH_NESTED)->hidden); /* types nested in them are not */
    assert_false(method_of(ADD)->hidden);
    assert_false(method_of(MAIN)->hidden);
}

TEST(what_the_runtime_does_not_know_is_counted)
{
    struct metadata_class *c = (void *)1;
    struct metadata_method *m = (void *)1;
    hresult last = S_OK;

    assert_int_equal(metadata_class_get(metadata, UNKNOWN, &c), -EINVAL);
    assert_null(c);
    assert_int_equal(metadata_failures(metadata, &last), 1);
    assert_int_equal(last, E_INVALIDARG);
    assert_int_equal(metadata_class_get(metadata, POINTER, &c),
                     -EINVAL); /* no failure: pointers have no records */
    assert_int_equal(metadata_failures(metadata, NULL), 1);
    assert_int_equal(metadata_method_map(metadata, DYNAMIC, &m), -EINVAL);
    assert_null(m);
    assert_int_equal(metadata_failures(metadata, NULL), 2);
}

/* As the runtime lays types out: the parent's address is the third word. */
static uintptr_t layouts[2][3];

TEST(a_class_without_metadata_is_described_as_its_parent)
{
    struct metadata_class *c;
    const uintptr_t parent = (uintptr_t)layouts[0], nameless = (uintptr_t)layouts[1];

    layouts[0][2] = STRING; /* what the runtime says, too */
    layouts[1][2] = parent;
    classes[0] =
        (struct fake_class){.id = parent, .module = CORELIB, .token = 0x02000002, .parent = STRING};
    classes[1] = (struct fake_class){.id = nameless, .incomplete = true};
    /* Nobody knows yet whether the third word is the parent. */
    assert_int_equal(metadata_class_get(metadata, nameless, &c), -EINVAL);
    assert_int_equal(metadata_class_get(metadata, parent, &c), 0);
    assert_int_equal(metadata_class_get(metadata, nameless, &c), 0);
    assert_string_equal(metadata_class_resolve(metadata, c), "System.Object");
}

TEST(where_the_parent_lies_elsewhere_no_word_is_trusted)
{
    struct metadata_class *c;
    const uintptr_t parent = (uintptr_t)layouts[0], nameless = (uintptr_t)layouts[1];

    layouts[0][2] = STRING;
    layouts[1][2] = parent;
    classes[0] =
        (struct fake_class){.id = parent, .module = CORELIB, .token = 0x02000002, .parent = CANON};
    classes[1] = (struct fake_class){.id = nameless, .incomplete = true};
    assert_int_equal(metadata_class_get(metadata, parent, &c), 0);
    assert_int_equal(metadata_class_get(metadata, nameless, &c), -EINVAL);
}

TEST(an_object_whose_class_the_runtime_does_not_know_has_a_record)
{
    struct metadata_class *c;

    assert_int_equal(metadata_class_of(metadata, UNKNOWN, 0x1000, &c), 0);
    assert_string_equal(metadata_class_resolve(metadata, c), "?class 0x00000000");
    assert_int_equal(metadata_failures(metadata, NULL), 1);
}

TEST(what_can_be_unloaded_is_named_at_once)
{
    assert_string_equal(metadata_class_text(class_of(LIST_OF_PLUG)),
                        "System.Collections.Generic.List<Plug.In>");
    assert_string_equal(metadata_method_text(method_of(PLUG_RUN)), "Plug.In.Run()");
    assert_null(metadata_class_text(class_of(OBJECT)));
    assert_null(metadata_method_text(method_of(MAIN)));
}

TEST(an_id_used_again_after_unloading_gets_a_new_record)
{
    struct metadata_method *run = method_of(PLUG_RUN), *add = method_of(LIST_OF_PLUG_ADD);
    struct metadata_class *plug = class_of(PLUG), *list = class_of(LIST_OF_PLUG);
    uint32_t epoch = metadata_epoch(metadata);
    uint64_t questions;

    assert_ptr_equal(method_of(PLUG_RUN), run); /* asked again, and the same */
    metadata_module_unloaded(metadata, PLUGIN);
    assert_true(metadata_epoch(metadata) != epoch);
    assert_null(
        metadata_method_find(metadata, PLUG_RUN)); /* nobody has mapped what may be there now */
    assert_null(metadata_method_find(metadata, LIST_OF_PLUG_ADD));

    /* The same file loaded again, everything at the same address. */
    assert_ptr_not_equal(class_of(PLUG), plug);
    assert_ptr_not_equal(class_of(LIST_OF_PLUG), list);
    assert_ptr_not_equal(class_of(PLUG)->module, plug->module);
    assert_ptr_not_equal(method_of(PLUG_RUN), run);
    assert_ptr_not_equal(method_of(LIST_OF_PLUG_ADD), add);
    assert_string_equal(metadata_class_text(plug), "Plug.In"); /* old records stay readable */
    assert_string_equal(metadata_method_text(run), "Plug.In.Run()");

    questions = load_relaxed(&info.questions);
    class_of(PLUG);
    assert_int_equal(load_relaxed(&info.questions), questions); /* checked once in an epoch */
    assert_ptr_equal(class_of(STRING), class_of(STRING));
}

TEST(metadata_is_given_back_as_its_module_is_unloaded)
{
    struct metadata_method *run = method_of(PLUG_RUN), *next;

    assert_int_equal(load_relaxed(&plugin.references_held), 1);
    metadata_module_unloaded(metadata, PLUGIN);
    assert_int_equal(load_relaxed(&plugin.references_held), 0);
    assert_null(run->module->import);
    next = method_of(PLUG_RUN); /* the same file loaded again, at the same address */
    assert_string_equal(metadata_method_text(run), "Plug.In.Run()");
    assert_true(metadata_method_unmanaged_callers(run)); /* known, for nobody can be asked */

    assert_true(metadata_retire(metadata));
    metadata_release(metadata);
    metadata_release_imports(metadata);
    assert_int_equal(load_relaxed(&plugin.references_held), 1);
    assert_non_null(next->module->import);
}

TEST(metadata_that_somebody_may_read_is_given_back_later)
{
    struct metadata_method *run = method_of(PLUG_RUN), *next;

    metadata_hold(metadata);
    metadata_module_unloaded(metadata, PLUGIN);
    metadata_release_imports(metadata);
    assert_int_equal(load_relaxed(&plugin.references_held), 1);
    assert_non_null(run->module->import);
    next = method_of(PLUG_RUN);
    metadata_unhold(metadata);
    metadata_release_imports(metadata);
    assert_int_equal(load_relaxed(&plugin.references_held), 1); /* that of the next */
    assert_null(run->module->import);
    assert_non_null(next->module->import);
}

TEST(metadata_in_which_types_are_looked_for_stays)
{
    struct metadata_module *module = method_of(PLUG_RUN)->module;

    metadata->config.types_by_name = true;
    metadata_module_unloaded(metadata, PLUGIN);
    metadata_release_imports(metadata);
    assert_non_null(module->import);
}

TEST(an_unload_elsewhere_keeps_the_record)
{
    struct metadata_class *list = class_of(LIST_OF_PLUG);
    struct metadata_method *run = method_of(PLUG_RUN);

    metadata_module_unloaded(metadata, 0x9999);
    assert_ptr_equal(metadata_method_find(metadata, PLUG_RUN), run);
    assert_ptr_equal(class_of(LIST_OF_PLUG), list);
    assert_ptr_equal(method_of(PLUG_RUN), run);
}

TEST(a_function_id_that_means_another_method_gets_a_new_record)
{
    struct metadata_method *run = method_of(PLUG_RUN);
    struct metadata_method *next;

    functions[4] = (struct fake_function){.id = PLUG_RUN, .module = PLUGIN, .token = 0x06000002};
    next = method_of(PLUG_RUN);
    assert_ptr_not_equal(next, run);
    assert_int_equal(next->id, run->id + 1);
    assert_string_equal(metadata_method_text(next),
                        "?method 0x06000002"); /* unknown to the metadata */
}

/* .NET 8 and 9 do not say the class of shared code; if they did later, it would be no other method. */
TEST(knowing_more_later_makes_no_new_record)
{
    struct metadata_method *shared = method_of(SHARED_9);

    assert_null(shared->owner);
    functions[3].class = LIST_OF_CANON;
    assert_ptr_equal(method_of(SHARED_9), shared);
}

TEST(records_are_found_by_id)
{
    for (uint32_t i = 0; i < 5000; i++)
        metadata_module_unloaded(metadata, PLUGIN), class_of(PLUG); /* each a new record */
    for (uint32_t i = 1; i <= 5000; i++)
        assert_int_equal(class_by_id(metadata, i)->id, i);
    assert_null(class_by_id(metadata, 5001));
    assert_null(class_by_id(metadata, UINT32_MAX));
}

TEST(without_metadata_there_is_a_text_all_the_same)
{
    struct fake_metadata *old = modules[1].metadata;

    modules[1].metadata = NULL;
    assert_string_equal(method_text(MAIN), "?method 0x06000001");
    assert_null(method_of(MAIN)->module->import);
    modules[1].metadata = old;
}

TEST(endless_type_arguments_end)
{
    struct metadata_class *c;

    classes[4].arg[0] = LIST_OF_STRING; /* damaged: a list of itself */
    assert_int_equal(metadata_class_get(metadata, LIST_OF_STRING, &c), 0);
    assert_in_range(strlen(metadata_class_resolve(metadata, c)), 1, TEXT_MAX);
}

TEST(long_names_are_cut_between_characters)
{
    static char16_t name[6000];
    static const struct fake_type long_types[] = {{0x02000002, name, 0}, {0, NULL, 0}};
    const char *text;

    for (size_t i = 0; i < COUNT_OF(name) - 1; i++)
        name[i] = u'\u00e9'; /* two bytes */
    app.types = long_types;
    text = method_text(MAIN);
    app.types = app_types;
    assert_in_range(strlen(text), TEXT_MAX - 4, TEXT_MAX);
    assert_string_equal(text + strlen(text) - 5, "\u00e9\u2026");
}

TEST(running_out_of_memory_is_reported_and_leaves_no_record_half_made)
{
    struct metadata_method *m;
    long n = 0;
    int err;

    do {
        uint64_t failures = metadata_failures(metadata, NULL);

        memory_fail_after(n++);
        err = metadata_method_map(metadata, GENERIC_METHOD, &m);
        memory_fail_after(-1);
        assert_true(err == 0 || (err == -ENOMEM && !m));
        assert_true(!err ||
                    metadata_failures(metadata, NULL) > failures); /* it is in no stack: counted */
    } while (err);
    assert_int_equal(m->args, 1);
    for (n = 0;; n++) {
        struct metadata_method *add = method_of(ADD);
        const char *text;

        memory_fail_after(n);
        text = metadata_method_resolve(metadata, add);
        memory_fail_after(-1);
        assert_non_null(text);
        if (strcmp(text, "?method 0x06000001")) {
            assert_string_equal(
                text, "System.Collections.Generic.List<System.String>.Add(System.String)");
            break;
        }
        teardown(NULL); /* a text once published stays */
        setup(NULL);
    }
}

/* ---- several threads ---- */

enum { THREADS = 4, ROUNDS = 300 };

static pthread_barrier_t barrier;

static void *meet(void *arg)
{
    static const uintptr_t class_ids[] = {OBJECT, STRING, LIST_OF_STRING, GRID,
                                          MANY,   PLUGS,  LIST_OF_CANON};
    static const uintptr_t function_ids[] = {MAIN,     ADD,      ADD_SHARED,
                                             SHARED_9, PLUG_RUN, GENERIC_METHOD};
    void **found = arg;

    for (int round = 0; round < ROUNDS; round++) {
        struct metadata *all = metadata;

        pthread_barrier_wait(&barrier);
        all = metadata;
        for (size_t i = 0; i < COUNT_OF(class_ids); i++) {
            struct metadata_class *c = NULL;

            metadata_class_get(all, class_ids[i], &c);
            metadata_class_resolve(all, c);
            found[i] = c;
        }
        for (size_t i = 0; i < COUNT_OF(function_ids); i++) {
            struct metadata_method *m = NULL;

            metadata_method_map(all, function_ids[i], &m);
            metadata_method_resolve(all, m);
            found[COUNT_OF(class_ids) + i] = m;
        }
        for (uint32_t id = 1; class_by_id(all, id); id++)
            if (class_by_id(all, id)->id != id)
                abort();
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

TEST(threads_that_meet_an_id_at_once_get_one_record)
{
    void *found[THREADS][16] = {{NULL}};
    pthread_t thread[THREADS];

    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, meet, found[i]);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t count = 0;

        teardown(NULL);
        setup(NULL);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        for (size_t i = 0; i < 13; i++) {
            assert_non_null(found[0][i]);
            for (size_t t = 1; t < THREADS; t++)
                assert_ptr_equal(found[t][i], found[0][i]);
        }
        while (class_by_id(metadata, count + 1))
            count++;
        assert_int_equal(count, 12); /* the seven, and what they are made of */
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&barrier);
}

static _Atomic(bool) done;

static void *read_always(void *arg)
{
    _Atomic(uint64_t) *reads = arg;

    while (!load_acquire(&done)) {
        struct metadata_method *m = metadata_method_find(metadata, PLUG_RUN);

        if (m && (m->function_id != PLUG_RUN || strcmp(metadata_method_text(m), "Plug.In.Run()")))
            abort();
        add_relaxed(reads, 1);
    }
    return NULL;
}

TEST(readers_see_whole_records_while_ids_change_hands)
{
    _Atomic(uint64_t) reads[2] = {0, 0};
    pthread_t thread[2];

    store_relaxed(&done, false);
    for (size_t i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, read_always, &reads[i]);
    for (int i = 0; i < 3000 || !load_relaxed(&reads[0]) || !load_relaxed(&reads[1]); i++) {
        metadata_module_unloaded(metadata, PLUGIN);
        method_of(PLUG_RUN);
    }
    store_release(&done, true);
    for (size_t i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
}
