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

void export_rows_forget(struct export_rows *r)
{
    for (size_t i = 0; i < ROWS_TABLES; i++) {
        index_free(&r->known[i].index);
        memory_free(r->known[i].ids);
        r->known[i] = (struct rows_known){.ids = NULL};
    }
}

void export_rows_free(struct export_rows *r)
{
    if (r)
        export_rows_forget(r);
    memory_free(r);
}

/* ---- what another copy has written ---- */

struct told {
    uint64_t table, id[2];
};

void export_rows_to(struct export_rows *r, FILE *out)
{
    r->out = out;
    for (size_t i = 0; i < ROWS_TABLES; i++)
        r->known[i].before = r->known[i].count;
}

int export_rows_told(const struct export_rows *r, FILE *out)
{
    for (size_t i = 0; i < ROWS_TABLES; i++)
        for (size_t k = r->known[i].before; k < r->known[i].count; k++) {
            const struct told one = {i, {r->known[i].ids[k][0], r->known[i].ids[k][1]}};

            if (fwrite(&one, sizeof(one), 1, out) != 1)
                return -EIO;
        }
    return 0;
}

int export_rows_learn(struct export_rows *r, const void *told, size_t size)
{
    struct told one;

    for (size_t at = 0; at + sizeof(one) <= size; at += sizeof(one)) {
        memcpy(&one, (const char *)told + at, sizeof(one));
        if (one.table >= ROWS_TABLES)
            return -EBADMSG;
        (void)rows_define(r, (enum rows_table)one.table, one.id);
    }
    return r->err;
}

size_t export_rows_known(const struct export_rows *r)
{
    size_t count = 0;

    for (size_t i = 0; i < ROWS_TABLES; i++)
        count += r->known[i].count;
    return count;
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
