/* The page: the processes, and within it the flame graph of one, which src/tool/page makes. */
#include "server/answer.h"

#include "base/buffer.h"
#include "page/make.h"
#include "terminal/text.h"

#include <ctype.h>
#include <string.h>

const char answer_style[] =
    "body{margin:0;font:14px system-ui,sans-serif;display:flex;flex-direction:column;height:100vh;"
    "background:Canvas;color:CanvasText;color-scheme:light dark}"
    "header{padding:8px 12px}h1{font-size:16px;margin:0 0 6px}"
    "table{border-collapse:collapse}td,th{padding:2px 14px 2px "
    "0;text-align:left;font-weight:normal}"
    "th{opacity:.7}.n{text-align:right}[aria-current]{font-weight:bold}"
    "nav{padding-top:6px}nav a{margin-right:14px}iframe{flex:1;border:0;border-top:1px solid "
    "#8888}";

/* ---- the flame graph ---- */

/* What was allocated since the oldest mark; nothing: all there is. */
static int cut_to_minutes(const struct answer_ask *ask, struct traced *t, bool *whole)
{
    struct mark_sums now = traced_total(t), then = {0, 0};

    if (t->mark_count)
        then = mark_total(t->marks[0]);
    *whole = ask->whole || !t->mark_count || !(now.allocs - then.allocs > 0);
    return *whole ? 0
                  : mark_slices(&t->cells, t->marks, t->mark_count, TRACED_MARK_NS, ask->now_ns);
}

static void put_title(const struct answer_ask *ask, const struct traced *t, bool whole,
                      struct buffer *out)
{
    buffer_clean(out, traced_program(t));
    buffer_format(out, " (pid %ld): ", t->pid);
    if (whole)
        buffer_text(out, "since its start");
    else
        buffer_format(out, "the last %llu s",
                      (unsigned long long)((ask->now_ns - t->marks[0]->at_ns) / 1000000000));
}

int answer_flame(const struct answer_ask *ask, FILE *out)
{
    static const struct model_shape shape = {.grain = MODEL_GRAIN_LINE, .types = true};
    const struct side_options how = {.how = {.filters = &ask->options->filters},
                                     .names = NAMES_SHORT};
    struct traced *t = ask->of;
    struct side side = {.logs = &t->path, .count = 1};
    struct buffer title = BUFFER_INIT;
    char why[ARGS_WHY_SIZE];
    bool whole = true;
    int err = report_cells_flush(&t->cells);

    if (!err)
        err = cut_to_minutes(ask, t, &whole);
    put_title(ask, t, whole, &title);
    t->cells.options.live = t->cells.live.question = REPORT_LIVE_NONE;
    if (!err)
        err = answer_load(ask, t, &side.read);
    if (!err)
        err = namespaces_init(&side.spaces, side.read.defs);
    if (!err)
        err = model_tree_new(side.read.model, &how.filter, &shape, &side.tree, why, sizeof(why));
    if (!err && title.failed)
        err = -ENOMEM;
    return err ? err : page_make(&how, &side, 1, NULL, title.data, out);
}

/* ---- around it ---- */

/* Text of others in HTML. */
static void put_text(FILE *out, const char *text)
{
    struct buffer b = BUFFER_INIT;

    buffer_clean(&b, text);
    for (const char *c = b.data ? b.data : ""; *c; c++)
        if (*c == '<' || *c == '>' || *c == '&' || *c == '"' || *c == '\'')
            fprintf(out, "&#%d;", *c);
        else
            fputc(*c, out);
    buffer_free(&b);
}

static const char *state_of(const struct traced *t)
{
    switch (t->state) {
    case TRACED_ENDED:
        return t->cells.log.unhandled && !log_input_ended(&t->cells.log)
                   ? "has ended by an unhandled exception"
                   : "has ended";
    case TRACED_FAILED:
        return t->why;
    default:
        return t->passed_ns ? "runs" : "is being read";
    }
}

