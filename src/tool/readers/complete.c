#include "readers/complete.h"

#include <stdio.h>
#include <string.h>

const char *log_gap_word(enum log_gap_kind kind)
{
#define WORD(name, word) word,
    static const char *const words[] = {LOG_GAPS(WORD)};
#undef WORD

    return words[kind];
}

bool log_complete(const struct log_completeness *c)
{
    return c->count == 0 && c->more == 0;
}

const struct log_gap *log_gap_of(const struct log_completeness *c, enum log_gap_kind kind)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->gaps[i].kind == kind)
            return &c->gaps[i];
    return NULL;
}

/* Cut between two letters. */
static void take_text(char *to, size_t size, const char *text)
{
    size_t length = strlen(text);

    if (length >= size)
        for (length = size - 1; length && ((unsigned char)text[length] & 0xc0) == 0x80;)
            length--;
    memcpy(to, text, length);
    to[length] = '\0';
}

void log_gap_add(struct log_completeness *c, enum log_gap_kind kind, const char *what,
                 const char *by, uint64_t count, uint64_t of)
{
    struct log_gap gap = {.kind = kind, .count = count, .of = of};

    if (!count)
        return;
    take_text(gap.what, sizeof(gap.what), what ? what : "");
    take_text(gap.by, sizeof(gap.by), by ? by : "");
    for (size_t i = 0; i < c->count; i++) {
        struct log_gap *have = &c->gaps[i];

        if (have->kind == kind && strcmp(have->what, gap.what) == 0 &&
            strcmp(have->by, gap.by) == 0) {
            have->count += count;
            have->of += of;
            return;
        }
    }
    if (c->count == LOG_GAPS_MAX)
        c->more++;
    else
        c->gaps[c->count++] = gap;
}

/* Counting. */

static void rotated_of(const json_t *said, struct log_rotated *out)
{
    const json_t *records = json_object_get(said, "records");

    if (!said)
        return;
    out->parts = log_count_in(said, "parts");
    out->allocs = log_count_in(said, "allocs");
    out->bytes = log_count_in(said, "bytes");
    for (int kind = 1; kind < SST_KIND_COUNT; kind++)
        out->records[kind] = log_count_in(records, log_kind_name((enum sst_kind)kind));
}

static void on_header(struct log_record_tally *t, const json_t *header)
{
    uint64_t part = 1;

    (void)log_member_count(header, "part", &part);
    if (!t->begun)
        t->first = part;
    else if (part > t->part + 1)
        t->skipped += part - t->part - 1;
    t->begun = true;
    t->part = part;
    rotated_of(json_object_get(header, "rotated_out"), &t->rotated);
}

static void on_calls(struct log_record_tally *t, const struct log_batch *batch)
{
    const char *at = batch->events;
    int64_t code, number;

    while (log_call_next(&at, &code, &number))
        t->entered += code > 0;
}

void log_record_tally_slow(struct log_record_tally *t, const struct log_record *record)
{
    if (record->kind == SST_KIND_CALLS)
        on_calls(t, &record->calls);
    else if (record->kind == SST_KIND_HEADER)
        on_header(t, record->json);
    else if (record->kind == SST_KIND_END) {
        t->ended = true;
        rotated_of(json_object_get(record->json, "rotated_out"), &t->rotated);
    }
}

/* Holding it against the end record. */

static void hold(struct log_completeness *c, const char *what, uint64_t said, uint64_t read)
{
    if (read < said)
        log_gap_add(c, LOG_GAP_MISSING, what, NULL, said - read, said);
    else
        log_gap_add(c, LOG_GAP_EXTRA, what, NULL, read - said, said);
}

static uint64_t at_hand(const struct log_record_tally *t, enum sst_kind kind)
{
    return t->records[kind] + t->rotated.records[kind];
}

const struct log_kind_of_family log_kinds_of_families[LOG_KINDS_OF_FAMILIES] = {
    {"threads", SST_KIND_MANAGED_THREAD}, {"modules", SST_KIND_LOAD},
    {"classes", SST_KIND_CLASS_LOAD},     {"jit", SST_KIND_JIT},
    {"exceptions", SST_KIND_EXCEPTION},   {"gc", SST_KIND_GC},
    {"suspend", SST_KIND_SUSPEND},        {"transitions", SST_KIND_TRANSITION},
    {"finalizers", SST_KIND_FINALIZER},
};

