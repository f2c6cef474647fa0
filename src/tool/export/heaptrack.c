#include "export/formats.h"

#include "base/buffer.h"
#include "base/clean.h"
#include "base/memory.h"
#include "command/gzip.h"
#include "model/tree.h"
#include "readers/index.h"

#include <errno.h>

#define FLUSH   65536 /* bytes kept before they are packed */
#define NOWHERE UINT32_MAX

/*
 * Allocations of one size at one place, as the format has them: `a` lines. Readers take what is
 * freed next after it was made for temporary, by the number of its line: what died later has
 * another one, of the same size and place.
 */
struct info {
    uint64_t size;
    uint32_t trace, gone;
};

struct amount {
    double bytes, allocs;
};

struct heaptrack {
    const struct export_profile *p;
    struct gzip *gzip;
    struct buffer text;
    struct info *infos;
    size_t info_count, info_capacity;
    struct index info_index;
    uint32_t *nodes;          /* by cell: of the profile, NOWHERE: left out */
    struct amount *survivors; /* by node of the profile: all that ever survived */
    struct amount *later;     /* what was made behind the last collection */
    int err;
};

INDEX_OF_BYTES(info_kind, struct info, gone);

static void flush(struct heaptrack *h, size_t least)
{
    if (h->text.size < least)
        return;
    gzip_write(h->gzip, h->text.data, h->text.size);
    if (h->text.failed)
        h->err = -ENOMEM;
    buffer_clear(&h->text);
}

/* ---- frames: strings, instruction pointers, traces; their numbers count from 1 ---- */

static void put_string(struct heaptrack *h, const char *text)
{
    buffer_text(&h->text, "s ");
    buffer_clean(&h->text, text);
    buffer_char(&h->text, '\n');
    flush(h, FLUSH);
}

/* Modules come first; then each frame has two texts, its name and its file ("": no file). */
static void put_frames(struct heaptrack *h)
{
    const struct export_profile *p = h->p;

    for (size_t i = 0; i < p->module_count; i++)
        put_string(h, *p->modules[i].path ? p->modules[i].path : p->modules[i].name);
    for (size_t i = 0; i < p->frame_count; i++) {
        const struct export_frame *frame = &p->frames[i];
        unsigned long long name = p->module_count + 2 * i + 1;

        put_string(h, frame->name);
        put_string(h, frame->file ? frame->file : "");
        buffer_format(&h->text, "i %llx %x", (unsigned long long)(i + 1) << 4,
                      frame->module == EXPORT_NO_MODULE ? 0 : frame->module + 1);
        buffer_format(&h->text, " %llx %llx %x\n", name, frame->file ? name + 1 : 0, frame->line);
    }
}

/* Node i of the profile is trace i. */
static void put_traces(struct heaptrack *h)
{
    const struct export_profile *p = h->p;

    for (size_t i = 1; i < p->node_count; i++) {
        buffer_format(&h->text, "t %x %x\n", p->nodes[i].frame + 1, p->nodes[i].parent);
        flush(h, FLUSH);
    }
}

/* ---- events ---- */

static uint32_t info_of(struct heaptrack *h, uint64_t size, uint32_t trace, bool gone)
{
    const struct info info = {size, trace, gone};
    uint32_t number = 0;
    int added;

    added = index_add(&h->info_index, &info_kind, &h->infos, &h->info_count, &h->info_capacity,
                      &info, &number);
    if (added < 0)
        h->err = added;
    if (added > 0)
        buffer_format(&h->text, "a %llx %x\n", (unsigned long long)size, trace);
    return number;
}

/* `count` objects of one size: allocated, freed, or both at once. */
static void put_same(struct heaptrack *h, uint32_t node, uint64_t size, uint64_t count,
                     const char *signs)
{
    uint32_t info = count ? info_of(h, size, node, *signs == '-') : 0;

    for (uint64_t i = 0; i < count && !h->err; i++) {
        for (const char *sign = signs; *sign; sign++)
            buffer_format(&h->text, "%c %x\n", *sign, info);
        flush(h, FLUSH);
    }
}

/* The sizes of single objects are not known: they come to the sum, and differ by one at most. */
static void put(struct heaptrack *h, uint32_t node, double bytes, double allocs, const char *signs)
{
    uint64_t count = allocs > 0 ? (uint64_t)(allocs + 0.5) : 0;
    uint64_t all = bytes > 0 ? (uint64_t)(bytes + 0.5) : 0;

    if (!count || node == NOWHERE)
        return;
    put_same(h, node, all / count + 1, all % count, signs);
    put_same(h, node, all / count, count - all % count, signs);
}

