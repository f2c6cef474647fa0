#include "views/view.h"

#include "base/path.h"
#include "command/print_complete.h"
#include "command/print_sampling.h"
#include "terminal/terminal.h"
#include "terminal/text.h"
#include "readers/header.h"

#include <string.h>
#include <unistd.h>

#define ONCE_TOLD  0.1 /* of the bytes: less is no news */
#define LOGS_NAMED 2   /* of several, in commands to type */

/* ---- names ---- */

const char *view_class(const struct view *v, uint32_t class_number)
{
    return names_class(v->read.names, class_number);
}

const char *view_place(const struct view *v, const struct model_place *p, struct buffer *b)
{
    struct text_number n;

    buffer_clear(b);
    switch (p->kind) {
    case MODEL_PLACE_METHOD:
        if (!p->filter)
            return names_method(v->read.names, p->method);
        buffer_format(b, "%s [filter]", names_method(v->read.names, p->method));
        break;
    case MODEL_PLACE_TYPE:
        return view_class(v, p->method);
    case MODEL_PLACE_FOLDED:
        buffer_format(b, "[%s%s%s frame%s]", p->name ? p->name : "",
                      p->name && *p->name ? ", " : "", text_count(&n, p->count),
                      text_plural(p->count));
        break;
    case MODEL_PLACE_ROOT:
        return "(all)";
    case MODEL_PLACE_NONE:
        return log_no_frame(v->read.defs);
    case MODEL_PLACE_LOST:
        return PRINT_LOST_FRAME;
    case MODEL_PLACE_SEVERAL:
    case MODEL_PLACE_CUT:
    case MODEL_PLACE_DYNAMIC:
        return p->name ? p->name : names_method(v->read.names, p->method);
    }
    return b->failed ? "?" : b->data;
}

const char *view_where(const struct view *v, const struct model_place *p, struct buffer *b)
{
    buffer_clear(b);
    if (p->file) {
        buffer_text(b, v->wide ? p->file : path_base_name_foreign(p->file));
        source_line_put(b, p->line, p->line_last);
    }
    return b->size && !b->failed ? b->data : "";
}

const char *view_link(const struct view *v, const struct model_place *p, struct buffer *b)
{
    static const char plain[] = "/._-~";
    const char *file = p->file;

    buffer_clear(b);
    if (!v->links || !file || file[0] != '/' || access(file, R_OK))
        return NULL;
    buffer_text(b, "file://");
    for (const unsigned char *c = (const unsigned char *)file; *c; c++)
        if ((*c >= '0' && *c <= '9') || ((*c | 0x20) >= 'a' && (*c | 0x20) <= 'z') ||
            strchr(plain, *c))
            buffer_char(b, (char)*c);
        else
            buffer_format(b, "%%%02X", *c);
    buffer_format(b, "#L%u", p->line);
    return b->failed ? NULL : b->data;
}

/* To be freed with memory_free; NULL: none is asked for, or known. */
static char *url_of(const struct view *v, const struct model_place *p)
{
    const struct source_line line = {
        .file = p->file,
        .line = p->line,
        .module = p->kind == MODEL_PLACE_METHOD ? log_method(v->read.defs, p->method)->module : 0};

    return v->urls && p->file ? source_line_url(v->read.lines, &line) : NULL;
}

void view_url(const struct view *v, const struct model_place *p, size_t indent, FILE *out)
{
    char *url = url_of(v, p);

    if (!url)
        return;
    fprintf(out, "%*s", (int)indent, "");
    text_print(out, url);
    putc('\n', out);
    memory_free(url);
}

