#include "report/checks.h"

#include "base/order.h"

#include <stdio.h>

/* Two sources of the same cumulative counts: the larger is the later. */
static int counts_later(json_t **to, const json_t *from)
{
    const char *name;
    json_t *count;
    int err = 0;

    LOG_EACH_COUNT(from, name, count)
    {
        if (!err && log_count_in(from, name) >= log_count_in(*to, name))
            err = log_counts_set(to, name, log_count_in(from, name));
    }
    return err;
}

/* Histograms. */

static int histogram_add(struct report_histogram *h, const json_t *pairs, const json_t *sum)
{
    uint64_t middles = 0;
    const json_t *pair;
    size_t i;

    json_array_foreach(pairs, i, pair)
    {
        json_int_t ns = json_integer_value(json_array_get(pair, 0));
        json_int_t count = json_integer_value(json_array_get(pair, 1));

        if (ns < 0 || count <= 0 || count > SST_INTEGER_MAX || ns > SST_INTEGER_MAX)
            continue;
        if (!array_reserve(&h->buckets, &h->capacity, h->size + 1))
            return -ENOMEM;
        h->buckets[h->size++] = (struct report_bucket){(uint64_t)ns, (uint64_t)count};
        h->count += (uint64_t)count;
        middles += (uint64_t)ns * (uint64_t)count;
    }
    h->sum += json_is_integer(sum) && json_integer_value(sum) >= 0
                  ? (uint64_t)json_integer_value(sum)
                  : middles;
    return 0;
}

ORDERED_BY(bucket_order, struct report_bucket, ORDER(x->ns, y->ns))

uint64_t report_quantile(const struct report_histogram *h, double share)
{
    double wanted = share * (double)h->count;
    uint64_t passed = 0;

    for (size_t i = 0; i < h->size; i++) {
        passed += h->buckets[i].count;
        if ((double)passed >= wanted)
            return h->buckets[i].ns;
    }
    return 0;
}

double report_mean(const struct report_histogram *h)
{
    return h->count ? (double)h->sum / (double)h->count : 0;
}

static int depths_add(struct report_checks *c, const json_t *rows)
{
    const json_t *row;
    size_t i, at;

    json_array_foreach(rows, i, row)
    {
        struct report_depth more = {log_count_in(row, "from"), log_count_in(row, "to"),
                                    log_count_in(row, "count"), log_count_in(row, "shadow_ns"),
                                    log_count_in(row, "snapshot_ns")};

        for (at = 0; at < c->depth_count; at++)
            if (c->depths[at].from == more.from && c->depths[at].to == more.to)
                break;
        if (at == c->depth_count) {
            if (!array_reserve(&c->depths, &c->depth_capacity, c->depth_count + 1))
                return -ENOMEM;
            c->depths[c->depth_count++] = (struct report_depth){more.from, more.to, 0, 0, 0};
        }
        c->depths[at].count += more.count;
        c->depths[at].shadow_ns += more.shadow_ns;
        c->depths[at].snapshot_ns += more.snapshot_ns;
    }
    return 0;
}

ORDERED_BY(depth_order, struct report_depth, ORDER(x->from, y->from), ORDER(x->to, y->to))

#define ADD_LAST(form, member, label) SST_NUMBER_##form(c->member += log_count_in(last, #member);)

/* One recording is over: its last counts are final. */
static int settle_counts(struct report_checks *c)
{
    /* the end record has the later counts where it has them */
    const json_t *end = json_object_get(c->end, "snapshots");
    const json_t *last = end ? end : c->check;
    const json_t *causes = json_object_get(last, "mismatched_by");
    uint64_t mismatched = log_count_in(last, "mismatched"),
             compared = log_count_in(last, "compared");
    int err = 0;

    if (!causes)
        causes = json_object_get(c->check, "mismatched_by");
    if (c->mismatch_records > mismatched) { /* the log is cut before the next check */
        compared += c->mismatch_records - mismatched;
        mismatched = c->mismatch_records;
        causes = c->seen_by;
    }
    c->any |= last != NULL || c->mismatch_records > 0;
    SST_COUNTERS_SNAPSHOTS(ADD_LAST)
    c->mismatched += mismatched - log_count_in(last, "mismatched");
    c->compared += compared - log_count_in(last, "compared");
    if (compared > log_count_in(last, "taken"))
        c->taken += compared - log_count_in(last, "taken");
    err = log_counts_add_all(&c->refused_by, json_object_get(last, "refused_by"));
    return err ? err : log_counts_add_all(&c->mismatched_by, causes);
}

