#include "report/replay.h"

#include "base/glob.h"

#include "base/order.h"

#include <stdlib.h>

#define NO_ROW UINT32_MAX
/* Allocations of a thread that are remembered for calls told late. */
#define HISTORY_MAX ((size_t)1 << 20)

/* What a thread had allocated before an allocation at t. */
struct sum {
    uint64_t t, bytes, allocs;
};

/* A thread's own; the `user` of its calls. */
struct thread {
    uint64_t bytes, allocs;
    struct sum *history; /* only of a log whose calls are reported late */
    size_t count, capacity;
    bool inside;   /* its open calls have their rows */
    uint32_t rows; /* that it has */
    uint32_t last; /* row of its latest event; NO_ROW */
    bool last_ended;
    uint64_t values_id;
    char *values, *out; /* JSON of the latest values line, and of its by-refs; NULL */
};

struct replay {
    struct replay_filter filter;
    struct log_defs defs;
    struct log_input log;
    struct report_calls calls;
    struct replay_row *rows;
    size_t count, capacity;
    uint64_t more, entered, missing, last_t;
    uint8_t *verdicts; /* by number of a method: 0 none yet, 1 wanted, 2 not */
    size_t verdict_count;
    bool late; /* --min-duration */
};

/* Threads come into the log in any order: each may have all the rows that are wanted. */
static int new_row(struct replay *r, struct thread *t, const struct replay_row *row, uint32_t *out)
{
    *out = NO_ROW;
    if ((r->filter.limit && t->rows >= r->filter.limit) || r->count >= NO_ROW - 1) {
        r->more++;
        return 0;
    }
    if (!array_reserve(&r->rows, &r->capacity, r->count + 1))
        return -ENOMEM;
    r->rows[r->count] = *row;
    r->rows[r->count].order = (uint32_t)r->count;
    *out = (uint32_t)r->count++;
    t->rows++;
    return 0;
}

static void rows_cut(struct replay *r, size_t count)
{
    while (r->count > count) {
        struct replay_row *row = &r->rows[--r->count];

        free(row->args); /* jansson's */
        free(row->returns);
        free(row->out);
    }
}

static struct thread *own(struct report_calls_thread *thread)
{
    if (!thread->user) {
        struct thread *own = memory_zalloc(1, sizeof(*own));

        if (own)
            own->last = NO_ROW;
        thread->user = own;
    }
    return thread->user;
}

static bool sum_before(const void *sum, const void *t)
{
    return ((const struct sum *)sum)->t < *(const uint64_t *)t;
}

/* What the thread had allocated at t. */
static struct sum allocated_at(const struct thread *t, uint64_t at)
{
    size_t i = order_first(t->history, t->count, sizeof(*t->history), sum_before, &at);

    return i < t->count ? t->history[i] : (struct sum){at, t->bytes, t->allocs};
}

static int history_add(struct thread *t, uint64_t at)
{
    if (t->count == HISTORY_MAX) {
        t->count /= 2;
        memmove(t->history, t->history + t->count, t->count * sizeof(*t->history));
    }
    if (!array_reserve(&t->history, &t->capacity, t->count + 1))
        return -ENOMEM;
    t->history[t->count++] = (struct sum){at, t->bytes, t->allocs};
    return 0;
}

static int number_of(struct replay *r, uint32_t id, uint32_t *number)
{
    return log_defs_method(&r->defs, id, (struct log_place){0, 0}, number);
}

static int wanted(struct replay *r, uint32_t number, bool *out)
{
    if (!array_reserve_zeroed(&r->verdicts, &r->verdict_count, (size_t)number + 1))
        return -ENOMEM;
    if (!r->verdicts[number])
        r->verdicts[number] =
            glob_match(r->filter.method, log_method(&r->defs, number)->name) ? 1 : 2;
    *out = r->verdicts[number] == 1;
    return 0;
}

