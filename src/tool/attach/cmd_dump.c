/* shadowtrace dump - the stacks of a living process, without stopping it. */
#include "attach/attach.h"

#include "process/client.h"
#include "attach/live_stacks.h"
#include "command/reading.h"
#include "command/rows.h"
#include "terminal/text.h"
#include "views/print_stack.h"

#include "base/json_writer.h"

#include <errno.h>
#include <string.h>

struct dump_args {
    long pid;
    enum reading_format format;
    uint64_t frames, thread; /* thread 0: all */
    struct args_list symbols;
    struct naming naming;
    bool no_lines, all;
};

#define ARGS_INTO struct dump_args
static const struct args_option options[] = {
    ROW_FORMAT,
    ARGS_ROW(COUNT, "thread", "TID", thread, "only the thread with this kernel thread id",
             .least = 1, .limit = INT32_MAX),
    ARGS_ROW(COUNT, "frames", "N", frames, "show the N youngest frames of each thread",
             .standard = 2048, .least = 1, .limit = 1 << 20),
    ARGS_ROW(FLAG, "all", NULL, all, "in text, include threads without managed frames"),
    ROW_SYMBOLS,
    ROW_NO_LINES,
    ROW_NAMES(naming),
    ARGS_END};

static void print_frame(const struct live_frame *f, FILE *out)
{
    struct buffer line = BUFFER_INIT;
    char il[PRINT_IL_SIZE];

    text_part(out, f->certain ? "    at " : "    ?? ", f->method, "");
    if (f->file) {
        source_line_put(&line, f->line, f->line_last);
        text_part(out, "  ", f->file, line.failed ? "" : line.data);
        buffer_free(&line);
    } else if (f->il >= 0) {
        print_il_text(f->il, il);
        fprintf(out, "  %s", il);
    } else if (f->filter) {
        fputs("  (filter)", out);
    }
    fputc('\n', out);
}

static void print_thread(struct live_stacks *stacks, const struct live_thread *t, FILE *out)
{
    struct live_frame frame;

    fprintf(out, "thread %u", t->os);
    text_part(out, " \"", t->name, "\"");
    fprintf(out, ": %u frame%s", t->depth, text_plural(t->depth));
    if (!t->exact)
        fprintf(out, ", approximate: after %u tries %u are certain", t->tries, t->certain);
    if (t->dispatching)
        fputs(", an exception is on its way", out);
    fputc('\n', out);
    for (size_t i = 0; i < t->count; i++) {
        live_stacks_frame(stacks, t, i, &frame);
        print_frame(&frame, out);
    }
    if (t->count < t->depth)
        fprintf(out, "    ... %zu more\n", t->depth - t->count);
}

static bool is_wanted(const struct dump_args *a, const struct live_thread *thread)
{
    return a->thread ? thread->os == a->thread : thread->depth || a->all;
}

static void print_text(const struct dump_args *a, struct live_stacks *stacks, const json_t *reply,
                       FILE *out)
{
    struct text_number took;
    size_t left_out = 0, exact = 0, shown = 0;
    struct live_thread t;

    for (size_t i = 0; i < live_stacks_count(stacks); i++) {
        live_stacks_thread(stacks, i, &t);
        if (!is_wanted(a, &t)) {
            left_out++;
            continue;
        }
        shown++;
        exact += t.exact;
        print_thread(stacks, &t, out);
    }
    fprintf(out, "%zu thread%s, %zu exact, copied in %s", shown, text_plural(shown), exact,
            text_ns(&took, json_number_value(json_object_get(reply, "copy_ns"))));
    if (left_out && !a->thread)
        fprintf(out, "; %zu without a managed frame", left_out);
    fputc('\n', out);
    if (json_is_true(json_object_get(reply, "some_hooked")))
        fputs(PRINT_SOME_HOOKED "\n", out);
}

static void frame_json(const struct live_frame *f, struct json_writer *json)
{
    jw_object(json, NULL);
    jw_text(json, "method", f->method);
    if (f->il >= 0)
        print_il_json(f->il, json);
    if (f->filter)
        jw_bool(json, "filter", true);
    if (f->file) {
        jw_text(json, "file", f->file);
        jw_unsigned(json, "line", f->line);
        if (f->line_last)
            jw_unsigned(json, "line_last", f->line_last);
    }
    if (!f->certain)
        jw_bool(json, "certain", false);
    jw_end(json);
}