/* Counts by name, and objects of such: summed, the names of both kept. Of words the last one. */
static int sum_into(json_t *to, const json_t *from)
{
    const char *key;
    json_t *value;
    int err = 0;

    LOG_EACH_COUNT(from, key, value)
    {
        json_t *had = json_object_get(to, key);

        if (err)
            break;
        if (json_is_object(value) && !had && json_object_set_new(to, key, had = json_object()))
            err = -ENOMEM;
        else if (json_is_object(value) && json_is_object(had))
            err = sum_into(had, value);
        else if (json_is_integer(value))
            err = log_counts_add(&to, key, log_count_in(from, key));
        else if (json_is_string(value))
            err = json_object_set(to, key, value) ? -ENOMEM : 0;
    }
    return err;
}

/* What the end record has of walks. */
static int settle_walks(struct report_checks *c)
{
    const json_t *logged = json_object_get(c->end, "walks");
    json_t *sum = json_object_get(c->sections, "walks");

    if (!json_is_object(logged))
        return 0;
    if (!sum && json_object_set_new(c->sections, "walks", sum = json_object()))
        return -ENOMEM;
    return sum_into(sum, logged);
}

/* What a check record has beyond the comparison of allocations with this process's own stacks. */
static int settle_sections(struct report_checks *c)
{
    static const char *const names[] = {"instructions", "registers", "threads",
                                        "seeds",        "calls",     "live"};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const json_t *logged = json_object_get(c->check, names[i]);
        json_t *sum = json_object_get(c->sections, names[i]);

        if (!logged)
            continue;
        if (!sum && json_object_set_new(c->sections, names[i], sum = json_object()))
            return -ENOMEM;
        if (sum_into(sum, logged))
            return -ENOMEM;
    }
    return settle_walks(c);
}

uint64_t report_checks_count(const struct report_checks *c, const char *section, const char *key)
{
    return log_count_in(json_object_get(c->sections, section), key);
}

static int settle(struct report_checks *c)
{
    const json_t *hooks = json_object_get(c->end, "hooks");
    double ns = 0;
    int err = settle_counts(c);

    if (!err)
        err = histogram_add(&c->shadow, json_object_get(c->check, "shadow"),
                            json_object_get(c->check, "shadow_ns"));
    if (c->shadow.sum == 0) /* --capture snapshot: there was no shadow stack to capture */
        c->shadow.size = c->shadow.count = 0;
    if (!err)
        err = histogram_add(&c->snapshot, json_object_get(c->check, "snapshot"),
                            json_object_get(c->check, "snapshot_ns"));
    if (!err)
        err = depths_add(c, json_object_get(c->check, "by_depth"));
    if (!err)
        err = settle_sections(c);
    if (!err)
        err = counts_later(&c->counts, json_object_get(c->check, "repairs"));
    if (!err)
        err = counts_later(&c->counts, json_object_get(c->end, "repairs"));
    if (!err)
        err = log_counts_add_all(&c->repairs, c->counts);
    if (hooks) {
        c->has_hooks = true;
        c->hook_calls += log_count_in(hooks, "calls");
        if (!log_member_number(hooks, "ns_per_pair", &ns) && ns > 0)
            c->hook_ns_per_pair = ns;
    }
    log_json_release(c->check, c->end, c->counts, c->seen_by);
    c->check = c->end = c->counts = c->seen_by = NULL;
    c->mismatch_records = 0;
    return err;
}

/* Records. */

static int on_check(struct report_checks *c, const struct log_record *r)
{
    static const struct sst_counter counters[] = {SST_COUNTERS_SNAPSHOTS(SST_COUNTER)};
    uint64_t value;

    for (size_t i = 0; i < COUNT_OF(counters); i++)
        if (counters[i].form == SST_FORM_COUNT &&
            log_member_count(r->json, counters[i].key, &value))
            return log_defs_unusable(&c->defs, r, counters[i].key);
    return log_json_keep(&c->check, r->json);
}

static struct report_thread_checks *thread_of(struct report_checks *c, uint32_t number)
{
    size_t count = (size_t)number + 1;

    if (!array_reserve_zeroed(&c->threads, &c->thread_capacity, count))
        return NULL;
    c->thread_count = c->thread_count < count ? count : c->thread_count;
    return &c->threads[number];
}

/* Cumulative, and of one recording: every recording numbers its threads from the start. */
static int on_check_thread(struct report_checks *c, const struct log_record *r)
{
#define IN_RECORD(form, member, label) .member = log_count_in(r->json, #member),
    struct report_thread_checks now = {SST_COUNTERS_CHECK_THREAD(IN_RECORD)};
    struct report_thread_checks *kept;
    uint32_t id = 0, number = 0;
    int err;

    if (log_member_id(r->json, "thread", 1, &id))
        return log_defs_unusable(&c->defs, r, "thread");
    if (now.equal > now.compared)
        return log_defs_unusable(&c->defs, r, "equal");
    err = log_defs_thread(&c->defs, id, r->at, &number);
    kept = err ? NULL : thread_of(c, number);
    if (!kept)
        return -ENOMEM;
    *kept = now;
    return 0;
}

