#include "readers/log.h"

#include "base/clock.h"
#include "readers/parallel_reader.h"
#include "readers/parts.h"

#include <stdio.h>

#define PROGRESS_LINES 32768
#define SMALL          ((uint64_t)4 << 20) /* bytes of a file that threads are not worth */
#define NO_RECORD      "no record in its first lines"
#define LOOK_LINES     64 /* between two looks at the clock, */
#define LOOK_BYTES     ((uint64_t)64 << 10)
#define GIVE_UP_LINES  1000 /* without a record: this is no log, do not read on to its end */

void log_input_init(struct log_input *log)
{
    memset(log, 0, sizeof(*log));
}

void log_input_fini(struct log_input *log)
{
    log_json_release(log->lost_by, log->lost_others, log->lost_families, log->not_written,
                     log->header, log->end, log->unhandled, log->sampling);
    for (size_t i = 0; i < log->path_count; i++)
        memory_free(log->paths[i]);
    memory_free(log->paths);
    log_input_init(log);
}

uint64_t log_input_lost(const struct log_input *log)
{
    return log->lost + log_counts_sum(log->lost_by);
}

static int add_losses(json_t *to, const json_t *counts)
{
    const char *family;
    json_t *count;

    LOG_EACH_COUNT(counts, family, count)
    {
        if (log_count_in(counts, family) &&
            log_counts_add(&to, family, log_count_in(counts, family)))
            return -ENOMEM;
    }
    return 0;
}

json_t *log_input_lost_others(const struct log_input *log)
{
    json_t *sum = json_object();

    if (sum && !add_losses(sum, log->lost_others) && !add_losses(sum, log->lost_families))
        return sum;
    json_decref(sum);
    return NULL;
}

bool log_input_ended(const struct log_input *log)
{
    return log->ends > 0 && log->ends >= log->headers && !log->cut;
}

/* What the recording being read has lost; its end record, if it has one, tells more. */
static void losses_so_far(const struct log_input *log, const json_t *end,
                          struct log_completeness *out)
{
    const json_t *lost_by = json_object_get(end, "lost_by");
    const json_t *not_written = json_object_get(end, "not_written");
    struct log_losses losses = {.lost = log_count_in(end, "lost"),
                                .lost_by = log->lost_by,
                                .others = log->lost_families,
                                .not_written = not_written ? not_written : log->not_written};

    if (log_counts_sum(lost_by) >= log_counts_sum(log->lost_by))
        losses.lost_by = lost_by;
    log_losses_settle(&losses, out);
}

/* Counts are final of a recording that has ended (`end`), or that another header follows (NULL). */
static int settle_lost(struct log_input *log, const json_t *end)
{
    uint64_t lost = log_counts_sum(log->lost_by), at_least = log_count_in(end, "lost");
    json_t *others = log_input_lost_others(log);

    if (!others)
        return -ENOMEM;
    losses_so_far(log, end, &log->gaps);
    log->lost += lost > at_least ? lost : at_least;
    log_json_release(log->lost_by, log->lost_others, log->lost_families, log->not_written);
    log->lost_others = others;
    log->lost_by = log->lost_families = log->not_written = NULL;
    return 0;
}

/* The recording being read is over; another one begins. */
static void settle_tally(struct log_input *log)
{
    log_record_tally_settle(&log->tally, log->end, log->unhandled, &log->gaps);
    json_decref(log->unhandled);
    log->unhandled = NULL;
    memset(&log->tally, 0, sizeof(log->tally));
}

void log_input_completeness(const struct log_input *log, struct log_completeness *out)
{
    *out = log->gaps;
    log_record_tally_settle(&log->tally, log->end, log->unhandled, out);
    losses_so_far(log, NULL, out); /* those of an ended one are among the gaps */
    log_gap_add(out, LOG_GAP_CUT, NULL, NULL, log->cut, 0);
    log_gap_add(out, LOG_GAP_DAMAGED, NULL, NULL, log->damaged, 0);
    log_gap_add(out, LOG_GAP_AFTER_END, NULL, NULL, log->after_end, 0);
    log_gap_add(out, LOG_GAP_UNDEFINED, NULL, NULL, log->undefined, 0);
}

