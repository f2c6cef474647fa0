#include "validate/validate.h"

#include "readers/complete.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PROGRESS_LINES 8192

/* Ids of one kind, each with a hash of its meaning: it may come again, but mean nothing else. */
struct known {
    struct log_id_map ids;
    uint64_t *facts;
    size_t count, capacity;
};

enum known_kind { MODULES, CLASSES, METHODS, IMAGES, NODES, THREADS, LIVE_SITES, KNOWN_KINDS };

/* As they are called in messages and, where others refer to them, in records. */
static const char *const known_names[] = {"module", "class",  "method",   "image",
                                          "node",   "thread", "live_site"};

struct thread_state {
    uint64_t last; /* t of its latest line */
    uint64_t open; /* calls */
    bool ended;
};

/* What is alive of a site, by the lines so far. */
struct live_sum {
    uint64_t allocs, bytes;
};

#define COUNT_KEY(form, member, label) SST_NUMBER_##form(#member, )
static const char *const count_keys[] = {SST_COUNTERS_SNAPSHOTS(COUNT_KEY)};

struct validator {
    const struct report_schema *schema;
    bool shipped; /* it is the one that ships: lines read by hand need no second look */
    struct report_schema *own;
    struct log_parser parser;
    struct log_problems *problems;
    struct report_validation *out;
    struct known known[KNOWN_KINDS];
    struct thread_state *thread; /* by number in known[THREADS] */
    size_t thread_capacity;
    struct live_sum *live; /* by number in known[LIVE_SITES] */
    size_t live_capacity;
    struct live_sum alive;                 /* of all sites */
    uint64_t collection;                   /* the last that live lines were of */
    uint64_t totalled;                     /* the last that has its live_total */
    bool opening;                          /* lines of a part's beginning: what is alive */
    uint64_t allocs, bytes, mismatches;    /* seen in the log */
    uint64_t families[SST_KIND_COUNT];     /* the same, records of event families */
    uint64_t entered, calls_ended;         /* the same, of traced calls */
    uint64_t counts[COUNT_OF(count_keys)]; /* of the last check record */
    json_t *lost, *repairs;                /* reason to last cumulative count */
    json_t *others, *not_written;          /* the same, events by category, lines by kind */
    json_t *unhandled;                     /* the last line of that kind; NULL: none */
    struct log_record_tally tally;
    uint64_t undefined, damaged; /* ids; lines that could not be used */
    uint64_t used;               /* lines that could */
};

/* What is wrong with a record. */
#define BREACH(v, record, ...) log_problem((v)->problems, (record)->at, __VA_ARGS__)

static int define(struct validator *v, enum known_kind kind, uint32_t id, uint64_t fact,
                  struct log_place at)
{
    struct known *k = &v->known[kind];
    uint32_t found = log_id_map_get(&k->ids, id);

    if (found) {
        if (k->facts[found - 1] != fact)
            log_problem(v->problems, at, "%s %u is defined again, as something else",
                        known_names[kind], id);
        return 0;
    }
    if (!array_reserve(&k->facts, &k->capacity, k->count + 1))
        return -ENOMEM;
    k->facts[k->count] = fact;
    return log_id_map_set(&k->ids, id, (uint32_t)k->count++);
}

/* Returns: its number + 1; 0 with a problem: no line before defines it. */
static uint32_t expect(struct validator *v, enum known_kind kind, uint32_t id, struct log_place at)
{
    uint32_t found = log_id_map_get(&v->known[kind].ids, id);

    if (UNLIKELY(!found)) {
        log_problem(v->problems, at, "%s %u is not defined by any line before", known_names[kind],
                    id);
        v->undefined++;
    }
    return found;
}

/* The id of the record, or of what it speaks of; 0: it has none. */
static uint32_t id_in(const struct log_record *r, const char *key)
{
    uint32_t id = 0;

    (void)log_member_id(r->json, key, 1, &id);
    return id;
}

/* The member that is named so, if the record has it. */
static void expect_member(struct validator *v, enum known_kind kind,
                          const struct log_record *record)
{
    uint32_t id = id_in(record, known_names[kind]);

    if (id)
        expect(v, kind, id, record->at);
}

/* Lines of one thread are in order, and end with its end. */
static void at_time(struct validator *v, uint32_t id, uint64_t t, struct log_place at)
{
    uint32_t found = expect(v, THREADS, id, at);
    struct thread_state *thread;

    if (!found)
        return;
    thread = &v->thread[found - 1];
    if (UNLIKELY(t < thread->last))
        log_problem(v->problems, at, "t %" PRIu64 " of thread %u is before its %" PRIu64, t, id,
                    thread->last);
    if (UNLIKELY(thread->ended))
        log_problem(v->problems, at, "thread %u has ended before", id);
    thread->last = t;
}

/* Records. By here the schema holds: members are there, of their type. */

