#include "export/remark.h"

#include "command/print_sampling.h"
#include "readers/header.h"
#include "report/estimate.h"
#include "terminal/text.h"

#include <errno.h>

int export_remark_folded(struct export_profile *p, const struct model_tree *tree,
                         const struct export_folded *folded, double min_share)
{
    double total = tree->total[MODEL_BYTES][0];
    struct text_number sites, bytes, share;

    if (!folded->sites)
        return 0;
    return export_profile_remark(p,
                                 "%s site%s below %g %% of the bytes, together %s (%s): added to "
                                 "their callers as (smaller ones)",
                                 text_count(&sites, folded->sites), text_plural(folded->sites),
                                 min_share * 100, text_bytes(&bytes, (uint64_t)folded->bytes),
                                 text_share(&share, total > 0 ? folded->bytes / total : 0));
}

static double sum_of(const struct model_tree *t, enum model_weight weight)
{
    return t->total[weight] ? t->total[weight][0] : 0;
}

static int remark_alive(struct export_profile *p, const struct model_tree *tree)
{
    const struct report_live *live = model_live(tree->model);
    struct report_amount range =
        report_estimate_interval(sum_of(tree, MODEL_LIVE_BYTES) + sum_of(tree, MODEL_BESIDE_BYTES),
                                 sum_of(tree, MODEL_OF_VARIANCE), 0);
    struct text_number low, high, most;

    if (!p->live || !(live->most_mean > 0) || live->approximate)
        return 0;
    return export_profile_remark(
        p,
        "inuse: estimated from samples that are alive; the exact bytes lie "
        "between %s and %s in 95 of 100 cases, and sites have wider ranges "
        "(report --view end); what is not here may be up to %s bytes",
        text_short(&low, range.low), text_short(&high, range.high),
        text_short(&most, report_estimate_none(live->most_mean)));
}

int export_remark_estimated(struct export_profile *p, const struct model_tree *tree)
{
    static const char *const says[] = {
        [LOG_SAMPLER_EXACT] = "recorded with --sample: bytes and objects are estimates",
        [LOG_SAMPLER_RUNTIME] =
            "estimated from samples of the runtime (sampler: runtime); numbers of "
            "objects are reliable only if all have one size",
        [LOG_SAMPLER_TICKS] = "approximate, from ticks of the runtime (sampler: ticks), which "
                              "are not random",
    };

    struct log_sampling sampling;
    struct buffer late = BUFFER_INIT;
    int err = 0;

    if (print_sampling_late(model_log(tree->model), NULL, &sampling)) {
        print_sampling_text(model_log(tree->model), &sampling, &late);
        err = late.failed ? -ENOMEM : export_profile_remark(p, "%s", late.data);
    }
    buffer_free(&late);
    if (!err && model_estimated(tree->model))
        err =
            export_profile_remark(p, "%s", says[log_sampler_kind(model_log(tree->model)->header)]);
    return err ? err : remark_alive(p, tree);
}