void log_input_sampling(const struct log_input *log, struct log_sampling *out)
{
    *out = log->sampled;
    log_sampling_add(out, log->header, log->sampling);
}

static int on_sampling(struct log_input *log, const struct log_record *r)
{
    return log_json_keep(&log->sampling, r->json);
}

static int on_header(struct log_input *log, const struct log_record *r)
{
    const char *format = "";
    uint64_t version = 0;

    if (log_member_text(r->json, "format", &format) || strcmp(format, SST_LOG_FORMAT) != 0) {
        snprintf(log->why, sizeof(log->why),
                 "not a shadowtrace log: its header says format \"%.40s\"", format);
        return -EBADMSG;
    }
    if (log_member_count(r->json, "version", &version) || version > SST_LOG_VERSION ||
        version < 1) {
        snprintf(log->why, sizeof(log->why),
                 "log version %llu; this shadowtrace (%s) reads version %d: use a newer one",
                 (unsigned long long)version, SHADOWTRACE_VERSION, SST_LOG_VERSION);
        return -EPROTO;
    }
    if (r->at.line > 1 && log_recording_again(&log->recording, r->json)) {
        log_gap_add(&log->gaps, LOG_GAP_HEADER_AGAIN, NULL, NULL, 1, 0);
        return 0;
    }
    if (log->only_one && log->recording.number &&
        !log_recording_goes_on(&log->recording, r->json)) {
        log_gap_add(&log->gaps, LOG_GAP_SEVERAL, NULL, NULL, 1, 0);
        return -ESTALE;
    }
    if (log_recording_next(&log->recording, r->json)) {
        if (log->tally.begun) {
            log_gap_add(&log->gaps, LOG_GAP_SEVERAL, NULL, NULL, r->at.line > 1, 0);
            if (settle_lost(log, NULL))
                return -ENOMEM;
            settle_tally(log);
        }
        log->headers++;
        log_input_sampling(log, &log->sampled);
        log_json_release(log->sampling);
        log->sampling = NULL;
    }
    if (log_json_keep(&log->sampling, json_object_get(r->json, "sampling")))
        return -ENOMEM;
    return log_json_keep(&log->header, r->json);
}

static int on_lost(struct log_input *log, const struct log_record *r)
{
    const char *reason = NULL;
    uint64_t count = 0;

    if (log_member_text(r->json, "reason", &reason) || log_member_count(r->json, "count", &count))
        return 0; /* a loss without a number: nothing to add */
    return log_counts_set(&log->lost_by, reason, count);
}

static int lost_of_family(struct log_input *log, const char *family, const json_t *said)
{
    uint64_t count = 0;

    if (!family || log_member_count(said, "lost", &count))
        return 0;
    return log_counts_set(&log->lost_families, family, count);
}

static int on_family_lost(struct log_input *log, const struct log_record *r)
{
    const char *family = NULL;

    (void)log_member_text(r->json, "family", &family);
    return lost_of_family(log, family, r->json);
}

static int on_not_written(struct log_input *log, const struct log_record *r)
{
    return log_json_keep(&log->not_written, json_object_get(r->json, "records"));
}

static int on_unhandled(struct log_input *log, const struct log_record *r)
{
    return log_json_keep(&log->unhandled, r->json);
}

static int on_end(struct log_input *log, const struct log_record *r)
{
    const char *family;
    json_t *said;
    int err = lost_of_family(log, "values", json_object_get(r->json, "values"));

    json_object_foreach(json_object_get(r->json, "events"), family, said)
    {
        if (!err)
            err = lost_of_family(log, family, said);
    }
    if (err || (err = settle_lost(log, r->json)))
        return err;
    log->ends++;
    if (log_json_keep(&log->sampling, json_object_get(r->json, "sampling")))
        return -ENOMEM;
    return log_json_keep(&log->end, r->json);
}

