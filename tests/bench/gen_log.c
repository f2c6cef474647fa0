/*
 * gen_log - a log of N allocations such as a large program would leave, on standard output: for
 * measuring how fast logs are read. The same seed gives the same log.
 *
 *   gen_log [--events N] [--nodes N] [--seed S] [--style node|inline|sites|sampled] > LOG
 *
 * The tree grows as it does in a program: fast at first, then ever slower; few call sites allocate
 * most. Defaults: 1,000,000 events, 500,000 nodes (as many as the F# compiler makes), about 2 call
 * sites for each, seed 1.
 */
#include <shadowtrace/log_reader.h>

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define METHODS   40000
#define CLASSES   4000
#define THREADS   16
#define MODULES   60
#define MAX_DEPTH 60

struct node {
    uint32_t parent, method, depth;
};

enum style { NODE, INLINE, SITES, SAMPLED };

struct generator {
    uint64_t random;
    struct node *nodes;
    uint32_t node_count, node_limit;
    bool methods[METHODS + 1], classes[CLASSES + 1], modules[MODULES + 1];
    enum style style;
    uint64_t t, bytes, written;
};

/* xorshift64*: good enough, and the same everywhere. */
static uint64_t next_random(struct generator *g)
{
    g->random ^= g->random >> 12;
    g->random ^= g->random << 25;
    g->random ^= g->random >> 27;
    return g->random * 0x2545F4914F6CDD1Du;
}

static double next_share(struct generator *g)
{
    return (double)(next_random(g) >> 11) / 9007199254740992.0;
}

/* 1 to n, small ones much more often. */
static uint32_t skewed(struct generator *g, uint32_t n)
{
    double share = next_share(g);

    return 1 + (uint32_t)(share * share * share * (double)(n - 1));
}

static void module(struct generator *g, uint32_t id)
{
    if (g->modules[id])
        return;
    g->modules[id] = true;
    printf("{\"kind\":\"module\",\"id\":%u,\"name\":\"Company.Product.Part%u\",\"path\":\"/srv/app/"
           "Company.Product.Part%u.dll\"}\n",
           id, id, id);
}

static void method_name(uint32_t id, char *to, size_t size)
{
    snprintf(to, size,
             "Company.Product.Area%u.Component%u.Service%u.Operation%u(System.String, "
             "System.Collections.Generic.List<System.Int32>)",
             id % 40, id % 400, id % 4000, id);
}

static void method(struct generator *g, uint32_t id)
{
    char name[256];

    if (g->methods[id] || g->style == INLINE)
        return;
    g->methods[id] = true;
    module(g, 1 + id % MODULES);
    method_name(id, name, sizeof(name));
    printf("{\"kind\":\"method\",\"id\":%u,\"name\":\"%s\",\"module\":%u,\"token\":%u}\n", id, name,
           1 + id % MODULES, 0x06000000 + id);
}

static void class(struct generator *g, uint32_t id)
{
    if (g->classes[id])
        return;
    g->classes[id] = true;
    module(g, 1 + id % MODULES);
    printf(
        "{\"kind\":\"class\",\"id\":%u,\"name\":\"Company.Product.Area%u.Data%u<System.String>\","
        "\"module\":%u,\"token\":%u}\n",
        id, id % 40, id, 1 + id % MODULES, 0x02000000 + id);
}

/* A new call path below one that is there; its id. */
static uint32_t new_node(struct generator *g)
{
    uint32_t parent = (uint32_t)(next_random(g) % g->node_count), id;

    while (g->nodes[parent].depth >= MAX_DEPTH)
        parent = g->nodes[parent].parent;
    id = g->node_count++;
    g->nodes[id] = (struct node){parent, skewed(g, METHODS), g->nodes[parent].depth + 1};
    method(g, g->nodes[id].method);
    if (g->style != INLINE)
        printf("{\"kind\":\"node\",\"id\":%u,\"parent\":%u,\"method\":%u,\"il\":%u}\n", id, parent,
               g->nodes[id].method, (unsigned)(next_random(g) % 300));
    return id;
}

static void stack(const struct generator *g, uint32_t node)
{
    char name[256];

    fputs("\"stack\":[", stdout);
    for (; node; node = g->nodes[node].parent) {
        method_name(g->nodes[node].method, name, sizeof(name));
        printf("\"%s\"%s", name, g->nodes[node].parent ? "," : "");
    }
    putchar(']');
}

