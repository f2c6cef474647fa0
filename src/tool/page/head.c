#include "page/head.h"

#include "command/print_complete.h"
#include "command/print_sampling.h"
#include "page/live.h"
#include "page/sources.h"
#include "readers/header.h"
#include "retained/ways.h"

#define TITLE_WORDS 3

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

/* `dotnet app.dll` is app.dll; options and what follows tell little. */
void page_title(const struct side *s, struct buffer *out)
{
    const json_t *command = json_object_get(model_log(s->read.model)->header, "command");
    const char *first = json_string_value(json_array_get(command, 0));
    size_t count = json_array_size(command), i = 0;

    if (!first) {
        buffer_utf8(out, base_name(s->count ? s->logs[0] : "log"));
        return;
    }
    if (count > 1 && strcmp(base_name(first), "dotnet") == 0)
        i = 1;
    for (size_t end = i + TITLE_WORDS; i < count && i < end; i++) {
        const char *word = json_string_value(json_array_get(command, i));

        if (!word || (out->size && (word[0] == '-' || word[0] == '@')))
            break;
        if (out->size)
            buffer_char(out, ' ');
        buffer_utf8(out, base_name(word));
    }
}

static void put_gaps(struct json_writer *w, const struct log_input *log)
{
    struct log_completeness c;
    struct log_sampling sampling;
    struct buffer b = BUFFER_INIT;

    log_input_completeness(log, &c);
    jw_bool(w, "complete", log_complete(&c));
    jw_array(w, "gaps");
    for (size_t i = 0; i < c.count; i++) {
        buffer_clear(&b);
        print_gap(&b, &c.gaps[i]);
        jw_text(w, NULL, b.failed ? log_gap_word(c.gaps[i].kind) : b.data);
    }
    if (c.more)
        jw_text(w, NULL, "and more of these kinds");
    jw_end(w);
    log_input_sampling(log, &sampling);
    buffer_clear(&b);
    print_sampling_text(log, &sampling, &b);
    if (b.size && !b.failed)
        jw_text(w, "sampling", b.data);
    print_sampling_json(log, w);
    buffer_free(&b);
}

/* Of several: each behind the one that started it, `depth` of the others above it. */
static void put_processes(struct json_writer *w, const struct report_processes *all)
{
    struct forest forest;
    size_t between;

    if (all->count < 2)
        return;
    if (report_processes_forest(all, NULL, 0, &forest))
        w->text.failed = true;
    jw_array(w, "processes");
    for (size_t i = 0; i < forest.count; i++) {
        const struct forest_row *row = &forest.rows[i];
        const struct report_process *one = &all->process[row->item];

        jw_object(w, NULL);
        jw_text(w, "name", one->name ? one->name : "?");
        jw_unsigned(w, "pid", one->pid);
        jw_text_if(w, "command", one->command);
        jw_unsigned(w, "depth", row->depth);
        if (row->depth && report_process_parent(all, row->item, &between) != REPORT_PROCESS_NONE &&
            between) {
            jw_array(w, "through");
            while (between-- > 0)
                jw_text(w, NULL, report_process_between(one, between));
            jw_end(w);
        }
        jw_end(w);
    }
    jw_end(w);
    forest_fini(&forest);
}

static void put_side(struct json_writer *w, const struct side *s)
{
    const struct log_input *log = model_log(s->read.model);
    const json_t *command = json_object_get(log->header, "command");

    jw_object(w, NULL);
    jw_array(w, "files");
    for (size_t i = 0; i < s->count; i++)
        jw_text(w, NULL, s->logs[i]);
    jw_end(w);
    jw_array(w, "command");
    for (size_t i = 0; i < json_array_size(command); i++) {
        const char *word = json_string_value(json_array_get(command, i));

        jw_text(w, NULL, word ? word : "");
    }
    jw_end(w);
    jw_text_if(w, "runtime", json_string_value(json_object_get(log->header, "runtime")));
    jw_text_if(w, "started", json_string_value(json_object_get(log->header, "started")));
    put_processes(w, model_processes(s->read.model));
    put_gaps(w, log);
    jw_end(w);
}