static int on_named(struct validator *v, const struct log_record *record)
{
    static const enum known_kind kinds[] = {[SST_KIND_MODULE] = MODULES,
                                            [SST_KIND_CLASS] = CLASSES,
                                            [SST_KIND_METHOD] = METHODS,
                                            [SST_KIND_IMAGE] = IMAGES};
    const char *name = log_text_in(record, record->kind == SST_KIND_IMAGE ? "path" : "name");

    expect_member(v, MODULES, record);
    return define(v, kinds[record->kind], id_in(record, "id"), hash_bytes(name, strlen(name)),
                  record->at);
}

static int on_thread(struct validator *v, const struct log_record *record)
{
    uint32_t id = id_in(record, "id");
    uint64_t end = 0;
    int err = define(v, THREADS, id, log_count_in(record->json, "os"), record->at);

    if (err)
        return err;
    if (!array_reserve_zeroed(&v->thread, &v->thread_capacity, v->known[THREADS].count))
        return -ENOMEM;
    if (log_member_count(record->json, "end", &end))
        return 0;
    at_time(v, id, end, record->at);
    v->thread[log_id_map_get(&v->known[THREADS].ids, id) - 1].ended = true;
    return 0;
}

static int on_node(struct validator *v, const struct log_record *record)
{
    const struct log_node *n = &record->node;
    uint64_t fact = hash_mix((uint64_t)n->parent << 32 | n->method,
                             (uint64_t)(uint32_t)n->il << 8 | (uint64_t)n->call << 1 | n->filter);

    fact = n->begun ? hash_mix(fact, n->begun) : fact;
    if (n->begun)
        expect(v, NODES, n->begun, record->at);
    if (n->parent != SST_NODE_EMPTY)
        expect(v, NODES, n->parent, record->at);
    expect(v, METHODS, n->method, record->at);
    return define(v, NODES, n->id, fact, record->at);
}

static int on_alloc(struct validator *v, const struct log_record *record)
{
    const struct log_alloc *a = &record->alloc;

    v->allocs += a->allocs;
    v->bytes += a->bytes;
    expect(v, CLASSES, a->class_id, record->at);
    if (!a->stack && a->node != SST_NODE_EMPTY)
        expect(v, NODES, a->node, record->at);
    if (record->kind == SST_KIND_ALLOC)
        at_time(v, a->thread, a->t, record->at);
    else if (a->thread)
        expect(v, THREADS, a->thread, record->at);
    return 0;
}

static void expect_methods(struct validator *v, const struct log_record *record, const char *key)
{
    const json_t *id;
    size_t i;

    json_array_foreach(json_object_get(record->json, key), i, id)
    {
        if (json_integer_value(id) > 0)
            expect(v, METHODS, (uint32_t)json_integer_value(id), record->at);
    }
}

static void expect_image(struct validator *v, const json_t *frame, struct log_place at)
{
    json_int_t id = json_integer_value(json_array_get(frame, 0));
    const char *offset = json_string_value(json_array_get(frame, 1));

    if (json_array_size(frame) != 2 || !json_is_integer(json_array_get(frame, 0)) || !offset ||
        strncmp(offset, "0x", 2) != 0 || !offset[2] ||
        offset[2 + strspn(offset + 2, "0123456789abcdef")])
        log_problem(v->problems, at, "native: a frame is not [image, \"0xoffset\"]");
    else if (id)
        expect(v, IMAGES, (uint32_t)id, at);
}

static void expect_images(struct validator *v, const struct log_record *record)
{
    const json_t *runs = json_object_get(record->json, "native"), *run, *frame;
    size_t stack = json_array_size(
        json_object_get(record->json, record->kind == SST_KIND_SNAPSHOT ? "stack" : "snapshot"));
    size_t i, k;

    json_array_foreach(runs, i, run)
    {
        if (log_count_in(run, "at") > stack)
            BREACH(v, record, "native: at %" PRIu64 ", but there are %zu frames",
                   log_count_in(run, "at"), stack);
        json_array_foreach(json_object_get(run, "frames"), k, frame)
        {
            expect_image(v, frame, record->at);
        }
    }
}

static int on_stack(struct validator *v, const struct log_record *record)
{
    at_time(v, id_in(record, "thread"), log_count_in(record->json, "t"), record->at);
    expect_member(v, CLASSES, record);
    expect_methods(v, record, "stack");
    expect_methods(v, record, "shadow");
    expect_methods(v, record, "snapshot");
    expect_images(v, record);
    return 0;
}

