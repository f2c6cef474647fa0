#include "log/records.h"

#include "base/memory.h"
#include "options/json.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static json_t *options_json(const struct options *options)
{
    char *text = options_write(options);
    json_t *json = text ? json_read(text, strlen(text), 0, NULL) : NULL;

    memory_free(text);
    return json;
}

static const char *capture_name(enum options_capture capture)
{
    return capture == OPTIONS_CAPTURE_SHADOW ? "shadow"
           : capture == OPTIONS_CAPTURE_BOTH ? "both"
           : capture == OPTIONS_CAPTURE_WALK ? "walk"
                                             : "snapshot";
}

/* As the runtime reads it; the command sets it with --live. */
static bool concurrent_is_off(void)
{
    const char *text = getenv("DOTNET_gcConcurrent");

    return text && *text && strtoul(text, NULL, 16) == 0;
}

int log_write_header(struct log *log)
{
    const struct log_config *c = &log->config;
    char started[32] = "";
    time_t now = log->started_at;
    struct tm utc;
    json_t *line;

    if (gmtime_r(&now, &utc))
        strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", &utc);
    line = json_pack(
        "{s:s, s:s, s:i, s:i, s:o, s:o, s:s, s:s, s:s, s:o, s:I, s:s, s:s}", "kind", "header",
        "format", "shadowtrace", "version", 1, "pid", (int)getpid(), "executable",
        log_text(c->executable), "command", log_texts(c->command), "runtime", c->runtime, "hooks",
        c->hooks, "capture", capture_name(c->options->capture), "options", options_json(c->options),
        "clock", (json_int_t)log->zero_ns, "started", started, "tracer", SHADOWTRACE_VERSION);
    if (log->born)
        log_set(line, "born", log->born);
    json_object_set(line, "parents", log->parents);
    json_object_set_new(line, "no_native", json_string(c->no_native));
    log_set_text(line, "no_inlined", *c->rich->why_not ? c->rich->why_not : NULL);
    if (c->live && concurrent_is_off())
        json_object_set_new(line, "concurrent", json_false());
    if (c->options->sample)
        json_object_set_new(line, "sampler", json_string(log_sampler(log)));
    log_set_flag(line, "beginnings", options_beginnings(c->options));
    log_set_flag(line, "attached", c->attached);
    log_set_flag(line, "unverified", c->unverified);
    if (log->file.part > 1) {
        log_set(line, "part", log->file.part);
        json_object_set_new(line, "sampling", log_sampling_begun_json(log));
    }
    json_object_set_new(line, "rotated_out", log_gone_json(&log->file));
    log_set_text(line, "uncontrolled", load_acquire(&log->uncontrolled));
    log_set_text(line, "uncompressed", load_acquire(&log->file.uncompressed));
    return log_emit(log, SST_KIND_HEADER, line);
}