/* Lines of one kind each: logs without `records` are held against the sums of their events. */
static void hold_families(const struct log_record_tally *t, const json_t *end,
                          struct log_completeness *completeness)
{
    const json_t *events = json_object_get(end, "events");
    const json_t *values = json_object_get(end, "values");
    uint64_t posted = log_count_in(values, "posted"), lost = log_count_in(values, "lost");
    uint64_t written = posted > lost ? posted - lost : 0;

    for (size_t i = 0; i < LOG_KINDS_OF_FAMILIES; i++)
        if (!log_member_count(json_object_get(events, log_kinds_of_families[i].family), "written",
                              &written))
            hold(completeness, log_kind_name(log_kinds_of_families[i].kind), written,
                 at_hand(t, log_kinds_of_families[i].kind));
    written = posted > lost ? posted - lost : 0;
    (void)log_member_count(values, "written", &written);
    if (values)
        hold(completeness, log_kind_name(SST_KIND_VALUES), written, at_hand(t, SST_KIND_VALUES));
}

/* Calls are counted one by one; where parts are gone only their lines are known. */
static void hold_calls(const struct log_record_tally *t, const json_t *end,
                       struct log_completeness *completeness)
{
    const json_t *calls = json_object_get(end, "calls");
    uint64_t entered = log_count_in(calls, "entered");
    uint64_t dropped = log_count_in(json_object_get(calls, "not_written"), "entered");

    if (calls && !t->rotated.records[SST_KIND_CALLS])
        hold(completeness, "calls", entered > dropped ? entered - dropped : 0, t->entered);
}

/* alloc and site lines have separate sums, and so have calls: each amount is counted once. */
static void hold_records(const struct log_record_tally *t, const json_t *records,
                         const struct log_completeness *before,
                         struct log_completeness *completeness)
{
    bool allocs = before->count > 0;

    for (int kind = 1; kind < SST_KIND_COUNT; kind++) {
        bool summed = kind == SST_KIND_ALLOC || kind == SST_KIND_SITE;
        const char *name = log_kind_name((enum sst_kind)kind);

        if (kind != SST_KIND_END && !(summed && allocs))
            hold(completeness, name, log_count_in(records, name), at_hand(t, (enum sst_kind)kind));
    }
}

static void hold_sums(const struct log_record_tally *t, const json_t *end,
                      struct log_completeness *completeness)
{
    const json_t *records = json_object_get(end, "records");
    struct log_completeness allocs = {.count = 0};

    hold(&allocs, "allocations", log_count_in(end, "written"), t->allocs + t->rotated.allocs);
    hold(&allocs, "bytes", log_count_in(end, "bytes"), t->bytes + t->rotated.bytes);
    for (size_t i = 0; i < allocs.count; i++)
        log_gap_add(completeness, allocs.gaps[i].kind, allocs.gaps[i].what, NULL,
                    allocs.gaps[i].count, allocs.gaps[i].of);
    if (records) {
        hold_records(t, records, &allocs, completeness);
    } else {
        hold_families(t, end, completeness);
        hold_calls(t, end, completeness);
    }
}

/* What the recording says of itself. */

void log_losses_settle(const struct log_losses *l, struct log_completeness *completeness)
{
    uint64_t sum = log_counts_sum(l->lost_by);
    const char *name;
    json_t *count;

    LOG_EACH_COUNT(l->lost_by, name, count)
    {
        log_gap_add(completeness, LOG_GAP_LOST, "alloc", name, log_count_in(l->lost_by, name), 0);
    }
    log_gap_add(completeness, LOG_GAP_LOST, "alloc", NULL, l->lost > sum ? l->lost - sum : 0, 0);
    LOG_EACH_COUNT(l->others, name, count)
    {
        log_gap_add(completeness, LOG_GAP_LOST, name, NULL, log_count_in(l->others, name), 0);
    }
    LOG_EACH_COUNT(l->not_written, name, count)
    {
        log_gap_add(completeness, LOG_GAP_NOT_WRITTEN, name, NULL,
                    log_count_in(l->not_written, name), 0);
    }
}

static void happened(const json_t *file, struct log_completeness *c)
{
    log_gap_add(c, LOG_GAP_FILE, "removed", NULL, json_object_get(file, "removed") != NULL, 0);
    log_gap_add(c, LOG_GAP_FILE, "replaced", NULL, json_object_get(file, "replaced") != NULL, 0);
    log_gap_add(c, LOG_GAP_FILE, "truncated", NULL, log_count_in(file, "truncated"), 0);
}

static void paths(const struct log_record_tally *t, const json_t *end,
                  struct log_completeness *completeness)
{
    uint64_t refused = log_count_in(end, "nodes_refused"), cut = t->cut;

