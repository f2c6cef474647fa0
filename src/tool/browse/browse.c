#include "browse/browse.h"

#include "terminal/key.h"
#include "terminal/letter.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define OVERVIEW 0
#define TREE     1

static_assert(VIEW_COUNT < BROWSE_TABS, "each view may have a tab");

static void add_tabs(struct browse *b, char key)
{
    for (int view = 0; view < VIEW_COUNT; view++)
        if (view_browse_key((enum view_kind)view) == key)
            b->views[b->tab_count++] =
                (struct browse_view){key, view_words[view], (enum view_kind)view};
}

/* The views that have a key, digits first; logs are there only if they are several. */
static void make_tabs(struct browse *b)
{
    for (const char *digit = "1234567890"; *digit; digit++)
        add_tabs(b, *digit);
    for (char letter = 'A'; letter <= 'Z'; letter++)
        add_tabs(b, letter);
    if (b->data->log_count > 1)
        b->views[b->tab_count++] = (struct browse_view){'L', "logs", RANKING_LOGS};
}

void browse_say(struct browse *b, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    vsnprintf(b->message, sizeof(b->message), format, list);
    va_end(list);
}

/* ---- pages ---- */

static struct page *new_tab(struct browse *b, size_t tab)
{
    if (tab == OVERVIEW)
        return page_overview(b->data);
    return tab == TREE ? page_tree(b->data) : page_ranking(b->data, b->views[tab].view, NULL);
}

/* NULL: there is no memory for the tab that was gone to. */
static struct page *current(const struct browse *b)
{
    return b->depth ? b->above[b->depth - 1] : b->tabs[b->tab];
}

static void close_above(struct browse *b)
{
    while (b->depth)
        page_free(b->above[--b->depth]);
}

void browse_fini(struct browse *b)
{
    close_above(b);
    for (size_t i = 0; i < BROWSE_TABS; i++) {
        page_free(b->tabs[i]);
        b->tabs[i] = NULL;
    }
}

static void go_to(struct browse *b, size_t tab)
{
    close_above(b);
    if (!b->tabs[tab])
        b->tabs[tab] = new_tab(b, tab);
    if (b->tabs[tab])
        b->tab = tab;
    else
        browse_say(b, "out of memory");
}

static void put_above(struct browse *b, struct page *page, const char *why)
{
    if (!page) {
        browse_say(b, "%s", why);
        return;
    }
    if (b->depth == BROWSE_DEPTH) {
        page_free(b->above[0]);
        memmove(b->above, b->above + 1, --b->depth * sizeof(*b->above));
    }
    b->above[b->depth++] = page;
}

static void back(struct browse *b)
{
    if (b->depth)
        page_free(b->above[--b->depth]);
}

int browse_init(struct browse *b, struct data *data)
{
    memset(b, 0, sizeof(*b));
    b->data = data;
    make_tabs(b);
    go_to(b, OVERVIEW);
    return current(b) ? 0 : -ENOMEM;
}

/* ---- what is looked at ---- */

/* The data has changed: pages are made again when they are shown. */
static void renew(struct browse *b)
{
    size_t tab = b->tab;

    browse_fini(b);
    go_to(b, tab);
}

static void select_part(struct browse *b, const char *filter, bool own)
{
    char why[300] = "out of memory";

    if (data_select(b->data, filter, own, why, sizeof(why)))
        browse_say(b, "%s", why);
    else
        renew(b);
}

static void fold(struct browse *b, bool framework, bool recursion)
{
    if (data_shape(b->data, framework, recursion))
        browse_say(b, "out of memory");
    else
        renew(b);
    go_to(b, TREE);
    browse_say(b, "framework %s, recursion %s", framework ? "folded" : "not folded",
               recursion ? "folded" : "not folded");
}

static void sort(struct browse *b)
{
    struct page *page = current(b);

    b->data->sort = b->data->sort == MODEL_BYTES ? MODEL_ALLOCS : MODEL_BYTES;
    for (size_t i = 0; i < BROWSE_TABS; i++) {
        if (b->tabs[i] && b->tabs[i] != page) {
            page_free(b->tabs[i]);
            b->tabs[i] = NULL;
        }
    }
    for (size_t i = 0; i < b->depth; i++)
        page_sort(b->above[i]);
    if (page && !b->depth && page_sort(page))
        browse_say(b, "out of memory");
    if (!b->tabs[b->tab])
        b->tabs[b->tab] = new_tab(b, b->tab);
    browse_say(b, "sorted by %s", b->data->sort == MODEL_BYTES ? "bytes" : "objects");
}

