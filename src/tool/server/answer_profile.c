/* /debug/pprof/allocs and heap, as src/tool/export writes them. */
#include "server/answer.h"

#include "command/loading.h"
#include "command/print_complete.h"
#include "export/formats.h"
#include "export/remark.h"

#include <string.h>
#include <time.h>

/* What is missing of what was recorded. A log that is being written has no end yet. */
static int remark_gaps(const struct traced *t, struct export_profile *profile)
{
    struct log_completeness c;
    struct buffer b = BUFFER_INIT;
    int err = 0;

    log_input_completeness(&t->cells.log, &c);
    for (size_t i = 0; !err && i < c.count; i++) {
        if (c.gaps[i].kind == LOG_GAP_NO_END && t->state == TRACED_FOLLOWED)
            continue;
        buffer_clear(&b);
        print_gap(&b, &c.gaps[i]);
        err = b.failed ? -ENOMEM : export_profile_remark(profile, "%s", b.data);
    }
    buffer_free(&b);
    return err;
}

static int remark(const struct answer_ask *ask, const struct model_tree *tree,
                  struct export_profile *p)
{
    const struct traced *t = ask->of;
    int err = export_profile_remark(p, "%s, pid %ld", traced_program(t), t->pid);

    if (!err && t->state == TRACED_FAILED)
        err = export_profile_remark(p, "%s", t->why);
    if (!err)
        err = export_remark_estimated(p, tree);
    if (!err && ask->kind == ANSWER_HEAP)
        err = export_profile_remark(p, "inuse: alive after collection %llu",
                                    (unsigned long long)t->cells.live.last.gc);
    return err ? err : remark_gaps(t, p);
}

static void set_time(const struct answer_ask *ask, struct export_profile *p)
{
    struct timespec now;

    p->live_first = ask->kind == ANSWER_HEAP;
    if (!ask->from)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    p->duration = ask->now_ns - ask->from->at_ns;
    p->started = (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec - (int64_t)p->duration;
}

int answer_profile(const struct answer_ask *ask, FILE *out)
{
    static const struct model_filter all;
    static const struct model_shape shape = {.grain = MODEL_GRAIN_IL, .types = true};
    struct export_profile *profile = NULL;
    struct model_tree *tree = NULL;
    struct export_folded folded;
    struct loading l;
    char why[ARGS_WHY_SIZE];
    int err = report_cells_flush(&ask->of->cells);

    if (!err && ask->from)
        mark_since(&ask->of->cells, ask->from);
    if (!err)
        err = answer_load(ask, ask->of, &l);
    if (!err)
        err = model_tree_new(l.model, &all, &shape, &tree, why, sizeof(why));
    if (!err)
        err = export_profile_of(tree, l.names, ask->min_share, &profile, &folded);
    if (err)
        return err;
    set_time(ask, profile);
    err = remark(ask, tree, profile);
    if (!err)
        err = export_remark_folded(profile, tree, &folded, ask->min_share);
    return err ? err : export_pprof(profile, out);
}
