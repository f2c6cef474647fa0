#include "report/live.h"

#define UNKNOWN \
    "Also counted: objects that died since in a generation that was not collected, and objects " \
    "that wait for their finalizers."

static const struct report_live_words all_words[] = {
    [REPORT_LIVE_AT] = {"alive",
                        "Alive: found alive by a collection, and not found dead by a later "
                        "one.",
                        UNKNOWN},
    [REPORT_LIVE_PEAK] = {"alive", "The peak: alive after the collection that left the most.",
                          UNKNOWN " Between two collections there may have been more."},
    [REPORT_LIVE_END] = {"not known dead",
                         "Alive at the end: after the last collection, plus, as new, objects "
                         "allocated after it, dead or not.",
                         UNKNOWN},
    [REPORT_LIVE_GROWN] = {"grown",
                           "Grown: alive at the second moment, less what was alive at the "
                           "first.",
                           UNKNOWN},
    [REPORT_LIVE_TEMPORARY] = {"temporary",
                               "Temporary: dead at the first collection after it was made.",
                               "Only full collections free large and pinned objects."},
    [REPORT_LIVE_LIFETIMES] = {"allocated",
                               "Lifetimes: of what was allocated before the last collection, how "
                               "much died young (at its first collection), and in which generation "
                               "the rest was when a collection found it dead.",
                               "The exact time of death is unknown."},
};

const struct report_live_words *report_live_words(enum report_live_question question)
{
    return &all_words[question];
}

const char *report_live_why(const struct report_live *live)
{
    static const char *const words[SST_LIVE_WHY_COUNT] = {
        [SST_LIVE_MEMORY] = "the table of live objects was full; record with more --live-memory",
        [SST_LIVE_CONCURRENT] =
            "a collection ran concurrently with the program; DOTNET_gcConcurrent=0",
        [SST_LIVE_LATE] = "a collection came before the tracer could follow them",
        [SST_LIVE_SESSION] = "the runtime did not report all of its collections",
        [SST_LIVE_SAMPLED] = "it is estimated from samples, each of which represents others",
    };

    return live->wrong ? "lines of live objects are missing, or wrong" : words[live->why];
}