static void thread_json(struct live_stacks *stacks, const struct live_thread *t,
                        struct json_writer *json)
{
    struct live_frame frame;

    jw_object(json, NULL);
    jw_unsigned(json, "os", t->os);
    jw_text_if(json, "name", t->name);
    jw_unsigned(json, "depth", t->depth);
    jw_bool(json, "exact", t->exact);
    jw_unsigned(json, "tries", t->tries);
    jw_array(json, "stack");
    for (size_t i = 0; i < t->count; i++) {
        live_stacks_frame(stacks, t, i, &frame);
        frame_json(&frame, json);
    }
    jw_end(json);
    if (!t->exact)
        jw_unsigned(json, "certain", t->certain);
    if (t->dispatching)
        jw_bool(json, "dispatching", true);
    jw_end(json);
}

static int print_json(const struct dump_args *a, struct live_stacks *stacks, const json_t *reply,
                      FILE *out)
{
    struct live_thread t;
    struct json_writer w;

    jw_init(&w, out);
    jw_object(&w, NULL);
    jw_unsigned(&w, "pid", (uint64_t)a->pid);
    jw_unsigned(&w, "t", client_number(reply, "t"));
    jw_unsigned(&w, "copy_ns", client_number(reply, "copy_ns"));
    if (json_is_true(json_object_get(reply, "some_hooked")))
        jw_bool(&w, "some_hooked", true);
    jw_array(&w, "threads");
    for (size_t i = 0; i < live_stacks_count(stacks); i++) {
        live_stacks_thread(stacks, i, &t);
        if (!a->thread || t.os == a->thread)
            thread_json(stacks, &t, &w);
    }
    jw_end(&w);
    jw_end(&w);
    return jw_finish(&w);
}

static int dump(const struct dump_args *a, FILE *out)
{
    struct live_stacks *stacks =
        live_stacks_new(a->symbols.item, a->symbols.count, !a->no_lines, a->naming.style);
    struct client client;
    json_t *reply = NULL,
           *request = json_pack("{s:s, s:I}", "command", "dump", "frames", (json_int_t)a->frames);
    int status = CLI_IO;

    if (client_ask_once(&client, a->pid, request, &reply))
        cli_complain(&cmd_dump, "%s", client.why);
    else if (!stacks || live_stacks_take(stacks, reply) ||
             (a->format == READING_JSON && print_json(a, stacks, reply, out)))
        status = cli_failed(&cmd_dump, -ENOMEM);
    else
        status = CLI_OK;
    if (status == CLI_OK && a->format == READING_TEXT)
        print_text(a, stacks, reply, out);
    json_decref(reply);
    live_stacks_free(stacks);
    return status;
}

static int run(void *into, const struct args *args, FILE *out)
{
    struct dump_args *a = into;

    if (!client_pid(args->word[0], &a->pid))
        return cli_usage_error(&cmd_dump, "\"%.100s\" is not a process id", args->word[0]);
    naming_choose(&a->naming, &cmd_dump, args, a->format == READING_JSON ? NAMES_RAW : NAMES_SHORT);
    return dump(a, out);
}

CLI_COMMAND(
    dump, "[options] PID",
    "show the stacks of all managed threads of a process without stopping it",
    CLI_TAKES(struct dump_args, options, 1, 1, "a process id: PID", false),
    .notes = "All stacks are copied in one pass; no thread stops, no signal is sent. A copy is "
             "exact if its thread did not call or return during the copy. After 16 tries it is "
             "approximate, and frames that may be wrong are marked: ?? in text, "
             "\"certain\":false in JSON. In JSON, \"stack\" begins with the youngest frame. A "
             "frame's line is that of the call it is in; the youngest frame has none. Of a process "
             "recorded with --own, --only or --exclude the frames are those of hooked methods.",
    .manual = CLI_MANUAL(.environment = manual_of_sockets, .files = manual_sockets,
                         .examples =
                             MANUAL_TERMS({"shadowtrace dump 20265", "show where all threads are"},
                                          {"shadowtrace dump --thread 20521 --frames 10 20265",
                                           "show the ten youngest frames of one thread"})));
