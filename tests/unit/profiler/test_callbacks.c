/*
 * The callback object against a runtime that keeps no order: each slot at any time, any number of times, with ids that
 * nobody knows. What concerns the program is counted, and nothing crashes.
 */
#include "profiler/object.h"

#include "clr/runtime.h"
#include "clr/com.h"
#include "stack/stack_hot.h"
#include "support/test.h"

#include <shadowtrace/clr/callback.h>
#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/guids.h>

#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Readable and zeroed: it does for an id, a pointer and a count alike, each slot takes what it wants of it. */
#define UNKNOWN      UINT64_C(0x20000)
#define UNKNOWN_SIZE (1u << 20)
#define ROUNDS       40u
#define LOG_SIZE     (4u << 20)

/* In a child: a failed one ends it, the test then fails. */
#define REQUIRE(holds) \
    do { \
        if (!(holds)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #holds); \
            _exit(1); \
        } \
    } while (0)

union slots {
    struct clr_callback_vtbl vtbl;
    hresult (*slot[CLR_CALLBACK_SLOTS])(struct clr_callback *self, uintptr_t a, uintptr_t b,
                                        uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f,
                                        uintptr_t g, uintptr_t h, uintptr_t i, uintptr_t j,
                                        uintptr_t k, uintptr_t l);
};

static char folder[64];
static uint16_t major_version;
static union {
    struct clr_info_vtbl vtbl;
    hresult (*slot[sizeof(struct clr_info_vtbl) / sizeof(void *)])(void);
} info_table = {.slot = {NULL}};
static struct clr_info info = {&info_table.vtbl};
static clr_function_id_mapper2 *mapper;
static void *mapper_data;

static hresult refuse(void)
{
    return E_INVALIDARG;
}

static hresult accept(void)
{
    return S_OK;
}

static hresult query(struct clr_info *self, const struct clr_guid *iid, void **out)
{
    (void)iid;
    *out = self;
    return S_OK;
}

static hresult runtime_information(struct clr_info *self, uint16_t *instance, int32_t *type,
                                   uint16_t *major, uint16_t *minor, uint16_t *build, uint16_t *fix,
                                   uint32_t max, uint32_t *length, clr_wchar *version)
{
    (void)self, (void)instance, (void)type, (void)max, (void)length, (void)version;
    *major = major_version;
    *minor = 0;
    *build = 7;
    *fix = 0;
    return S_OK;
}

static hresult mapper_set(struct clr_info *self, clr_function_id_mapper2 *map, void *data)
{
    (void)self;
    mapper = map;
    mapper_data = data;
    return S_OK;
}

/* A runtime that knows no id: what is not needed to start is refused. */
static void info_fill(void)
{
    for (size_t i = 0; i < COUNT_OF(info_table.slot); i++)
        info_table.slot[i] = refuse;
    info_table.vtbl.query_interface = query;
    info_table.vtbl.get_runtime_information = runtime_information;
    info_table.vtbl.set_function_id_mapper2 = mapper_set;
    info_table.slot[offsetof(struct clr_info_vtbl, set_event_mask2) / sizeof(void *)] = accept;
    info_table
        .slot[offsetof(struct clr_info_vtbl, set_enter_leave_function_hooks2) / sizeof(void *)] =
        accept;
    info_table
        .slot[offsetof(struct clr_info_vtbl, set_enter_leave_function_hooks3) / sizeof(void *)] =
        accept;
}

static struct clr_callback *callback(void)
{
    static const struct clr_guid clsid = {
        0x7b6a1f52, 0x3c0e, 0x4e57, {0x9d, 0x35, 0x5a, 0xd0, 0xb3, 0xc5, 0xe4, 0xa1}};
    struct clr_class_factory *factory;
    void *out;

    REQUIRE(DllGetClassObject(&clsid, &clr_iid_class_factory, &out) == S_OK);
    factory = out;
    REQUIRE(factory->vtbl->create_instance(factory, NULL, &clr_iid_callback8, &out) == S_OK);
    return out;
}

static hresult initialize(struct clr_callback *c)
{
    return c->vtbl->initialize(c, (struct clr_unknown *)(void *)&info);
}

#define SLOT(member) (offsetof(struct clr_callback_vtbl, member) / sizeof(void *))

