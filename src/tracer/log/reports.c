#include "log/records.h"
#include "log/rounds.h"

/* Kinds of which each line is something that happened, and that no other sum counts. */
static bool is_missed(enum sst_kind kind)
{
    return kind == SST_KIND_SNAPSHOT || kind == SST_KIND_MISMATCH || kind == SST_KIND_SAMPLE ||
           kind == SST_KIND_MARK || kind == SST_KIND_CONFIG || kind == SST_KIND_LIVE_SITE ||
           kind == SST_KIND_LIVE || kind == SST_KIND_LIVE_TOTAL || kind == SST_KIND_UNHANDLED;
}

void log_lose(struct log *log, const struct log_tally *lost)
{
    log_tally_take(&log->file.put, lost);
    log->lost_here[EVENT_LOST_WRITE_FAILED] += lost->allocs;
    for (uint32_t family = OPTIONS_CALLS; family < OPTIONS_FAMILIES; family++)
        log->family_lost[family][EVENT_LOST_WRITE_FAILED] +=
            family == OPTIONS_CALLS ? lost->entered : lost->lines[log_family_kind(family)];
    log->calls.entered_lost += lost->entered;
    log->calls.ended_lost += lost->ended;
    for (unsigned i = 0; i < SST_KIND_COUNT; i++)
        if (is_missed((enum sst_kind)i))
            log->not_written[i] += lost->lines[i];
}

uint64_t log_lost(const struct log *log, uint64_t by[EVENT_LOST_REASONS], uint64_t *seen)
{
    uint64_t sum = 0;

    *seen = log->seen_by_ended;
    for (const struct log_thread *thread = log->threads; thread; thread = thread->next)
        *seen += load_relaxed(&thread->ring->seen);
    for (unsigned i = 0; i < EVENT_LOST_REASONS; i++) {
        uint64_t ringless = load_relaxed(&log->config.hub->lost[i]);

        by[i] = log->lost_here[i] + log->lost_ended[i];
        if (i !=
            EVENT_LOST_STOPPED) /* these come after the last drain and are in nobody's `seen` */
            by[i] += ringless;
        if (i == EVENT_LOST_NO_RING || i == EVENT_LOST_NO_STACK)
            *seen += ringless;
        for (const struct log_thread *thread = log->threads; thread; thread = thread->next)
            by[i] += load_relaxed(&thread->ring->lost[i]);
        sum += by[i];
    }
    return sum;
}

static void write_count(struct log *log, enum sst_kind kind, uint64_t t, const char *reason,
                        uint64_t count, uint64_t *reported)
{
    if (count == *reported)
        return;
    if (log_emit(log, kind,
                 json_pack("{s:s, s:I, s:s, s:I}", "kind",
                           kind == SST_KIND_LOST ? "lost" : "repair", "t", (json_int_t)t, "reason",
                           reason, "count", (json_int_t)count)) == 0)
        *reported = count;
}

/* What nothing else counts; once there is room for the line. */
static void write_not_written(struct log *log, uint64_t t)
{
    uint64_t sum = log_kinds_sum(log->not_written);

    if (sum != log->reported_not_written &&
        !log_emit(log, SST_KIND_NOT_WRITTEN,
                  json_pack("{s:s, s:I, s:o}", "kind", "not_written", "t", (json_int_t)t, "records",
                            log_kinds_json(log->not_written))))
        log->reported_not_written = sum;
}

void log_write_reports(struct log *log, uint64_t t)
{
    uint64_t by[EVENT_LOST_REASONS], seen;
    struct stack_totals totals;

    stack_totals_read(&totals);
    log_lost(log, by, &seen);
    log_write_profile(log, t);
    log_write_sampling(log, t);
    log_write_check(log, &totals, t);
    for (struct log_thread *thread = log->threads; thread; thread = thread->next)
        log_write_check_thread(log, thread, t);
    for (unsigned i = 0; i < EVENT_LOST_REASONS; i++) {
        store_relaxed(&log->shown_lost[i], by[i]);
        write_count(log, SST_KIND_LOST, t, event_lost_name((enum event_lost)i), by[i],
                    &log->reported_lost[i]);
    }
    for (unsigned i = 0; i < STACK_REPAIRS; i++)
        write_count(log, SST_KIND_REPAIR, t, stack_repair_name((enum stack_repair)i),
                    totals.repairs[i], &log->reported_repairs[i]);
    log_write_family_reports(log, t);
    write_not_written(log, t);
}
