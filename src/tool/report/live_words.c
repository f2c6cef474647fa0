#include "report/live.h"

#define UNKNOWN \
    "What died since in a generation that was not collected still counts, and so does what waits " \
    "for its finalizer."

static const struct report_live_words all_words[] = {
    [REPORT_LIVE_AT] = {"alive",
                        "Alive: a collection has found it so, and none since has found it "
                        "dead.",
                        UNKNOWN},
    [REPORT_LIVE_PEAK] = {"alive", "The peak: what was alive after the collection that left most.",
                          UNKNOWN " Between two collections there may have been more."},
    [REPORT_LIVE_END] = {"not known dead",
                         "Alive at the end: what the last collection left, and, as new, what was "
                         "allocated after it, dead or not.",
                         UNKNOWN},
    [REPORT_LIVE_GROWN] = {"grown",
                           "Grown: alive at the second moment, less what was alive at the "
                           "first.",
                           UNKNOWN},
    [REPORT_LIVE_TEMPORARY] = {"temporary",
                               "Temporary: dead at the first collection after it was made.",
                               "Large and pinned objects are looked at by full collections only: "
                               "others leave them alive."},
    [REPORT_LIVE_LIFETIMES] = {"allocated",
                               "Lifetimes: of what was allocated before the last collection, how "
                               "much died young (at its first collection), and in which generation "
                               "the rest was when a collection found it dead.",
                               "When it died between two collections is not known."},
};

const struct report_live_words *report_live_words(enum report_live_question question)
{
    return &all_words[question];
}

const char *report_live_why(const struct report_live *live)
{
    static const char *const words[SST_LIVE_WHY_COUNT] = {
        [SST_LIVE_MEMORY] = "the table of live objects was full; record with more --live-memory",
        [SST_LIVE_CONCURRENT] = "a collection ran beside the program; DOTNET_gcConcurrent=0",
        [SST_LIVE_LATE] = "a collection came before the tracer could follow them",
        [SST_LIVE_SESSION] = "the runtime did not tell all of its collections",
        [SST_LIVE_SAMPLED] = "it is estimated from samples, each of which stands for others",
    };

    return live->wrong ? "lines of live objects are missing, or wrong" : words[live->why];
}
