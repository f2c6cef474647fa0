/*
 * What a log needs around it, with records made by hand: classes and methods whose text the test sets when it likes,
 * nodes whose instruction it resolves itself, rings that the test writes. And the log read back, line by line.
 */
#ifndef SHADOWTRACE_TESTS_UNIT_LOG_FIXTURE_H
#define SHADOWTRACE_TESTS_UNIT_LOG_FIXTURE_H

#include "log/records.h"
#include "log/rounds.h"

#include "base/clock.h"
#include "base/memory.h"
#include "support/test.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <zstd.h>

#define STOP_MS 120000u /* nothing here needs that long */
#define PATIENCE_NS \
    UINT64_C(120000000000) /* until something that must happen is taken not to happen */
#define RECORDS 5000

struct world {
    char folder[64], path[96], why[400];
    struct options options;
    struct metadata *metadata;
    struct tree *tree;
    struct tree_sites *sites;
    struct event_hub hub;
    struct agreement agreement;
    _Atomic(uint64_t) missed, spared, unpatched;
    struct clr_guard guard;
    struct rich rich;
    struct log_config config;
    struct log *log;
    struct event_ring *ring; /* the test's own thread */
    uint32_t class_count, method_count;
    struct metadata_class classes[RECORDS];
    struct metadata_method methods[RECORDS];
};

extern struct metadata_module modules[2];
extern char *const command[];

/* ---- making ---- */

int world_open(struct world *w);
void world_init(struct world *w);

/* Everything of the log, once its writer has ended: in the product it lives as long as the process. */
void log_dispose(struct world *w);

/* The log, its file and all rings go; classes, methods and nodes stay, as in a process that has just begun. */
void world_again(struct world *w);
void world_fini(struct world *w);

/* text NULL: nobody has named it yet */
struct metadata_class *class_new(struct world *w, const char *text);
struct metadata_method *method_new(struct world *w, const char *text);
struct tree_node *node_open(struct world *w, struct tree_node *parent,
                            struct metadata_method *method, uintptr_t ip);
struct tree_node *node_new(struct world *w, struct tree_node *parent,
                           struct metadata_method *method, int32_t il);
uint32_t site_new(struct world *w, struct metadata_method *method, int32_t il);

/* ---- what a traced thread does ---- */

struct event_ring *ring_new(struct world *w);
void allocate_on(struct event_ring *ring, const struct metadata_class *class,
                 const struct tree_node *node, uint32_t site, uint64_t bytes, enum event_heap heap);
void allocate(struct world *w, const struct metadata_class *class, const struct tree_node *node,
              uint64_t bytes);
/*
 * Waits until the ring is less than half full. A writer that is late puts all that waits in one part
 * before it looks at the size of the part.
 */
void wait_for_room(const struct world *w);
void start(struct world *w);
void stop(struct world *w);

/* ---- reading back ---- */

/* Whole lines only, each of them must load; *cut: the file ends within a line. */
json_t *lines_read(const char *path, bool *cut);

/* The same of a compressed log, as far as it can be unpacked. */
json_t *lines_unpack(const char *path, bool *cut);
json_t *log_read(const struct world *w);
const char *kind_of(const json_t *line);
bool is(const json_t *line, const char *kind);
json_int_t number(const json_t *line, const char *key);
size_t count_of(const json_t *lines, const char *kind);

/* The n-th line of a kind, from 0. */
json_t *nth(const json_t *lines, const char *kind, size_t n);
json_t *last(const json_t *lines);

/* Every id is defined before the line that uses it; `once`: and no id twice. */
void expect_definitions_first(const json_t *lines, bool once);

/* What `shadowtrace validate` would say. */
void expect_valid(const char *path);

/* Totals of the end record: seen = written + lost, and the lines are there. */
void expect_totals(const json_t *lines, uint64_t seen);

#endif