static int on_repair(struct report_checks *c, const struct log_record *r)
{
    const char *reason = NULL;
    uint64_t count = 0;

    if (log_member_text(r->json, "reason", &reason))
        return log_defs_unusable(&c->defs, r, "reason");
    if (log_member_count(r->json, "count", &count))
        return log_defs_unusable(&c->defs, r, "count");
    return log_counts_set(&c->counts, reason, count);
}

static int stack_of(struct report_checks *c, const struct log_record *r, const char *key,
                    uint32_t **out, size_t *size)
{
    const json_t *ids = json_object_get(r->json, key), *id;
    size_t count = json_array_size(ids), i;
    int err = 0;

    *out = memory_zalloc(count + 1, sizeof(**out));
    *size = count;
    if (!*out)
        return -ENOMEM;
    json_array_foreach(ids, i, id)
    {
        json_int_t value = json_integer_value(id);

        if (!err && value > 0 && value < UINT32_MAX)
            err = log_defs_method(&c->defs, (uint32_t)value, r->at, &(*out)[i]);
    }
    return err;
}

static void names_of(const json_t *names, char *to, size_t room)
{
    const json_t *name;
    size_t i, used = 0;

    json_array_foreach(names, i, name)
    {
        int more = json_is_string(name) ? snprintf(to + used, room - used, "%s%s", i ? ", " : "",
                                                   json_string_value(name))
                                        : 0;

        if (more < 0 || (size_t)more >= room - used) {
            to[used] = '\0';
            return;
        }
        used += (size_t)more;
    }
}

/* The allocation that was compared. */
static int where(struct report_checks *c, const struct log_record *r, struct report_mismatch *e)
{
    uint32_t id = 0;
    int err = 0;

    if (!log_member_id(r->json, "thread", 1, &id)) {
        err = log_defs_thread(&c->defs, id, r->at, &e->thread);
        e->thread++;
    }
    id = 0;
    (void)log_member_id(r->json, "class", 0, &id);
    return err ? err : log_defs_class(&c->defs, id, r->at, &e->class_number);
}

static int on_mismatch(struct report_checks *c, const struct log_record *r)
{
    struct report_mismatch *e = &c->mismatches[c->mismatch_count];
    const char *cause = NULL, *refused = "";
    int err;

    if (log_member_text(r->json, "cause", &cause))
        return log_defs_unusable(&c->defs, r, "cause");
    if (!json_is_array(json_object_get(r->json, "shadow")))
        return log_defs_unusable(&c->defs, r, "shadow");
    if (!json_object_get(r->json, "stopped") && !json_object_get(r->json, "in_call"))
        c->mismatch_records++;
    err = log_counts_add(&c->seen_by, cause, 1);
    for (size_t i = 0; i < c->mismatch_count; i++)
        if (strncmp(c->mismatches[i].cause, cause, sizeof(e->cause) - 1) == 0)
            return err;
    if (err || c->mismatch_count == REPORT_MISMATCHES)
        return err;
    (void)log_member_text(r->json, "refused", &refused);
    snprintf(e->cause, sizeof(e->cause), "%s", cause);
    snprintf(e->refused, sizeof(e->refused), "%s", refused);
    names_of(json_object_get(r->json, "repairs"), e->repairs, sizeof(e->repairs));
    e->first = log_count_in(r->json, "first");
    e->at = r->at;
    err = where(c, r, e);
    if (err)
        return err;
    c->mismatch_count++;
    err = stack_of(c, r, "shadow", &e->shadow, &e->shadow_size);
    if (!err)
        err = stack_of(c, r, "snapshot", &e->snapshot, &e->snapshot_size);
    return err ? err : log_native_records(&c->images, r->json, &e->natives, &e->native_count);
}

static void native_stack_fini(struct report_native_stack *s)
{
    memory_free_all(s->stack, s->natives);
    memset(s, 0, sizeof(*s));
}

static int on_snapshot(struct report_checks *c, const struct log_record *r)
{
    size_t runs = json_array_size(json_object_get(r->json, "native"));
    struct report_native_stack *s = &c->native_stack;
    int err;

    if (runs <= s->runs)
        return 0;
    native_stack_fini(s);
    s->at = r->at;
    s->runs = runs;
    err = stack_of(c, r, "stack", &s->stack, &s->size);
    return err ? err : log_native_records(&c->images, r->json, &s->natives, &s->native_count);
}

static int on_image(struct report_checks *c, const struct log_record *r)
{
    int err = log_native_images_add(&c->images, r);

    return err == -EBADMSG ? log_defs_unusable(&c->defs, r, "id\" or \"path") : err;
}

