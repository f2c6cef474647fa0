/* log/sampling.c - samples of the runtime: from when they count, and their sums. */
#include "log/records.h"

#include "clr/error.h"

#include <shadowtrace/clr/constants.h>

/* From when they count, and what was allocated before. */
static void set_begun(const struct log *log, json_t *object, const struct samples_state *state)
{
    if (state->since_ns > log->zero_ns)
        log_set(object, "since", state->since_ns - log->zero_ns);
    if (state->before.how == SAMPLES_BEFORE_EXACT)
        log_set(object, "before", state->before.bytes);
    log_set_any(object, "own", state->before.own);
    if (state->before.how == SAMPLES_BEFORE_MOST)
        log_set(object, "before_most", state->before.bytes);
}

json_t *log_sampling_begun_json(const struct log *log)
{
    struct samples_state state;
    json_t *object;

    if (!log->config.samples)
        return NULL;
    samples_read(log->config.samples, &state);
    object = json_object();
    set_begun(log, object, &state);
    if (json_object_size(object))
        return object;
    json_decref(object);
    return NULL;
}

void log_write_sampling(struct log *log, uint64_t t)
{
    struct samples_state state;
    json_t *line;

    if (!log->config.samples || log->sampling_written)
        return;
    samples_read(log->config.samples, &state);
    if (!state.since_ns)
        return;
    line = json_pack("{s:s, s:I, s:s}", "kind", "sampling", "t", (json_int_t)t, "sampler",
                     log_sampler(log));
    set_begun(log, line, &state);
    log->sampling_written = !log_emit(log, SST_KIND_SAMPLING, line);
}

/* --framework-frames snapshot: those that were taken. */
static json_t *frames_json(const struct agreement_frames *frames)
{
    json_t *object = json_object();

    log_set(object, "added", load_relaxed(&frames->added));
    log_set(object, "refused", load_relaxed(&frames->refused));
    log_set(object, "differed", load_relaxed(&frames->differed));
    return object;
}

/* Samples that are followed for as long as they are alive. */
static json_t *alive_json(const struct alive *alive)
{
    struct alive_state state;
    json_t *object = json_object();

    alive_read(alive, &state);
    log_set(object, "followed", state.followed);
    log_set(object, "missed", state.missed);
    log_set(object, "mean", state.mean);
    return object;
}

/* What came of the runtime's samples. */
json_t *log_sampling_json(const struct log *log)
{
    char text[CLR_ERROR_TEXT_SIZE];
    json_t *object = json_object();
    struct samples_state state;

    samples_read(log->config.samples, &state);
    json_object_set_new(object, "sampler", json_string(log_sampler(log)));
    set_begun(log, object, &state);
    log_set(object, "told", state.told);
    log_set_any(object, "unread", state.unread);
    if (log->config.options->framework_frames == OPTIONS_FRAMEWORK_SNAPSHOT)
        json_object_set_new(object, "frames", frames_json(log->config.frames));
    if (log->config.alive)
        json_object_set_new(object, "alive", alive_json(log->config.alive));
    if (state.failed != S_OK)
        json_object_set_new(object, "failed",
                            json_string(clr_error_text(state.failed, text, sizeof(text))));
    return object;
}
