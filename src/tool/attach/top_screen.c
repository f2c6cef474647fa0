#include "attach/top_screen.h"

#include "terminal/key.h"

#include <string.h>

#define LINE_SIZE 2000
#define WARNINGS  3 /* rows, at most: of what grows */

void top_screen_init(struct top_screen *s, struct top *top)
{
    memset(s, 0, sizeof(*s));
    s->top = top;
}

static void put_row(struct canvas *c, int row, const char *line, bool cursor)
{
    canvas_elide(c, row, 0, c->columns - 1, CANVAS_PLAIN, line);
    if (cursor)
        canvas_restyle(c, row, 0, c->columns, CANVAS_REVERSE);
}

static size_t count_details(struct top_screen *s)
{
    char line[LINE_SIZE];
    size_t count = 0;

    while (top_detail(s->top, s->list.cursor, count, line, sizeof(line)))
        count++;
    return count;
}

static void draw_detail(struct top_screen *s, struct canvas *c, int head, size_t room)
{
    char line[LINE_SIZE];

    top_line(s->top, s->list.cursor, line, sizeof(line));
    put_row(c, head, line, true);
    list_show(&s->detail, count_details(s), room - 1);
    for (size_t i = 0; i < s->detail.height; i++)
        if (top_detail(s->top, s->list.cursor, s->detail.first + i, line, sizeof(line)))
            put_row(c, head + 1 + (int)i, line, false);
}

static void draw_rows(struct top_screen *s, struct canvas *c, int head)
{
    size_t first = s->list.first;
    char line[LINE_SIZE];

    for (size_t i = first; i < s->top->rows && i < first + s->list.height; i++) {
        top_line(s->top, i, line, sizeof(line));
        put_row(c, head + (int)(i - first), line, i == s->list.cursor);
    }
}

static void draw_keys(struct top_screen *s, struct canvas *c)
{
    static const char *const goes = "q  1 sites  2 types  3 threads  4 alive  s sort  / filter  "
                                    "p pause  enter more";
    static const char *const paused = "PAUSED  q  p go on  1 sites  2 types  3 threads  4 alive  "
                                      "s sort  / filter  enter more";
    static const char *const alive = "q  1 2 3 allocated  4 sites  5 types  b reset growth  "
                                     "s sort  / filter  p pause  enter more";
    bool of_alive = s->top->view == TOP_ALIVE || s->top->view == TOP_ALIVE_TYPES;

    if (s->typing)
        prompt_draw(&s->prompt, c, c->rows - 1, "filter");
    else if (s->paused)
        canvas_hints(c, c->rows - 1, paused);
    else
        canvas_hints(c, c->rows - 1, of_alive ? alive : goes);
}

/* What grows, above the columns, where there is room. Returns: rows above the list. */
static int draw_head(struct top_screen *s, struct canvas *c)
{
    char line[LINE_SIZE];
    int row = 1;

    top_title(s->top, line, sizeof(line));
    put_row(c, 0, line, false);
    for (size_t i = 0; i < WARNINGS && c->rows > 4 * WARNINGS; i++)
        if (top_warning(s->top, i, line, sizeof(line)))
            put_row(c, row++, line, false);
    put_row(c, row, top_columns(s->top), false);
    canvas_restyle(c, row, 0, c->columns, CANVAS_BOLD);
    return row + 1;
}

void top_screen_draw(struct top_screen *s, struct canvas *c)
{
    int head = draw_head(s, c);
    size_t room = c->rows > head + 2 ? (size_t)(c->rows - head - 1) : 1;

    list_show(&s->list, s->top->rows, room);
    if (s->drilled && s->top->rows)
        draw_detail(s, c, head, room);
    else
        draw_rows(s, c, head);
    draw_keys(s, c);
}

/* What is typed filters at once; escape leaves it as it is. */
static void type(struct top_screen *s, int key)
{
    s->typing = prompt_key(&s->prompt, key) == PROMPT_GOES_ON;
    snprintf(s->top->filter, sizeof(s->top->filter), "%.*s", (int)sizeof(s->top->filter) - 1,
             s->prompt.text);
    s->list.cursor = 0;
}

/* To what is behind a row. */
static void open_row(struct top_screen *s)
{
    if (!s->top->rows || s->drilled)
        return;
    if (s->top->view == TOP_TYPES || s->top->view == TOP_ALIVE_TYPES) {
        top_open_type(s->top, s->list.cursor);
        s->list.cursor = 0;
    } else {
        s->drilled = true;
        s->detail = (struct list){.count = 0};
    }
}

static void go_back(struct top_screen *s)
{
    if (!s->drilled && s->top->type) {
        top_close_type(s->top);
        s->list.cursor = 0;
    }
    s->drilled = false;
}

static void choose(struct top_screen *s, enum top_view view)
{
    top_close_type(s->top);
    s->top->view = view;
    s->list.cursor = 0;
    s->drilled = false;
}

/* Keys that are no moves. Returns: whether to go on. */
static bool obey(struct top_screen *s, int key)
{
    switch (key) {
    case 'q':
    case KEY_GONE:
        return false;
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
        choose(s, (enum top_view)(key - '1'));
        break;
    case 'b':
        top_begin(s->top);
        break;
    case 's':
        s->top->order = (s->top->order + 1) % TOP_ORDERS;
        break;
    case '/':
        s->typing = true;
        prompt_begin(&s->prompt, s->top->filter);
        break;
    case 'p':
    case ' ':
        s->paused = !s->paused;
        break;
    case KEY_ENTER:
    case KEY_RIGHT:
        open_row(s);
        break;
    case KEY_ESCAPE:
    case KEY_LEFT:
        go_back(s);
        break;
    }
    return true;
}

bool top_screen_key(struct top_screen *s, int key)
{
    if (s->typing && key >= 0 && key != KEY_GONE && key != KEY_RESIZED)
        type(s, key);
    else if (s->drilled ? !list_text_key(&s->detail, key) : !list_key(&s->list, key))
        return obey(s, key);
    return true;
}