static int on_mismatch(struct validator *v, const struct log_record *record)
{
    const json_t *shadow = json_object_get(record->json, "shadow");
    const json_t *snapshot = json_object_get(record->json, "snapshot");
    size_t a = json_array_size(shadow), b = json_array_size(snapshot), first = 0;

    if (!json_object_get(record->json, "stopped") && !json_object_get(record->json, "in_call"))
        v->mismatches++;
    on_stack(v, record);
    while (
        first < a && first < b &&
        json_equal(json_array_get(shadow, a - 1 - first), json_array_get(snapshot, b - 1 - first)))
        first++;
    if (first == a && first == b)
        BREACH(v, record, "mismatch: both stacks are the same");
    else if (first != log_count_in(record->json, "first"))
        BREACH(v, record, "mismatch: first is %" PRIu64 ", but the stacks first differ at %zu",
               log_count_in(record->json, "first"), first);
    return 0;
}

/*
 * The sums that check records and the end record have in common. A check record is written while
 * other threads compare: each may be counted in one member and not yet in another.
 */
static void check_counts(struct validator *v, const struct log_record *record, const json_t *counts,
                         uint64_t slack)
{
    uint64_t compared = log_count_in(counts, "compared");
    uint64_t others = log_count_in(counts, "refused") + log_count_in(counts, "ended_early");

    for (size_t i = 0; i < COUNT_OF(count_keys); i++) {
        uint64_t now = log_count_in(counts, count_keys[i]);

        /* What is unfinished is finished later. */
        if (now < v->counts[i] && strcmp(count_keys[i], "unfinished") != 0)
            BREACH(v, record, "%s: %s falls from %" PRIu64 " to %" PRIu64,
                   log_kind_name(record->kind), count_keys[i], v->counts[i], now);
        v->counts[i] = now;
    }
    if (compared != log_count_in(counts, "equal") + log_count_in(counts, "mismatched"))
        BREACH(v, record, "%s: compared is not equal + mismatched", log_kind_name(record->kind));
    if (compared + others > log_count_in(counts, "taken") + slack)
        BREACH(v, record, "%s: compared + refused + ended_early is more than taken",
               log_kind_name(record->kind));
}

static int on_check(struct validator *v, const struct log_record *record)
{
    check_counts(v, record, record->json, v->known[THREADS].count);
    return 0;
}

static int on_check_thread(struct validator *v, const struct log_record *record)
{
    expect_member(v, THREADS, record);
    if (log_count_in(record->json, "equal") > log_count_in(record->json, "compared"))
        BREACH(v, record, "check_thread: equal is more than compared");
    return 0;
}

static int on_count(struct validator *v, const struct log_record *record)
{
    json_t **counts = record->kind == SST_KIND_LOST ? &v->lost : &v->repairs;
    const char *reason = log_text_in(record, "reason");
    uint64_t count = log_count_in(record->json, "count");

    if (count < log_count_in(*counts, reason))
        BREACH(v, record, "%s: the count of %s falls", log_kind_name(record->kind), reason);
    return log_counts_set(counts, reason, count);
}

static void total(struct validator *v, const struct log_record *record, const char *key,
                  uint64_t found, const char *where)
{
    uint64_t said = log_count_in(record->json, key);

    if (said != found)
        BREACH(v, record, "end: %s is %" PRIu64 ", but %" PRIu64 " %s", key, said, found, where);
}

/* Counts logged on the way may not be above the final ones. */
static void final_counts(struct validator *v, const struct log_record *record, const char *key,
                         const json_t *logged)
{
    const json_t *said = json_object_get(record->json, key);
    const char *reason;
    json_t *count;

    LOG_EACH_COUNT(logged, reason, count)
    {
        if (log_count_in(said, reason) < log_count_in(logged, reason))
            BREACH(v, record, "end: %s says less of %s than the log before", key, reason);
    }
}

/* An event of a family: all that it refers to is defined. */
static int on_family(struct validator *v, const struct log_record *record)
{
    v->families[record->kind]++;
    at_time(v, id_in(record, "thread"), log_count_in(record->json, "t"), record->at);
    expect_member(v, NODES, record);
    expect_member(v, CLASSES, record);
    expect_member(v, METHODS, record);
    return 0;
}

/* Calls of one thread: every end has its call. */
static int on_calls(struct validator *v, const struct log_record *record)
{
    const char *open = record->calls.open, *events = record->calls.events;
    uint32_t found = log_id_map_get(&v->known[THREADS].ids, record->calls.thread);
    uint64_t depth = record->calls.depth, listed = 0;
    int64_t code, number;

    at_time(v, record->calls.thread, record->calls.t, record->at);
    for (; open && log_call_next(&open, &code, &number); listed++)
        expect(v, METHODS, (uint32_t)code, record->at);
    if (record->calls.open && listed != depth)
        BREACH(v, record, "calls: open lists %" PRIu64 " calls, but depth is %" PRIu64, listed,
               depth);
    else if (!record->calls.open && found && v->thread[found - 1].open != depth)
        BREACH(v, record,
               "calls: depth is %" PRIu64 ", but %" PRIu64 " calls of thread %u are open", depth,
               v->thread[found - 1].open, record->calls.thread);
    while (log_call_next(&events, &code, &number)) {
        if (code == SST_CALL_MISSING || code == SST_CALL_VALUES)
            continue;
        if (code > 0) {
            expect(v, METHODS, code > UINT32_MAX - 1 ? 0 : (uint32_t)code, record->at);
            v->entered++;
            depth++;
        } else if (depth) {
            v->calls_ended++;
            depth--;
        } else {
            BREACH(v, record, "calls: a call ends, and none is open");
            break;
        }
    }
    if (found)
        v->thread[found - 1].open = depth;
    return 0;
}

