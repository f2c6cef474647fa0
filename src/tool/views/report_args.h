/*
 * views/report_args.h - the options of `report`, whatever it reports on: call sites, event categories, or samples.
 */
#ifndef SHADOWTRACE_VIEWS_REPORT_ARGS_H
#define SHADOWTRACE_VIEWS_REPORT_ARGS_H

#include "views/print_report.h"
#include "command/reading.h"
#include "terminal/text.h"

#include "report/families.h"
#include "report/profile.h"
#include "report/stacks.h"

/* What it reports on: call sites, 1 + enum families_topic, or samples. */
enum { REPORT_SITES, REPORT_FAMILIES, REPORT_PROFILE = REPORT_FAMILIES + FAMILIES_CALLS + 1 };

struct report_args {
    unsigned topic;
    enum reading_format format;
    struct print_report print;
    struct report_filter filter;
    struct reading_window window;
    struct reading_options reading;
    struct args_list symbols;
    enum report_sampler source; /* of samples */
    bool inline_stacks, no_lines, physical;
    enum text_links links;
    struct line_rows rows;
    struct report_stacks tables;
};

#endif
