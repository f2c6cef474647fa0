#include "export/rows_out.h"

#include "base/memory.h"

struct rows_key {
    uint64_t id[2];
};
INDEX_OF_BYTES(known_kind, struct rows_key, id);

int export_rows_new(FILE *out, const struct export_rows_options *options, struct export_rows **rows)
{
    struct export_rows *r = memory_zalloc(1, sizeof(*r));

    *rows = r;
    if (!r)
        return -ENOMEM;
    r->out = out;
    r->options = *options;
    return 0;
}

void export_rows_free(struct export_rows *r)
{
    for (size_t i = 0; r && i < ROWS_TABLES; i++) {
        index_free(&r->known[i].index);
        memory_free(r->known[i].ids);
    }
    memory_free(r);
}

const struct export_rows_sums *export_rows_sums(const struct export_rows *r)
{
    return &r->sums;
}

bool rows_define(struct export_rows *r, enum rows_table table, const uint64_t id[2])
{
    struct rows_known *known = &r->known[table];
    uint32_t number;
    int added = index_add(&known->index, &known_kind, &known->ids, &known->count, &known->capacity,
                          id, &number);

    if (added < 0)
        r->err = added;
    return added > 0;
}

void rows_begin(struct export_rows *r, struct json_writer *w, const char *kind)
{
    jw_init(w, r->out);
    jw_object(w, NULL);
    jw_text(w, "kind", kind);
}

void rows_end(struct export_rows *r, struct json_writer *w)
{
    int err;

    jw_end(w);
    err = jw_finish(w);
    if (err)
        r->err = err;
}

void rows_id_text(char to[ROWS_ID_SIZE], const uint64_t id[2])
{
    static const char digits[] = "0123456789abcdef";
    char *at = to;

    for (unsigned i = 0; i < 32; i++) {
        if (i == 8 || i == 12 || i == 16 || i == 20)
            *at++ = '-';
        *at++ = digits[id[i / 16] >> (60 - 4 * (i % 16)) & 15];
    }
    *at = '\0';
}

void rows_id(struct json_writer *w, const char *key, const uint64_t id[2])
{
    char text[ROWS_ID_SIZE];

    rows_id_text(text, id);
    jw_text(w, key, text);
}