static void end_calls(struct validator *v, const struct log_record *record)
{
    const json_t *said = json_object_get(record->json, "calls"),
                 *missing = json_object_get(said, "not_written");
#define AND_ENDED(form, member, label) +log_count_in(said, #member)
    uint64_t entered = log_count_in(said, "entered");
    uint64_t ended = 0 SST_COUNTERS_CALL_ENDS(AND_ENDED);

    if (!said)
        return;
    if (entered != ended + log_count_in(said, "open"))
        BREACH(v, record, "end: the sums of calls do not add up");
    entered -= log_count_in(missing, "entered");
    ended -= log_count_in(missing, "ended");
    if (!json_object_get(record->json, "part") &&
        (entered != v->entered || ended != v->calls_ended))
        BREACH(v, record,
               "end: %" PRIu64 " calls and %" PRIu64 " ends, but %" PRIu64 " and %" PRIu64
               " are in the log",
               entered, ended, v->entered, v->calls_ended);
}

/* Lines by kind, unless other parts have some of them. */
static void end_records(struct validator *v, const struct log_record *record)
{
    const json_t *said = json_object_get(record->json, "records");

    if (!said || json_object_get(record->json, "part"))
        return;
    for (enum sst_kind kind = SST_KIND_HEADER; kind < SST_KIND_END; kind++) {
        uint64_t count = log_count_in(said, log_kind_name(kind));

        if (count != v->out->records[kind])
            BREACH(v, record, "end: %" PRIu64 " lines of %s, but %" PRIu64 " are in the log", count,
                   log_kind_name(kind), v->out->records[kind]);
    }
}

/* What the end says of the families. Lines of the log are of one kind for each family. */
static void end_families(struct validator *v, const struct log_record *record)
{
    const json_t *events = json_object_get(record->json, "events");

    for (size_t i = 0; i < LOG_KINDS_OF_FAMILIES; i++) {
        const json_t *said = json_object_get(events, log_kinds_of_families[i].family);
        uint64_t written = log_count_in(said, "written"), lost = log_count_in(said, "lost");

        if (log_count_in(said, "seen") != written + lost ||
            log_counts_sum(json_object_get(said, "lost_by")) != lost)
            BREACH(v, record, "end: the sums of %s do not add up", log_kinds_of_families[i].family);
        if (!json_object_get(record->json, "part") &&
            written != v->families[log_kinds_of_families[i].kind])
            BREACH(v, record, "end: %" PRIu64 " events of %s, but %" PRIu64 " are in the log",
                   written, log_kinds_of_families[i].family,
                   v->families[log_kinds_of_families[i].kind]);
    }
}

static void end_snapshots(struct validator *v, const struct log_record *record, const json_t *s)
{
    const json_t *by = json_object_get(s, "mismatched_by"), *refused_by;
    uint64_t with_frames = log_count_in(by, "refused_with_frames");

    check_counts(v, record, s, 0);
    if (by && log_counts_sum(by) != log_count_in(s, "mismatched"))
        BREACH(v, record, "end: mismatched_by does not add up to mismatched");
    refused_by = json_object_get(s, "refused_by");
    if (refused_by && log_counts_sum(refused_by) != log_count_in(s, "refused") + with_frames)
        BREACH(v, record, "end: refused_by does not add up to the refusals");
    if (v->mismatches > log_count_in(s, "mismatched"))
        BREACH(v, record, "end: more mismatch records than mismatches");
}

static int on_family_lost(struct validator *v, const struct log_record *record)
{
    return log_counts_set(&v->others, log_text_in(record, "family"),
                          log_count_in(record->json, "lost"));
}

/* What the end record says was lost of other events than allocations. */
static int end_losses(struct validator *v, const json_t *end)
{
    json_t *events = json_object_get(end, "events"), *said;
    const char *family;
    int err;

    json_decref(v->others);
    v->others = NULL;
    err =
        log_counts_set(&v->others, "values", log_count_in(json_object_get(end, "values"), "lost"));
    json_object_foreach(events, family, said)
    {
        if (!err)
            err = log_counts_set(&v->others, family, log_count_in(said, "lost"));
    }
    return err;
}