static void next_style(struct browse *b)
{
    enum names_style style = b->data->style == NAMES_RAW ? NAMES_SHORT : b->data->style + 1;

    if (data_style(b->data, style))
        browse_say(b, "out of memory");
    else if (b->tabs[OVERVIEW])
        page_sort(b->tabs[OVERVIEW]); /* it keeps them as texts */
    browse_say(b, "names: %s", names_styles[b->data->style]);
}

/* ---- of what is under the cursor ---- */

static void under_cursor(const struct browse *b, struct target *out)
{
    *out = (struct target){.kind = TARGET_NONE};
    if (current(b))
        page_target(current(b), out);
}

static void merged(struct browse *b, enum model_direction direction)
{
    struct target t;

    under_cursor(b, &t);
    if (t.kind != TARGET_METHOD && t.kind != TARGET_TYPE && t.kind != TARGET_LINE)
        browse_say(b, "nothing is under the cursor that has callers");
    else if (direction == MODEL_CALLEES && t.kind == TARGET_TYPE)
        browse_say(b, "a type calls nothing: c shows who makes it");
    else
        put_above(b, page_merged(b->data, &t, direction), "nothing is allocated there");
}

/* Whether there is a source; then b->edit is it. */
static bool has_source(struct browse *b)
{
    under_cursor(b, &b->edit);
    if (b->edit.file && b->edit.kind != TARGET_TYPE)
        return true;
    browse_say(b, b->edit.kind == TARGET_METHOD
                      ? "its source is not known: --symbols DIR says where PDBs are"
                      : "nothing is under the cursor that has a source");
    return false;
}

void browse_source(struct browse *b)
{
    char why[300];

    put_above(b, page_source(b->data, &b->edit, why, sizeof(why)), why);
}

/* Words of the filter that let through only a thread, or a slice of time. */
static void only_text(const struct browse *b, const struct target *t, char *to, size_t size)
{
    uint64_t width = model_slice_ns(b->data->model), unit = width % 1000000 ? 1 : 1000000;
    const char *name = unit == 1 ? "ns" : "ms";

    if (t->kind == TARGET_THREAD)
        snprintf(to, size, "thread=%u", model_defs(b->data->model)->threads[t->number - 1].id);
    else
        snprintf(to, size, "from=%" PRIu64 "%s to=%" PRIu64 "%s", t->number * width / unit, name,
                 (t->number + 1) * width / unit, name);
}

static void only_this(struct browse *b)
{
    char text[PROMPT_SIZE], words[80];
    struct target t;

    under_cursor(b, &t);
    if (t.kind == TARGET_THREAD ? !t.number : t.kind != TARGET_SLICE)
        return;
    only_text(b, &t, words, sizeof(words));
    snprintf(text, sizeof(text), "%.400s%s%s", b->data->filter->text,
             *b->data->filter->text ? " " : "", words);
    select_part(b, text, b->data->own);
    go_to(b, TREE);
}

static void methods_of(struct browse *b)
{
    struct target t;

    under_cursor(b, &t);
    put_above(b, page_ranking(b->data, VIEW_METHODS, &t), "out of memory");
}

/* ---- searching ---- */

static void find(struct browse *b, bool forward)
{
    if (!*b->data->search.text)
        browse_say(b, "/ searches");
    else if (current(b) && !page_find(current(b), forward))
        browse_say(b, "not found: %s", b->data->search.text);
}

static void ask(struct browse *b, enum browse_asks what)
{
    b->asks = what;
    prompt_begin(what == BROWSE_SEARCH ? &b->search : &b->filter,
                 what == BROWSE_SEARCH ? "" : b->data->filter->text);
}

static void answered(struct browse *b, int key)
{
    struct prompt *p = b->asks == BROWSE_SEARCH ? &b->search : &b->filter;
    enum prompt_state state = prompt_key(p, key);
    enum browse_asks what = b->asks;

    if (state == PROMPT_GOES_ON)
        return;
    b->asks = BROWSE_NOTHING;
    if (state == PROMPT_LEFT)
        return;
    if (what == BROWSE_FILTER) {
        select_part(b, p->text, b->data->own);
    } else {
        search_set(&b->data->search, p->text);
        if (*p->text)
            find(b, true);
    }
}

