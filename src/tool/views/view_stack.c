#include "views/view.h"

#include "terminal/text.h"

#include <string.h>

/* Frames of the stack of a node, one line each. */
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

    view_where(o->v, p->file, p->line, &where);
    if (!where.size && p->il >= 0 && p->kind == MODEL_PLACE_METHOD) {
        print_il_text(p->il, il);
        buffer_text(&where, il);
    }
    if (print_line(o, view_place(o->v, p, &name), where.size ? where.data : "",
                   view_link(o->v, p->file, p->line, &link)))
        view_url(o->v, p, strlen(o->indent) + strlen("at "), o->out);
    buffer_free(&name);
    buffer_free(&where);
    buffer_free(&link);
}

/* "[System.Linq, 3 frames]": named by the module that is called first. */
static void print_run(struct lines_out *o, uint64_t frames, const struct model_place *outermost)
{
    const struct report_defs *d = o->v->read.defs;
    struct buffer name = BUFFER_INIT;
    struct text_number n;

    buffer_format(&name, "[%s, %s frames]",
                  report_module(d, report_method(d, outermost->method)->module)->name,
                  text_count(&n, frames));
    print_line(o, name.failed ? "?" : name.data, "", NULL);
    buffer_free(&name);
}

static bool folds(const struct view *v, const struct model_place *p)
{
    return !v->all_frames && p->kind == MODEL_PLACE_METHOD && !p->own && model_own_any(v->read.own);
}

void view_stack_text(const struct view *v, uint32_t node, const char *indent, FILE *out)
{
    struct lines_out o = {v, indent, out, view_look(v, out).width, 0, 0};
    const struct model_tree *t = v->tree;
    struct text_number n;

    if (!node)
        print_line(&o, report_no_frame(v->read.defs), "", NULL);
    for (bool leaf = true; node; leaf = false) {
        const struct model_place *p = &t->places[t->nodes[node].place], *last = p;
        uint64_t run = 0;

        for (uint32_t at = node; !leaf && at && folds(v, &t->places[t->nodes[at].place]);
             at = t->nodes[at].parent) {
            last = &t->places[t->nodes[at].place];
            node = at;
            run++;
        }
        if (run > 1)
            print_run(&o, run, last);
        else
            print_place(&o, p);
        node = t->nodes[node].parent;
    }
    if (o.left)
        fprintf(out, "%s... %s more\n", indent, text_count(&n, o.left));
}