/* How deep below the first one shown this call is; below 0: it is not shown. */
static int level_of(struct replay *r, struct report_calls_thread *thread, struct report_call *call)
{
    const struct report_call *caller = report_call_caller(thread, call);
    int32_t above = caller ? caller->level : -1;
    uint32_t number;
    bool starts = !r->filter.method;
    int err = 0;

    if (above < 0 && !starts && !(err = number_of(r, call->method, &number)))
        err = wanted(r, number, &starts);
    call->level = above >= 0 ? above + 1 : starts ? 0 : -1;
    return err;
}

static bool shown(const struct replay *r, const struct report_calls_thread *thread, int32_t level)
{
    return level >= 0 && (!r->filter.depth || (uint64_t)level < r->filter.depth) &&
           (!r->filter.thread || r->filter.thread == thread->id);
}

/* A row for an open call, if it is to be shown. */
static int show(struct replay *r, struct report_calls_thread *thread, struct report_call *call)
{
    struct thread *t = own(thread);
    struct replay_row row = {.thread = thread->id, .t = call->t, .level = (uint32_t)call->level};
    struct sum before;
    int err;

    if (!shown(r, thread, call->level))
        return 0;
    err = number_of(r, call->method, &row.method);
    before = allocated_at(t, call->t);
    row.bytes = before.bytes;
    row.allocs = before.allocs;
    return err ? err : new_row(r, t, &row, &call->row);
}

/* The thread comes into the range: what is open by then is part of it. */
static int come_in(struct replay *r, struct report_calls_thread *thread, uint64_t now)
{
    struct thread *t = own(thread);
    int err = 0;

    if (!t)
        return -ENOMEM;
    if (t->inside || now < r->filter.from)
        return 0;
    t->inside = true;
    for (size_t i = 0; !err && i < thread->size; i++)
        if (!thread->calls[i].ended && thread->calls[i].row == NO_ROW &&
            thread->calls[i].t <= r->filter.to)
            err = show(r, thread, &thread->calls[i]);
    return err;
}

static int on_entered(void *context, struct report_calls_thread *thread, struct report_call *call)
{
    struct replay *r = context;
    struct thread *t = own(thread);
    int err;

    if (!t)
        return -ENOMEM;
    r->entered++;
    call->row = NO_ROW;
    t->last = NO_ROW;
    err = level_of(r, thread, call);
    if (err || thread->t < r->filter.from)
        return err;
    err = come_in(r, thread, thread->t); /* this one, too, if it is the first */
    if (!err && call->row == NO_ROW && call->t <= r->filter.to)
        err = show(r, thread, call);
    t->last = call->row;
    t->last_ended = false;
    return err;
}

static int on_ended(void *context, struct report_calls_thread *thread, struct report_call *call,
                    uint64_t at, enum report_call_end end)
{
    struct replay *r = context;
    int err = come_in(r, thread, at);
    struct thread *t = thread->user;
    struct replay_row *row;

    if (err)
        return err;
    t->last = call->row;
    t->last_ended = true;
    if (call->row == NO_ROW)
        return 0;
    row = &r->rows[call->row];
    row->ns = at > call->t ? at - call->t : 0;
    row->end = end;
    row->bytes = t->bytes - row->bytes;
    row->allocs = t->allocs - row->allocs;
    return 0;
}

/* The level of something that happens inside the youngest call; below 0: not shown. */
static int32_t inner_level(const struct report_calls_thread *thread, const struct replay *r)
{
    const struct report_call *youngest = report_call_youngest(thread);

    if (!youngest)
        return r->filter.method ? -1 : 0;
    return youngest->level < 0 ? -1 : youngest->level + 1;
}

static bool in_range(const struct replay *r, uint64_t t)
{
    return t >= r->filter.from && t <= r->filter.to;
}

