#include "report/events.h"

#include "base/order.h"

#define NAMES_MAX 512 /* rows with a name; all others are one row */
#define OTHERS    "(others)"

static bool row_equal(const void *record, const void *key)
{
    const struct events_row *row = record, *wanted = key;

    return row->a == wanted->a && row->b == wanted->b && !row->name == !wanted->name &&
           (!row->name || strcmp(row->name, wanted->name) == 0);
}

static uint64_t row_hash(const void *record)
{
    const struct events_row *row = record;

    return row->name ? hash_bytes(row->name, strlen(row->name)) : hash_mix(row->a, row->b);
}

/* The row of a key, made if it is new; NULL: no memory. Valid until the next one is made. */
static struct events_row *row_of(struct events_table *t, uint32_t a, uint32_t b, const char *name)
{
    static const struct index_kind kind = {sizeof(struct events_row), row_hash, row_equal};
    struct events_row key = {.a = a, .b = b};
    uint32_t number;
    int added;

    key.name = (char *)(uintptr_t)(name && t->named >= NAMES_MAX ? OTHERS : name);
    added = index_add(&t->index, &kind, &t->rows, &t->count, &t->capacity, &key, &number);
    if (added > 0 && key.name) {
        t->rows[number].name = memory_strdup(key.name);
        t->named++;
    }
    return added < 0 || (key.name && !t->rows[number].name) ? NULL : &t->rows[number];
}

static void add_time(struct events_row *row, uint64_t ns)
{
    row->ns += ns;
    if (ns > row->max)
        row->max = ns;
}

/* Exceptions. */

static int number_in(struct events_report *f, const struct log_record *r, const char *key,
                     int (*get)(struct log_defs *, uint32_t, struct log_place, uint32_t *),
                     uint32_t *out)
{
    uint32_t id = 0;

    *out = 0;
    return log_member_id(r->json, key, 1, &id) ? 0 : get(&f->defs, id, r->at, out);
}

static int thrown(struct events_report *f, const struct log_record *r, uint32_t id)
{
    uint32_t class_number = 0, path = 0;
    struct events_row *row;
    int err = number_in(f, r, "class", log_defs_class, &class_number);

    if (!err)
        err = log_defs_event_path(&f->defs, r, &path);
    row = err ? NULL : row_of(&f->table, class_number, path, NULL);
    if (!row)
        return err ? err : -ENOMEM;
    row->count++;
    if (!id)
        return 0; /* damaged: its end will not be found */
    return log_id_map_set(&f->thrown, id, (uint32_t)(row - f->table.rows));
}

static int on_exception(struct events_report *f, const struct log_record *r)
{
    static const char *const ends[] = {"caught", "native", "swallowed", "superseded"};
    const char *event = log_text_in(r, "event");
    uint64_t ns = log_count_in(r->json, "ns");
    struct events_row *row = NULL, *catcher;
    uint32_t id = 0, method, known;
    int err;

    (void)log_member_id(r->json, "id", 1, &id);
    if (strcmp(event, "thrown") == 0)
        return thrown(f, r, id);
    known = id ? log_id_map_get(&f->thrown, id) : 0;
    if (known)
        row = &f->table.rows[known - 1];
    for (int i = 0; row && i < 4; i++) {
        if (strcmp(event, ends[i]) != 0)
            continue;
        row->more[i]++;
        add_time(row, ns);
    }
    if (!row || strcmp(event, "caught") != 0)
        return 0;
    err = number_in(f, r, "method", log_defs_method, &method);
    catcher = err ? NULL : row_of(&f->catchers, row->a, method, NULL);
    if (!catcher)
        return err ? err : -ENOMEM;
    catcher->count++;
    add_time(catcher, ns);
    return 0;
}

static int exceptions_record(struct events_report *f, const struct log_record *r)
{
    return r->kind == SST_KIND_EXCEPTION ? on_exception(f, r) : 0;
}

/* Collections. */

static int gc_record(struct events_report *f, const struct log_record *r)
{
    if (r->kind == SST_KIND_GC && !f->second)
        return collections_add(&f->collections, r);
    return r->kind == SST_KIND_ALLOC && f->second ? collections_alloc(&f->collections, r) : 0;
}

/* Compilations and suspensions. */

static int jit_record(struct events_report *f, const struct log_record *r)
{
    const char *tier, *name;
    struct events_row *row;
    uint32_t method = 0;
    int err;

    if (r->kind != SST_KIND_JIT || json_object_get(r->json, "unloaded"))
        return 0;
    err = number_in(f, r, "method", log_defs_method, &method);
    name = json_object_get(r->json, "dynamic") ? log_text_in(r, "name") : NULL;
    row = err ? NULL : row_of(&f->table, method, 0, name);
    if (!row)
        return err ? err : -ENOMEM;
    tier = log_text_in(r, "tier");
    row->count++;
    row->more[0] += name || strcmp(tier, "first") == 0;
    row->more[1] += strcmp(tier, "tier1") == 0 || strcmp(tier, "again") == 0;
    row->more[2] += strcmp(tier, "rejit") == 0;
    row->more[3] += json_object_get(r->json, "status") != NULL;
    add_time(row, log_count_in(r->json, "ns"));
    return 0;
}