/* The recording is over, by its end record or without one. */
static int settle(struct validator *v, const json_t *end)
{
    const json_t *not_written = json_object_get(end, "not_written");
    struct log_losses losses = {.lost = log_count_in(end, "lost")};
    int err = end ? end_losses(v, end) : 0;

    losses.lost_by = end ? json_object_get(end, "lost_by") : v->lost;
    losses.others = v->others;
    losses.not_written = not_written ? not_written : v->not_written;
    log_record_tally_settle(&v->tally, end, v->unhandled, &v->out->gaps);
    json_decref(v->unhandled);
    v->unhandled = NULL;
    log_losses_settle(&losses, &v->out->gaps);
    return err;
}

static int on_end(struct validator *v, const struct log_record *record)
{
    const json_t *snapshots = json_object_get(record->json, "snapshots");
    uint64_t lost = log_count_in(record->json, "lost"), nodes = 0, threads = 0;

    total(v, record, "seen", log_count_in(record->json, "written") + lost, "were written or lost");
    total(v, record, "lost", log_counts_sum(json_object_get(record->json, "lost_by")),
          "are the sum of lost_by");
    if (!json_object_get(record->json, "part")) { /* else the sums are of all parts */
        total(v, record, "written", v->allocs, "are in the log");
        total(v, record, "bytes", v->bytes, "are in the log");
    }
    if (!log_member_count(record->json, "nodes", &nodes) && v->known[NODES].count > nodes)
        BREACH(v, record, "end: the log defines more nodes than there were");
    if (!log_member_count(record->json, "threads", &threads) && v->known[THREADS].count > threads)
        BREACH(v, record, "end: the log defines more threads than there were");
    final_counts(v, record, "lost_by", v->lost);
    if (json_object_get(record->json, "repairs"))
        final_counts(v, record, "repairs", v->repairs);
    if (snapshots)
        end_snapshots(v, record, snapshots);
    end_families(v, record);
    end_calls(v, record);
    end_records(v, record);
    v->out->ended = true;
    return settle(v, record->json);
}

static int on_not_written(struct validator *v, const struct log_record *record)
{
    return log_json_keep(&v->not_written, json_object_get(record->json, "records"));
}

static int on_unhandled(struct validator *v, const struct log_record *record)
{
    return log_json_keep(&v->unhandled, record->json);
}

/*
 * A part opens with what is alive, whatever was before: as of the last collection of which all was
 * written, also where the part before ended between the lines of a later one.
 */
static void live_begin(struct validator *v, const struct log_record *record)
{
    bool opening = json_is_true(json_object_get(record->json, "opening"));
    uint64_t collection = log_count_in(record->json, "gc");

    if (opening && !v->opening) {
        v->collection = v->totalled;
        v->alive = (struct live_sum){0, 0};
        if (v->live)
            memset(v->live, 0, v->live_capacity * sizeof(*v->live));
    }
    v->opening = opening;
    if (collection < v->collection)
        BREACH(v, record, "%s: gc falls from %" PRIu64 " to %" PRIu64, log_kind_name(record->kind),
               v->collection, collection);
    v->collection = collection;
}

static bool live_take(struct live_sum *from, uint64_t allocs, uint64_t bytes)
{
    if (allocs > from->allocs || bytes > from->bytes)
        return false;
    from->allocs -= allocs;
    from->bytes -= bytes;
    return true;
}

/* What a line says of the objects of a site. */
static void on_objects(struct validator *v, const struct log_record *record, uint32_t site)
{
    uint32_t found = expect(v, LIVE_SITES, site, record->at);
    uint64_t survived = log_count_in(record->json, "survived");
    uint64_t bytes = log_count_in(record->json, "survived_bytes");
    const json_t *died = json_object_get(record->json, "died"), *row;
    size_t i;

    live_begin(v, record);
    if (!found)
        return;
    v->live[found - 1].allocs += survived;
    v->live[found - 1].bytes += bytes;
    v->alive.allocs += survived;
    v->alive.bytes += bytes;
    json_array_foreach(died, i, row)
    {
        uint64_t cell[4];

        for (size_t k = 0; k < COUNT_OF(cell); k++)
            cell[k] = (uint64_t)json_integer_value(json_array_get(row, k));
        if (cell[0] > 4 || cell[1] < 1 || cell[1] > 15)
            BREACH(v, record, "live: died is of no generation or age");
        if (!live_take(&v->live[found - 1], cell[2], cell[3]) ||
            !live_take(&v->alive, cell[2], cell[3]))
            BREACH(v, record, "live: more of a site died than was alive");
    }
}

