#include "terminal/list.h"

#include "terminal/key.h"

void list_show(struct list *l, size_t count, size_t height)
{
    size_t most;

    l->count = count;
    l->height = height ? height : 1;
    if (l->cursor >= count)
        l->cursor = count ? count - 1 : 0;
    most = count > l->height ? count - l->height : 0;
    if (l->first > most)
        l->first = most;
    if (l->cursor < l->first)
        l->first = l->cursor;
    if (l->cursor >= l->first + l->height)
        l->first = l->cursor - l->height + 1;
}

void list_at(struct list *l, size_t row)
{
    size_t before = l->height / 3;

    l->cursor = row;
    if (row < l->first || row >= l->first + l->height)
        l->first = row > before ? row - before : 0;
}

static size_t plus(size_t at, size_t by, size_t count)
{
    return by < count - at ? at + by : count - 1;
}

static size_t minus(size_t at, size_t by)
{
    return at > by ? at - by : 0;
}

/* Where a key takes `at`, of count > 0. Returns: whether it is a key that moves. */
static bool moved(int key, size_t page, size_t count, size_t *at)
{
    switch (key) {
    case KEY_UP:
    case 'k':
        *at = minus(*at, 1);
        return true;
    case KEY_DOWN:
    case 'j':
        *at = plus(*at, 1, count);
        return true;
    case KEY_PAGE_UP:
    case KEY_CONTROL('b'):
        *at = minus(*at, page);
        return true;
    case KEY_PAGE_DOWN:
    case KEY_CONTROL('f'):
        *at = plus(*at, page, count);
        return true;
    case KEY_CONTROL('u'):
        *at = minus(*at, (page + 1) / 2);
        return true;
    case KEY_CONTROL('d'):
        *at = plus(*at, (page + 1) / 2, count);
        return true;
    case KEY_HOME:
    case 'g':
        *at = 0;
        return true;
    case KEY_END:
    case 'G':
        *at = count - 1;
        return true;
    }
    return false;
}

/* A page keeps one row of the one before. */
static size_t page_of(const struct list *l)
{
    return l->height > 2 ? l->height - 1 : 1;
}

bool list_key(struct list *l, int key)
{
    size_t at = l->cursor;

    if (!moved(key, page_of(l), l->count ? l->count : 1, &at))
        return false;
    if (key == KEY_PAGE_DOWN || key == KEY_CONTROL('f'))
        l->first += at - l->cursor;
    if (key == KEY_PAGE_UP || key == KEY_CONTROL('b'))
        l->first = minus(l->first, l->cursor - at);
    l->cursor = at;
    list_show(l, l->count, l->height);
    return true;
}

bool list_text_key(struct list *l, int key)
{
    size_t places = l->count > l->height ? l->count - l->height + 1 : 1;
    size_t at = l->first < places ? l->first : places - 1;

    if (!moved(key, page_of(l), places, &at))
        return false;
    l->first = l->cursor = at;
    return true;
}
