#include "export/remark.h"

#include "readers/header.h"
#include "terminal/text.h"

int export_remark_folded(struct export_profile *p, const struct model_tree *tree,
                         const struct export_folded *folded, double min_share)
{
    double total = tree->total[MODEL_BYTES][0];
    struct text_number sites, bytes, share;

    if (!folded->sites)
        return 0;
    return export_profile_remark(p,
                                 "%s site%s below %g %% of the bytes, together %s (%s), stand at "
                                 "callers, below (smaller ones)",
                                 text_count(&sites, folded->sites), text_plural(folded->sites),
                                 min_share * 100, text_bytes(&bytes, (uint64_t)folded->bytes),
                                 text_share(&share, total > 0 ? folded->bytes / total : 0));
}

int export_remark_estimated(struct export_profile *p, const struct model *model)
{
    static const char *const says[] = {
        [REPORT_SAMPLER_EXACT] = "recorded with --sample: bytes and objects are estimates",
        [REPORT_SAMPLER_RUNTIME] =
            "estimated from samples of the runtime (sampler: runtime); bytes hold, numbers of "
            "objects only where they are of one size",
        [REPORT_SAMPLER_TICKS] = "approximate, from ticks of the runtime (sampler: ticks), which "
                                 "are not random",
    };

    if (!model_estimated(model))
        return 0;
    return export_profile_remark(p, "%s", says[report_sampler(model_log(model)->header)]);
}
