#include "views/print_folded.h"

#include "views/print_stack.h"

#include "export/collapsed.h"

static void put_name(const char *name, FILE *out)
{
    struct buffer b = BUFFER_ON((char[BUFFER_TEXT_ROOM]){0});

    export_collapsed_name(&b, name);
    fwrite(b.data, 1, b.size, out);
    buffer_free(&b);
}

/* The frames of the path being printed, leaf first. */
struct folding {
    const struct report_defs *defs;
    FILE *out;
    struct report_frame *frames;
    size_t capacity;
};

/* "root;...;leaf". Returns: 0 or -ENOMEM, with nothing printed. */
static int put_stack(struct folding *f, uint32_t path)
{
    struct report_frame frame;
    size_t count = 0;

    for (bool more = report_frame_first(f->defs, path, REPORT_NO_IL, &frame); more;
         more = report_frame_outer(f->defs, &frame)) {
        if (!array_reserve(&f->frames, &f->capacity, count + 1))
            return -ENOMEM;
        f->frames[count++] = frame;
    }
    if (count == 0)
        fputs(report_no_frame(f->defs), f->out);
    while (count-- > 0) {
        put_name(f->frames[count].path == REPORT_PATH_LOST
                     ? PRINT_LOST_FRAME
                     : report_method(f->defs, f->frames[count].method)->name,
                 f->out);
        if (count)
            putc(';', f->out);
    }
    return 0;
}

int print_folded_sites(const struct report_sites *sites, FILE *out)
{
    struct folding f = {.defs = report_sites_defs(sites), .out = out};
    struct report_row row;
    int err = 0;

    for (size_t i = 0; i < report_sites_passing(sites); i++) {
        report_sites_row(sites, i, &row);
        err = put_stack(&f, row.path);
        if (err)
            break;
        fputs(";[", out);
        put_name(report_class(f.defs, row.class_number)->name, out);
        fprintf(out, "] %llu\n", (unsigned long long)row.bytes);
    }
    memory_free(f.frames);
    return err;
}

int print_folded_samples(const struct report_profile_source *source, const struct report_defs *defs,
                         FILE *out)
{
    struct folding f = {.defs = defs, .out = out};
    int err = 0;

    for (size_t i = REPORT_PATH_LOST + 1; !err && i < source->paths; i++) {
        if (!source->by_path[i])
            continue;
        err = put_stack(&f, (uint32_t)i);
        if (!err)
            fprintf(out, " %llu\n", (unsigned long long)source->by_path[i]);
    }
    memory_free(f.frames);
    return err;
}
