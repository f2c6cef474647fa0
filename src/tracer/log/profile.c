/* log/profile.c - --profile: a line for each stack, and what sampling has cost so far. */
#include "log/records.h"

#include <errno.h>

int log_write_sample(struct log *log, struct log_thread *thread, const struct event *event,
                     uint64_t t)
{
    struct buffer *b = &log->file.buffer;
    bool approximate = event->subject & PROFILE_EVENT_APPROXIMATE;
    size_t mark;
    int err = log_file_full(&log->file) ? -ENOSPC : log_define_node(log, event->node);

    (void)thread; /* the sampler's; the line says whose stack it is */
    if (err)
        return err;
    mark = b->size;
    buffer_format(b, "{\"kind\":\"sample\",\"t\":%llu,\"os\":%u", (unsigned long long)t,
                  (unsigned)(event->subject & UINT32_MAX));
    log_put_node(log, event->node);
    if (event->subject & PROFILE_EVENT_SNAPSHOT)
        buffer_text(b, ",\"source\":\"snapshot\"");
    if (approximate)
        buffer_format(b, ",\"depth\":%u,\"approximate\":true", event->site);
    return log_line_end(log, SST_KIND_SAMPLE, mark);
}

static int write_source(struct log *log, enum profile_source source, uint64_t t)
{
    const struct profile_counts *c = &log->config.profile->source[source];
    json_t *line =
        json_pack("{s:s, s:I, s:s, s:I}", "kind", "profile", "t", (json_int_t)t, "source",
                  source == PROFILE_SHADOW ? "shadow" : "snapshot", "hz", (json_int_t)c->hz);

#define SET(form, member, label) log_set(line, #member, load_relaxed(&c->member));
    SST_COUNTERS_PROFILE(SET)
    log_set(line, "cost_ns", load_relaxed(&c->cost.sum));
    log_set(line, "worst_ns", load_relaxed(&c->worst_ns));
    json_object_set_new(line, "cost", log_histogram(&c->cost));
    return log_emit(log, SST_KIND_PROFILE, line);
}

void log_write_profile(struct log *log, uint64_t t)
{
    for (unsigned i = 0; log->config.profile && i < PROFILE_SOURCES; i++) {
        uint64_t ticks = load_relaxed(&log->config.profile->source[i].ticks);

        if (ticks != log->reported_ticks[i] && !write_source(log, (enum profile_source)i, t))
            log->reported_ticks[i] = ticks;
    }
}