static int on_header(struct report_checks *c, const struct log_record *r)
{
    if (!log_recording_next(&c->recording, r->json))
        return 0;
    log_native_images_next(&c->images);
    return settle(c);
}

static int on_alloc(struct report_checks *c, const struct log_record *r)
{
    c->allocs += r->alloc.allocs;
    return 0;
}

static int on_sample(struct report_checks *c, const struct log_record *r)
{
    return report_profile_add(&c->profile, &c->defs, r);
}

static int on_end(struct report_checks *c, const struct log_record *r)
{
    return log_json_keep(&c->end, r->json);
}

static int on_record(void *context, const struct log_record *r)
{
    static int (*const by_kind[SST_KIND_COUNT])(struct report_checks *,
                                                const struct log_record *) = {
        [SST_KIND_ALLOC] = on_alloc,       [SST_KIND_SITE] = on_alloc,
        [SST_KIND_HEADER] = on_header,     [SST_KIND_IMAGE] = on_image,
        [SST_KIND_SNAPSHOT] = on_snapshot, [SST_KIND_CHECK] = on_check,
        [SST_KIND_REPAIR] = on_repair,     [SST_KIND_CHECK_THREAD] = on_check_thread,
        [SST_KIND_SAMPLE] = on_sample,     [SST_KIND_MISMATCH] = on_mismatch,
        [SST_KIND_PROFILE] = on_sample,    [SST_KIND_END] = on_end,
    };
    struct report_checks *c = context;
    int err =
        c->attribution && r->kind != SST_KIND_ALLOC ? log_defs_add(&c->attribution->defs, r) : 0;

    if (!err && c->attribution)
        err = report_cells_take(c->attribution, r);
    if (err && err != -EBADMSG) /* what is unusable there is so here, and noted once */
        return err;
    return by_kind[r->kind] ? by_kind[r->kind](c, r) : 0;
}

int report_checks_init(struct report_checks *c, struct log_problems *problems)
{
    memset(c, 0, sizeof(*c));
    log_input_init(&c->log);
    c->consumer.record = on_record;
    c->consumer.context = c;
    c->sections = json_object();
    if (!c->sections || log_defs_init(&c->defs, problems))
        return -ENOMEM;
    c->defs.physical = true; /* snapshots know nothing of inlined methods */
    return 0;
}

void report_checks_fini(struct report_checks *c)
{
    report_profile_fini(&c->profile);
    log_json_release(c->sections, c->refused_by, c->mismatched_by, c->repairs, c->check, c->end,
                     c->counts, c->seen_by);
    memory_free_all(c->shadow.buckets, c->snapshot.buckets, c->depths, c->threads);
    for (size_t i = 0; i < c->mismatch_count; i++) {
        memory_free_all(c->mismatches[i].shadow, c->mismatches[i].snapshot,
                        c->mismatches[i].natives);
    }
    native_stack_fini(&c->native_stack);
    log_native_images_fini(&c->images);
    log_defs_fini(&c->defs);
    log_input_fini(&c->log);
    memset(c, 0, sizeof(*c));
}

int report_checks_read(struct report_checks *c, const char *path)
{
    return log_input_read(path, &c->defs, &c->consumer, &c->log);
}

int report_checks_read_lines(struct report_checks *c, struct log_lines *lines, const char *file)
{
    return log_input_read_lines(lines, file, &c->defs, &c->consumer, &c->log);
}

/* The counters of snapshots are a section like the others, and so are the repairs. */
static int add_sections(struct report_checks *c)
{
#define SET_COUNT(member)        log_counts_set(&to, #member, c->member)
#define SET_ANY(member)          (c->member ? SET_COUNT(member) : 0)
#define SET_BY(member)           json_object_set(to, #member, c->member)
#define SET(form, member, label) || SET_##form(member)
    json_t *to = json_object();
    bool failed = !to SST_COUNTERS_SNAPSHOTS(SET);

    failed = json_object_set_new(c->sections, "snapshots", to) || failed;
    return json_object_set(c->sections, "repairs", c->repairs) || failed ? -ENOMEM : 0;
}

int report_checks_finish(struct report_checks *c)
{
    json_t **const objects[] = {&c->refused_by, &c->mismatched_by, &c->repairs};
    int err = settle(c);

    for (size_t i = 0; i < COUNT_OF(objects); i++)
        if (!err && !*objects[i] && !(*objects[i] = json_object()))
            err = -ENOMEM;
    if (!err)
        err = add_sections(c);
    SORT(c->shadow.buckets, c->shadow.size, bucket_order);
    SORT(c->snapshot.buckets, c->snapshot.size, bucket_order);
    SORT(c->depths, c->depth_count, depth_order);
    return err;
}
