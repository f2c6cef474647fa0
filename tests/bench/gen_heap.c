/*
 * gen_heap - a heap dump of N objects such as a large program would leave, and its log: for
 * measuring `shadowtrace retained`, and small ones as inputs of its fuzzer.
 *
 *   gen_heap OBJECTS DUMP LOG        cc -O2 -Iinclude -o gen_heap tests/bench/gen_heap.c
 *
 * A tree of arrays of tables; each table has nodes in chains, each node a record, each record texts
 * that are not shared and some that are; records refer to others far away, and nodes back to their
 * table. So there are deep chains, wide arrays, cycles and objects that many hold.
 */
#include <shadowtrace/heap_dump.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLASSES   200
#define SITES     5000
#define METHODS   400
#define REFS_MOST 64
#define BASE      UINT64_C(0x7f0000000000)
#define CHAIN     8  /* nodes from one slot of a table */
#define GROUP     64 /* objects of a table, about */

static FILE *dump;
static unsigned char records[SST_HEAP_CHUNK_MAX];
static size_t used;
static uint32_t kind;
static uint64_t base, random_state = 1, references, *address;

static uint32_t below(uint32_t most)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random_state >> 33) % most);
}

static void flush(void)
{
    struct sst_heap_chunk head = {kind, (uint32_t)used, sst_heap_sum(records, used)};

    if (used && (fwrite(&head, sizeof(head), 1, dump) != 1 || fwrite(records, used, 1, dump) != 1))
        exit(3);
    used = 0;
    base = 0;
}

static void begin(uint32_t what)
{
    if (kind != what || used > sizeof(records) - 4096)
        flush();
    kind = what;
}

static void put(uint64_t number)
{
    used = (size_t)(sst_heap_put(records + used, number) - records);
}

static void put_units(uint64_t from, uint64_t to)
{
    put(sst_heap_fold((int64_t)(to - from) / SST_HEAP_UNIT));
}

static uint64_t units_of(uint64_t i)
{
    return 3 + (i * 2654435761u >> 7) % 10;
}

/* What object i of n refers to. Returns: how many. */
static unsigned refer(uint64_t i, uint64_t n, uint64_t to[REFS_MOST])
{
    uint64_t table = i / GROUP * GROUP;
    unsigned count = 0;

    if (i == table) { /* of a table: the heads of its chains, and two tables further down */
        for (uint64_t k = 1; k < GROUP; k += CHAIN)
            to[count++] = i + k;
        to[count++] = (i / GROUP * 2 + 1) * GROUP;
        to[count++] = (i / GROUP * 2 + 2) * GROUP;
    } else {
        to[count++] = (i - table) % CHAIN ? i + 1 : table;
        to[count++] = i / 3;
        if (below(4) == 0)
            to[count++] = (uint64_t)below((uint32_t)n);
    }
    for (unsigned k = 0; k < count;)
        if (to[k] < n)
            k++;
        else
            to[k] = to[--count];
    return count;
}

static void put_objects(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t to[REFS_MOST];
        unsigned count = refer(i, n, to);

        begin(SST_HEAP_OBJECTS);
        put_units(base, address[i]);
        put(1 + (i * 40503 >> 4) % CLASSES);
        put(units_of(i));
        put(count * 2 + 1);
        for (unsigned k = 0; k < count; k++) {
            put_units(address[i], address[to[k]]);
            put(1); /* in the next slot */
        }
        base = address[i] + units_of(i) * SST_HEAP_UNIT;
        references += count;
    }
}

static uint64_t put_roots(uint64_t n)
{
    uint64_t count = 1 + n / 10000;

    for (uint64_t i = 0; i < count; i++) {
        begin(SST_HEAP_ROOTS);
        put(address[i ? below((uint32_t)n) : 0]);
        put(i % 4);
        put(i % 5 == 4 ? SST_HEAP_ROOT_WEAK : 0);
        put(i % 4 == SST_HEAP_ROOT_STACK ? 1 + i % 3 : 0);
    }
    return count;
}

static void put_sites(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        begin(SST_HEAP_SITES);
        put((address[i] - base) / SST_HEAP_UNIT);
        put(1 + i * 7919 % SITES);
        base = address[i];
    }
}