static int on_live_site(struct validator *v, const struct log_record *record)
{
    uint32_t node = id_in(record, "node"), class_id = id_in(record, "class"),
             id = id_in(record, "id");
    uint64_t fact = hash_mix((uint64_t)node << 32 | class_id, log_count_in(record->json, "il"));
    int err;

    expect(v, CLASSES, class_id, record->at);
    if (node != SST_NODE_EMPTY)
        expect(v, NODES, node, record->at);
    err = define(v, LIVE_SITES, id, fact, record->at);
    if (!err && !array_reserve_zeroed(&v->live, &v->live_capacity, v->known[LIVE_SITES].count))
        err = -ENOMEM;
    if (!err && json_object_get(record->json, "gc"))
        on_objects(v, record, id);
    else if (json_object_get(record->json, "survived") || json_object_get(record->json, "died"))
        BREACH(v, record, "live_site: what became of objects has a gc");
    return err;
}

static int on_live(struct validator *v, const struct log_record *record)
{
    on_objects(v, record, id_in(record, "site"));
    return 0;
}

static void on_grows(struct validator *v, const struct log_record *record)
{
    const json_t *row;
    size_t i;

    json_array_foreach(json_object_get(record->json, "grows"), i, row)
    {
        expect(v, LIVE_SITES, (uint32_t)json_integer_value(json_array_get(row, 0)), record->at);
        if (json_integer_value(json_array_get(row, 2)) < json_integer_value(json_array_get(row, 1)))
            BREACH(v, record, "live_total: what grows rises at each look");
    }
}

static int on_live_total(struct validator *v, const struct log_record *record)
{
    live_begin(v, record);
    v->totalled = v->collection;
    v->opening = false;
    if (log_count_in(record->json, "allocs") != v->alive.allocs ||
        log_count_in(record->json, "bytes") != v->alive.bytes)
        BREACH(v, record,
               "live_total: %" PRIu64 " objects, %" PRIu64 " bytes, but by the lines before "
               "%" PRIu64 " and %" PRIu64 " are alive",
               log_count_in(record->json, "allocs"), log_count_in(record->json, "bytes"),
               v->alive.allocs, v->alive.bytes);
    if (json_is_true(json_object_get(record->json, "exact")) ==
        !!json_object_get(record->json, "why"))
        BREACH(v, record, "live_total: what is not exact says why");
    on_grows(v, record);
    return 0;
}

static int on_header(struct validator *v, const struct log_record *record)
{
    if (record->at.line != 1)
        BREACH(v, record, "a header that is not the first line");
    return 0;
}

static int (*const on_record[SST_KIND_COUNT])(struct validator *, const struct log_record *) = {
    [SST_KIND_HEADER] = on_header,
    [SST_KIND_MODULE] = on_named,
    [SST_KIND_CLASS] = on_named,
    [SST_KIND_METHOD] = on_named,
    [SST_KIND_IMAGE] = on_named,
    [SST_KIND_THREAD] = on_thread,
    [SST_KIND_NODE] = on_node,
    [SST_KIND_ALLOC] = on_alloc,
    [SST_KIND_SITE] = on_alloc,
    [SST_KIND_SNAPSHOT] = on_stack,
    [SST_KIND_MISMATCH] = on_mismatch,
    [SST_KIND_CHECK] = on_check,
    [SST_KIND_CHECK_THREAD] = on_check_thread,
    [SST_KIND_LOST] = on_count,
    [SST_KIND_REPAIR] = on_count,
    [SST_KIND_MANAGED_THREAD] = on_family,
    [SST_KIND_LOAD] = on_family,
    [SST_KIND_CLASS_LOAD] = on_family,
    [SST_KIND_JIT] = on_family,
    [SST_KIND_EXCEPTION] = on_family,
    [SST_KIND_GC] = on_family,
    [SST_KIND_SUSPEND] = on_family,
    [SST_KIND_TRANSITION] = on_family,
    [SST_KIND_FINALIZER] = on_family,
    [SST_KIND_CALLS] = on_calls,
    [SST_KIND_FAMILY_LOST] = on_family_lost,
    [SST_KIND_LIVE_SITE] = on_live_site,
    [SST_KIND_LIVE] = on_live,
    [SST_KIND_LIVE_TOTAL] = on_live_total,
    [SST_KIND_NOT_WRITTEN] = on_not_written,
    [SST_KIND_UNHANDLED] = on_unhandled,
    [SST_KIND_END] = on_end,
};

/* Lines. */

/* The hand-written reader is as strict as the shipped schema but for these. */
static bool by_hand(struct validator *v, const struct log_line *line, struct log_record *record)
{
    uint64_t unknown = v->parser.unknown_members;

    if (!v->shipped || !log_parse_by_hand(&v->parser, line, record) ||
        v->parser.unknown_members != unknown)
        return false;
    if (record->kind == SST_KIND_LIVE || record->kind == SST_KIND_LIVE_SITE)
        return false; /* what they say is looked at member by member */
    if (record->kind == SST_KIND_NODE || record->kind == SST_KIND_CALLS)
        return true;
    return record->alloc.class_id && record->alloc.bytes % 8 == 0 && record->alloc.allocs > 0 &&
           !(record->alloc.stack &&
             memmem(record->alloc.stack, record->alloc.stack_size, "\"\"", 2)) &&
           record->alloc.type_size != 2;
}