static void call(struct clr_callback *c, size_t slot, uintptr_t id, uintptr_t other)
{
    const union slots *slots = (const void *)c->vtbl;

    if (slot <= SLOT(shutdown)) /* and what lies before it: IUnknown and Initialize */
        return;
    if (slot == SLOT(initialize_for_attach)) /* the same */
        return;
    if (slot == SLOT(thread_name_changed)) /* a length */
        other %= UNKNOWN - 8;
    slots->slot[slot](c, id, other, UNKNOWN, other, UNKNOWN, id, other, id, other, id, other, id);
}

/* Pointers that are never NULL are not NULL here. */
static void call_as_unknown(struct clr_callback *c, size_t slot)
{
    call(c, slot, UNKNOWN, UNKNOWN);
    call(c, slot, UNKNOWN + 64, UNKNOWN);
    if (slot != SLOT(load_as_notification_only))
        call(c, slot, 0, UNKNOWN);
    if (slot != SLOT(jit_cached_function_search_started) &&
        slot != SLOT(garbage_collection_started))
        call(c, slot, UNKNOWN, 0);
}

/* In order, backwards, each twice, and in no order. */
static void drive(struct clr_callback *c)
{
    uint64_t seed = 88172645463325252u;

    for (size_t i = 0; i < CLR_CALLBACK_SLOTS; i++)
        call_as_unknown(c, i);
    for (size_t i = CLR_CALLBACK_SLOTS; i-- > 0;) {
        call_as_unknown(c, i);
        call_as_unknown(c, i);
    }
    for (size_t i = 0; i < ROUNDS * CLR_CALLBACK_SLOTS; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        call_as_unknown(c, seed % CLR_CALLBACK_SLOTS);
    }
}

static void *drive_with_frames(void *argument)
{
    static uintptr_t memory[2][64];
    static _Atomic(unsigned) next;
    uintptr_t *frames = memory[add_relaxed(&next, 1) % 2];
    int32_t hook;
    uintptr_t known = mapper(UNKNOWN + 128, mapper_data, &hook),
              other = mapper(UNKNOWN + 192, mapper_data, &hook);

    stack_leave(known, (uintptr_t)&frames[60]); /* without any frame */
    stack_enter(known, (uintptr_t)&frames[50]);
    stack_leave(other, (uintptr_t)&frames[40]); /* never entered */
    drive(argument);
    stack_leave(known, (uintptr_t)&frames[50]);
    stack_leave(known, (uintptr_t)&frames[50]); /* twice */
    return NULL; /* the thread ends in the middle of whatever is open */
}

static json_t *record_of(const char *kind)
{
    static char text[LOG_SIZE], path[96];
    json_t *found = NULL;
    FILE *file;

    snprintf(path, sizeof(path), "%s/log", folder);
    file = fopen(path, "re");
    REQUIRE(file);
    while (fgets(text, sizeof(text), file)) {
        json_t *line = json_loads(text, 0, NULL);

        REQUIRE(line); /* nothing that was passed broke a line */
        if (strcmp(json_string_value(json_object_get(line, "kind")), kind) == 0) {
            json_decref(found);
            found = json_incref(line);
        }
        json_decref(line);
    }
    fclose(file);
    REQUIRE(found);
    return found;
}

static long long number(const json_t *record, const char *key)
{
    return json_integer_value(json_object_get(record, key));
}

static void options_set(const char *more)
{
    char text[512];

    snprintf(text, sizeof(text), "{\"version\":1,\"output\":\"%s/log\",\"no_control\":true%s}",
             folder, more);
    setenv("SHADOWTRACE_OPTIONS", text, 1);
}

static void disorder(const char *more)
{
    struct clr_callback *c;
    pthread_t thread;
    json_t *end, *repairs;

    options_set(more);
    c = callback();
    for (size_t i = 0; i < CLR_CALLBACK_SLOTS; i++) /* before Initialize */
        call_as_unknown(c, i);
    REQUIRE(c->vtbl->shutdown(c) == S_OK);
    REQUIRE(initialize(c) == S_OK);
    REQUIRE(initialize(c) == E_UNEXPECTED);
    REQUIRE(pthread_create(&thread, NULL, drive_with_frames, c) == 0);
    drive_with_frames(c);
    REQUIRE(pthread_join(thread, NULL) == 0);
    REQUIRE(c->vtbl->shutdown(c) == S_OK);
    end = record_of("end");
    repairs = json_object_get(end, "repairs");
    REQUIRE(number(repairs, "orphan_leave") >= 6);
    REQUIRE(number(end, "seen") == number(end, "written") + number(end, "lost"));
    REQUIRE(number(end, "seen") > 2 * ROUNDS);
    json_decref(end);
    drive(c); /* after Shutdown, and another one */
    REQUIRE(c->vtbl->shutdown(c) == S_OK);
    REQUIRE(initialize(c) == E_UNEXPECTED);
}

