/*
 * What the control socket says is what control_schema.json says: each command's reply, each refusal; and a request is
 * taken if, and only if, it is one by the schema.
 *
 * With files as arguments it judges these instead: lines of [name in $defs, object], from a real process.
 */
#include "control/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/parker.h"
#include "config/config.h"
#include "validate/schema.h"
#include "stack/stack_hot.h"
#include "unit/readers/memory_log.h"
#include "support/test.h"

#include <shadowtrace/clr/constants.h>

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEVELS 4u

static char why[200];
static json_t *document;

/* ---- the schema ---- */

static struct report_schema *schema_of(const char *definition)
{
    json_t *root = json_pack("{s:O}", "$defs", json_object_get(document, "$defs"));
    char name[64], *text;
    struct report_schema *schema;

    snprintf(name, sizeof(name), "#/$defs/%s", definition);
    json_object_set_new(root, "$ref", json_string(name));
    text = json_dumps(root, 0);
    if (report_schema_new(text, strlen(text), &schema, why, sizeof(why)))
        fail_msg("%s: %s", definition, why);
    free(text);
    json_decref(root);
    return schema;
}

/* Against a definition, and whether each member is described in it: else nobody would know what it means. */
static bool holds(const char *definition, json_t *object)
{
    const json_t *properties = json_object_get(
        json_object_get(json_object_get(document, "$defs"), definition), "properties");
    struct report_schema *schema = schema_of(definition);
    bool result = report_schema_check(schema, object, why, sizeof(why));
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        if (result && properties && !json_object_get(properties, key)) {
            snprintf(why, sizeof(why), "%s is not described", key);
            result = false;
        }
    }
    report_schema_free(schema);
    return result;
}

static int document_read(void **state)
{
    size_t size;
    char *text = memory_log_file("include/shadowtrace/control_schema.json", &size);

    (void)state;
    document = json_loadb(text, size, 0, NULL);
    free(text);
    return document ? 0 : -1;
}

static int document_free(void **state)
{
    (void)state;
    json_decref(document);
    return 0;
}

/* ---- a process ---- */

static struct metadata_module module = {.id = 1, .name = "App", .path = "/app/App.dll"};
static struct metadata_method methods[LEVELS] = {
    {.function_id = 100,
     .id = 1,
     .token = 0x06000001,
     .module = &module,
     .collectible = true,
     .text = "App.Main()"},
    {.function_id = 101,
     .id = 2,
     .token = 0x06000002,
     .module = &module,
     .collectible = true,
     .text = "App.A(\"x\\\")"},
    {.function_id = 102,
     .id = 3,
     .collectible = true}, /* nobody has named it, and it may be gone */
    {.function_id = 103, .id = 4000, .collectible = true, .text = "App.\001Z()"},
};
static uintptr_t words[64];
static char *const command[] = {"dotnet", "App.dll", "\xff not UTF-8", NULL};

static bool thread_name(void *context, uint32_t os, char *text, size_t size)
{
    (void)context;
    (void)os;
    snprintf(text, size, "a \"thread\"");
    return true;
}

static uint32_t metadata_given(void *context)
{
    (void)context;
    return 1;
}

static int mark(void *context, const char *text)
{
    (void)context;
    return strcmp(text, "no memory") == 0 ? -ENOMEM : 0;
}

static int rotate(void *context, char **older)
{
    const int *err = context;

    *older = *err ? NULL : memory_strdup("/tmp/log.ndjson.1");
    return *err;
}

static int sites(void *context, uint32_t most, char **members)
{
    const int *err = context;

    (void)most;
    *members = *err ? NULL
                    : memory_strdup(
                          "\"since\":1,\"sites\":1,\"other\":{\"allocs\":0,\"bytes\":0},\"rows\":[{"
                          "\"allocs\":1,\"bytes\":24,\"node\":1,\"type\":\"T\",\"stack\":[]}]");
    return *err;
}

static int alive(void *context, uint32_t most, char **members)
{
    const int *err = context;

    (void)most;
    *members = *err ? NULL
                    : memory_strdup("\"gc\":2,\"full\":1,\"objects\":1,\"bytes\":24,\"exact\":true,"
                                    "\"sites\":1,\"rows\":[{\"allocs\":1,\"bytes\":24,"
                                    "\"node\":1,\"type\":\"T\",\"stack\":[]}]");
    return *err;
}

