/*
 * What the control socket says is what control_schema.json says: each command's reply, each refusal; and a request is
 * taken if, and only if, it is one by the schema.
 *
 * With files as arguments it judges these instead: lines of [name in $defs, object], from a real process.
 */
#include "control/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "config/config.h"
#include "validate/schema.h"
#include "stack/stack_hot.h"
#include "unit/readers/memory_log.h"
#include "support/test.h"

#include <errno.h>

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

static void status(void *context, struct buffer *out)
{
    (void)context;
    buffer_text(out, ",\"log\":\"l\",\"part\":1,\"log_bytes\":1,\"written\":1,\"bytes\":1");
}

static void announce(uint32_t number)
{
    (void)number;
}

static int failure; /* what rotate and sites return */
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
                                            .status = status}};

static uintptr_t sp_of(unsigned level)
{
    return (uintptr_t)&words[60 - 4 * level];
}

static int start(void **state)
{
    const struct stack_config stacks = {.context = NULL};
    const struct config_start live = {.announce = announce};
    const struct metadata_config metadata = {.info = NULL};

    if (metadata_new(&metadata,
                     &control.config.metadata)) /* held while stacks are copied, asked nothing */
        return -1;
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
    dump_free(control.dump);
    metadata_free(control.config.metadata);
    return document_free(state);
}

/* The reply to a line, held against a definition. */
static json_t *answer(const char *line, const char *definition)
{
    struct buffer out = BUFFER_INIT;
    json_t *reply;

    control_answer(&control, line, strlen(line), &out);
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

TEST(every_reply_is_as_described)
{
    check("{\"command\":\"status\"}", "status_reply");
    check("{\"command\":\"set\",\"paused\":true}", "set_reply");
    check("{\"command\":\"set\",\"sample\":512,\"only\":[\"App.*\"]}", "set_reply");
    check("{\"command\":\"mark\",\"text\":\"one\"}", "mark_reply");
    check("{\"command\":\"rotate\"}", "rotate_reply");
    check("{\"command\":\"sites\"}", "sites_reply");
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
        "{\"command\":\"rotate\"}",
        "{\"command\":\"rotate\",\"most\":1}",
        "{\"command\":\"sites\",\"most\":10000}",
        "{\"command\":\"sites\",\"most\":10001}",
    };

    for (size_t i = 0; i < COUNT_OF(lines); i++) {
        json_t *request = json_loads(lines[i], JSON_DECODE_ANY, NULL), *reply;
        struct buffer out = BUFFER_INIT;
        bool taken;

        control_answer(&control, lines[i], strlen(lines[i]), &out);
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