static int use(struct log_input *log, struct log_defs *defs, const struct log_consumer *consumer,
               const struct log_record *r)
{
    static int (*const on[SST_KIND_COUNT])(struct log_input *, const struct log_record *) = {
        [SST_KIND_HEADER] = on_header,
        [SST_KIND_LOST] = on_lost,
        [SST_KIND_FAMILY_LOST] = on_family_lost,
        [SST_KIND_NOT_WRITTEN] = on_not_written,
        [SST_KIND_UNHANDLED] = on_unhandled,
        [SST_KIND_SAMPLING] = on_sampling,
        [SST_KIND_END] = on_end,
    };
    int err = 0;

    if (UNLIKELY(log->tally.ended) && r->kind != SST_KIND_HEADER)
        log->after_end++;
    if (UNLIKELY(on[r->kind] != NULL))
        err = on[r->kind](log, r);
    if (err)
        return err == -EBADMSG ? -ENOMSG : err;
    if (LIKELY(r->kind != SST_KIND_ALLOC))
        err = log_defs_add(defs, r);
    if (!err)
        err = log_defs_expect(defs, r);
    return err ? err : consumer->record(consumer->context, r);
}

int log_input_take(struct log_input *log, struct log_defs *defs,
                   const struct log_consumer *consumer, const struct log_record *record)
{
    int err = use(log, defs, consumer, record);

    if (err)
        return err == -ENOMSG ? -EBADMSG : err;
    log_record_tally_add(&log->tally, record);
    log->lines++;
    log->used++;
    return 0;
}

/* A file that begins with anything else: its lines are of a recording of their own. */
static int headless(struct log_input *log)
{
    int err = settle_lost(log, NULL);

    settle_tally(log);
    log_gap_add(&log->gaps, LOG_GAP_NO_HEADER, NULL, NULL, 1, 0);
    return err;
}

/* Nothing was found in the log. Is what there is at least how a log begins? */
static bool could_begin(const struct log_line *line)
{
    static const char first[] = "{\"kind\":\"header\",\"format\":\"shadowtrace\"";
    size_t size = line->size < sizeof(first) - 1 ? line->size : sizeof(first) - 1;

    return line->cut && line->at.line == 1 && memcmp(line->text, first, size) == 0;
}

static int not_a_log(struct log_input *log, const char *why)
{
    snprintf(log->why, sizeof(log->why), "not a shadowtrace log: %s", why);
    return -EBADMSG;
}

/* One line, parsed: its record is used, or why it has none is noted. */
static int one_line(const struct log_parsed *p, struct log_defs *defs,
                    const struct log_consumer *consumer, struct log_input *log)
{
    const struct log_line *line = &p->line;
    int err = p->err;

    log->lines++;
    log->bytes += line->size + !line->cut;
    log->unknown_members += p->unknown_members;
    if (UNLIKELY(line->at.line == 1) &&
        (err || line->too_long || p->record.kind != SST_KIND_HEADER) && headless(log))
        return -ENOMEM;
    if (UNLIKELY(line->too_long)) {
        log_problem(defs->problems, line->at, "line longer than %zu MiB", LOG_LINE_MAX >> 20);
        log->skipped++;
        log->damaged++;
        return 0;
    }
    if (LIKELY(!err) && UNLIKELY(p->record.kind == SST_KIND_UNKNOWN)) {
        log->unknown_records++;
        return 0;
    }
    if (LIKELY(!err)) {
        err = use(log, defs, consumer, &p->record);
        if (LIKELY(!err))
            log_record_tally_add(&log->tally, &p->record);
    } else if (err == -EBADMSG) {
        log_problem(defs->problems, line->at, "%s%s",
                    line->cut ? "the log is cut within this line: " : "", p->why);
        log->cut += line->cut;
    }
    if (UNLIKELY(err == -EBADMSG)) {
        log->skipped++;
        log->damaged += !line->cut;
        return 0;
    }
    log->used += !err;
    return err;
}