/* Refuse a log of a later version before holding it against a schema that is not its own. */
static int known_version(struct validator *v, const json_t *json)
{
    json_int_t version = json_integer_value(json_object_get(json, "version"));
    const char *format = json_string_value(json_object_get(json, "format"));

    if (!format || strcmp(format, SST_LOG_FORMAT) != 0 || version <= SST_LOG_VERSION)
        return 0;
    snprintf(v->out->why, sizeof(v->out->why),
             "log version %lld; this shadowtrace (%s) reads version %d: use a newer one",
             (long long)version, SHADOWTRACE_VERSION, SST_LOG_VERSION);
    return -EPROTO;
}

/* Every integer must be exact in a double, those of members that the schema does not know too. */
static bool small_integers(const json_t *value, int depth)
{
    json_t *walked = (json_t *)(uintptr_t)value, *one; /* jansson's iterator takes no const */
    const char *key;
    size_t i;

    if (json_is_integer(value))
        return json_integer_value(value) <= SST_INTEGER_MAX &&
               json_integer_value(value) >= -SST_INTEGER_MAX;
    if (depth > 2048) /* deeper than jansson reads */
        return true;
    json_array_foreach(walked, i, one)
    {
        if (!small_integers(one, depth + 1))
            return false;
    }
    json_object_foreach(walked, key, one)
    {
        if (!small_integers(one, depth + 1))
            return false;
    }
    return true;
}

/* Returns: 1 the record may be used; 0 a problem was noted, or there is nothing to use; -errno. */
static int by_schema(struct validator *v, const struct log_line *line, struct log_record *record)
{
    char why[200];
    json_error_t error;
    json_t *json = json_loadb(line->text, line->size, JSON_REJECT_DUPLICATES, &error);
    int err = 0;

    if (!json) {
        if (json_error_code(&error) == json_error_out_of_memory)
            return -ENOMEM;
        if (line->cut)
            v->out->cut = true;
        else
            log_problem(v->problems, line->at, "not JSON: %s (column %d)", error.text,
                        error.column);
        return 0;
    }
    if (line->at.line == 1)
        err = known_version(v, json);
    if (!err && !report_schema_check(v->schema, json, why, sizeof(why))) {
        const char *kind = json_string_value(json_object_get(json, "kind"));

        log_problem(v->problems, line->at, "%.40s%s%s", kind ? kind : "", kind ? ": " : "", why);
    } else if (!err && !small_integers(json, 0)) {
        log_problem(v->problems, line->at, "an integer is 2^53 or more");
    } else if (!err) {
        if (line->size < 8 || memcmp(line->text, "{\"kind\":", 8) != 0)
            log_problem(v->problems, line->at, "\"kind\" is not the first member");
        err = log_parse_any(&v->parser, line, record);
        if (!err)
            err = 1;
        else if (err == -EBADMSG) { /* a schema of the user's own may let this through */
            log_problem(v->problems, line->at, "%s", v->parser.why);
            err = 0;
        }
    }
    json_decref(json);
    return err;
}

static int one_line(struct validator *v, const struct log_line *line)
{
    struct log_record record;
    int usable;

    v->out->lines++;
    v->out->bytes += line->size + !line->cut;
    if (line->too_long) {
        log_problem(v->problems, line->at, "line longer than %zu MiB", LOG_LINE_MAX >> 20);
        v->damaged++;
        return 0;
    }
    if (UNLIKELY(v->out->ended)) {
        log_problem(v->problems, line->at, "a line after the end record");
        log_gap_add(&v->out->gaps, LOG_GAP_AFTER_END, NULL, NULL, 1, 0);
    }
    usable = by_hand(v, line, &record) ? 1 : by_schema(v, line, &record);
    if (line->at.line == 1 && (usable <= 0 || record.kind != SST_KIND_HEADER))
        log_gap_add(&v->out->gaps, LOG_GAP_NO_HEADER, NULL, NULL, 1, 0);
    if (usable <= 0) {
        v->damaged += !line->cut;
        return usable;
    }
    v->used++;
    if (line->at.line == 1 && record.kind != SST_KIND_HEADER)
        log_problem(v->problems, line->at, "the first line is not a header");
    if (line->at.line > 1 && record.kind == SST_KIND_HEADER)
        log_gap_add(&v->out->gaps, LOG_GAP_HEADER_AGAIN, NULL, NULL, 1, 0);
    log_record_tally_add(&v->tally, &record);
    if (record.kind == SST_KIND_UNKNOWN)
        v->out->unknown_records++;
    else
        v->out->records[record.kind]++;
    return on_record[record.kind] ? on_record[record.kind](v, &record) : 0;
}

