#include "report/profile.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/order.h"

#include <errno.h>
#include <string.h>

const char *report_profiler_name(enum report_profiler source)
{
    return source == REPORT_SHADOW ? "shadow" : "snapshot";
}

void report_profile_fini(struct report_profile *p)
{
    for (unsigned i = 0; i < REPORT_SOURCES; i++) {
        memory_free(p->source[i].by_path);
        json_decref(p->source[i].figures);
    }
    memset(p, 0, sizeof(*p));
}

bool report_profile_any(const struct report_profile *p)
{
    for (unsigned i = 0; i < REPORT_SOURCES; i++)
        if (p->source[i].samples || p->source[i].figures)
            return true;
    return false;
}

static struct report_profile_source *source_of(struct report_profile *p, const json_t *record)
{
    const char *name = json_string_value(json_object_get(record, "source"));

    return &p->source[name && strcmp(name, "snapshot") == 0 ? REPORT_SNAPSHOT : REPORT_SHADOW];
}

static int count_path(struct report_profile_source *s, uint32_t path)
{
    if (!array_reserve_zeroed(&s->by_path, &s->paths, (size_t)path + 1))
        return -ENOMEM;
    s->by_path[path]++;
    s->samples++;
    return 0;
}

int report_profile_add(struct report_profile *p, struct log_defs *defs, const struct log_record *r)
{
    struct report_profile_source *s;
    uint32_t id, path = 0;
    int err;

    if (r->kind == SST_KIND_PROFILE) {
        s = source_of(p, r->json);
        json_decref(s->figures);
        s->figures = json_deep_copy(r->json);
        return s->figures ? 0 : -ENOMEM;
    }
    if (r->kind != SST_KIND_SAMPLE)
        return 0;
    s = source_of(p, r->json);
    err = log_member_id(r->json, "node", 0, &id);
    if (err) {
        log_problem(defs->problems, r->at, "sample: no node");
        return -EBADMSG;
    }
    err = log_defs_event_path(defs, r, &path);
    s->approximate += json_is_true(json_object_get(r->json, "approximate"));
    return err ? err : count_path(s, path);
}

static void add_path(struct report_profile_row *by_method, uint32_t *seen, uint32_t mark,
                     const struct log_defs *defs, uint32_t path, unsigned source, uint64_t count)
{
    by_method[log_call_path(defs, path)->method].self[source] += count;
    do {
        const struct log_call_path *at = log_call_path(defs, path);

        if (seen[at->method] != mark) { /* direct and indirect recursion counts once */
            seen[at->method] = mark;
            by_method[at->method].total[source] += count;
        }
        path = at->parent;
    } while (path > LOG_PATH_LOST);
}

static int by_samples(const void *a, const void *b)
{
    const struct report_profile_row *x = a, *y = b;

    for (unsigned i = 0; i < REPORT_SOURCES; i++) {
        if (x->self[i] != y->self[i])
            return ORDER(y->self[i], x->self[i]);
        if (x->total[i] != y->total[i])
            return ORDER(y->total[i], x->total[i]);
    }
    return ORDER(x->method, y->method);
}

int report_profile_rows(const struct report_profile *p, const struct log_defs *defs,
                        struct report_profile_row **rows, size_t *count)
{
    size_t methods = defs->methods.count;
    uint32_t *seen = memory_zalloc(methods + 1, sizeof(*seen)), mark = 0;

    *rows = memory_zalloc(methods + 1, sizeof(**rows));
    *count = 0;
    if (!*rows || !seen) {
        memory_free_all(*rows, seen);
        *rows = NULL;
        return -ENOMEM;
    }
    for (unsigned i = 0; i < REPORT_SOURCES; i++)
        for (size_t path = 0; path < p->source[i].paths; path++)
            if (p->source[i].by_path[path])
                add_path(*rows, seen, ++mark, defs, (uint32_t)path, i, p->source[i].by_path[path]);
    for (size_t m = 0; m < methods; m++)
        if ((*rows)[m].total[REPORT_SHADOW] || (*rows)[m].total[REPORT_SNAPSHOT]) {
            (*rows)[*count] = (*rows)[m];
            (*rows)[(*count)++].method = (uint32_t)m;
        }
    qsort(*rows, *count, sizeof(**rows), by_samples);
    memory_free(seen);
    return 0;
}

double report_profile_overlap(const struct report_profile *p, const struct report_profile_row *rows,
                              size_t count)
{
    double sum = 0, shadow, snapshot;

    if (!p->source[REPORT_SHADOW].samples || !p->source[REPORT_SNAPSHOT].samples)
        return 0;
    for (size_t i = 0; i < count; i++) {
        shadow = (double)rows[i].self[REPORT_SHADOW] / (double)p->source[REPORT_SHADOW].samples;
        snapshot =
            (double)rows[i].self[REPORT_SNAPSHOT] / (double)p->source[REPORT_SNAPSHOT].samples;
        sum += shadow < snapshot ? shadow : snapshot;
    }
    return sum;
}

uint64_t report_profile_quantile(const struct report_profile_source *source, double share)
{
    const json_t *cost = json_object_get(source->figures, "cost");
    uint64_t worst = report_profile_figure(source, "worst_ns"), all = 0, so_far = 0, ns;
    size_t i;
    json_t *bucket;

    json_array_foreach(cost, i, bucket) all +=
        (uint64_t)json_integer_value(json_array_get(bucket, 1));
    json_array_foreach(cost, i, bucket)
    {
        so_far += (uint64_t)json_integer_value(json_array_get(bucket, 1));
        ns = (uint64_t)json_integer_value(json_array_get(bucket, 0));
        if ((double)so_far >= share * (double)all)
            return worst && ns > worst ? worst : ns; /* a bucket may end above it */
    }
    return 0;
}

uint64_t report_profile_figure(const struct report_profile_source *source, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(source->figures, key));

    return value > 0 ? (uint64_t)value : 0;
}