/* Where parsed lines come from: threads that read ahead, or, without them, the reader itself. */
struct source {
    struct log_lines *lines;
    struct parallel_reader *parallel;
    struct log_parser parser;
    struct log_parsed parsed;
};

static int source_init(struct source *s, struct log_lines *lines, unsigned jobs)
{
    int err = 0;

    *s = (struct source){.lines = lines, .parsed.line.text = ""};
    log_parser_init(&s->parser);
    if (jobs > 1 && (!log_lines_size(lines) || log_lines_size(lines) >= SMALL))
        err = parallel_reader_new(lines, jobs, &s->parallel);
    return err == -EAGAIN ? 0 : err;
}

static void source_fini(struct source *s)
{
    parallel_reader_free(s->parallel);
    log_parser_fini(&s->parser);
}

static int source_next(struct source *s, const struct log_parsed **out)
{
    struct log_parsed *p = &s->parsed;
    int more;

    if (s->parallel)
        return parallel_reader_next(s->parallel, out);
    more = log_lines_next(s->lines, &p->line);
    *out = p;
    p->err = 0;
    p->unknown_members = 0;
    if (more <= 0 || UNLIKELY(p->line.too_long))
        return more;
    p->why = s->parser.why;
    p->err = log_parse(&s->parser, &p->line, &p->record);
    p->unknown_members = s->parser.unknown_members;
    s->parser.unknown_members = 0;
    return 1;
}

static void say_progress(const struct source *s, const struct log_consumer *consumer)
{
    if (consumer->progress)
        consumer->progress(consumer->progress_context,
                           s->parallel ? parallel_reader_taken(s->parallel)
                                       : log_lines_taken(s->lines),
                           log_lines_size(s->lines));
}

struct log_reading {
    struct log_defs *defs;
    const struct log_consumer *consumer;
    struct log_input *log;
    const char *file;
    struct source source;
    struct log_place at; /* behind the last line */
    uint64_t lines_before, used_before, cut_before, damaged_before, headers_before;
    uint64_t until_ns;                   /* 0: for as long as there are lines */
    uint64_t looked_lines, looked_bytes; /* of the log when the clock was looked at */
    bool begun;                          /* what there is is at least how a log begins */
};

int log_reading_new(struct log_lines *lines, const char *file, struct log_defs *defs,
                    const struct log_consumer *consumer, struct log_input *log,
                    struct log_reading **out)
{
    struct log_reading *r = memory_zalloc(1, sizeof(*r));
    int err;

    *out = r;
    if (!r)
        return -ENOMEM;
    *r = (struct log_reading){.defs = defs,
                              .consumer = consumer,
                              .log = log,
                              .file = file,
                              .at = {1, 0},
                              .lines_before = log->lines,
                              .used_before = log->used,
                              .cut_before = log->cut,
                              .damaged_before = log->damaged,
                              .headers_before = log->headers,
                              .looked_lines = log->lines,
                              .looked_bytes = log->bytes};
    err = source_init(&r->source, lines, log->jobs);
    if (err) {
        log_reading_free(r);
        *out = NULL;
    }
    return err;
}

void log_reading_free(struct log_reading *r)
{
    if (r)
        source_fini(&r->source);
    memory_free(r);
}

/* No line comes any more. */
static int reading_end(struct log_reading *r)
{
    struct log_input *log = r->log;
    const char *damage = log_lines_damage(r->source.lines);
    int err = 0;

    if (log->lines == r->lines_before)
        err = headless(log);
    else if (log->used == r->used_before && !r->begun)
        err = not_a_log(log, NO_RECORD);
    /* what has no header and fewer lines of a log than others is a text that quotes one */
    if (!err && log->headers == r->headers_before &&
        log->damaged - r->damaged_before > log->used - r->used_before)
        err = not_a_log(log, "it has no header, and most of its lines are not records");
    if (damage) {
        /* a line that was noted as cut says it already */
        if (log->cut == r->cut_before || strcmp(damage, LOG_LINES_CUT) != 0)
            log_problem(r->defs->problems, r->at, "the compressed log ends here: %s", damage);
        log->cut++;
    }
    return err;
}

