#include "views/print_folded.h"

#include "views/print_stack.h"

#include "export/collapsed.h"
#include "report/estimate.h"

static void put_name(const char *name, FILE *out)
{
    struct buffer b = BUFFER_ON((char[BUFFER_TEXT_ROOM]){0});

    export_collapsed_name(&b, name);
    fwrite(b.data, 1, b.size, out);
    buffer_free(&b);
}

/* The frames of the path being printed, leaf first. */
struct folding {
    const struct log_defs *defs;
    FILE *out;
    struct report_frame *frames;
    size_t capacity;
};

/* "root;...;leaf", of the innermost `depth` frames; 0: of all. Returns: 0 or -ENOMEM, with nothing
 * printed. */
static int put_stack(struct folding *f, uint32_t path, size_t depth)
{
    struct report_frame frame;
    size_t count = 0;

    for (bool more = report_frame_first(f->defs, path, LOG_NO_IL, &frame); more;
         more = (!depth || count < depth) && report_frame_outer(f->defs, &frame)) {
        if (!array_reserve(&f->frames, &f->capacity, count + 1))
            return -ENOMEM;
        f->frames[count++] = frame;
    }
    if (count == 0)
        fputs(log_no_frame(f->defs), f->out);
    while (count-- > 0) {
        put_name(f->frames[count].path == LOG_PATH_LOST
                     ? PRINT_LOST_FRAME
                     : log_method(f->defs, f->frames[count].method)->name,
                 f->out);
        if (count)
            putc(';', f->out);
    }
    return 0;
}

int print_folded_sites(const struct model *m, const struct model_rows *rows, size_t count,
                       FILE *out)
{
    struct folding f = {.defs = model_defs(m), .out = out};
    int err = 0;

    for (size_t i = 0; !err && i < count; i++) {
        const struct model_row *row = &rows->rows[i];

        err = put_stack(&f, row->what, row->depth);
        if (err)
            break;
        fputs(";[", out);
        put_name(log_class(f.defs, row->class_number)->name, out);
        fprintf(out, "] %llu\n",
                (unsigned long long)report_whole(model_row_self(rows, row, MODEL_BYTES)));
    }
    memory_free(f.frames);
    return err;
}

int print_folded_samples(const struct report_profile_source *source, const struct log_defs *defs,
                         FILE *out)
{
    struct folding f = {.defs = defs, .out = out};
    int err = 0;

    for (size_t i = LOG_PATH_LOST + 1; !err && i < source->paths; i++) {
        if (!source->by_path[i])
            continue;
        err = put_stack(&f, (uint32_t)i, 0);
        if (!err)
            fprintf(out, " %llu\n", (unsigned long long)source->by_path[i]);
    }
    memory_free(f.frames);
    return err;
}
