#include "control/internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "config/config.h"
#include "options/json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST_FRAMES  2048u /* of one thread, unless the request says */
#define MOST_SITES   100u
#define MOST_TEXT    4096u
#define NUMBER_MAX   ((INT64_C(1) << 53) - 1)
#define MOST_PATTERN 256u

/* more: members, each with a comma before it. */
static void refuse(struct buffer *out, const char *text, const char *more)
{
    buffer_clear(out);
    buffer_text(out, "{\"ok\":false,\"version\":1,\"error\":");
    if (!text[0])
        buffer_text(out, "\"\"");
    else
        buffer_json_string(out, text);
    buffer_text(out, more);
    buffer_text(out, "}\n");
}

void control_refuse(struct buffer *out, const char *format, ...)
{
    char text[400];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    refuse(out, text, "");
}

static void begin(struct buffer *out)
{
    buffer_format(out, "{\"ok\":true,\"version\":%d", CONTROL_VERSION);
}

static void finish(struct buffer *out)
{
    buffer_text(out, "}\n");
    if (out->failed)
        control_refuse(out, "out of memory");
}

/* A request is known with all of its members, or refused: nothing is left out in silence. */
struct member {
    const char *name;
    enum { MEMBER_FLAG, MEMBER_NUMBER, MEMBER_TEXT, MEMBER_TEXTS } kind;
    int64_t most; /* of a number */
};

struct request {
    struct control *control;
    const json_t *json;
    struct buffer *out;
    struct collect_job **job; /* where one goes that the reply has to wait for */
};

#define MOST_MEMBERS 4

struct command {
    const char *name;
    struct member member[MOST_MEMBERS];
    void (*run)(const struct request *r);
};

static bool is_texts(const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!json_is_string(json_array_get(value, i)) ||
            !*json_string_value(json_array_get(value, i)))
            return false;
    return json_is_array(value) && json_array_size(value) <= MOST_PATTERN;
}

static bool fits(const struct member *m, const json_t *value)
{
    switch (m->kind) {
    case MEMBER_FLAG:
        return json_is_boolean(value);
    case MEMBER_NUMBER:
        return json_is_integer(value) && json_integer_value(value) >= 0 &&
               json_integer_value(value) <= m->most;
    case MEMBER_TEXT:
        return json_is_string(value) && json_string_length(value) <= MOST_TEXT;
    case MEMBER_TEXTS:
        break;
    }
    return is_texts(value);
}

static const char *const member_words[] = {
    [MEMBER_FLAG] = "true or false",
    [MEMBER_NUMBER] = "a whole number in its range",
    [MEMBER_TEXT] = "a text of at most 4096 bytes",
    [MEMBER_TEXTS] = "an array of at most 256 texts, none of them empty",
};

static uint64_t number(const struct request *r, const char *name, uint64_t standard)
{
    const json_t *value = json_object_get(r->json, name);

    return value ? (uint64_t)json_integer_value(value) : standard;
}

static void run_dump(const struct request *r)
{
    const json_t *lines = json_object_get(r->json, "lines");
    struct dump_request request = {.most = (uint32_t)number(r, "frames", MOST_FRAMES),
                                   .lines = !lines || json_is_true(lines)};

    if (!r->control->config.shadow) {
        control_refuse(r->out, "a dump shows shadow stacks, which need hooks: start the "
                               "program with `shadowtrace record`, without --capture");
        return;
    }
    begin(r->out);
    r->out->failed |= dump_all(r->control->dump, &r->control->config, &request, r->out) != 0;
    finish(r->out);
}

static void put_texts(struct buffer *out, char *const *text, size_t count)
{
    buffer_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i)
            buffer_char(out, ',');
        buffer_json_string(out, text[i]);
    }
    buffer_char(out, ']');
}

static void put_text(struct buffer *out, const char *text)
{
    struct buffer clean = BUFFER_INIT;

    buffer_utf8(&clean, text);
    buffer_json_string(out, clean.data ? clean.data : "");
    out->failed |= clean.failed;
    buffer_free(&clean);
}

