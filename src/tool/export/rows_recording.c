#include "export/rows_out.h"

#include "base/hash128.h"
#include "model/own.h"
#include "readers/header.h"
#include "report/estimate.h"
#include "report/module_version.h"

#define MINUTE 60

/* From the start time and the process: the same for each export, however long the log is. */
static void id_of(const json_t *header, uint64_t out[2])
{
    hash128 hash = hash128_text(HASH128_BEGIN, "recording");
    const json_int_t pid = json_integer_value(json_object_get(header, "pid"));
    const json_int_t clock = json_integer_value(json_object_get(header, "clock"));

    hash = hash128_number(hash, (uint64_t)pid, 8);
    hash = hash128_number(hash, (uint64_t)clock, 8);
    hash = hash128_number(hash, (uint64_t)log_started(header), 8);
    out[0] = hash128_high(hash);
    out[1] = hash128_low(hash);
}

static void put_if(struct json_writer *w, const char *key, const char *text)
{
    if (text && *text)
        jw_text(w, key, text);
}

static void put_member(struct json_writer *w, const json_t *header, const char *key)
{
    put_if(w, key, json_string_value(json_object_get(header, key)));
}

static void put_version(const struct export_rows *r, const struct log_defs *defs,
                        const json_t *header, struct json_writer *w)
{
    uint32_t number = model_own_main(defs, header);
    const struct log_def *module = log_module(defs, number);
    struct symbols_version version;

    if (!number)
        return;
    put_if(w, "mvid", module->mvid);
    if (!module_version_read(module, header, r->options.dirs, r->options.ndirs, &version))
        return;
    put_if(w, "version", version.version);
    put_if(w, "file_version", version.file);
    put_if(w, "commit", version.commit);
}

/* What --redact leaves out. */
static void put_command(const json_t *header, struct json_writer *w)
{
    const json_t *argument;
    size_t i;

    put_member(w, header, "executable");
    jw_array(w, "command");
    json_array_foreach(json_object_get(header, "command"), i, argument)
    {
        if (json_is_string(argument))
            jw_text(w, NULL, json_string_value(argument));
    }
    jw_end(w);
}

/* In UTC, whatever zone the log has it in. */
static void put_started(time_t started, struct json_writer *w)
{
    char text[32] = "";
    struct tm utc;

    if (gmtime_r(&started, &utc))
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
    jw_text(w, "started", text);
}

static double total(const struct export_rows *r, const struct model_tree *t,
                    enum model_weight weight)
{
    if (r->options.whole)
        return model_weight_total(t->model, weight);
    return t->total[weight] ? t->total[weight][0] : 0;
}

static void put_interval(const struct export_rows *r, const struct model_tree *t,
                         struct json_writer *w, bool bytes)
{
    struct report_amount amount =
        report_estimate_interval(total(r, t, bytes ? MODEL_BYTES : MODEL_ALLOCS),
                                 total(r, t, bytes ? MODEL_BYTES_VARIANCE : MODEL_ALLOCS_VARIANCE),
                                 total(r, t, bytes ? MODEL_SEEN_BYTES : MODEL_SAMPLED));

    jw_unsigned(w, bytes ? "bytes_low" : "allocs_low", report_whole(amount.low));
    jw_unsigned(w, bytes ? "bytes_high" : "allocs_high", report_whole(amount.high));
}

static void put_sums(const struct export_rows *r, const struct model_tree *t, struct json_writer *w)
{
    const struct report_live *live = model_live(t->model);
    struct report_amount alive;
    double bytes;

    jw_unsigned(w, "bytes", report_whole(total(r, t, MODEL_BYTES)));
    jw_unsigned(w, "allocs", report_whole(total(r, t, MODEL_ALLOCS)));
    if (model_estimated(t->model) &&
        log_sampler_kind(model_log(t->model)->header) != LOG_SAMPLER_TICKS) {
        put_interval(r, t, w, true);
        if (!report_estimate_mixes(total(r, t, MODEL_BYTES), total(r, t, MODEL_BYTES_VARIANCE),
                                   total(r, t, MODEL_ALLOCS), total(r, t, MODEL_ALLOCS_VARIANCE)))
            put_interval(r, t, w, false);
    }
    if (!live->question || !live->lines)
        return;
    bytes = total(r, t, MODEL_LIVE_BYTES) + total(r, t, MODEL_BESIDE_BYTES);
    jw_unsigned(w, "live_bytes", report_whole(bytes));
    jw_unsigned(w, "live_allocs",
                report_whole(total(r, t, MODEL_LIVE_ALLOCS) + total(r, t, MODEL_BESIDE_ALLOCS)));
    if (!(live->most_mean > 0) || live->approximate)
        return;
    alive = report_estimate_interval(bytes, total(r, t, MODEL_OF_VARIANCE), 0);
    jw_unsigned(w, "live_bytes_low", report_whole(alive.low));
    jw_unsigned(w, "live_bytes_high",
                report_whole(bytes > 0 ? alive.high : report_estimate_none(live->most_mean)));
}

/* What was allocated before samples counted; an upper bound if that is not exact. */
static void put_before(const struct log_sampling *s, struct json_writer *w)
{
    if (s->since_ns)
        jw_unsigned(w, "sampling_since_ns", s->since_ns);
    if (s->how == LOG_BEFORE_EXACT)
        jw_unsigned(w, "before_bytes", s->bytes);
    else if (s->how == LOG_BEFORE_MOST)
        jw_unsigned(w, "before_bytes_most", s->bytes);
}

uint64_t rows_recording(struct export_rows *r, const struct model_tree *tree, char id[ROWS_ID_SIZE])
{
    const struct log_input *log = model_log(tree->model);
    struct log_completeness gaps;
    struct log_sampling sampling;
    uint64_t number[2];
    struct json_writer w;
    const uint64_t started = (uint64_t)log_started(log->header);

    id_of(log->header, number);
    rows_id_text(id, number);
    log_input_completeness(log, &gaps);
    rows_begin(r, &w, "recording");
    jw_text(&w, "format", "shadowtrace-rows");
    jw_unsigned(&w, "format_version", 1);
    jw_text(&w, "id", id);
    jw_text(&w, "host", r->options.host);
    put_if(&w, "container", r->options.container);
    put_if(&w, "program", log_program(log->header));
    put_version(r, model_defs(tree->model), log->header, &w);
    put_started((time_t)started, &w);
    jw_unsigned(&w, "duration_ns", model_duration_ns(tree->model));
    jw_unsigned(&w, "pid", (uint64_t)json_integer_value(json_object_get(log->header, "pid")));
    put_member(&w, log->header, "runtime");
    put_member(&w, log->header, "tracer");
    if (!r->options.redact)
        put_command(log->header, &w);
    jw_bool(&w, "timed", !model_untimed(tree->model));
    jw_unsigned(&w, "bucket_s", model_slice_ns(tree->model) / 1000000000);
    jw_bool(&w, "estimated", model_estimated(tree->model));
    log_input_sampling(log, &sampling);
    if (model_estimated(tree->model) || sampling.how != LOG_BEFORE_NONE)
        jw_text(&w, "sampler", log_sampler_word(log_sampler_kind(log->header)));
    put_before(&sampling, &w);
    jw_bool(&w, "complete", log_complete(&gaps));
    jw_unsigned(&w, "lost", log_input_lost(log));
    put_sums(r, tree, &w);
    rows_end(r, &w);
    return started - started % MINUTE;
}