static void status(void *context, struct buffer *out)
{
    (void)context;
    buffer_text(out,
                ",\"log\":\"l\",\"part\":1,\"log_bytes\":1,\"written\":1,\"bytes\":1,\"lost\":1,"
                "\"lost_by\":{\"no_ring\":1}");
}

static void announce(uint32_t number)
{
    (void)number;
}

static struct session session; /* of a dump beside concurrent collections */
static unsigned opened;        /* sessions */
static bool torn;              /* an event of it is missing */

static int failure;     /* what rotate and sites return */
static hresult refused; /* what ForceGC returns */
static struct collect *collector;
static struct graph *graph;          /* of its dumps */
static uint32_t mask = 1, forbidden; /* the event mask; bits that the runtime refuses */
static struct collect_job *job;
static struct parker collected;

static void over(void *context)
{
    (void)context;
    parker_unpark(&collected);
}

static void tell_event(uint32_t id, const void *data, uint32_t size)
{
    session_delivered(&session, &(struct session_event){id, 2, size, data});
}

/* GCStart: number, depth, reason, type. */
static void tell_start(uint32_t depth, uint32_t type)
{
    tell_event(1, (const uint32_t[]){7, depth, 0, type, 0, 0, 0}, 26);
}

/* One object, with a reference to itself. */
static void tell_object(void)
{
    static const uint64_t object[] = {0x1000, 24, 0x50, 1};
    uint8_t node[10 + sizeof(object)] = {[4] = 1}, edge[22] = {[4] = 1};

    memcpy(node + 10, object, sizeof(object));
    memcpy(edge + 10, object, 8);
    tell_event(18, node, sizeof(node));
    if (!torn)
        tell_event(19, edge, sizeof(edge));
}

/* Only what is blocking, and full, is the heap. */
static void tell_events(void)
{
    tell_start(2, 1);
    tell_object();
    tell_start(1, 2);
    tell_object();
    tell_start(2, 0);
    tell_event(1, "ProcessInfo of a command line", 29);
    tell_object();
}

static hresult start_session(struct clr_info *self, uint32_t count,
                             const struct clr_event_pipe_provider_config *configs, int32_t rundown,
                             uint64_t *id)
{
    (void)self, (void)count, (void)configs, (void)rundown;
    *id = ++opened;
    return S_OK;
}

static hresult stop_session(struct clr_info *self, uint64_t id)
{
    (void)self;
    assert_int_equal(id, opened--);
    return S_OK;
}

/* A runtime that collects as ours does: it tells of the collection before it returns. */
static hresult force_gc(struct clr_info *self)
{
    (void)self;
    if (refused != S_OK)
        return refused;
    collect_begun(collector, 7, true);
    if (graph_object(graph, 0x1000, 0x50, 0, NULL))
        graph_roots(graph, 1, (const uintptr_t[]){0x1000}, (const int32_t[]){3},
                    (const int32_t[]){0}, (const uintptr_t[]){0});
    if (opened)
        tell_events();
    collect_begun(collector, 8, false); /* inside of it */
    collect_finished(collector);
    collect_finished(collector);
    return S_OK;
}

static hresult mask_get(struct clr_info *self, uint32_t *low, uint32_t *high)
{
    (void)self;
    *low = mask;
    *high = 0;
    return S_OK;
}

static hresult mask_set(struct clr_info *self, uint32_t low, uint32_t high)
{
    (void)self, (void)high;
    if (low & forbidden)
        return CORPROF_E_CONCURRENT_GC_NOT_PROFILABLE;
    mask = low;
    return S_OK;
}

static hresult size_get(struct clr_info *self, uintptr_t object, size_t *size)
{
    (void)self, (void)object;
    *size = 24;
    return S_OK;
}

/* Of a class that nobody has met. */
static hresult class_get(struct clr_info *self, uintptr_t class_id, uintptr_t *id, uint32_t *token,
                         uintptr_t *parent, uint32_t count, uint32_t *args, uintptr_t *arg)
{
    (void)self, (void)class_id, (void)id, (void)token, (void)parent, (void)count, (void)args;
    (void)arg;
    return E_FAIL;
}

