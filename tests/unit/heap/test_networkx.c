/*
 * 2,000 made-up heaps, or as many as HEAPS in the environment says, through the dump, the reader and
 * the rest of src/tool/heap, and the results held against networkx, which gets the heaps as
 * they were made up (networkx_check.py).
 */
#include "support/test.h"

#include "unit/heap/made_heap.h"

#include "heap/paths.h"
#include "heap/sums.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OBJECTS  30
#define CLASSES  4
#define LAST     (OBJECTS + 1)
#define CHECK_PY "tests/unit/heap/networkx_check.py"

/* Objects are numbered from 1, by address. */
struct heap {
    uint32_t count, order[LAST];
    uint64_t address[LAST];
    uint32_t units[LAST], class_number[LAST], reference_count[LAST], reference[LAST][OBJECTS];
    uint32_t root_count, root[OBJECTS], kind[OBJECTS], pair_count, pair[OBJECTS][2];
};

/* How dense it is, and how far references lead back or forth, differs from heap to heap. */
static void make_up(struct heap *h, uint64_t *seed)
{
    uint32_t most = 1 + made_random(seed, 5), near = 1 + made_random(seed, OBJECTS);
    uint64_t address = (uint64_t)1 << (12 + made_random(seed, 34));

    memset(h, 0, sizeof(*h));
    h->count = 1 + made_random(seed, OBJECTS);
    for (uint32_t i = 1; i <= h->count; i++) {
        h->address[i] = address;
        h->units[i] = 3 + made_random(seed, 20);
        h->class_number[i] = 1 + made_random(seed, CLASSES - 1);
        address += h->units[i] * SST_HEAP_UNIT;
        if (made_random(seed, 4) == 0)
            address += (uint64_t)made_random(seed, 1000) * made_random(seed, 1000) * SST_HEAP_UNIT;
        h->order[i] = i;
    }
    for (uint32_t i = 1; i <= h->count; i++) {
        uint32_t other = 1 + made_random(seed, h->count), was = h->order[i];

        h->order[i] = h->order[other]; /* the dump may have them in any order */
        h->order[other] = was;
        h->reference_count[i] = made_random(seed, most + 1);
        for (uint32_t r = 0; r < h->reference_count[i]; r++)
            h->reference[i][r] = 1 + (i - 1 + made_random(seed, near)) % h->count;
    }
    h->root_count = made_random(seed, 10) ? 1 + made_random(seed, 6) : 0;
    h->pair_count = made_random(seed, 3);
    for (uint32_t i = 0; i < h->root_count; i++) {
        h->root[i] = 1 + made_random(seed, h->count);
        h->kind[i] = made_random(seed, 4);
    }
    for (uint32_t i = 0; i < h->pair_count; i++)
        for (int side = 0; side < 2; side++)
            h->pair[i][side] = 1 + made_random(seed, h->count);
}

static void dump(const struct heap *h, uint64_t *seed, const char *path)
{
    struct made_heap m;

    made_begin(&m, 1 + made_random(seed, 200));
    for (uint32_t n = 1; n <= h->count; n++) {
        uint32_t i = h->order[n];
        uint64_t references[OBJECTS];

        for (uint32_t r = 0; r < h->reference_count[i]; r++)
            references[r] = h->address[h->reference[i][r]];
        made_object(&m, h->address[i], h->class_number[i], h->units[i], references,
                    h->reference_count[i]);
    }
    for (uint32_t i = 0; i < h->root_count; i++) {
        uint64_t inside = made_random(seed, 2) ? 1 + made_random(seed, 23) : 0;

        made_root(&m, h->address[h->root[i]] + inside, h->kind[i],
                  inside ? SST_HEAP_ROOT_INTERIOR : 0, 0);
        made_root(&m, h->address[1 + made_random(seed, h->count)], SST_HEAP_ROOT_HANDLE,
                  SST_HEAP_ROOT_WEAK, 0);
    }
    for (uint32_t i = 0; i < h->pair_count; i++)
        made_pair(&m, h->address[h->pair[i][0]], h->address[h->pair[i][1]]);
    made_end(&m);
    made_write(&m, path);
    made_free(&m);
}

static void print_made(const struct heap *h, FILE *out)
{
    fprintf(out, "{\"units\":[0");
    for (uint32_t i = 1; i <= h->count; i++)
        fprintf(out, ",%u", h->units[i]);
    fprintf(out, "],\"classes\":[0");
    for (uint32_t i = 1; i <= h->count; i++)
        fprintf(out, ",%u", h->class_number[i]);
    fprintf(
        out,
        "],\"named\":[0"); /* by roots that say who holds: here handles, no others have a name */
    for (uint32_t i = 0; i < h->root_count; i++)
        if (h->kind[i] == SST_HEAP_ROOT_HANDLE)
            fprintf(out, ",%u", h->root[i]);
    fprintf(out, "],\"edges\":[[0,0]");
    for (uint32_t i = 0; i < h->root_count; i++)
        fprintf(out, ",[0,%u]", h->root[i]);
    for (uint32_t i = 0; i < h->pair_count; i++)
        fprintf(out, ",[%u,%u]", h->pair[i][0], h->pair[i][1]);
    for (uint32_t i = 1; i <= h->count; i++)
        for (uint32_t r = 0; r < h->reference_count[i]; r++)
            fprintf(out, ",[%u,%u]", i, h->reference[i][r]);
}