/* What happened to its log while it was followed. */
static void put_losses(const struct traced *t, FILE *out)
{
    const struct follow_losses *l = &t->losses;
    struct text_number bytes;

    if (l->times)
        fprintf(out, "; its log was truncated: %s gone before %s read",
                text_bytes(&bytes, l->bytes), l->bytes == 1 ? "it was" : "they were");
    if (l->replaced || t->replaced)
        fputs("; something else is in the place of its log now", out);
}

/* How its process is asked for; by its log where no pid is known, or several logs have it. */
static void put_query(const struct answer_ask *ask, const struct traced *t, FILE *out)
{
    bool alone = t->pid > 0;

    for (size_t i = 0; i < ask->set->count; i++)
        alone &= ask->set->all[i] == t || ask->set->all[i]->pid != t->pid;
    if (alone) {
        fprintf(out, "?pid=%ld", t->pid);
        return;
    }
    fputs("?log=", out);
    for (const unsigned char *c = (const unsigned char *)t->path; *c; c++)
        fprintf(out, isalnum(*c) || strchr("/._-~", *c) ? "%c" : "%%%02X", *c);
}

static void put_process(const struct answer_ask *ask, const struct traced *t, FILE *out)
{
    struct mark_sums total = traced_total(t);
    struct text_number bytes, allocs, lost;

    fprintf(out, "<tr%s><td class=n><a href=\"", t == ask->of ? " aria-current=true" : "");
    put_query(ask, t, out);
    fprintf(out, t->pid ? "\">%ld</a><td>" : "\">?</a><td>", t->pid);
    put_text(out, traced_program(t));
    fprintf(out, "<td class=n>%s<td class=n>%s<td class=n>%s<td>",
            text_bytes(&bytes, (uint64_t)total.bytes), text_count(&allocs, (uint64_t)total.allocs),
            text_count(&lost, log_input_lost(&t->cells.log)));
    put_text(out, state_of(t));
    put_losses(t, out);
    fputs("<td>", out);
    put_text(out, t->path);
    fputs("\n", out);
}

static void put_link(const struct answer_ask *ask, FILE *out, const char *page, const char *more,
                     const char *text)
{
    fprintf(out, "<a href=\"%s", page);
    put_query(ask, ask->of, out);
    fprintf(out, "%s\">%s</a>", more, text);
}

static void put_links(const struct answer_ask *ask, FILE *out)
{
    fputs("<nav>", out);
    put_link(ask, out, "", "", "last minutes");
    put_link(ask, out, "", "&amp;since=start", "since the start");
    put_link(ask, out, "debug/pprof/allocs", "", "allocs");
    if (traced_live(ask->of))
        put_link(ask, out, "debug/pprof/heap", "", "heap");
    fputs("<a href=\"metrics\">metrics</a></nav></header>\n<iframe title=\"flame graph\" "
          "src=\"flame",
          out);
    put_query(ask, ask->of, out);
    fprintf(out, "%s\"></iframe>\n", ask->whole ? "&amp;since=start" : "");
}

int answer_index(const struct answer_ask *ask, FILE *out)
{
    fputs("<!DOCTYPE html>\n<html lang=en><meta charset=utf-8>\n"
          "<meta name=viewport content=\"width=device-width\">\n<title>shadowtrace</title>\n"
          "<link rel=stylesheet href=style.css>\n<header><h1>Traced processes</h1>\n",
          out);
    if (!ask->set->count) {
        fputs("<p>No process is traced. <code>shadowtrace record -- COMMAND</code> starts one.</p>"
              "</header>\n",
              out);
        return 0;
    }
    fputs("<table><tr><th class=n>pid<th>program<th class=n>allocated<th class=n>objects<th "
          "class=n>lost<th>state<th>log\n",
          out);
    for (size_t i = 0; i < ask->set->count; i++)
        put_process(ask, ask->set->all[i], out);
    fputs("</table>\n", out);
    put_links(ask, out);
    return 0;
}