static void put_live(struct buffer *out)
{
    struct options_patterns only = {NULL, 0, NULL};
    struct config_settings config;

    config_read(&config);
    out->failed |= config_only(&only) != 0;
    buffer_format(out, ",\"number\":%u,\"paused\":%s,\"sample\":%llu,\"only\":", config.generation,
                  config.paused ? "true" : "false", (unsigned long long)config.sample);
    put_texts(out, only.pattern, only.count);
    config_only_free(&only);
}

static void run_status(const struct request *r)
{
    const struct control_config *c = &r->control->config;
    uint64_t now = clock_ns();
    struct stack_totals totals;

    stack_totals_read(&totals);
    begin(r->out);
    buffer_format(r->out, ",\"pid\":%d,\"name\":", (int)getpid());
    put_text(r->out, c->name);
    buffer_text(r->out, ",\"executable\":");
    put_text(r->out, c->executable);
    buffer_text(r->out, ",\"command\":[");
    for (char *const *word = c->command; word && *word; word++) {
        if (word != c->command)
            buffer_char(r->out, ',');
        put_text(r->out, *word);
    }
    buffer_format(r->out,
                  "],\"runtime\":\"%s\",\"hooks\":\"%s\",\"tracer\":\"" SHADOWTRACE_VERSION
                  "\",\"t\":%llu,\"threads\":%llu,\"calls\":%llu",
                  c->runtime, c->hooks, (unsigned long long)(now - c->zero_ns),
                  (unsigned long long)totals.threads, (unsigned long long)totals.calls);
    if (c->detach)
        buffer_text(r->out, ",\"attached\":true");
    put_live(r->out);
    c->status(c->context, r->out);
    finish(r->out);
}

/* Later: control_collected(). */
static void collect(const struct request *r, const struct collect_request *request)
{
    int err = collect_ask(r->control->config.collect, request, r->job);

    if (err)
        control_refuse(r->out, "no collection was made: %s",
                       err == -EBUSY ? "another one is running; try again later" : strerror(-err));
}

static void put_heap(struct buffer *out, const struct heap_file_counts *counts)
{
    buffer_format(out, ",\"objects\":%llu,\"references\":%llu,\"roots\":%llu,\"file_bytes\":%llu",
                  (unsigned long long)counts->objects, (unsigned long long)counts->references,
                  (unsigned long long)counts->roots, (unsigned long long)counts->bytes);
}

void control_collected(struct collect_job *job, struct buffer *out)
{
    struct collect_result result;
    char why[300];

    if (!collect_over(job, &result)) {
        control_refuse(out, "the collection is still running");
    } else if (result.failure) {
        collect_explain(&result, why, sizeof(why));
        refuse(out, why,
               result.failure == COLLECT_NO_HEAP && result.heap.failure != GRAPH_NO_FILE
                   ? ",\"unable\":true"
                   : "");
    } else {
        begin(out);
        buffer_format(out, ",\"gc\":%u,\"pause_ns\":%llu,\"took_ns\":%llu", result.collection,
                      (unsigned long long)result.pause_ns, (unsigned long long)result.took_ns);
        if (result.dumps)
            put_heap(out, &result.heap.counts);
        finish(out);
    }
    collect_drop(job);
}

static void run_gc(const struct request *r)
{
    collect(r, &(struct collect_request){NULL, NULL});
}

static void run_heap(const struct request *r)
{
    const char *file = json_string_value(json_object_get(r->json, "file"));

    if (!file || *file != '/')
        control_refuse(r->out, "a dump of the heap needs a \"file\", an absolute path");
    else
        collect(r, &(struct collect_request){.heap = file});
}

static void run_mark(const struct request *r)
{
    const char *text = json_string_value(json_object_get(r->json, "text"));

    if (!text || !*text) {
        control_refuse(r->out, "a mark needs a \"text\"");
        return;
    }
    if (json_is_true(json_object_get(r->json, "full"))) {
        collect(r, &(struct collect_request){.mark = text});
        return;
    }
    begin(r->out);
    r->out->failed |= r->control->config.mark(r->control->config.context, text) != 0;
    finish(r->out);
}

