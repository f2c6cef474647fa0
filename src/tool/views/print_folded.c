#include "views/print_folded.h"

#include "base/clean.h"

void print_folded_name(const char *name, FILE *out)
{
    bool safe;

    while (*name) {
        size_t length = clean_letter(name, &safe);

        if (safe && *name != ';')
            fwrite(name, 1, length, out);
        else
            putc(safe ? ':' : CLEAN_MARK, out);
        name += length;
    }
}

struct frames {
    uint32_t *paths;
    size_t capacity;
};

/* The row's frames, leaf first. Returns: how many, or SIZE_MAX without memory. */
static size_t frames_of(struct frames *f, const struct report_defs *d, uint32_t path)
{
    size_t count = 0;

    for (; path != REPORT_PATH_EMPTY; path = report_path(d, path)->parent) {
        if (count == f->capacity) {
            uint32_t *paths = array_grow(f->paths, &f->capacity, sizeof(*paths));

            if (!paths)
                return SIZE_MAX;
            f->paths = paths;
        }
        f->paths[count++] = path;
        if (path == REPORT_PATH_LOST)
            break; /* its own parent */
    }
    return count;
}

static int print_row(const struct report_defs *d, struct frames *f, const struct report_row *row,
                     FILE *out)
{
    size_t count = frames_of(f, d, row->path);

    if (count == SIZE_MAX)
        return -ENOMEM;
    if (count == 0)
        fputs("(no managed frame);", out);
    while (count-- > 0) {
        print_folded_name(f->paths[count] == REPORT_PATH_LOST
                              ? "(callers not in the log)"
                              : report_method(d, report_path(d, f->paths[count])->method)->name,
                          out);
        putc(';', out);
    }
    putc('[', out);
    print_folded_name(report_class(d, row->class_number)->name, out);
    fprintf(out, "] %llu\n", (unsigned long long)row->bytes);
    return 0;
}

int print_folded(const struct report_sites *sites, uint64_t min_bytes, FILE *out)
{
    struct frames f = {NULL, 0};
    struct report_row row;
    int err = 0;

    for (size_t i = 0; !err && i < report_sites_count(sites); i++) {
        report_sites_row(sites, i, &row);
        if (row.bytes < min_bytes)
            break; /* sorted by bytes */
        err = print_row(report_sites_defs(sites), &f, &row, out);
    }
    memory_free(f.paths);
    return err;
}
