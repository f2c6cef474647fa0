#include "views/view.h"

#include "base/array.h"

#include "terminal/text.h"

#include <string.h>

/* Frames of a stack, one line each. */
struct lines_out {
    const struct view *v;
    const char *indent;
    FILE *out;
    size_t width;
    uint64_t shown, left;
};

/* Returns: whether it is among those that are shown. */
static bool print_line(struct lines_out *o, const char *name, const char *where, const char *link)
{
    struct buffer b = BUFFER_INIT;
    size_t used = strlen(o->indent) + strlen("at ") + (*where ? text_columns(where) + 4 : 0);

    if (o->v->depth && o->shown >= o->v->depth) {
        o->left++;
        return false;
    }
    o->shown++;
    fprintf(o->out, "%sat ", o->indent);
    text_print(o->out, fit_name(&b, name, o->width > used + 12 ? o->width - used : 12));
    if (*where) {
        fputs(link || *where != '+' ? " in " : " ", o->out);
        if (link)
            fprintf(o->out, "\033]8;;%s\033\\", link);
        text_print(o->out, where);
        if (link)
            fputs("\033]8;;\033\\", o->out);
    }
    putc('\n', o->out);
    buffer_free(&b);
    return true;
}

static void print_place(struct lines_out *o, const struct model_place *p)
{
    struct buffer name = BUFFER_INIT, where = BUFFER_INIT, link = BUFFER_INIT;
    char il[PRINT_IL_SIZE];

    view_where(o->v, p, &where);
    if (!where.size && p->il >= 0 && p->kind == MODEL_PLACE_METHOD) {
        print_il_text(p->il, il);
        buffer_text(&where, il);
    }
    if (print_line(o, view_place(o->v, p, &name), where.size ? where.data : "",
                   view_link(o->v, p, &link)))
        view_url(o->v, p, strlen(o->indent) + strlen("at "), o->out);
    buffer_free(&name);
    buffer_free(&where);
    buffer_free(&link);
}

/* "[System.Linq, 3 frames]": named by the module that is called first. */
static void print_run(struct lines_out *o, uint64_t frames, const struct model_place *outermost)
{
    const struct log_defs *d = o->v->read.defs;
    struct buffer name = BUFFER_INIT;
    struct text_number n;

    buffer_format(&name, "[%s, %s frames]",
                  log_module(d, log_method(d, outermost->method)->module)->name,
                  text_count(&n, frames));
    print_line(o, name.failed ? "?" : name.data, "", NULL);
    buffer_free(&name);
}

static bool folds(const struct view *v, const struct model_place *p)
{
    return !v->all_frames && p->kind == MODEL_PLACE_METHOD && !p->own && model_own_any(v->read.own);
}

/* The places of a row's frames, leaf first. Returns: how many; 0 also without memory. */
static uint32_t find_frames(struct places *places, const struct model_row *row, uint32_t **out)
{
    struct report_frame f;
    size_t capacity = 0;
    uint32_t count = 0;

    for (bool more = report_frame_first(places->defs, row->what, row->il, &f);
         more && (!row->depth || count < row->depth); more = report_frame_outer(places->defs, &f)) {
        if (!array_reserve(out, &capacity, count + 1) || places_frame(places, &f, &(*out)[count]))
            return 0;
        count++;
    }
    return count;
}

void view_stack_text(const struct view *v, const struct model_row *row, const char *indent,
                     FILE *out)
{
    struct lines_out o = {v, indent, out, view_look(v, out).width, 0, 0};
    uint32_t *frames = NULL, count = find_frames(v->frames, row, &frames);
    const struct model_place *places = v->frames->places;
    struct text_number n;

    if (!count)
        print_line(&o, log_no_frame(v->read.defs), "", NULL);
    for (uint32_t at = 0; at < count; at++) {
        uint32_t first = at;

        while (at && at + 1 < count && folds(v, &places[frames[at]]) &&
               folds(v, &places[frames[at + 1]]))
            at++;
        if (at > first)
            print_run(&o, at - first + 1, &places[frames[at]]);
        else
            print_place(&o, &places[frames[at]]);
    }
    if (o.left)
        fprintf(out, "%s... %s more\n", indent, text_count(&n, o.left));
    memory_free(frames);
}
