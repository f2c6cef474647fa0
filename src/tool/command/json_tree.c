#include "command/json_tree.h"

static int take_piece(const char *piece, size_t size, void *context)
{
    buffer_append(context, piece, size);
    return 0;
}

void jw_tree(struct json_writer *w, const char *key, const json_t *json)
{
    const size_t how = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15);
    struct buffer text = BUFFER_INIT;

    if (json && json_dump_callback(json, take_piece, &text, how))
        text.failed = 1;
    jw_raw(w, key, text.failed ? NULL : text.data);
    buffer_free(&text);
}