/* Of each class: sums, what all would free together, and the shortest way to one of it. */
static void print_classes(const struct heap_graph *g, const struct heap_dominators *d, FILE *out)
{
    uint32_t same[CLASSES] = {0, 1, 2, 3};
    struct heap_grouping by = {g->classes, same, CLASSES, CLASSES};
    struct heap_sum sums[CLASSES];

    assert_int_equal(heap_sums(g, d, &by, sums), 0);
    for (uint32_t c = 1; c < CLASSES; c++) {
        uint32_t groups[CLASSES] = {0, c == 1, c == 2, c == 3};
        struct heap_grouping wanted = {g->classes, groups, CLASSES, 2};
        struct heap_paths paths;
        uint64_t objects, bytes;
        size_t shortest = 0;

        assert_int_equal(heap_together(g, d, &wanted, &objects, &bytes), 0);
        assert_int_equal(heap_paths_find(g, d, &wanted, SIZE_MAX, &paths), 0);
        assert_memory_equal(&paths.sum, &sums[c], sizeof(sums[c]));
        fprintf(out, "%s[%lu,%lu,%lu,%lu,%lu,%lu,[", c > 1 ? "," : "", sums[c].objects,
                sums[c].bytes, sums[c].retained_objects, sums[c].retained_bytes, objects, bytes);
        for (size_t i = 0; i < paths.count; i++)
            if (!i || paths.paths[i].step_count < paths.paths[shortest].step_count)
                shortest = i;
        for (size_t i = 0; paths.count && i < paths.paths[shortest].step_count; i++)
            fprintf(out, "%s%u", i ? "," : "", paths.paths[shortest].steps[i]);
        fprintf(out, "]]");
        heap_paths_free(&paths);
    }
}

static void print_found(const struct heap_graph *g, FILE *out)
{
    struct heap_dominators d;

    assert_int_equal(heap_dominators_find(&g->edges, g->units, &d), 0);
    fprintf(out, "],\"dominators\":{");
    for (uint32_t p = 1; p < d.count; p++)
        fprintf(out, "%s\"%u\":%u", p > 1 ? "," : "", d.node[p], d.node[d.above[p]]);
    fprintf(out, "},\"retained\":{");
    for (uint32_t p = 0; p < d.count; p++) {
        assert_int_equal(d.place[d.node[p]], p);
        fprintf(out, "%s\"%u\":[%u,%lu]", p ? "," : "", d.node[p], d.below[p], d.retained[p]);
    }
    fprintf(out, "},\"by_class\":[");
    print_classes(g, &d, out);
    fprintf(out, "]}\n");
    heap_dominators_free(&d);
}

/* Runs the script with the first Python that has networkx. Returns: its exit status; 77: none. */
static int run_networkx(const char *path)
{
    static const char *const pythons[] = {"python3", "/usr/bin/python3"};
    int status = 77;

    for (size_t i = 0; status == 77 && i < 2; i++) {
        char command[300];
        int ended;

        snprintf(command, sizeof(command), "%s %s %s", pythons[i], CHECK_PY, path);
        ended = system(command);
        status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 1;
        status = status == 127 ? 77 : status;
    }
    return status;
}

TEST(random_heaps_are_as_networkx_has_them)
{
    const char *heaps = getenv("HEAPS");
    uint64_t count = heaps ? strtoull(heaps, NULL, 10) : 2000;
    char path[] = "/tmp/shadowtrace-heap-XXXXXX", lines[] = "/tmp/shadowtrace-heaps-XXXXXX";
    int file = mkstemp(path), list = mkstemp(lines), status;
    FILE *out = fdopen(list, "w");
    struct heap *h = malloc(sizeof(*h));

    assert_true(file >= 0 && out && h && count);
    for (uint64_t n = 0; n < count; n++) {
        uint64_t seed = n;
        struct heap_graph g;

        make_up(h, &seed);
        dump(h, &seed, path);
        made_read(path, &g);
        assert_int_equal(g.addresses.count, h->count);
        assert_int_equal(g.weak, h->root_count);
        assert_int_equal(g.outside, 0);
        print_made(h, out);
        print_found(&g, out);
        heap_graph_free(&g);
    }
    fclose(out);
    close(file);
    free(h);
    status = run_networkx(lines);
    unlink(path);
    unlink(lines);
    if (status == 77)
        skip();
    assert_int_equal(status, 0);
}
