#include "export/formats.h"

#include "export/collapsed.h"
#include "export/stack.h"

#include "base/clean.h"
#include "base/memory.h"

#include <errno.h>

void export_collapsed_name(struct buffer *b, const char *name)
{
    bool safe;

    while (*name) {
        size_t length = clean_letter(name, &safe);

        if (safe && *name != ';')
            buffer_append(b, name, length);
        else
            buffer_char(b, safe ? ':' : CLEAN_MARK);
        name += length;
    }
}

/* The texts of all frames, contiguous in `texts`: frame i begins at starts[i]. */
static int make_texts(const struct export_profile *p, struct buffer *texts, size_t *starts)
{
    for (size_t i = 0; i < p->frame_count; i++) {
        bool type = p->frames[i].kind == EXPORT_TYPE;

        starts[i] = texts->size;
        if (type)
            buffer_char(texts, '[');
        export_collapsed_name(texts, p->frames[i].name);
        if (type)
            buffer_char(texts, ']');
    }
    starts[p->frame_count] = texts->size;
    return texts->failed ? -ENOMEM : 0;
}

static void put_line(const struct export_stack *stack, uint64_t bytes, const struct buffer *texts,
                     const size_t *starts, FILE *out)
{
    for (size_t i = 0; i < stack->count; i++) {
        size_t start = starts[stack->frames[i]];

        if (i)
            putc_unlocked(';', out);
        fwrite_unlocked(texts->data + start, 1, starts[stack->frames[i] + 1] - start, out);
    }
    fprintf(out, " %llu\n", (unsigned long long)bytes);
}

int export_collapsed(const struct export_profile *p, FILE *out)
{
    struct export_stack stack = {0};
    struct buffer texts = BUFFER_INIT;
    size_t *starts = memory_zalloc(p->frame_count + 1, sizeof(*starts));
    int err = starts ? make_texts(p, &texts, starts) : -ENOMEM;

    for (size_t i = 0; !err && i < p->sample_count; i++) {
        err = export_stack_of(&stack, p, p->samples[i].node);
        if (!err)
            put_line(&stack, p->samples[i].bytes, &texts, starts, out);
    }
    export_stack_free(&stack);
    buffer_free(&texts);
    memory_free(starts);
    return err;
}