static int on_missing(void *context, struct report_calls_thread *thread, uint64_t t, uint64_t count)
{
    struct replay *r = context;
    int32_t level = inner_level(thread, r);
    struct replay_row row = {
        .kind = REPLAY_MISSING, .thread = thread->id, .t = t, .missing = count};
    uint32_t number;
    int err = come_in(r, thread, t);

    r->missing += count;
    if (err || !in_range(r, t) || !shown(r, thread, level))
        return err;
    row.level = (uint32_t)level;
    return new_row(r, thread->user, &row, &number);
}

static int on_values(void *context, struct report_calls_thread *thread, uint64_t id)
{
    struct replay *r = context;
    struct thread *t = own(thread);
    char **to;

    if (!t || t->values_id != id || t->last == NO_ROW)
        return 0;
    if (t->out && !r->rows[t->last].out) {
        r->rows[t->last].out = t->out;
        t->out = NULL;
    }
    to = t->last_ended ? &r->rows[t->last].returns : &r->rows[t->last].args;
    if (*to || !t->values)
        return 0;
    *to = t->values;
    t->values = NULL;
    return 0;
}

static int on_alloc(struct replay *r, const struct log_alloc *a)
{
    struct report_calls_thread *thread = report_calls_thread(&r->calls, a->thread);
    struct thread *t = thread ? own(thread) : NULL;
    int err;

    if (!t)
        return -ENOMEM;
    err = come_in(r, thread, a->t);
    if (!err && r->late)
        err = history_add(t, a->t);
    t->bytes += a->bytes;
    t->allocs++;
    return err;
}

static int on_exception(struct replay *r, const struct log_record *record)
{
    struct replay_row row = {.kind = REPLAY_EXCEPTION};
    const char *event = "", *message = NULL;
    struct report_calls_thread *thread;
    uint32_t id = 0, number = NO_ROW;
    int32_t level;
    int err;

    (void)log_member_text(record->json, "event", &event);
    if (strcmp(event, "thrown") != 0 || log_member_id(record->json, "thread", 1, &row.thread) ||
        log_member_count(record->json, "t", &row.t))
        return 0;
    thread = report_calls_thread(&r->calls, row.thread);
    err = thread ? come_in(r, thread, row.t) : -ENOMEM;
    if (err)
        return err;
    level = inner_level(thread, r);
    if (!in_range(r, row.t) || !shown(r, thread, level))
        return 0;
    row.level = (uint32_t)level;
    (void)log_member_id(record->json, "class", 1, &id);
    err = log_defs_class(&r->defs, id, record->at, &row.method);
    if (!log_member_text(record->json, "message", &message))
        row.args =
            json_dumps(json_object_get(record->json, "message"), JSON_ENCODE_ANY | JSON_COMPACT);
    if (!err)
        err = new_row(r, thread->user, &row, &number);
    if (err || number == NO_ROW)
        free(row.args); /* jansson's */
    return err;
}

static int on_value_line(struct replay *r, const struct log_record *record)
{
    const json_t *value = json_object_get(record->json, "args"),
                 *out = json_object_get(record->json, "out");
    struct report_calls_thread *thread;
    uint32_t id = 0, values = 0;
    struct thread *t;

    if (log_member_id(record->json, "thread", 1, &id) ||
        log_member_id(record->json, "id", 1, &values))
        return 0;
    if (!value)
        value = json_object_get(record->json, "returns");
    thread = report_calls_thread(&r->calls, id);
    t = thread ? own(thread) : NULL;
    if (!t)
        return -ENOMEM;
    free(t->values); /* jansson's, as is out */
    free(t->out);
    t->out = out ? json_dumps(out, JSON_COMPACT) : NULL;
    t->values = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    t->values_id = values;
    return 0;
}