static int suspend_record(struct events_report *f, const struct log_record *r)
{
    struct events_row *row;

    if (r->kind != SST_KIND_SUSPEND)
        return 0;
    row = row_of(&f->table, 0, 0, log_text_in(r, "reason"));
    if (!row)
        return -ENOMEM;
    row->count++;
    row->more[0] += log_count_in(r->json, "stop_ns");
    row->more[1] += json_object_get(r->json, "aborted") != NULL;
    add_time(row, log_count_in(r->json, "ns"));
    return 0;
}

/* Calls. */

static int calls_record(struct events_report *f, const struct log_record *r)
{
    return r->kind == SST_KIND_CALLS ? report_call_times_take(&f->calls, &r->calls) : 0;
}

static int calls_finish(struct events_report *f)
{
    report_call_times_finish(&f->calls);
    f->missing = f->calls.missing;
    for (uint32_t method = 0; method < f->calls.count; method++) {
        const struct report_call_time *time = report_call_time_of(&f->calls, method);
        struct events_row *row = time ? row_of(&f->table, method, 0, NULL) : NULL;

        if (!row && time)
            return -ENOMEM;
        if (!row)
            continue;
        row->count = time->calls;
        row->ns = time->total_ns;
        row->max = time->longest_ns;
        row->more[0] = time->self_ns;
        row->more[1] = time->unwound;
    }
    return 0;
}

int events_report_init(struct events_report *f, enum events_topic topic,
                       struct log_problems *problems)
{
    static int (*const records[])(struct events_report *, const struct log_record *) = {
        exceptions_record, gc_record, jit_record, suspend_record, calls_record};

    memset(f, 0, sizeof(*f));
    f->topic = topic;
    f->record = records[topic];
    report_call_times_init(&f->calls, &f->defs);
    collections_init(&f->collections, &f->defs);
    log_input_init(&f->log);
    return log_defs_init(&f->defs, problems);
}

static void table_fini(struct events_table *t)
{
    for (size_t i = 0; i < t->count; i++)
        memory_free(t->rows[i].name);
    memory_free(t->rows);
    index_free(&t->index);
}

void events_report_fini(struct events_report *f)
{
    table_fini(&f->table);
    table_fini(&f->catchers);
    collections_fini(&f->collections);
    log_id_map_free(&f->thrown);
    report_call_times_fini(&f->calls);
    log_defs_fini(&f->defs);
    log_input_fini(&f->log);
}

static int on_record(void *context, const struct log_record *record)
{
    struct events_report *f = context;

    return f->record(f, record);
}

ORDERED_BY(by_ns, struct events_row, ORDER(y->ns, x->ns), ORDER(y->count, x->count))

ORDERED_BY(by_count, struct events_row, ORDER(y->count, x->count), ORDER(y->ns, x->ns))

static int read_once(struct events_report *f, const char *path, struct log_input *log,
                     void (*progress)(void *, uint64_t, uint64_t), void *progress_context)
{
    const struct log_consumer consumer = {.record = on_record,
                                          .progress = progress,
                                          .context = f,
                                          .progress_context = progress_context};

    return log_input_read(path, &f->defs, &consumer, log);
}

static int read_collections(struct events_report *f, const char *path)
{
    struct log_problems *problems = f->defs.problems, again;
    struct log_input log;
    int err;

    log_input_init(&log);
    log_problems_init(&again); /* each is noted once, by the second pass */
    f->defs.problems = &again;
    log.jobs = f->log.jobs;
    err = read_once(f, path, &log, NULL, NULL);
    f->defs.problems = problems;
    log_problems_fini(&again);
    log_input_fini(&log);
    collections_sort(&f->collections);
    f->second = true;
    return err;
}

int events_report_read(struct events_report *f, const char *path,
                       void (*progress)(void *, uint64_t, uint64_t), void *progress_context)
{
    int err = f->topic == EVENTS_GC ? read_collections(f, path) : 0;

    if (err == -EPROTO || err == -EBADMSG)
        err = 0; /* the second reading says so in full */
    if (!err)
        err = read_once(f, path, &f->log, progress, progress_context);
    if (!err)
        err = calls_finish(f);
    collections_finish(&f->collections);
    SORT(f->table.rows, f->table.count, f->topic == EVENTS_EXCEPTIONS ? by_count : by_ns);
    SORT(f->catchers.rows, f->catchers.count, by_count);
    return err;
}
