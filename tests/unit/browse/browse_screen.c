#include "unit/browse/browse_screen.h"

#include "support/test.h"
#include "unit/terminal/canvas_text.h"

#include <string.h>

struct loaded loaded;
struct browse browse;

static struct canvas canvas;
static int columns = 80, rows = 24;

static void draw(void)
{
    canvas_fini(&canvas);
    assert_int_equal(canvas_init(&canvas, rows, columns), 0);
    browse_draw(&browse, &canvas);
}

void open_logs(const char *first, const char *second, const char *symbols)
{
    static struct load_options options;
    char *paths[] = {(char *)(uintptr_t)first, (char *)(uintptr_t)second};

    options = (struct load_options){.reading.quiet = true};
    if (symbols)
        options.symbols = (struct args_list){.item = {symbols}, .count = 1};
    assert_int_equal(browse_load(&cmd_browse, &options, paths, second ? 2 : 1, &loaded), 0);
    assert_int_equal(browse_init(&browse, &loaded.data), 0);
    screen_of(80, 24);
}

int close_logs(void **state)
{
    (void)state;
    browse_fini(&browse);
    browse_load_end(&loaded);
    canvas_fini(&canvas);
    return 0;
}

void screen_of(int new_columns, int new_rows)
{
    columns = new_columns;
    rows = new_rows;
    draw();
}

const char *screen_text(void)
{
    draw();
    return all_text(&canvas);
}

unsigned screen_style(int row, int column)
{
    return canvas.cells[row * columns + column].style;
}

enum browse_next press_key(int key)
{
    enum browse_next next = browse_key(&browse, key);

    draw();
    return next;
}

enum browse_next press(const char *keys)
{
    enum browse_next next = BROWSE_GOES_ON;

    for (; *keys; keys++)
        next = press_key((unsigned char)*keys);
    return next;
}

bool screen_has(const char *text)
{
    return strstr(screen_text(), text) != NULL;
}

void expect_on_screen(const char *text)
{
    if (!screen_has(text))
        fail_msg("\"%s\" is not on the screen:\n%s", text, screen_text());
}

const char *cursor_row(void)
{
    draw();
    for (int row = 1; row < rows - 1; row++)
        if (screen_style(row, columns - 1) & CANVAS_REVERSE)
            return row_text(&canvas, row);
    return "";
}
