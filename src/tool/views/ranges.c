#include "views/ranges.h"

#include "terminal/text.h"

#define NS_S 1e9

const char *range_of_sizes(unsigned power, struct buffer *b)
{
    struct text_number from, to;

    buffer_clear(b);
    if (power >= 63)
        buffer_text(b, "(unknown)");
    else
        buffer_format(b, "%s to %s", text_count(&from, power ? UINT64_C(1) << power : 0),
                      text_count(&to, (UINT64_C(2) << power) - 1));
    return b->failed ? "?" : b->data;
}

const char *range_heap(enum sst_heap heap)
{
    static const char *const words[SST_HEAP_COUNT] = {
        [SST_HEAP_NORMAL] = "",
        [SST_HEAP_LARGE] = "large",
        [SST_HEAP_PINNED] = "pinned",
        [SST_HEAP_FROZEN] = "frozen",
    };

    return words[heap];
}

/* "1.25 s" in parts of the slice that make sense beside one another. */
const char *range_time(uint64_t ns, char text[32])
{
    if (ns < UINT64_C(10000000000))
        snprintf(text, 32, "%.3f s", (double)ns / NS_S);
    else
        snprintf(text, 32, "%.1f s", (double)ns / NS_S);
    return text;
}