static hresult array_get(struct clr_info *self, uintptr_t class_id, uint32_t *element_type,
                         uintptr_t *element, uint32_t *rank)
{
    (void)self, (void)class_id, (void)element_type, (void)element, (void)rank;
    return E_FAIL;
}

static uint64_t zero_ns(void *context)
{
    (void)context;
    return 1;
}

static struct clr_info_vtbl vtbl = {.force_gc = force_gc,
                                    .get_event_mask2 = mask_get,
                                    .set_event_mask2 = mask_set,
                                    .event_pipe_start_session = start_session,
                                    .event_pipe_stop_session = stop_session,
                                    .get_object_size2 = size_get,
                                    .get_class_id_info2 = class_get,
                                    .is_array_class = array_get};
static struct clr_info info = {&vtbl};

/* For the end of what was asked for; its reply. */
static void wait_for(struct buffer *out)
{
    struct collect_result result;

    assert_int_equal(out->size, 0);
    while (!collect_over(job, &result))
        parker_park(&collected, 1000000000);
    control_collected(job, out);
    job = NULL;
}
static struct control control = {.config = {.executable = "/usr/bin/dotnet",
                                            .name = "App",
                                            .runtime = "10.0.0",
                                            .hooks = "elt3",
                                            .command = command,
                                            .shadow = true,
                                            .context = &failure,
                                            .thread_name = thread_name,
                                            .metadata_given = metadata_given,
                                            .mark = mark,
                                            .rotate = rotate,
                                            .sites = sites,
                                            .alive = alive,
                                            .status = status}};

static uintptr_t sp_of(unsigned level)
{
    return (uintptr_t)&words[60 - 4 * level];
}

static int start(void **state)
{
    const struct stack_config stacks = {.context = NULL};
    const struct config_start live = {.announce = announce};
    const struct metadata_config metadata = {.info = &info, .info_version = 15};
    struct collect_config collect = {
        .info = &info, .context = &failure, .mark = mark, .over = over};
    struct graph_config dumps = {
        .info = &info, .info_version = 15, .session = &session, .zero_ns = zero_ns};

    if (metadata_new(&metadata, &dumps.metadata) || graph_new(&dumps, &graph))
        return -1;
    collect.graph = graph;
    control.config.metadata = dumps.metadata; /* held while stacks are copied, asked nothing */
    if (collect_new(&collect, &collector))
        return -1;
    control.config.collect = collector;

    clock_start();
    control.dump = dump_new(NULL); /* of code that may be unloaded names are asked nothing */
    if (!control.dump || stack_start(&stacks) || config_start(&live))
        return -1;
    for (unsigned i = 0; i < LEVELS; i++)
        stack_enter((uintptr_t)&methods[i], sp_of(i));
    return document_read(state);
}

static int stop(void **state)
{
    for (unsigned i = LEVELS; i-- > 0;)
        stack_leave((uintptr_t)&methods[i], sp_of(i));
    collect_stop(collector, 1000);
    dump_free(control.dump);
    metadata_free(control.config.metadata);
    return document_free(state);
}

/* The reply to a line, held against a definition. */
static json_t *answer(const char *line, const char *definition)
{
    struct buffer out = BUFFER_INIT;
    json_t *reply;

    control_answer(&control, line, strlen(line), &out, &job);
    if (job)
        wait_for(&out);
    assert_false(out.failed);
    assert_int_equal(out.data[out.size - 1], '\n');
    reply = json_loadb(out.data, out.size, 0, NULL);
    if (!reply)
        fail_msg("%s: no JSON: %s", line, out.data);
    if (!holds(definition, reply))
        fail_msg("%s: %s: %s: %s", line, definition, why, out.data);
    buffer_free(&out);
    return reply;
}

static void check(const char *line, const char *definition)
{
    json_decref(answer(line, definition));
}

/* ---- tests ---- */

TEST_GROUP(start, stop);

TEST(the_mean_of_the_runtimes_samples_can_rise_but_not_fall_below_its_own)
{
    control.config.least_sample = 102400;
    check("{\"command\":\"set\",\"sample\":102400}", "set_reply");
    check("{\"command\":\"set\",\"sample\":102399}", "error");
    check("{\"command\":\"set\",\"sample\":0}", "error");
    check("{\"command\":\"set\",\"paused\":false}", "set_reply");
    control.config.least_sample = 0;
    check("{\"command\":\"set\",\"sample\":0}", "set_reply");
}

