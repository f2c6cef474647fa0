/* stack/rules.c - rules that a test build can switch off, by name (SHADOWTRACE_WITHOUT). */
#include "stack/stack_hot.h"

#ifdef SHADOWTRACE_NEGATIVE

#include <stdlib.h>
#include <string.h>

uint64_t stack_rules_off;

static const char *const rule_names[STACK_RULES] = {
    "dead_on_enter",  "dead_on_leave",   "filter_frame",    "filter_dispatch", "handler_cut",
    "thrown_cut",     "run_end",         "unwind_pending",  "first_leave",     "finally_leave",
    "alloc_settles",  "nested_dispatch", "stale",           "live_above",      "finally_pair",
    "duplicate",      "superseded",      "cut_goes_on",     "hidden",          "silent_pass",
    "in_wrapper",     "suspended",       "suspended_there", "suspended_stub",  "unhooked_throws",
    "unhooked_gone",  "dynamic_runs",    "pinned",          "ends_early",      "grace_period",
    "live_bounds",    "live_split",      "live_open",       "live_merge",      "live_depth",
    "walk_frameless", "walk_osr",        "walk_hidden",     "walk_filter",     "walk_exact",
    "walk_memo",      "walk_start",      "walk_hooked",     "walk_below",      "walk_epoch",
    "walk_proven",
};

/* Is the name one of those in the list? */
static bool is_listed(const char *list, const char *name)
{
    size_t size = strlen(name), part;

    for (; *list; list += part + (list[part] == ',')) {
        part = strcspn(list, ",");
        if (part == size && memcmp(list, name, size) == 0)
            return true;
    }
    return false;
}

void stack_rules_read(void)
{
    const char *without = getenv("SHADOWTRACE_WITHOUT");

    stack_rules_off = 0;
    for (unsigned i = 0; without && i < STACK_RULES; i++)
        if (is_listed(without, rule_names[i]))
            stack_rules_off |= UINT64_C(1) << i;
}

#endif
