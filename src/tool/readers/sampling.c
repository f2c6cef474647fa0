#include "readers/sampling.h"

#include "readers/header.h"
#include "readers/record.h"

void report_sampling_take(struct report_sampling *to, const json_t *said)
{
    enum report_before how = REPORT_BEFORE_UNKNOWN;
    uint64_t bytes = 0, since = 0;

    if (!report_member_count(said, "before", &bytes))
        how = REPORT_BEFORE_EXACT;
    else if (!report_member_count(said, "before_most", &bytes))
        how = REPORT_BEFORE_MOST;
    to->recordings++;
    to->unbegun += report_member_count(said, "since", &since) != 0;
    to->bytes = bytes < SST_INTEGER_MAX - to->bytes ? to->bytes + bytes : SST_INTEGER_MAX;
    to->how = how > to->how ? how : to->how;
    to->since_ns = since > to->since_ns ? since : to->since_ns;
}

void report_sampling_add(struct report_sampling *to, const json_t *header, const json_t *said)
{
    if (report_sampler(header) != REPORT_SAMPLER_EXACT)
        report_sampling_take(to, said);
}