static int next_line(struct log_reading *r, const struct log_parsed *parsed)
{
    const struct log_line *line = &parsed->line;
    int err = one_line(parsed, r->defs, r->consumer, r->log);

    if (UNLIKELY(err))
        return err;
    r->begun = could_begin(line);
    r->at.line = line->at.line + 1;
    r->at.offset = line->at.offset + line->size + !line->cut;
    if (UNLIKELY(r->at.line == GIVE_UP_LINES) && r->log->used == r->used_before)
        return not_a_log(r->log, NO_RECORD);
    if (UNLIKELY(line->at.line % PROGRESS_LINES == 0))
        say_progress(&r->source, r->consumer);
    return 0;
}

void log_reading_until(struct log_reading *r, uint64_t until_ns)
{
    r->until_ns = until_ns;
}

static bool is_late(struct log_reading *r)
{
    const struct log_input *log = r->log;

    if (LIKELY(!r->until_ns) ||
        (log->lines - r->looked_lines < LOOK_LINES && log->bytes - r->looked_bytes < LOOK_BYTES))
        return false;
    r->looked_lines = log->lines;
    r->looked_bytes = log->bytes;
    return clock_ns() >= r->until_ns;
}

int log_reading_more(struct log_reading *r)
{
    const struct log_parsed *parsed = NULL;
    uint64_t undefined = r->defs->undefined;
    int err = 0, more;

    r->log->file = r->file;
    r->defs->problems->file = r->file;
    while (!err && (more = is_late(r) ? -EAGAIN : source_next(&r->source, &parsed)) != 0)
        err = more < 0 ? more : next_line(r, parsed);
    if (!err)
        err = reading_end(r);
    r->log->undefined += r->defs->undefined - undefined;
    return err == -ENOMSG ? -EBADMSG : err;
}

int log_input_read_lines(struct log_lines *lines, const char *file, struct log_defs *defs,
                         const struct log_consumer *consumer, struct log_input *log)
{
    struct log_reading *reading;
    int err = log_reading_new(lines, file, defs, consumer, log, &reading);

    if (!err)
        err = log_reading_more(reading);
    log_reading_free(reading);
    return err;
}

/* The name of a part, which nobody else keeps. Returns: NULL without memory. */
static const char *keep_name(struct log_input *log, const char *path)
{
    char *name = memory_strdup(path);

    if (!name || !array_reserve(&log->paths, &log->path_capacity, log->path_count + 1)) {
        memory_free(name);
        return NULL;
    }
    return log->paths[log->path_count++] = name;
}

static int read_file(const char *path, struct log_defs *defs, const struct log_consumer *consumer,
                     struct log_input *log)
{
    struct log_lines *lines = NULL;
    int err = log_lines_open(path, &lines);

    if (!err)
        err = log_input_read_lines(lines, path, defs, consumer, log);
    log_lines_free(lines);
    return err;
}

int log_input_read(const char *path, struct log_defs *defs, const struct log_consumer *consumer,
                   struct log_input *log)
{
    struct log_parts parts = {NULL, 0, 0, 0};
    int err = log_parts_find(path, &parts);

    for (size_t i = 0; !err && i < parts.count; i++) {
        const char *name = i + 1 == parts.count ? path : keep_name(log, parts.paths[i]);

        err = name ? read_file(name, defs, consumer, log) : -ENOMEM;
    }
    if (parts.last > log->tally.last)
        log->tally.last = parts.last;
    log->file = path;
    log_parts_fini(&parts);
    return err;
}
