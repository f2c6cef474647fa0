#include "report/line_rows.h"

#include "base/path.h"

void line_rows_init(struct line_rows *l, const struct report_defs *defs, struct source_lines *lines)
{
    *l = (struct line_rows){.defs = defs, .lines = lines};
}

void line_rows_fini(struct line_rows *l)
{
    memory_free(l->rows);
    index_free(&l->index);
}

static bool row_equal(const void *record, const void *key)
{
    const struct line_row *have = record, *want = key;

    return have->line.line == want->line.line && have->line.document == want->line.document &&
           have->line.module == want->line.module && have->method == want->method;
}

static uint64_t row_hash(const void *record)
{
    const struct line_row *row = record;

    return hash_mix((uint64_t)row->line.module << 32 | row->line.document,
                    (uint64_t)row->method << 32 | row->line.line);
}

static uint32_t number_of(struct line_rows *l, const struct line_row *row)
{
    static const struct index_kind kind = {sizeof(*row), row_hash, row_equal};
    uint32_t number;
    int added = index_add(&l->index, &kind, &l->rows, &l->count, &l->capacity, row, &number);

    return added < 0 ? 0 : number + 1;
}

uint32_t line_rows_of(void *context, uint32_t path, int32_t il)
{
    struct line_rows *l = context;

    for (; path > REPORT_PATH_LOST; path = report_path(l->defs, path)->parent) {
        struct line_row row = {.method = report_path(l->defs, path)->method};

        if (source_line_of(l->lines, row.method, il, &row.line))
            return number_of(l, &row);
        if (source_line_of(l->lines, row.method, SOURCE_LINE_LAST, &row.line)) {
            row.line = (struct source_line){.module = row.line.module};
            return number_of(l, &row); /* it has lines, and which is not known */
        }
        il = report_path(l->defs, path)->il;
    }
    return 0;
}

bool line_rows_diff(void *context, size_t log, uint32_t number, struct report_diff_line *out)
{
    const struct line_row *row = line_rows_at((const struct line_rows *)context + log, number);

    if (row)
        *out = (struct report_diff_line){
            row->method, row->line.file ? path_base_name_foreign(row->line.file) : NULL,
            row->line.line};
    return row;
}