/* ---- keys ---- */

/* Keys of the views and how they show; returns whether it is one. */
static bool change_key(struct browse *b, int key)
{
    struct data *d = b->data;

    for (size_t i = 0; i < b->tab_count; i++)
        if (key == b->views[i].key) {
            go_to(b, i);
            return true;
        }
    if (key == KEY_TAB)
        go_to(b, (b->tab + 1) % b->tab_count);
    else if (key == KEY_BACK_TAB)
        go_to(b, (b->tab + b->tab_count - 1) % b->tab_count);
    else if (key == 's')
        sort(b);
    else if (key == 'w')
        next_style(b);
    else if (key == 'o')
        select_part(b, d->filter->text, !d->own);
    else if (key == 'F')
        fold(b, !d->fold, d->recursion);
    else if (key == 'R')
        fold(b, d->fold, !d->recursion);
    else
        return false;
    return true;
}

static enum browse_next other_key(struct browse *b, int key)
{
    if (key == 'q')
        return BROWSE_ENDS;
    if (key == 'e')
        return has_source(b) ? BROWSE_EDIT : BROWSE_GOES_ON;
    if (key == KEY_ESCAPE || key == KEY_BACKSPACE)
        back(b);
    else if (key == '/' || key == 'f')
        ask(b, key == '/' ? BROWSE_SEARCH : BROWSE_FILTER);
    else if (key == 'n' || key == 'N')
        find(b, key == 'n');
    else if (key == 'c' || key == 'C')
        merged(b, key == 'c' ? MODEL_CALLERS : MODEL_CALLEES);
    else if (key == '?' || key == KEY_F1)
        put_above(b, page_help(b->data), "out of memory");
    else if (key == 'v' && has_source(b))
        browse_source(b);
    return BROWSE_GOES_ON;
}

static void obey_page(struct browse *b, enum page_answer answer)
{
    switch (answer) {
    case PAGE_FAILED:
        browse_say(b, "out of memory");
        break;
    case PAGE_CALLERS:
        merged(b, MODEL_CALLERS);
        break;
    case PAGE_SOURCE:
        if (has_source(b))
            browse_source(b);
        break;
    case PAGE_METHODS:
        methods_of(b);
        break;
    case PAGE_ONLY:
        only_this(b);
        break;
    case PAGE_TREE:
        go_to(b, TREE);
        break;
    case PAGE_BACK:
        back(b);
        break;
    default:
        break;
    }
}

enum browse_next browse_key(struct browse *b, int key)
{
    struct page *page = current(b);
    enum page_answer answer;

    if (key == KEY_GONE)
        return BROWSE_ENDS;
    if (key == KEY_NONE || key == KEY_RESIZED)
        return BROWSE_GOES_ON;
    *b->message = '\0';
    if (b->asks) {
        answered(b, key);
        return BROWSE_GOES_ON;
    }
    if (page && (page->ops->text ? list_text_key : list_key)(&page->list, key))
        return BROWSE_GOES_ON;
    answer = page && page->ops->key ? page->ops->key(page, key) : PAGE_NOT_MINE;
    if (answer != PAGE_NOT_MINE)
        obey_page(b, answer);
    else if (!change_key(b, key))
        return other_key(b, key);
    return BROWSE_GOES_ON;
}

/* ---- drawing ---- */

static int tab_width(const struct browse *b, size_t tab)
{
    return (int)strlen(b->views[tab].name) + 4;
}

/*
 * The names of the views, that of the one shown in brackets, and those beside it that there is room
 * for; < and > say that there are more.
 */
static void draw_tabs(const struct browse *b, struct canvas *c)
{
    size_t first = b->tab, i;
    int column = 0, room = c->columns - tab_width(b, b->tab) - 1;
    char text[40];

    while (first > 0 && room >= tab_width(b, first - 1))
        room -= tab_width(b, --first);
    for (i = first; i < b->tab_count; i++) {
        bool here = i == b->tab;

        if (!here && column + tab_width(b, i) + (i + 1 < b->tab_count) > c->columns)
            break;
        snprintf(text, sizeof(text), here ? "[%c %s]" : " %c %s ", b->views[i].key,
                 b->views[i].name);
        column = canvas_put(c, 0, column, c->columns, here ? CANVAS_BOLD : CANVAS_DIM, text);
    }
    if (i < b->tab_count)
        canvas_put(c, 0, c->columns - 1, 1, CANVAS_DIM, ">");
    if (first > 0 && first < b->tab)
        canvas_put(c, 0, 0, 1, CANVAS_DIM, "<");
    canvas_restyle(c, 0, 0, c->columns, CANVAS_REVERSE);
}