static int on_record(void *context, const struct log_record *record)
{
    struct replay *r = context;

    switch (record->kind) {
    case SST_KIND_CALLS:
        if (record->calls.t > r->last_t)
            r->last_t = record->calls.t;
        return report_calls_take(&r->calls, &record->calls);
    case SST_KIND_ALLOC:
        return on_alloc(r, &record->alloc);
    case SST_KIND_EXCEPTION:
        return on_exception(r, record);
    case SST_KIND_VALUES:
        return on_value_line(r, record);
    case SST_KIND_HEADER: /* whether calls are reported late */
        r->late = json_integer_value(json_object_get(json_object_get(record->json, "options"),
                                                     "min_duration")) > 0;
        return 0;
    default:
        return 0;
    }
}

int replay_new(const struct replay_filter *filter, struct log_problems *problems,
               struct replay **out)
{
    struct replay *r = memory_zalloc(1, sizeof(*r));

    *out = r;
    if (!r)
        return -ENOMEM;
    r->filter = *filter;
    r->calls = (struct report_calls){.entered = on_entered,
                                     .ended = on_ended,
                                     .missing = on_missing,
                                     .values = on_values,
                                     .context = r};
    log_input_init(&r->log);
    if (!log_defs_init(&r->defs, problems))
        return 0;
    replay_free(r);
    *out = NULL;
    return -ENOMEM;
}

void replay_free(struct replay *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->calls.count; i++) {
        struct thread *t = r->calls.threads[i].user;

        if (t) {
            memory_free(t->history);
            free(t->values); /* jansson's */
            free(t->out);
        }
        memory_free(t);
    }
    report_calls_fini(&r->calls);
    rows_cut(r, 0);
    memory_free_all(r->rows, r->verdicts);
    log_defs_fini(&r->defs);
    log_input_fini(&r->log);
    memory_free(r);
}

struct log_input *replay_log(struct replay *r)
{
    return &r->log;
}

struct log_defs *replay_defs(struct replay *r)
{
    return &r->defs;
}

/* Thread by thread, or by time: rows of calls open when their thread came in are made late. */
ORDERED_BY(by_time, struct replay_row, ORDER(x->t, y->t), ORDER(x->order, y->order))

ORDERED_BY(by_thread, struct replay_row, ORDER(x->thread, y->thread), by_time(a, b))

/* What the log leaves open. */
static int finish(struct replay *r)
{
    int err = 0;

    for (size_t i = 0; !err && i < r->calls.count; i++) {
        struct report_calls_thread *thread = &r->calls.threads[i];

        if (!own(thread))
            return -ENOMEM;
        err = come_in(r, thread, thread->t > r->last_t ? thread->t : r->last_t);
        for (struct report_call *call = report_call_youngest(thread); !err && call;
             call = report_call_caller(thread, call))
            if (call->row != NO_ROW)
                err = on_ended(r, thread, call, thread->t, REPORT_CALL_OPEN);
    }
    if (err)
        return err;
    SORT(r->rows, r->count, r->filter.interleaved ? by_time : by_thread);
    if (r->filter.limit && r->count > r->filter.limit) {
        r->more += r->count - r->filter.limit;
        rows_cut(r, r->filter.limit);
    }
    return 0;
}

int replay_read(struct replay *r, const char *path, void (*progress)(void *, uint64_t, uint64_t),
                void *progress_context)
{
    const struct log_consumer consumer = {.record = on_record,
                                          .progress = progress,
                                          .context = r,
                                          .progress_context = progress_context};
    int err = log_input_read(path, &r->defs, &consumer, &r->log);

    return err ? err : finish(r);
}

int replay_read_lines(struct replay *r, struct log_lines *lines, const char *file)
{
    const struct log_consumer consumer = {.record = on_record, .context = r};
    int err = log_input_read_lines(lines, file, &r->defs, &consumer, &r->log);

    return err ? err : finish(r);
}

const struct replay_row *replay_rows(const struct replay *r, size_t *count)
{
    *count = r->count;
    return r->rows;
}

uint64_t replay_more(const struct replay *r)
{
    return r->more;
}

uint64_t replay_missing(const struct replay *r)
{
    return r->missing;
}

uint64_t replay_calls(const struct replay *r)
{
    return r->entered;
}