static int detach(void *context)
{
    return *(const int *)context;
}

TEST(only_a_process_that_was_attached_to_can_be_detached)
{
    json_t *status;

    check("{\"command\":\"detach\"}", "error");
    control.config.detach = detach;
    check("{\"command\":\"detach\"}", "detach_reply");
    status = answer("{\"command\":\"status\"}", "status_reply");
    assert_true(json_is_true(json_object_get(status, "attached")));
    json_decref(status);
    failure = -EALREADY;
    check("{\"command\":\"detach\"}", "error");
    failure = 0;
    control.config.detach = NULL;
}

TEST(every_reply_is_as_described)
{
    check("{\"command\":\"status\"}", "status_reply");
    check("{\"command\":\"set\",\"paused\":true}", "set_reply");
    check("{\"command\":\"set\",\"sample\":512,\"only\":[\"App.*\"]}", "set_reply");
    check("{\"command\":\"mark\",\"text\":\"one\"}", "mark_reply");
    check("{\"command\":\"rotate\"}", "rotate_reply");
    check("{\"command\":\"sites\"}", "sites_reply");
    check("{\"command\":\"alive\"}", "alive_reply");
    check("{\"command\":\"status\",\"version\":1}", "status_reply");
}

TEST(dumps_are_as_described)
{
    json_t *first = answer("{\"command\":\"dump\"}", "dump_reply"),
           *again = answer("{\"command\":\"dump\"}", "dump_reply"), *thread;

    thread = json_array_get(json_object_get(first, "threads"), 0);
    assert_int_equal(json_array_size(json_object_get(thread, "frames")), LEVELS);
    assert_int_equal(json_array_size(json_object_get(first, "methods")), LEVELS);
    assert_string_equal(json_string_value(json_object_get(thread, "name")), "a \"thread\"");
    assert_true(json_equal(json_object_get(first, "threads"), json_object_get(again, "threads")));
    assert_true(json_equal(json_object_get(first, "methods"), json_object_get(again, "methods")));
    json_decref(first);
    json_decref(again);
    check("{\"command\":\"dump\",\"frames\":2,\"lines\":false}", "dump_reply");
    check("{\"command\":\"dump\",\"frames\":0}", "dump_reply");
}

TEST(a_dump_shows_what_has_changed)
{
    json_t *thread, *frame, *reply;

    check("{\"command\":\"dump\"}", "dump_reply");
    stack_leave((uintptr_t)&methods[3], sp_of(3));
    stack_enter((uintptr_t)&methods[1], sp_of(3));
    reply = answer("{\"command\":\"dump\"}", "dump_reply");
    thread = json_array_get(json_object_get(reply, "threads"), 0);
    frame = json_array_get(json_object_get(thread, "frames"), 0);
    assert_int_equal(json_integer_value(json_array_get(frame, 0)), methods[1].id);
    assert_int_equal(json_array_size(json_object_get(reply, "methods")), 3);
    json_decref(reply);
    stack_leave((uintptr_t)&methods[1], sp_of(3));
    stack_enter((uintptr_t)&methods[3], sp_of(3));
}

TEST(a_dump_in_a_filter_or_beside_a_change_is_as_described)
{
    json_t *reply, *thread;

    stack_exception_thrown();
    stack_search_function_enter(103);
    stack_search_function_enter(102);
    stack_search_filter_enter(102);
    reply = answer("{\"command\":\"dump\"}", "dump_reply");
    thread = json_array_get(json_object_get(reply, "threads"), 0);
    assert_true(json_is_true(json_object_get(thread, "dispatching")));
    assert_string_equal(
        json_string_value(json_array_get(json_array_get(json_object_get(thread, "frames"), 0), 1)),
        "filter");
    json_decref(reply);
    stack_search_filter_leave();
    stack_search_catcher_found();
    stack_catcher_enter(101, 0);
    stack_jump_begin(stack_current()); /* and it stays on its way */
    reply = answer("{\"command\":\"dump\"}", "dump_reply");
    thread = json_array_get(json_object_get(reply, "threads"), 0);
    assert_true(json_is_false(json_object_get(thread, "exact")));
    assert_int_equal(json_integer_value(json_object_get(thread, "certain")), 0);
    json_decref(reply);
    stack_jump_end(stack_current());
    for (unsigned i = stack_depth(stack_current()); i < LEVELS; i++)
        stack_enter((uintptr_t)&methods[i], sp_of(i));
}