void view_place_json(const struct view *v, const struct model_place *p, struct json_writer *w)
{
    struct buffer b = BUFFER_INIT;
    uint32_t module;
    char *url;

    if (p->kind == MODEL_PLACE_TYPE) {
        jw_text(w, "type", view_class(v, p->method));
    } else if (p->kind == MODEL_PLACE_METHOD) {
        module = log_method(v->read.defs, p->method)->module;
        jw_text(w, "method", view_place(v, p, &b));
        if (module)
            jw_text(w, "module", log_module(v->read.defs, module)->name);
        jw_bool(w, "own", p->own);
    } else if (p->kind == MODEL_PLACE_NONE) {
        jw_null(w, "method");
    } else {
        jw_text(w, "method", view_place(v, p, &b));
        if (p->kind == MODEL_PLACE_FOLDED)
            jw_unsigned(w, "folded", p->count);
    }
    if (p->file) {
        jw_text(w, "file", p->file);
        jw_unsigned(w, "line", p->line);
        if (p->line_last)
            jw_unsigned(w, "line_last", p->line_last);
        url = url_of(v, p);
        jw_text_if(w, "url", url);
        memory_free(url);
    }
    if (p->il >= 0 && p->kind == MODEL_PLACE_METHOD)
        print_il_json(p->il, w);
    buffer_free(&b);
}

void view_quote(const char *text, struct buffer *b)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:@_=";

    if (*text && !text[strspn(text, plain)]) {
        buffer_text(b, text);
        return;
    }
    buffer_char(b, '\'');
    for (; *text; text++)
        if (*text == '\'')
            buffer_text(b, "'\\''");
        else
            buffer_char(b, *text);
    buffer_char(b, '\'');
}

void view_logs(const struct view *v, struct buffer *b)
{
    char *const *logs = v->typed ? v->typed : v->logs;

    for (size_t i = 0; logs[i]; i++) {
        if (i == LOGS_NAMED) {
            buffer_text(b, " ...");
            return;
        }
        if (i)
            buffer_char(b, ' ');
        if (strcmp(logs[i], "-") == 0)
            buffer_text(b, "LOG");
        else
            view_quote(logs[i], b);
    }
}

/* ---- around the rows ---- */

struct table_look view_look(const struct view *v, FILE *out)
{
    struct terminal t = terminal_of(out);

    return (struct table_look){.width = v->wide ? SIZE_MAX : t.width, .colour = t.colour};
}

static void print_selected(const struct view *v, const struct model_amount *all, FILE *out)
{
    struct text_number allocs, bytes, share;
    struct model_amount total;

    view_amount(v, v->sum, &total);
    fprintf(out, "; selected: %s allocation%s, %s bytes (%s)", text_count(&allocs, total.allocs),
            text_plural(total.allocs), text_count(&bytes, total.bytes),
            text_share(&share, all->bytes ? (double)total.bytes / (double)all->bytes : 0));
}

/* Below the first line; nothing for an empty text. */
static void print_below(struct buffer *b, FILE *out)
{
    if (b->size && !b->failed)
        args_print_below(out, b->data, 2, terminal_width(out));
    buffer_free(b);
}

static void print_heaps(const struct view *v, FILE *out)
{
    static const char *const names[SST_HEAP_COUNT] = {
        [SST_HEAP_LARGE] = "large object heap",
        [SST_HEAP_PINNED] = "pinned object heap",
        [SST_HEAP_FROZEN] = "frozen heap",
    };
    struct buffer b = BUFFER_INIT;

    for (int heap = SST_HEAP_NORMAL + 1; heap < SST_HEAP_COUNT; heap++) {
        double bytes = model_heap_weight(v->read.model, (enum sst_heap)heap, MODEL_BYTES);
        struct text_number n;

        if (!(bytes > 0))
            continue;
        buffer_format(&b, "%s%s: %s bytes", b.size ? ", " : "", names[heap],
                      text_count(&n, (uint64_t)bytes));
    }
    print_below(&b, out);
}

