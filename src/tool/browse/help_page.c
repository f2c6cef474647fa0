#include "browse/page.h"

#include "terminal/key.h"

#include "base/atomics.h"

#include <string.h>

/* A key and what it does; without a key: a heading. */
static const struct {
    const char *key, *text;
} lines[] = {
    {NULL, "Views"},
    {"tab, shift-tab", "next view, view before"},
    {"1 ... 9, 0", "a view by its number; L: the logs"},
    {"esc", "back; q ends"},
    {NULL, "Moving"},
    {"arrows, h j k l", "move, open, close"},
    {"page keys, ^F ^B", "a page; half a page: ^D ^U"},
    {"home end, g G", "to the first row, the last"},
    {NULL, "Trees"},
    {"enter, space", "open or close a row"},
    {"+ -", "open, close"},
    {"*", "open all below"},
    {"H", "open the heaviest path, to where the weight spreads; again: further"},
    {"F", "fold framework code: a run of frames becomes one"},
    {"R", "fold recursion: a cycle of methods becomes one of each"},
    {NULL, "What is under the cursor"},
    {"c", "its callers, merged; of a type: who makes it"},
    {"C", "what it calls, merged"},
    {"v", "its source, with what each line allocates"},
    {"e", "its source in $VISUAL or $EDITOR, at the line"},
    {NULL, "Finding"},
    {"/", "search in names; small letters find large ones, too"},
    {"n N", "next, the one before"},
    {"f", "see only a part: words like"},
    {"", "type=string  method=Parse  exclude=System.*  below=*.Main"},
    {"", "thread=3  from=10s  to=50%; a word alone is a method"},
    {"o", "only what own code allocates, itself or through others"},
    {NULL, "How it is shown"},
    {"s", "sort by bytes, by objects"},
    {"t", "tables: by what a row makes itself, by what it makes with all it calls"},
    {"w", "names short, full, as in the log"},
    {NULL, "Marks"},
    {"*Name", "own code"},
    {"[Name, 3 frames]", "folded framework code"},
    {"new Name", "objects of that type, made by the row above"},
    {"~", "an estimate: the log is sampled"},
    {"INCOMPLETE", "something is missing of the log; the overview says what"},
};

static size_t count(const struct page *page)
{
    (void)page;
    return COUNT_OF(lines);
}

static void heads(const struct page *page, struct canvas *c, int row)
{
    (void)page;
    canvas_put(c, row, 0, c->columns, CANVAS_BOLD, "Keys");
}

static void draw(const struct page *page, struct canvas *c, int row, size_t index)
{
    int column = c->columns < 60 ? 12 : 20, end;

    (void)page;
    if (!lines[index].key) {
        canvas_put(c, row, 0, c->columns, CANVAS_BOLD, lines[index].text);
        return;
    }
    end = canvas_put(c, row, 2, c->columns, CANVAS_PLAIN, lines[index].key);
    canvas_put(c, row, end + 1 > column ? end + 1 : column, c->columns, CANVAS_PLAIN,
               lines[index].text);
}

static enum page_answer key(struct page *page, int key)
{
    (void)page;
    return key == 'q' || key == '?' || key == KEY_F1 || key == KEY_ENTER || key == KEY_LEFT
               ? PAGE_BACK
               : PAGE_NOT_MINE;
}

static bool hits(const struct page *page, size_t index)
{
    return search_hits(&page->data->search, lines[index].text);
}

struct page *page_help(struct data *d)
{
    static const struct page_ops ops = {count,       heads, draw, hits, key, .keys = "esc back",
                                        .text = true};
    struct page *page = page_new(&ops, sizeof(*page), d);

    if (page)
        strcpy(page->title, "help");
    return page;
}