TEST(every_refusal_is_as_described)
{
    check("{\"command\":\"mark\",\"text\":\"no memory\"}", "error");
    failure = -ETIMEDOUT;
    check("{\"command\":\"rotate\"}", "error");
    check("{\"command\":\"sites\"}", "error");
    check("{\"command\":\"alive\"}", "error");
    failure = -ENOENT;
    check("{\"command\":\"alive\"}", "error");
    failure = 0;
    control.config.shadow = false;
    check("{\"command\":\"dump\"}", "error");
    check("{\"command\":\"set\",\"only\":[\"App.*\"]}", "error");
    control.config.shadow = true;
    check("not JSON", "error");
    check("", "error");
    check("[]", "error");
    check("{\"command\":\"status\",\"version\":2}", "error");
}

TEST(a_collection_is_answered_with_its_number)
{
    json_t *reply = answer("{\"command\":\"gc\"}", "gc_reply");

    assert_int_equal(json_integer_value(json_object_get(reply, "gc")), 7);
    json_decref(reply);
    reply = answer("{\"command\":\"mark\",\"text\":\"x\",\"full\":true}", "gc_reply");
    assert_true(json_integer_value(json_object_get(reply, "took_ns")) >=
                json_integer_value(json_object_get(reply, "pause_ns")));
    json_decref(reply);
    check("{\"command\":\"mark\",\"text\":\"x\",\"full\":false}", "mark_reply");
}

TEST(a_collection_that_is_not_made_is_refused)
{
    static const hresult results[] = {CORPROF_E_NOT_YET_AVAILABLE, E_FAIL, (hresult)0x80131399};

    for (size_t i = 0; i < COUNT_OF(results); i++) {
        refused = results[i];
        check("{\"command\":\"gc\"}", "error");
        check("{\"command\":\"mark\",\"text\":\"x\",\"full\":true}", "error");
    }
    refused = S_OK;
    check("{\"command\":\"mark\",\"text\":\"no memory\",\"full\":true}", "error");
}

#define HEAP_FILE "/proc/self/cwd/shadowtrace-test-heap"
static const char heap[] = "{\"command\":\"heap\",\"file\":\"" HEAP_FILE "\"}";

TEST(a_dump_of_the_heap_is_answered_with_what_is_in_it)
{
    struct stat st;
    json_t *reply = answer(heap, "heap_reply");

    assert_int_equal(json_integer_value(json_object_get(reply, "gc")), 7);
    assert_int_equal(json_integer_value(json_object_get(reply, "objects")), 1);
    assert_int_equal(json_integer_value(json_object_get(reply, "roots")), 1);
    assert_int_equal(stat(HEAP_FILE, &st), 0);
    assert_int_equal(json_integer_value(json_object_get(reply, "file_bytes")), st.st_size);
    unlink(HEAP_FILE);
    json_decref(reply);
    assert_int_equal(mask, 1); /* the runtime tells only of that collection */
}

TEST(a_dump_that_cannot_be_made_is_refused)
{
    check("{\"command\":\"heap\",\"file\":\"/nowhere/x\"}", "error");
    check("{\"command\":\"heap\",\"file\":\"x\"}", "error");
    refused = E_FAIL;
    check(heap, "error");
    refused = S_OK;
    assert_int_equal(access(HEAP_FILE, F_OK), -1);
    assert_int_equal(mask, 1);
}

TEST(beside_concurrent_collections_the_heap_is_told_by_events)
{
    json_t *reply;

    forbidden = COR_PRF_MONITOR_GC;
    reply = answer(heap, "heap_reply");
    assert_int_equal(json_integer_value(json_object_get(reply, "objects")), 1);
    assert_int_equal(json_integer_value(json_object_get(reply, "references")), 1);
    assert_int_equal(json_integer_value(json_object_get(reply, "gc")), 7);
    json_decref(reply);
    assert_int_equal(unlink(HEAP_FILE), 0);
    torn = true;
    reply = answer(heap, "error");
    assert_true(json_is_true(json_object_get(reply, "unable")));
    json_decref(reply);
    torn = false;
    forbidden = 0;
    assert_int_equal(access(HEAP_FILE, F_OK), -1);
    assert_int_equal(mask, 1);
    assert_int_equal(opened, 0);
}

