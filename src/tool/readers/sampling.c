#include "readers/sampling.h"

#include "readers/header.h"
#include "readers/record.h"

void log_sampling_take(struct log_sampling *to, const json_t *said)
{
    enum log_before how = LOG_BEFORE_UNKNOWN;
    uint64_t bytes = 0, since = 0;

    if (!log_member_count(said, "before", &bytes))
        how = LOG_BEFORE_EXACT;
    else if (!log_member_count(said, "before_most", &bytes))
        how = LOG_BEFORE_MOST;
    to->recordings++;
    to->unbegun += log_member_count(said, "since", &since) != 0;
    to->bytes = bytes < SST_INTEGER_MAX - to->bytes ? to->bytes + bytes : SST_INTEGER_MAX;
    to->how = how > to->how ? how : to->how;
    to->since_ns = since > to->since_ns ? since : to->since_ns;
}

void log_sampling_add(struct log_sampling *to, const json_t *header, const json_t *said)
{
    if (log_sampler_kind(header) != LOG_SAMPLER_EXACT)
        log_sampling_take(to, said);
}