static int take_only(const json_t *json, struct options_patterns *only)
{
    *only = (struct options_patterns){NULL, 0, NULL};
    if (!json_array_size(json))
        return 0;
    only->pattern = memory_zalloc(json_array_size(json), sizeof(*only->pattern));
    for (; only->pattern && only->count < json_array_size(json); only->count++) {
        only->pattern[only->count] =
            memory_strdup(json_string_value(json_array_get(json, only->count)));
        if (!only->pattern[only->count]) {
            config_only_free(only);
            return -ENOMEM;
        }
    }
    return only->pattern ? 0 : -ENOMEM;
}

static void run_set(const struct request *r)
{
    const json_t *paused = json_object_get(r->json, "paused");
    const json_t *only = json_object_get(r->json, "only");
    struct config_change change = {.has_paused = paused != NULL,
                                   .paused = json_is_true(paused),
                                   .has_sample = json_object_get(r->json, "sample") != NULL,
                                   .sample = number(r, "sample", 0),
                                   .has_only = only != NULL};
    uint32_t now = 0;
    int err;

    if (!change.has_paused && !change.has_sample && !change.has_only) {
        control_refuse(r->out, "nothing to set: give \"paused\", \"sample\" or \"only\"");
        return;
    }
    if (only && json_array_size(only) && !r->control->config.shadow) {
        control_refuse(r->out, "\"only\" needs the shadow stack, and this process records with "
                               "--capture snapshot");
        return;
    }
    if (r->control->config.live && (change.paused || change.sample || json_array_size(only))) {
        control_refuse(r->out, "this process records with --live, and what is alive is known only "
                               "of objects that are recorded: none can be left out");
        return;
    }
    if (change.has_sample && change.sample < r->control->config.least_sample) {
        control_refuse(
            r->out,
            "the runtime takes the samples of this process, one in %llu bytes; give that "
            "or more, or record with --sampler exact",
            (unsigned long long)r->control->config.least_sample);
        return;
    }
    err = only ? take_only(only, &change.only) : 0;
    if (!err)
        err = config_change(&change, &now);
    config_only_free(&change.only);
    begin(r->out);
    put_live(r->out);
    r->out->failed |= err != 0;
    finish(r->out);
}

static void run_rotate(const struct request *r)
{
    char *older = NULL;
    int err = r->control->config.rotate(r->control->config.context, &older);

    if (err) {
        control_refuse(r->out, "the log cannot begin a new part: %s",
                       err == -ETIMEDOUT ? "its writer is busy; it will when it can"
                                         : strerror(-err));
        return;
    }
    begin(r->out);
    buffer_text(r->out, ",\"log\":");
    put_text(r->out, older ? older : "");
    memory_free(older);
    finish(r->out);
}

static void run_detach(const struct request *r)
{
    const struct control_config *c = &r->control->config;
    int err = c->detach ? c->detach(c->context) : 0;

    if (!c->detach) {
        control_refuse(r->out, "this process was started with the profiler, which stays until it "
                               "ends; `shadowtrace ctl PID stop` has it record nothing");
    } else if (err) {
        control_refuse(r->out, "cannot detach: %s",
                       err == -EALREADY ? "it is already under way" : strerror(-err));
    } else {
        begin(r->out);
        finish(r->out);
    }
}

static void put_members(const struct request *r, char *members)
{
    begin(r->out);
    buffer_format(r->out, ",\"t\":%llu,",
                  (unsigned long long)(clock_ns() - r->control->config.zero_ns));
    buffer_text(r->out, members);
    memory_free(members);
    finish(r->out);
}

static void run_sites(const struct request *r)
{
    char *members = NULL;
    int err = r->control->config.sites(r->control->config.context,
                                       (uint32_t)number(r, "most", MOST_SITES), &members);

    if (err)
        control_refuse(r->out, "call sites are not available: %s",
                       err == -ETIMEDOUT ? "the writer of the log is busy" : strerror(-err));
    else
        put_members(r, members);
}