TEST(a_request_is_taken_if_the_schema_takes_it)
{
    static const char *const lines[] = {
        "{\"command\":\"status\"}",
        "{\"command\":\"status\",\"version\":1}",
        "{\"command\":\"status\",\"version\":2}",
        "{\"command\":\"status\",\"version\":\"1\"}",
        "{\"command\":\"status\",\"frames\":2}",
        "{\"command\":\"nonsense\"}",
        "{\"command\":7}",
        "{}",
        "[]",
        "7",
        "{\"command\":\"dump\"}",
        "{\"command\":\"dump\",\"frames\":1048576}",
        "{\"command\":\"dump\",\"frames\":1048577}",
        "{\"command\":\"dump\",\"frames\":-1}",
        "{\"command\":\"dump\",\"frames\":\"2\"}",
        "{\"command\":\"dump\",\"lines\":1}",
        "{\"command\":\"dump\",\"text\":\"x\"}",
        "{\"command\":\"set\"}",
        "{\"command\":\"set\",\"paused\":false}",
        "{\"command\":\"set\",\"paused\":null}",
        "{\"command\":\"set\",\"sample\":9007199254740991}",
        "{\"command\":\"set\",\"sample\":9007199254740992}",
        "{\"command\":\"set\",\"only\":[]}",
        "{\"command\":\"set\",\"only\":[\"\"]}",
        "{\"command\":\"set\",\"only\":[1]}",
        "{\"command\":\"set\",\"only\":\"x\"}",
        "{\"command\":\"mark\"}",
        "{\"command\":\"mark\",\"text\":\"\"}",
        "{\"command\":\"mark\",\"text\":\"x\"}",
        "{\"command\":\"mark\",\"text\":\"x\",\"full\":true}",
        "{\"command\":\"mark\",\"text\":\"x\",\"full\":1}",
        "{\"command\":\"gc\"}",
        "{\"command\":\"gc\",\"full\":true}",
        "{\"command\":\"heap\"}",
        "{\"command\":\"heap\",\"file\":\"x\"}",
        heap,
        "{\"command\":\"rotate\"}",
        "{\"command\":\"rotate\",\"most\":1}",
        "{\"command\":\"sites\",\"most\":10000}",
        "{\"command\":\"sites\",\"most\":10001}",
        "{\"command\":\"alive\",\"most\":3}",
        "{\"command\":\"alive\",\"rows\":3}",
    };

    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        json_t *request = json_loads(lines[i], JSON_DECODE_ANY, NULL), *reply;
        struct buffer out = BUFFER_INIT;
        bool taken;

        control_answer(&control, lines[i], strlen(lines[i]), &out, &job);
        if (job)
            wait_for(&out);
        unlink(HEAP_FILE);
        reply = json_loadb(out.data, out.size, 0, NULL);
        taken = json_is_true(json_object_get(reply, "ok"));
        if (taken != holds("request", request))
            fail_msg("%s: the schema says: %s; the reply: %s", lines[i], why, out.data);
        json_decref(request);
        json_decref(reply);
        buffer_free(&out);
    }
}

/* ---- lines of a real process ---- */

static void judge_file(const char *path)
{
    FILE *file = fopen(path, "re");
    unsigned lines = 0;
    json_t *line;

    assert_non_null(file);
    while ((line = json_loadf(file, JSON_DISABLE_EOF_CHECK, NULL))) {
        const char *definition = json_string_value(json_array_get(line, 0));

        if (!holds(definition, json_array_get(line, 1)))
            fail_msg("%s: a %s: %s", path, definition, why);
        json_decref(line);
        lines++;
    }
    fclose(file);
    print_message("%u lines of %s\n", lines, path);
    assert_true(lines > 0);
}

static void lines_of_files_are_as_described(void **state)
{
    for (char **path = *state; *path; path++)
        judge_file(*path);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest of_files[] = {
        cmocka_unit_test_prestate_setup_teardown(lines_of_files_are_as_described, NULL, NULL,
                                                 argv + 1),
    };

    if (argc > 1)
        return cmocka_run_group_tests(of_files, document_read, document_free);
    return test_run(NULL);
}