/* A process for each: a process has one profiler. */
static void in_child(void (*body)(const char *), const char *more)
{
    char path[96];
    int status;
    pid_t child;

    snprintf(path, sizeof(path), "%s/log", folder);
    unlink(path);
    child = fork();
    assert_true(child >= 0);
    if (!child) {
        signal(SIGSEGV,
               SIG_DFL); /* cmocka's handler would go on with the tests that follow, here */
        body(more);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST(callbacks_in_any_order_are_counted)
{
    major_version = 10;
    in_child(disorder, ",\"check\":1,\"hooks\":\"elt3\"");
    in_child(disorder, ",\"check\":1,\"hooks\":\"elt2\"");
    in_child(disorder, ",\"hooks\":\"elt3\",\"check_threads\":5");
    in_child(disorder, ",\"hooks\":\"elt3\",\"only\":[\"*\"]");
}

#define EVERY_FAMILY \
    ",\"events\":[\"alloc\",\"threads\",\"modules\",\"classes\",\"jit\",\"exceptions\",\"gc\"," \
    "\"suspend\",\"transitions\",\"finalizers\"]"

TEST(callbacks_of_every_family_in_any_order_are_counted)
{
    major_version = 8;
    in_child(disorder, ",\"hooks\":\"elt3\"" EVERY_FAMILY);
    major_version = 10;
    in_child(disorder, ",\"hooks\":\"elt2\"" EVERY_FAMILY);
}

static void walk_of_the_heap(const char *unused)
{
    struct clr_callback *c;

    (void)unused;
    options_set(EVERY_FAMILY);
    c = callback();
    REQUIRE(initialize(c) == S_OK);
    REQUIRE(c->vtbl->object_references(c, 0x1000, 0x2000, 0, NULL) == E_FAIL);
    REQUIRE(c->vtbl->root_references(c, 0, NULL) == S_OK);
    REQUIRE(c->vtbl->shutdown(c) == S_OK);
}

TEST(a_walk_of_the_heap_ends_at_its_first_object)
{
    major_version = 10;
    in_child(walk_of_the_heap, "");
}

static void start_and_stop(const char *unverified)
{
    struct clr_callback *c;
    json_t *header;

    options_set("");
    c = callback();
    REQUIRE(initialize(c) == S_OK);
    REQUIRE(c->vtbl->shutdown(c) == S_OK);
    header = record_of("header");
    REQUIRE(json_is_true(json_object_get(header, "unverified")) == (*unverified != '\0'));
    json_decref(header);
}

TEST(a_version_never_seen_runs_and_is_named_so)
{
    for (major_version = CLR_MAJOR_OLDEST; major_version <= CLR_MAJOR_NEWEST; major_version++)
        in_child(start_and_stop, "");
    major_version = CLR_MAJOR_NEWEST + 1;
    in_child(start_and_stop, "unverified");
    major_version = 99;
    in_child(start_and_stop, "unverified");
}

static void declined(const char *unused)
{
    struct clr_callback *c;

    (void)unused;
    options_set("");
    c = callback();
    REQUIRE(initialize(c) == CORPROF_E_PROFILER_CANCEL_ACTIVATION);
    drive(c);
    REQUIRE(c->vtbl->shutdown(c) == S_OK);
}

TEST(a_profiler_that_declined_hears_nothing)
{
    major_version = 7;
    in_child(declined, "");
}

static int setup(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/shadowtrace-test-XXXXXX");
    info_fill();
    return !mkdtemp(folder) ||
           mmap((void *)UNKNOWN, UNKNOWN_SIZE, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED;
}

static int teardown(void **state)
{
    char path[96];

    (void)state;
    snprintf(path, sizeof(path), "%s/log", folder);
    unlink(path);
    return rmdir(folder) || munmap((void *)UNKNOWN, UNKNOWN_SIZE);
}

TEST_EACH(setup, teardown);