static void event(struct generator *g, uint64_t done, uint64_t events)
{
    /* the tree as the square root of the time */
    double wanted = (double)g->node_limit * sqrt((double)(done + 1) / (double)events);
    uint32_t class_id, node;
    uint64_t bytes = 24 + 8 * (next_random(g) % 16);

    while (g->node_count < wanted && g->node_count < g->node_limit)
        new_node(g);
    node = skewed(g, g->node_count) - 1;
    class_id = 1 + (node * 37 + skewed(g, 4)) % CLASSES; /* a path allocates few types */
    class(g, class_id);
    g->t += next_random(g) % 400;
    g->bytes += bytes;
    g->written++;
    if (g->style == SITES) {
        printf("{\"kind\":\"site\",\"node\":%u,\"il\":%u,\"class\":%u,\"thread\":%u,\"allocs\":1,"
               "\"bytes\":%" PRIu64 "}\n",
               node, node % 200, class_id, (unsigned)(1 + next_random(g) % THREADS), bytes);
        return;
    }
    printf("{\"kind\":\"alloc\",\"t\":%" PRIu64 ",\"thread\":%u,\"class\":%u,\"bytes\":%" PRIu64
           ",",
           g->t, (unsigned)(1 + next_random(g) % THREADS), class_id, bytes);
    if (g->style == INLINE) {
        printf("\"il\":%u,\"type\":\"Company.Product.Area%u.Data%u<System.String>\",", node % 200,
               class_id % 40, class_id);
        stack(g, node);
    } else {
        printf("\"node\":%u,\"il\":%u", node, node % 200);
    }
    if (g->style == SAMPLED)
        printf(",\"weight\":%.17g", (double)bytes / -expm1(-(double)bytes / 65536.0));
    fputs("}\n", stdout);
}

static int generate(struct generator *g, uint64_t events)
{
    printf("{\"kind\":\"header\",\"format\":\"" SST_LOG_FORMAT
           "\",\"version\":%d,\"pid\":1,\"executable\":\"/usr/bin/dotnet\","
           "\"runtime\":\"10.0.12\",\"hooks\":\"elt3\",\"clock\":1,\"started\":\"2026-01-01T00:00:"
           "00Z\"}\n",
           SST_LOG_VERSION);
    for (unsigned i = 1; i <= THREADS; i++)
        printf("{\"kind\":\"thread\",\"id\":%u,\"os\":%u}\n", i, 1000 + i);
    for (uint64_t i = 0; i < events; i++)
        event(g, i, events);
    printf("{\"kind\":\"end\",\"t\":%" PRIu64 ",\"seen\":%" PRIu64 ",\"written\":%" PRIu64
           ",\"lost\":0,\"lost_by\":{},\"bytes\":%" PRIu64 ",\"threads\":%d,\"nodes\":%u}\n",
           g->t, g->written, g->written, g->bytes, THREADS, g->node_count);
    return fflush(stdout) || ferror(stdout) ? 3 : 0;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"events", required_argument, NULL, 'e'},
        {"nodes", required_argument, NULL, 'n'},
        {"seed", required_argument, NULL, 's'},
        {"style", required_argument, NULL, 'y'},
        {NULL, 0, NULL, 0},
    };
    static const char *const styles[] = {"node", "inline", "sites", "sampled"};
    static struct generator g = {.random = 1, .node_limit = 500000, .node_count = 1};
    static char buffer[1 << 20];
    uint64_t events = 1000000;
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == 'e')
            events = strtoull(optarg, NULL, 10);
        else if (option == 'n')
            g.node_limit = (uint32_t)strtoul(optarg, NULL, 10);
        else if (option == 's')
            g.random = strtoull(optarg, NULL, 10) * 2 + 1;
        else if (option == 'y')
            while (g.style < SAMPLED && strcmp(styles[g.style], optarg) != 0)
                g.style++;
        else
            return 2;
    }
    g.nodes = calloc((size_t)g.node_limit + 2, sizeof(*g.nodes));
    if (!g.nodes)
        return 3;
    setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
    return generate(&g, events);
}