/* "About 12 allocations, 3,456 bytes" */
static void print_amount(const struct model_amount *all, bool estimated, FILE *out)
{
    struct text_number n;

    fputs(estimated ? "About " : "", out);
    if (!all->mixed)
        fprintf(out, "%s allocation%s, ", text_count(&n, all->allocs), text_plural(all->allocs));
    fprintf(out, "%s bytes", text_count(&n, all->bytes));
}

const char *view_range_text(const struct model_amount *amount, struct buffer *b)
{
    struct text_number low, high;

    buffer_clear(b);
    if (!amount->sampled || amount->approximate)
        return NULL;
    buffer_format(b, "%s-%s", text_short(&low, amount->bytes_range.low),
                  text_short(&high, amount->bytes_range.high));
    return b->failed ? NULL : b->data;
}

static void put_estimate(const struct log_input *log, const struct model_amount *all, bool late,
                         struct buffer *b)
{
    bool by_runtime = log_sampler_kind(log->header) == LOG_SAMPLER_RUNTIME;
    uint64_t mean = log_sample_mean(log->header);
    struct text_number n, low, high;

    if (all->approximate)
        buffer_format(b,
                      "Approximate, from %s ticks of the runtime, one for each 100 KB or so: they "
                      "are not random, so there are no ranges.",
                      text_count(&n, all->sampled));
    else
        buffer_format(b,
                      "Estimates from %s %s: the exact bytes%s lie between %s and %s, and in the "
                      "range of each row, in 95 of 100 cases.",
                      text_count(&n, all->sampled),
                      by_runtime ? "samples of the runtime" : "sampled events",
                      late ? " since it began" : "", text_short(&low, all->bytes_range.low),
                      text_short(&high, all->bytes_range.high));
    if (!all->approximate && mean)
        buffer_format(b, " What has no sample may be up to %s bytes.",
                      text_short(&n, report_estimate_none((double)mean)));
    if (all->mixed)
        buffer_text(b, " Objects are counted (-: not) only where they are of one size: of several, "
                       "samples of bytes say too little.");
}

/* What the estimates of a sampled log rest on. */
static void print_estimate(const struct log_input *log, const struct log_window *window,
                           const struct model_amount *all, FILE *out)
{
    struct buffer b = BUFFER_INIT;
    struct log_sampling sampling;
    bool late = print_sampling_late(log, window, &sampling);

    if (late)
        print_sampling_text(log, &sampling, &b);
    if (b.size && all->sampled)
        buffer_char(&b, ' ');
    if (all->sampled)
        put_estimate(log, all, late, &b);
    if (b.size && !b.failed)
        args_print_text(out, b.data, terminal_width(out));
    buffer_free(&b);
}

static void print_part(double share, const char *what, FILE *out)
{
    struct buffer b = BUFFER_INIT;
    struct text_number n;

    buffer_format(&b, "%s of the bytes %s", text_share(&n, share), what);
    print_below(&b, out);
}

/* Own code whose lines are those of another build: its rows have none. */
static void print_rebuilt(const struct view *v, FILE *out)
{
    const struct log_defs *d = v->read.defs;
    struct buffer b = BUFFER_INIT;

    for (uint32_t i = 1; i < d->modules.count; i++)
        if (model_own_of_module(v->read.own, i) == MODEL_OWN &&
            source_lines_rebuilt(v->read.lines, i)) {
            buffer_text(&b, b.size ? ", " : "No lines of ");
            buffer_clean(&b, log_module(d, i)->name);
        }
    if (b.size)
        buffer_text(&b, ": it was built again since. --symbols DIR looks for the PDB of the build "
                        "that was recorded.");
    print_below(&b, out);
}

/* A sentence: it may be long. */
static void print_note(const char *note, FILE *out)
{
    struct buffer clean = BUFFER_INIT;

    buffer_clean(&clean, note);
    if (clean.size && clean.data[0] >= 'a' && clean.data[0] <= 'z')
        clean.data[0] = (char)(clean.data[0] - 'a' + 'A');
    if (clean.size)
        args_print_text(out, clean.data, terminal_width(out));
    buffer_free(&clean);
}

