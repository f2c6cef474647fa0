#include "command/print_sampling.h"

#include "readers/header.h"
#include "terminal/text.h"

bool print_sampling_late(const struct log_input *log, const struct log_window *window,
                         struct log_sampling *out)
{
    log_input_sampling(log, out);
    if (out->how == LOG_BEFORE_NONE)
        return false;
    return !window || !window->has_from || out->unbegun || window->from.t < out->since_ns;
}

const char *print_sampling_lead(const struct log_sampling *s)
{
    if (s->how == LOG_BEFORE_NONE)
        return "";
    return s->unbegun < s->recordings ? "Since sampling began:\n" : "Without samples:\n";
}

/* "Sampling began 0.05 s after the start" */
static void put_when(const struct log_input *log, const struct log_sampling *s, struct buffer *out)
{
    const char *what = log_attached(log->header) ? "it was attached" : "the start";

    if (s->unbegun == s->recordings)
        buffer_format(out, "Sampling had not begun when the %s ended",
                      s->recordings > 1 ? "processes"
                      : log->end        ? "process"
                                        : "log");
    else if (s->recordings > 1)
        buffer_format(out, "Sampling of %llu processes began up to %.2f s after the start",
                      (unsigned long long)(s->recordings - s->unbegun), (double)s->since_ns / 1e9);
    else
        buffer_format(out, "Sampling began %.2f s after %s", (double)s->since_ns / 1e9, what);
}

void print_sampling_text(const struct log_input *log, const struct log_sampling *s,
                         struct buffer *out)
{
    struct text_number n;

    if (s->how == LOG_BEFORE_NONE)
        return;
    put_when(log, s, out);
    if (s->how == LOG_BEFORE_UNKNOWN)
        buffer_text(out,
                    ". The log does not say how many bytes were allocated before that: they are "
                    "in none of these figures.");
    else
        buffer_format(out,
                      ". %s %s bytes were allocated before that: they are in none of these "
                      "figures, and their call sites are unknown.",
                      s->how == LOG_BEFORE_EXACT ? "Exactly" : "At most", text_count(&n, s->bytes));
}

void print_sampling_part(const struct log_sampling *s, struct buffer *out)
{
    struct text_number n;

    if (s->how == LOG_BEFORE_EXACT || s->how == LOG_BEFORE_MOST)
        buffer_format(out, "%s%s bytes before sampling began",
                      s->how == LOG_BEFORE_MOST ? "at most " : "", text_count(&n, s->bytes));
    else if (s->how == LOG_BEFORE_UNKNOWN)
        buffer_text(out, "bytes before sampling began are not known");
}

void print_sampling_json(const struct log_input *log, struct json_writer *w)
{
    struct log_sampling s;

    log_input_sampling(log, &s);
    if (s.how == LOG_BEFORE_NONE)
        return;
    jw_object(w, "before_sampling");
    if (s.unbegun < s.recordings)
        jw_unsigned(w, "since_ns", s.since_ns);
    if (s.how != LOG_BEFORE_UNKNOWN)
        jw_unsigned(w, "bytes", s.bytes);
    jw_bool(w, "exact", s.how == LOG_BEFORE_EXACT);
    jw_end(w);
}
