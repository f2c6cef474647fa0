#include "unit/terminal/canvas_text.h"

#include "support/test.h"

static struct buffer text = BUFFER_INIT;

static const char *taken(void)
{
    assert_false(text.failed);
    return text.data;
}

const char *row_text(const struct canvas *c, int row)
{
    buffer_clear(&text);
    buffer_text(&text, "");
    canvas_text(c, row, &text);
    return taken();
}

const char *all_text(const struct canvas *c)
{
    buffer_clear(&text);
    buffer_text(&text, "");
    for (int row = 0; row < c->rows; row++) {
        canvas_text(c, row, &text);
        buffer_char(&text, '\n');
    }
    return taken();
}