static void put_globs(struct json_writer *w, const char *option, const struct model_globs *globs)
{
    struct buffer b = BUFFER_INIT;

    for (size_t i = 0; i < globs->count; i++) {
        buffer_clear(&b);
        buffer_format(&b, "%s %s", option, globs->globs[i]);
        jw_text(w, NULL, b.failed ? option : b.data);
    }
    buffer_free(&b);
}

static void put_option(struct json_writer *w, const char *option, const char *value)
{
    const struct model_globs one = {&value, value ? 1 : 0};

    put_globs(w, option, &one);
}

/* What was left out when the page was made, as it was asked for. */
static void put_filters(struct json_writer *w, const struct side_options *options,
                        const struct model_tree *tree)
{
    char number[64];

    jw_array(w, "filters");
    put_option(w, "--from", options->how.filters->window.from);
    put_option(w, "--to", options->how.filters->window.to);
    put_globs(w, "--type", &options->filter.types);
    put_globs(w, "--method", &options->filter.methods);
    put_globs(w, "--exclude", &options->filter.exclude);
    put_globs(w, "--below", &options->filter.below);
    snprintf(number, sizeof(number), "%u", options->filter.thread);
    put_option(w, "--thread", options->filter.thread ? number : NULL);
    if (options->filter.own)
        jw_text(w, NULL, "--own");
    if (options->filter.once)
        jw_text(w, NULL, "--once");
    if (options->filter.no_once)
        jw_text(w, NULL, "--no-once");
    if (options->filter.no_own)
        jw_text(w, NULL, "--no-own");
    if (options->filter.steady)
        jw_text(w, NULL, "--steady");
    if (tree->folded_nodes) {
        snprintf(number, sizeof(number), "--min-share: %u small nodes are folded",
                 tree->folded_nodes);
        jw_text(w, NULL, number);
    }
    jw_end(w);
}

static void put_names(struct json_writer *w, const struct page_head *head)
{
    const struct page_union *u = head->all;

    jw_array(w, "names");
    for (size_t i = 0; i < u->names_count; i++)
        jw_text(w, NULL, u->names[head->columns->name_order[i]].shown);
    jw_end(w);
    jw_array(w, "full");
    for (size_t i = 0; i < u->names_count; i++) {
        const struct union_name *n = &u->names[head->columns->name_order[i]];

        jw_text(w, NULL, strcmp(n->full, n->shown) == 0 ? "" : n->full);
    }
    jw_end(w);
    jw_array(w, "lacks");
    for (size_t i = 0; i < MODEL_NEAR_LACKS; i++)
        jw_text(w, NULL, model_near_words[i]);
    jw_end(w);
}

static void put_named(struct json_writer *w, const char *name, const char *key, uint64_t value)
{
    jw_object(w, NULL);
    jw_text(w, "name", name);
    jw_unsigned(w, key, value);
    jw_end(w);
}

/* With several processes, followed by the process: "Shop (pid 4711), main". */
static void put_thread(struct json_writer *w, const struct union_thread *thread,
                       const struct report_processes *all)
{
    const struct report_process *process = thread->process && thread->process <= all->count
                                               ? &all->process[thread->process - 1]
                                               : NULL;
    struct buffer b = BUFFER_INIT;

    if (process) {
        buffer_format(&b, "%s (pid %llu), ", process->name ? process->name : "?",
                      (unsigned long long)process->pid);
        if (!*thread->name)
            buffer_format(&b, "thread %u", thread->id);
    }
    buffer_text(&b, thread->name);
    put_named(w, b.failed || !b.data ? thread->name : b.data, "id", thread->id);
    buffer_free(&b);
}