static void draw_title(const struct browse *b, struct canvas *c)
{
    if (!b->depth) {
        draw_tabs(b, c);
        return;
    }
    canvas_elide(c, 0, 0, c->columns, CANVAS_BOLD, b->above[b->depth - 1]->title);
    canvas_restyle(c, 0, 0, c->columns, CANVAS_REVERSE);
}

/* What stands in the status line whatever else there is, on its right. */
static void marks_text(const struct browse *b, char *to, size_t size)
{
    const struct page *page = current(b);
    size_t count = page ? page->ops->count(page) : 0;

    snprintf(to, size, "%s%s %zu/%zu", b->data->incomplete ? "INCOMPLETE " : "",
             model_estimated(b->data->model) ? "~sampled " : "", count ? page->list.cursor + 1 : 0,
             count);
}

static void draw_status(const struct browse *b, struct canvas *c, int row)
{
    const struct data *d = b->data;
    struct data_number bytes, objects;
    char left[2 * PROMPT_SIZE + 200], right[80];
    double sums[DATA_SUMS];
    int room;

    data_all(d, sums);
    marks_text(b, right, sizeof(right));
    room = c->columns - (int)letter_columns(right) - 1;
    if (*b->message)
        snprintf(left, sizeof(left), "%s", b->message);
    else
        snprintf(left, sizeof(left), "%s%s%s%s%s%s%s%s%s",
                 data_amount(d, &bytes, MODEL_BYTES, sums[MODEL_BYTES]),
                 data_mixes(sums) ? "" : ", ",
                 data_mixes(sums) ? "" : data_sum(d, &objects, MODEL_ALLOCS, sums),
                 data_mixes(sums) ? "" : " objects", d->own ? "; own code" : "",
                 *d->filter->text ? "; only " : "", d->filter->text, *d->search.text ? "; /" : "",
                 d->search.text);
    canvas_elide(c, row, 0, room, *b->message ? CANVAS_BOLD : CANVAS_PLAIN, left);
    canvas_put(c, row, room < 0 ? 0 : room + 1, c->columns,
               d->incomplete ? CANVAS_BOLD | CANVAS_RED : CANVAS_PLAIN, right);
}

static void draw_keys(const struct browse *b, struct canvas *c, int row)
{
    const struct page *page = current(b);
    char text[300];

    if (b->asks) {
        prompt_draw(b->asks == BROWSE_SEARCH ? &b->search : &b->filter, c, row,
                    b->asks == BROWSE_SEARCH ? "search" : "only");
        return;
    }
    snprintf(text, sizeof(text),
             "?help%s q  %s  c/C callers/callees  e edit  v source  / search  f filter  s sort",
             b->depth ? " esc" : "", page ? page->ops->keys : "");
    canvas_hints(c, row, text);
}

void browse_draw(struct browse *b, struct canvas *c)
{
    struct page *page = current(b);
    int top = (c->rows >= 4) + (c->rows >= 8), bottom = c->rows - (c->rows < 5 ? 1 : 2);

    if (top)
        draw_title(b, c);
    if (page) {
        list_show(&page->list, page->ops->count(page), bottom > top ? (size_t)(bottom - top) : 1);
        if (top > 1)
            page->ops->heads(page, c, 1);
        if (!page->list.count && page->ops->empty)
            canvas_put(c, top, 0, c->columns, CANVAS_PLAIN, page->ops->empty);
        for (int row = top; row < bottom; row++) {
            size_t index = page->list.first + (size_t)(row - top);

            if (index >= page->list.count)
                break;
            page->ops->draw(page, c, row, index);
            if (index == page->list.cursor && !page->ops->text)
                canvas_restyle(c, row, 0, c->columns, CANVAS_REVERSE);
        }
    }
    if (bottom < c->rows - 1 || !b->asks)
        draw_status(b, c, bottom);
    if (bottom < c->rows - 1 || b->asks)
        draw_keys(b, c, c->rows - 1);
}