static void put_time(struct heaptrack *h, uint64_t ns)
{
    buffer_format(&h->text, "c %llx\n", (unsigned long long)(ns / 1000000));
}

/* What one collection changed, up to its live_total; first what went: nothing exceeds the total. */
static size_t put_collection(struct heaptrack *h, const struct report_live *live, size_t from)
{
    const struct report_live_change *changes = live->changes;
    size_t to = from;

    while (to < live->change_count && changes[to].site != UINT32_MAX)
        to++;
    for (size_t i = from; i < to; i++)
        put(h, h->nodes[changes[i].site], changes[i].died_bytes, changes[i].died_allocs, "-");
    for (size_t i = from; i < to; i++)
        put(h, h->nodes[changes[i].site], changes[i].survived_bytes, changes[i].survived_allocs,
            "+");
    if (to < live->change_count)
        put_time(h, changes[to].t);
    return to + 1;
}

static void put_events(struct heaptrack *h, const struct report_live *live)
{
    const struct export_profile *p = h->p;

    put_time(h, 0);
    for (size_t i = 0; i < p->sample_count; i++) {
        uint32_t node = p->samples[i].node;
        const struct amount *later = &h->later[node], *survivors = &h->survivors[node];

        put(h, node, (double)p->samples[i].bytes - later->bytes - survivors->bytes,
            (double)p->samples[i].allocs - later->allocs - survivors->allocs, "+-");
    }
    for (size_t i = 0; i < live->change_count && !h->err;)
        i = put_collection(h, live, i);
    for (uint32_t i = 1; i < p->node_count; i++)
        put(h, i, h->later[i].bytes, h->later[i].allocs, "+");
    put_time(h, p->duration);
}

/* ---- the whole ---- */

static int add_up(struct heaptrack *h, const struct model_tree *tree, const uint32_t *nodes)
{
    const struct report_live *live = model_live(tree->model);
    size_t cells = model_cell_count(tree->model);

    h->nodes = memory_alloc((cells + 1) * sizeof(*h->nodes));
    h->survivors = memory_zalloc(h->p->node_count + 1, sizeof(*h->survivors));
    h->later = memory_zalloc(h->p->node_count + 1, sizeof(*h->later));
    if (!h->nodes || !h->survivors || !h->later)
        return -ENOMEM;
    for (size_t i = 0; i < cells; i++)
        h->nodes[i] = NOWHERE;
    for (uint32_t i = 0; i < tree->node_count; i++)
        for (uint32_t c = tree->first_cell[i]; c < tree->first_cell[i + 1]; c++) {
            uint32_t cell = tree->cells[c];
            struct amount *later = &h->later[nodes[i]];

            h->nodes[cell] = nodes[i];
            later->bytes += model_cell_weight(tree->model, cell, MODEL_BESIDE_BYTES);
            later->allocs += model_cell_weight(tree->model, cell, MODEL_BESIDE_ALLOCS);
        }
    for (size_t i = 0; i < live->change_count; i++) {
        const struct report_live_change *c = &live->changes[i];
        uint32_t node = c->site == UINT32_MAX ? NOWHERE : h->nodes[c->site];

        if (node == NOWHERE)
            continue;
        h->survivors[node].bytes += c->survived_bytes;
        h->survivors[node].allocs += c->survived_allocs;
    }
    return 0;
}

int export_heaptrack(const struct export_profile *p, const struct model_tree *tree,
                     const uint32_t *nodes, FILE *out)
{
    struct heaptrack h = {.p = p, .text = BUFFER_INIT};
    int err = gzip_new(GZIP_FRAME, GZIP_USUAL, gzip_to_file, out, &h.gzip);

    if (err)
        return err;
    err = add_up(&h, tree, nodes);
    if (!err) {
        buffer_text(&h.text, "v 10400 2\nX ");
        buffer_clean(&h.text, p->program);
        buffer_text(&h.text, "\nI 1000 0\n");
        put_frames(&h);
        put_traces(&h);
        put_events(&h, model_live(tree->model));
        flush(&h, 1);
        err = h.err ? h.err : gzip_finish(h.gzip);
    }
    gzip_free(h.gzip);
    index_free(&h.info_index);
    buffer_free(&h.text);
    memory_free_all(h.infos, h.nodes, h.survivors, h.later);
    return err;
}