    if (log_count_in(end, "cut_allocs") > cut)
        cut = log_count_in(end, "cut_allocs");
    log_gap_add(completeness, LOG_GAP_PATHS, NULL, NULL, cut ? cut : refused, refused);
    log_gap_add(completeness, LOG_GAP_LOST, "beginnings", NULL,
                log_count_in(end, "beginnings_lost"), 0);
}

static void which_parts(char *to, size_t room, uint64_t from, uint64_t last)
{
    if (from == last)
        snprintf(to, room, "%llu", (unsigned long long)from);
    else
        snprintf(to, room, "%llu to %llu", (unsigned long long)from, (unsigned long long)last);
}

/* Parts that are gone are no longer there to be read. With --max-log these are the earliest. */
static void parts(const struct log_record_tally *t, const json_t *end,
                  struct log_completeness *completeness)
{
    uint64_t before = t->first > 1 ? t->first - 1 : 0, last = t->last;
    uint64_t gone = t->rotated.parts, missing = before + t->skipped;
    char which[48] = "";

    (void)log_member_count(end, "part", &last);
    if (!t->begun)
        last = t->part; /* nothing says which parts there are */
    missing = missing > gone ? missing - gone : 0;
    missing += last > t->part ? last - t->part : 0;
    if (before > gone && !t->skipped)
        which_parts(which, sizeof(which), gone + 1, before);
    else if (last > t->part)
        which_parts(which, sizeof(which), t->part + 1, last);
    log_gap_add(completeness, LOG_GAP_PARTS, which, NULL, missing, 0);
    log_gap_add(completeness, LOG_GAP_ROTATED_OUT, NULL, NULL, gone, t->rotated.allocs);
}

static void sampler(const json_t *sampling, struct log_completeness *c)
{
    const char *failed = json_string_value(json_object_get(sampling, "failed"));

    log_gap_add(c, LOG_GAP_SAMPLER, failed, NULL, failed != NULL, 0);
}

const struct log_feature log_features[LOG_FEATURES] = {
    {"hooks", "call stacks are OFF: the hooks' registers are unexpected on this version of .NET; "
              "record with --capture snapshot"},
    {"beginnings", "the beginnings of async methods are OFF: the layout of objects is unknown on "
                   "this version of .NET; logical stacks may end early"},
    {"allocated", "the bytes allocated before sampling are OFF: unknown on this version of .NET"},
};

static void unlike(const json_t *end, struct log_completeness *c)
{
    const json_t *off = json_object_get(end, "off");

    for (size_t i = 0; i < LOG_FEATURES; i++)
        log_gap_add(c, LOG_GAP_OFF, log_features[i].name, NULL,
                    log_count_in(off, log_features[i].name), 0);
    log_gap_add(c, LOG_GAP_UNPATCHED, NULL, NULL,
                log_count_in(json_object_get(end, "hooks"), "unpatched"), 0);
}

static void no_end(const json_t *unhandled, struct log_completeness *c)
{
    log_gap_add(c, LOG_GAP_NO_END, json_string_value(json_object_get(unhandled, "type")),
                json_string_value(json_object_get(unhandled, "message")), 1, 0);
}

void log_record_tally_settle(const struct log_record_tally *tally, const json_t *end,
                             const json_t *unhandled, struct log_completeness *c)
{
    struct log_record_tally all = *tally, *t = &all;
    uint64_t lines = 0;

    for (int kind = 1; kind < SST_KIND_COUNT; kind++)
        lines += t->records[kind];
    if (!t->begun && !lines)
        return;
    end = t->ended ? end : NULL;
    if (t->followed)
        memset(&t->rotated, 0, sizeof(t->rotated)); /* what is gone was read, or is missing */
    if (t->first == 1 && !t->skipped && !json_object_get(json_object_get(end, "file"), "truncated"))
        /* somebody had kept them, and they were read */
        memset(&t->rotated, 0, sizeof(t->rotated));
    if (!end)
        no_end(unhandled, c);
    parts(t, end, c);
    if (end)
        hold_sums(t, end, c);
    paths(t, end, c);
    log_gap_add(c, LOG_GAP_NAMES, NULL, NULL, log_count_in(end, "names_failed"), 0);
    unlike(end, c);
    log_gap_add(c, LOG_GAP_INLINED, NULL, NULL, log_count_in(json_object_get(end, "rich"), "lost"),
                0);
    sampler(json_object_get(end, "sampling"), c);
    happened(json_object_get(end, "file"), c);
}