static void run_alive(const struct request *r)
{
    char *members = NULL;
    int err = r->control->config.alive(r->control->config.context,
                                       (uint32_t)number(r, "most", MOST_SITES), &members);

    if (err)
        control_refuse(r->out, "live objects are not available: %s",
                       err == -ENOENT      ? "they need record --live"
                       : err == -ETIMEDOUT ? "the writer of the log is busy"
                                           : strerror(-err));
    else
        put_members(r, members);
}

static const struct command commands[] = {
    {"status", {{NULL, 0, 0}}, run_status},
    {"dump", {{"frames", MEMBER_NUMBER, 1 << 20}, {"lines", MEMBER_FLAG, 0}}, run_dump},
    {"set",
     {{"paused", MEMBER_FLAG, 0}, {"sample", MEMBER_NUMBER, NUMBER_MAX}, {"only", MEMBER_TEXTS, 0}},
     run_set},
    {"mark", {{"text", MEMBER_TEXT, 0}, {"full", MEMBER_FLAG, 0}}, run_mark},
    {"gc", {{NULL, 0, 0}}, run_gc},
    {"heap", {{"file", MEMBER_TEXT, 0}}, run_heap},
    {"rotate", {{NULL, 0, 0}}, run_rotate},
    {"detach", {{NULL, 0, 0}}, run_detach},
    {"sites", {{"most", MEMBER_NUMBER, 10000}}, run_sites},
    {"alive", {{"most", MEMBER_NUMBER, 10000}}, run_alive},
};

static const struct command *command_find(const char *name)
{
    for (size_t i = 0; name && i < COUNT_OF(commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static const struct member *member_find(const struct command *command, const char *name)
{
    for (size_t i = 0; i < MOST_MEMBERS && command->member[i].name; i++)
        if (strcmp(command->member[i].name, name) == 0)
            return &command->member[i];
    return NULL;
}

/* Returns whether all members are what they should be; else the refusal is written. */
static bool check(const struct command *command, json_t *json, struct buffer *out)
{
    const char *key;
    json_t *value;

    json_object_foreach(json, key, value)
    {
        const struct member *m = member_find(command, key);

        if (strcmp(key, "command") == 0 || strcmp(key, "version") == 0)
            continue;
        if (!m) {
            control_refuse(out, "%s has no member \"%.60s\"", command->name, key);
            return false;
        }
        if (!fits(m, value)) {
            control_refuse(out, "\"%s\" must be %s", m->name, member_words[m->kind]);
            return false;
        }
    }
    return true;
}

static void dispatch(struct control *control, json_t *json, struct buffer *out,
                     struct collect_job **job)
{
    const json_t *version = json_object_get(json, "version");
    const char *name = json_string_value(json_object_get(json, "command"));
    const struct command *command = command_find(name);
    struct request r = {control, json, out, job};

    if (!json_is_object(json))
        control_refuse(out, "a request is a JSON object such as {\"command\":\"status\"}");
    else if (version &&
             (!json_is_integer(version) || json_integer_value(version) != CONTROL_VERSION))
        control_refuse(out,
                       "this process speaks version %d; use the shadowtrace that recorded it (%s)",
                       CONTROL_VERSION, SHADOWTRACE_VERSION);
    else if (!name)
        control_refuse(out, "\"command\" is missing");
    else if (!command)
        control_refuse(out, "there is no command \"%.60s\"", name);
    else if (check(command, json, out)) {
        metadata_hold(control->config.metadata); /* methods of the stacks that it copies */
        command->run(&r);
        metadata_unhold(control->config.metadata);
    }
}

void control_answer(struct control *control, const char *line, size_t size, struct buffer *out,
                    struct collect_job **job)
{
    json_error_t error = {.position = 0};
    json_t *json = json_read(line, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);

    if (json)
        dispatch(control, json, out, job);
    else
        control_refuse(out, "not JSON (byte %d: %s)", error.position,
                       *error.text ? error.text : "out of memory");
    json_decref(json);
}