static void put_names(uint32_t what, uint32_t count, const char *last)
{
    for (uint32_t i = 1; i <= count; i++) {
        const char *name = i == count ? last : "";

        begin(what);
        put(i);
        put(*name ? 0 : i);
        put(strlen(name));
        memcpy(records + used, name, strlen(name));
        used += strlen(name);
    }
}

static void write_dump(uint64_t n)
{
    struct sst_heap_head head = {.version = SST_HEAP_VERSION,
                                 .bytes = sizeof(head),
                                 .pid = 4711,
                                 .clock = 1000000,
                                 .t = 2000000000,
                                 .collection = 12};
    uint64_t roots;

    memcpy(head.magic, SST_HEAP_MAGIC, sizeof(head.magic));
    head.sum = sst_heap_sum(&head, offsetof(struct sst_heap_head, sum));
    if (fwrite(&head, sizeof(head), 1, dump) != 1)
        exit(3);
    put_objects(n);
    roots = put_roots(n);
    begin(SST_HEAP_PAIRS);
    put(address[0] / SST_HEAP_UNIT);
    put(address[n / 2] / SST_HEAP_UNIT);
    put_sites(n);
    put_names(SST_HEAP_CLASSES, CLASSES, "Made.OfTheDump");
    put_names(SST_HEAP_NAMES, 3, "Made.OfTheDump.Main()");
    begin(SST_HEAP_END);
    put(n);
    put(references);
    put(roots);
    put(1);
    put(n);
    put(0);
    flush();
}

static void write_log(FILE *log)
{
    fprintf(log, "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":4711,"
                 "\"executable\":\"/usr/bin/dotnet\",\"runtime\":\"10.0.12\",\"hooks\":\"elt3\","
                 "\"capture\":\"shadow\",\"options\":{\"live\":true},\"clock\":1000000,"
                 "\"started\":\"2026-11-21T10:00:00Z\"}\n");
    for (int i = 1; i < CLASSES; i++)
        fprintf(log, "{\"kind\":\"class\",\"id\":%d,\"name\":\"Shop.Part%d.Thing%d\"}\n", i, i % 9,
                i);
    for (int i = 1; i <= METHODS; i++)
        fprintf(log, "{\"kind\":\"method\",\"id\":%d,\"name\":\"Shop.Part%d.Maker%d.Make()\"}\n", i,
                i % 9, i);
    for (int i = 1; i <= METHODS; i++)
        fprintf(log, "{\"kind\":\"node\",\"id\":%d,\"parent\":%d,\"method\":%d,\"il\":%d}\n", i,
                i / 3, i, i % 50);
    for (int i = 1; i <= SITES; i++)
        fprintf(log, "{\"kind\":\"live_site\",\"id\":%d,\"node\":%d,\"il\":%d,\"class\":%d}\n", i,
                1 + i % METHODS, i % 90, 1 + i % (CLASSES - 1));
    fprintf(log, "{\"kind\":\"end\",\"t\":99000,\"seen\":0,\"written\":0,\"lost\":0,\"lost_by\":{},"
                 "\"bytes\":0}\n");
}

int main(int argc, char **argv)
{
    uint64_t n = argc == 4 ? strtoull(argv[1], NULL, 10) : 0, at = BASE;
    FILE *log = n ? fopen(argv[3], "w") : NULL;

    if (!log || n > UINT32_MAX / 4 || !(dump = fopen(argv[2], "w")) ||
        !(address = malloc(n * sizeof(*address)))) {
        fprintf(stderr, "usage: gen_heap OBJECTS DUMP LOG\n");
        return 2;
    }
    for (uint64_t i = 0; i < n; i++) {
        address[i] = at;
        at += units_of(i) * SST_HEAP_UNIT;
        if (i % 50000 == 49999) /* another region */
            at += 4 << 20;
    }
    write_dump(n);
    write_log(log);
    printf("%" PRIu64 " objects, %" PRIu64 " references\n", n, references);
    return fclose(dump) || fclose(log) ? 3 : 0;
}