/* A log of samples that has none of what is shown: that does not prove that there was nothing. */
static void print_unsampled(const struct log_input *log, FILE *out)
{
    uint64_t mean = log_sample_mean(log->header);
    struct text_number n;

    if (mean && log_sampler_kind(log->header) != LOG_SAMPLER_TICKS)
        fprintf(out, "  What has no sample may be up to %s bytes.\n",
                text_short(&n, report_estimate_none((double)mean)));
}

void view_head(const struct view *v, FILE *out)
{
    uint64_t threads = v->read.defs->thread_count,
             processes = model_processes(v->read.model)->count;
    bool estimated = model_estimated(v->read.model);
    struct log_sampling sampling;
    struct text_number count;
    struct model_amount all;

    if (v->question) {
        view_live_head(v, out);
        return;
    }
    view_all(v, &all);
    if (print_sampling_late(model_log(v->read.model), &v->read.found, &sampling))
        fputs(print_sampling_lead(&sampling), out);
    reading_bounds(&v->how.filters->window, &v->read.found, out);
    print_amount(&all, estimated, out);
    fprintf(out, ", %s thread%s", text_count(&count, threads), text_plural(threads));
    if (processes > 1)
        fprintf(out, " of %s processes", text_count(&count, processes));
    if (v->filtered)
        print_selected(v, &all, out);
    fputs(".\n", out);
    if (!all.allocs) {
        fprintf(out, "  %s\n", view_empty(v));
        print_unsampled(model_log(v->read.model), out);
    }
    print_estimate(model_log(v->read.model), &v->read.found, &all, out);
    if (!estimated)
        print_heaps(v, out);
    if (log_attached(model_log(v->read.model)->header))
        args_print_text(out,
                        "Attached while it ran: where it had allocated before is not known, and "
                        "stacks are the runtime's snapshots.",
                        terminal_width(out));
    if (all.unoptimised > 0)
        print_part(all.unoptimised,
                   "exist only when recorded (boxes in unoptimised code); --steady leaves them out",
                   out);
    if (all.once >= ONCE_TOLD && !v->filter.once)
        print_part(all.once,
                   "are made once, by static constructors and the like; --no-once leaves them "
                   "out, --once shows them",
                   out);
    print_rebuilt(v, out);
    if (v->read.own_note.size && (v->kind == VIEW_OVERVIEW || v->kind == VIEW_OWN || v->filter.own))
        print_note(v->read.own_note.data, out);
}

void view_foot(const struct view *v, FILE *out)
{
    reading_completeness(model_log(v->read.model), out);
}

/* Who counts as own code; own is false where other code stands in for it. */
static void own_json(const struct view *v, struct json_writer *w)
{
    bool any = false;

    jw_object(w, "own_code");
    jw_bool(w, "stand_in", v->read.stand_in);
    jw_array(w, "modules");
    for (uint32_t i = 1; i < v->read.defs->modules.count; i++) {
        any = model_own_of_module(v->read.own, i) == MODEL_OWN;
        if (any)
            jw_text(w, NULL, log_module(v->read.defs, i)->name);
    }
    jw_end(w);
    jw_end(w);
}

void view_begin_json(const struct view *v, size_t row_count, struct json_writer *w)
{
    jw_object(w, NULL);
    print_stack_schema_json(&v->stack, w);
    jw_text(w, "view", view_word(v));
    jw_text(w, "by", view_by(v->kind));
    if (v->question)
        view_live_total_json(v, w);
    else
        view_total_json(v, w);
    jw_text_if(w, "from", v->how.filters->window.from);
    jw_text_if(w, "to", v->how.filters->window.to);
    own_json(v, w);
    print_log_json(model_log(v->read.model), &v->read.problems, "log", w);
    jw_unsigned(w, "row_count", row_count);
}