/* Each part defines all that it uses; counts and times go on. */
static void next_part(struct validator *v)
{
    for (size_t i = 0; i < KNOWN_KINDS; i++) {
        log_id_map_free(&v->known[i].ids);
        memory_free(v->known[i].facts);
    }
    memset(v->known, 0, sizeof(v->known));
    memory_free(v->thread);
    memory_free_all(v->live);
    v->live = NULL;
    v->live_capacity = 0;
    v->thread = NULL;
    v->thread_capacity = 0;
}

static int validator_init(struct validator *v, const char *file, const struct report_schema *schema,
                          struct log_problems *problems, struct report_validation *out)
{
    char why[200] = "";
    int err = 0;

    memset(out, 0, sizeof(*out));
    *v = (struct validator){.schema = schema, .problems = problems, .out = out};
    log_parser_init(&v->parser);
    problems->file = file;
    if (!schema) {
        err =
            report_schema_new(report_schema_text, report_schema_size(), &v->own, why, sizeof(why));
        v->schema = v->own;
    }
    v->shipped = !err && report_schema_is_shipped(v->schema);
    return err;
}

static void validator_fini(struct validator *v)
{
    log_parser_fini(&v->parser);
    report_schema_free(v->own);
    next_part(v);
    log_json_release(v->lost, v->repairs, v->others, v->not_written, v->unhandled);
}

/* As report/log.c has it: most of its lines are not records, and none is a header. */
static int not_a_log(struct validator *v)
{
    snprintf(v->out->why, sizeof(v->out->why),
             "not a shadowtrace log: it has no header, and most of its lines are not records");
    return -EPROTO;
}

/* One file of the recording. */
static int read_lines(struct validator *v, struct log_lines *lines,
                      const struct log_consumer *progress)
{
    struct log_line line = {.text = ""};
    uint64_t before = v->out->lines, damaged = v->damaged, used = v->used;
    uint64_t headers = v->out->records[SST_KIND_HEADER];
    int more = 0, err = 0;

    while (!err && (more = log_lines_next(lines, &line)) > 0) {
        err = one_line(v, &line);
        v->out->cut |= line.cut;
        if (UNLIKELY(line.at.line % PROGRESS_LINES == 0) && progress && progress->progress)
            progress->progress(progress->progress_context, log_lines_taken(lines),
                               log_lines_size(lines));
    }
    v->out->cut |= log_lines_damage(lines) != NULL;
    log_gap_add(&v->out->gaps, LOG_GAP_NO_HEADER, NULL, NULL, v->out->lines == before, 0);
    if (!err && !more && v->out->records[SST_KIND_HEADER] == headers &&
        v->damaged - damaged > v->used - used)
        err = not_a_log(v);
    return err ? err : more;
}

static int finish(struct validator *v)
{
    struct report_validation *out = v->out;
    int err = out->ended ? 0 : settle(v, NULL);

    log_gap_add(&out->gaps, LOG_GAP_CUT, NULL, NULL, out->cut, 0);
    log_gap_add(&out->gaps, LOG_GAP_DAMAGED, NULL, NULL, v->damaged, 0);
    log_gap_add(&out->gaps, LOG_GAP_UNDEFINED, NULL, NULL, v->undefined, 0);
    return err;
}

/* Only all parts together can be held against the end record, which on_end leaves to this. */
static void parts_add_up(struct validator *v)
{
    static const enum log_gap_kind wrong[] = {LOG_GAP_MISSING, LOG_GAP_EXTRA};

    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        const struct log_gap *gap = log_gap_of(&v->out->gaps, wrong[i]);

        if (gap)
            log_problem(v->problems, (struct log_place){0, 0},
                        "the parts do not add up to the end record: %s %" PRIu64 ": %s", gap->what,
                        gap->count, log_gap_word(wrong[i]));
    }
}

int report_validate_lines(struct log_lines *lines, const char *file,
                          const struct report_schema *schema, const struct log_consumer *progress,
                          struct log_problems *problems, struct report_validation *out)
{
    struct validator v;
    int err = validator_init(&v, file, schema, problems, out);

    if (!err)
        err = read_lines(&v, lines, progress);
    if (!err)
        err = finish(&v);
    validator_fini(&v);
    return err;
}

int report_validate_parts(const struct log_parts *parts, const struct report_schema *schema,
                          const struct log_consumer *progress, struct log_problems *problems,
                          struct report_validation *out)
{
    struct validator v;
    int err = validator_init(&v, NULL, schema, problems, out);

    v.tally.last = parts->last;
    for (size_t i = 0; !err && i < parts->count; i++) {
        struct log_lines *lines = NULL;

        problems->file = parts->paths[i];
        if (i)
            next_part(&v);
        err = log_lines_open(parts->paths[i], &lines);
        if (!err)
            err = read_lines(&v, lines, progress);
        log_lines_free(lines);
    }
    if (!err)
        err = finish(&v);
    if (!err && parts->count > 1)
        parts_add_up(&v);
    validator_fini(&v);
    return err;
}