static void put_tables(struct json_writer *w, const struct page_head *head)
{
    const struct page_union *u = head->all;

    jw_array(w, "threads");
    for (size_t i = 0; i < u->threads_count; i++)
        put_thread(w, &u->threads[i], model_processes(head->sides[0].read.model));
    jw_end(w);
    jw_array(w, "modules");
    for (size_t i = 0; i < u->modules_count; i++)
        put_named(w, u->modules[i].name, "owner", u->modules[i].owner);
    jw_end(w);
    jw_array(w, "namespaces");
    for (size_t i = 0; i < u->spaces_count; i++)
        jw_text(w, NULL, u->spaces[i].name);
    jw_end(w);
    jw_array(w, "files");
    for (size_t i = 0; i < u->files_count; i++)
        jw_text(w, NULL, u->files[i].path);
    jw_end(w);
}

/* Marks of a recording's own clock. Behind its first one a log has no common clock. */
static void put_time(struct json_writer *w, const struct page_head *head)
{
    const struct side *s = &head->sides[0];

    jw_unsigned(w, "slice_ns", model_slice_ns(s->read.model));
    jw_unsigned(w, "slices", model_slice_count(s->read.model));
    jw_unsigned(w, "duration_ns", model_duration_ns(s->read.model));
    jw_array(w, "marks");
    for (size_t i = 0; head->side_count == 1 && i < s->marks.count; i++) {
        jw_object(w, NULL);
        jw_text(w, "text", s->marks.marks[i].text);
        jw_unsigned(w, "t", s->marks.marks[i].at.t);
        jw_end(w);
    }
    jw_end(w);
}

static void put_columns(struct json_writer *w, const struct page_columns *columns)
{
    jw_array(w, "columns");
    for (int i = 0; i < PAGE_COLUMN_COUNT; i++) {
        if (!columns->column[i].count)
            continue;
        jw_array(w, NULL);
        jw_text(w, NULL, page_column_names[i]);
        jw_text(w, NULL, columns->column[i].doubles ? "d" : "v");
        jw_unsigned(w, NULL, columns->column[i].count);
        jw_unsigned(w, NULL, columns->column[i].bytes.size);
        jw_end(w);
    }
    jw_end(w);
}

/* Estimates of ticks, of whose error nothing is known. */
static bool is_approximate(const struct side *side)
{
    return log_sampler_kind(model_log(side->read.model)->header) == LOG_SAMPLER_TICKS;
}

char *page_head_write(const struct page_head *h)
{
    static const char *const heaps[] = {"small", "large", "pinned", "frozen"};
    struct json_writer w;

    jw_init(&w, NULL);
    jw_object(&w, NULL);
    jw_unsigned(&w, "format", 1);
    jw_text(&w, "tool", SHADOWTRACE_VERSION);
    jw_text(&w, "title", h->title);
    jw_bool(&w, "estimated",
            model_estimated(h->sides[0].read.model) ||
                model_estimated(h->sides[h->side_count - 1].read.model));
    if (model_estimated(h->sides[0].read.model))
        jw_text(&w, "sampler",
                log_sampler_word(log_sampler_kind(model_log(h->sides[0].read.model)->header)));
    jw_bool(&w, "approximate",
            is_approximate(&h->sides[0]) || is_approximate(&h->sides[h->side_count - 1]));
    jw_array(&w, "sides");
    for (size_t i = 0; i < h->side_count; i++)
        put_side(&w, &h->sides[i]);
    jw_end(&w);
    put_filters(&w, h->options, h->sides[0].tree);
    if (side_is_live(&h->sides[0]))
        live_head(h->all, &h->sides[0], &w);
    put_time(&w, h);
    jw_array(&w, "heaps");
    for (size_t i = 0; i < COUNT_OF(heaps); i++)
        jw_text(&w, NULL, heaps[i]);
    jw_end(&w);
    put_tables(&w, h);
    put_names(&w, h);
    if (page_sources(h->all, h->sides, h->side_count, &w))
        jw_fail(&w);
    if (h->heap && ways_json(h->heap, &w))
        jw_fail(&w);
    put_columns(&w, h->columns);
    jw_end(&w);
    return jw_take(&w);
}
