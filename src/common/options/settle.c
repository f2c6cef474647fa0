#include "options/options_fields.h"

#include "base/atomics.h"
#include "base/cpu.h"

#include <errno.h>

static bool needs_elt2(const struct options *o)
{
    return options_values(o) || o->exact_generics;
}

static bool tells_of_calls(const struct options *o)
{
    return o->calls.count || o->max_depth || o->min_duration;
}

/* Options for runtime samples are usable. */
static bool may_be_runtimes(const struct options *o)
{
    return o->sampler != OPTIONS_SAMPLER_EXACT && o->sample >= OPTIONS_SAMPLE_RUNTIME;
}

static bool leaves_out(const struct options *o)
{
    return o->types.count || o->min_size || o->paused || (o->sample && !may_be_runtimes(o));
}

/* Would the runtime's samples do? They say nothing of what lies in an object. */
static bool runtime_may_sample(const struct options *o)
{
    return o->sample >= OPTIONS_SAMPLE_RUNTIME && options_records(o, OPTIONS_ALLOC) &&
           !needs_elt2(o);
}

void options_sampler_settle(struct options *o, unsigned runtime_major)
{
    o->runtime_samples =
        runtime_may_sample(o) && (o->sampler == OPTIONS_SAMPLER_RUNTIME ||
                                  (o->sampler == OPTIONS_SAMPLER_AUTO &&
                                   (o->live || o->framework_frames == OPTIONS_FRAMEWORK_SNAPSHOT ||
                                    runtime_major >= OPTIONS_SAMPLER_MAJOR)));
}

void options_frames_settle(struct options *o, bool walks)
{
    bool few = options_hooked(o) && options_few(o);

    if (o->framework_frames == OPTIONS_FRAMEWORK_AUTO)
        o->framework_frames = CPU_WALKS && few && (walks || o->runtime_samples)
                                  ? OPTIONS_FRAMEWORK_WALK
                                  : OPTIONS_FRAMEWORK_NONE;
}

/* A text about choices that contradict each other, and whether these do. */
struct rule {
    bool met;
    const char *text;
};

static const char *first_met(const struct rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (rules[i].met)
            return rules[i].text;
    return NULL;
}

/* Of the runtime's samples; as the next. */
static const char *sampler_contradiction(const struct options *o)
{
    const bool by_runtime = o->sampler == OPTIONS_SAMPLER_RUNTIME,
               adds = o->framework_frames == OPTIONS_FRAMEWORK_SNAPSHOT;
    const struct rule rules[] = {
        {by_runtime && o->sample < OPTIONS_SAMPLE_RUNTIME,
         "{sampler} and {sample} contradict each other: the runtime takes a sample every 102,400 "
         "bytes; give {sample} 100K or more, or use {sampler} exact"},
        {by_runtime && !options_records(o, OPTIONS_ALLOC),
         "{sampler} and {events} contradict each other: samples are of allocations; add alloc to "
         "{events}, or leave {sampler} out"},
        {by_runtime && needs_elt2(o),
         "{sampler} and {args}, {returns} or {exact_generics} contradict each other: what values "
         "are is met as their objects are made; use {sampler} exact, or leave them out"},
        {o->check_live && o->sample,
         "{check_live} and {sample} contradict each other: what is alive is estimated then; leave "
         "one of them out"},
        {o->framework_frames > OPTIONS_FRAMEWORK_NONE && (!options_hooked(o) || !options_few(o)),
         "{framework_frames} is for {own} and {only}: without them the framework's frames are "
         "there; add one of them, or leave {framework_frames} out"},
        {!CPU_WALKS && options_walks_between(o),
         "{framework_frames} walk is not available on " CPU_NAME "; use snapshot or none"},
        {adds && !may_be_runtimes(o),
         "{framework_frames} snapshot takes a snapshot at each allocation that is recorded, which "
         "only samples of the runtime can pay for; use walk, or give {sample} 100K or more, "
         "without {sampler} exact"},
        {o->budget && !o->sample,
         "{budget} is kept by taking fewer samples, and there are none; add {sample}"},
    };

    return first_met(rules, COUNT_OF(rules));
}

/* Of the log's parts; as the next. */
static const char *parts_contradiction(const struct options *o)
{
    const struct rule rules[] = {
        {!o->keep,
         "{keep} 0 would leave nothing to read while a new part of the log begins; give 1 or "
         "more"},
        {o->keep != OPTIONS_KEEP && !o->max_log && !o->part_time,
         "{keep} is for the older parts of a log, and there is one only; add {max_log} or "
         "{part_time}"},
        {o->sums_every && o->log != OPTIONS_LOG_SITES,
         "{sums_every} is for sums of call sites; add {log} sites, or leave {sums_every} out"},
    };

    return first_met(rules, COUNT_OF(rules));
}

/* The first choices that contradict each other, options as {key} for say(); NULL: none do. */
static const char *contradiction(const struct options *o)
{
    const bool snapshots = options_snapshots(o), hooked = options_hooked(o),
               calls = options_records(o, OPTIONS_CALLS);
    const struct rule rules[] = {
        {!CPU_WALKS && options_walks(o),
         "{capture} walk is not available on " CPU_NAME "; use shadow, snapshot or both"},
        {o->capture == OPTIONS_CAPTURE_BOTH && o->check != 1,
         "{check} and {capture} contradict each other: \"both\" compares every allocation; "
         "leave {check} out"},
        {snapshots && o->check,
         "{check} and {capture} contradict each other: \"snapshot\" keeps no shadow stack to "
         "compare with; use {capture} both, or leave {check} out"},
        {!hooked && options_chooses_methods(o),
         "{only}, {own} or {exclude} and {capture} contradict each other: it sets no "
         "hooks to choose; leave {only}, {own} and {exclude}, or {capture} out"},
        {o->own && o->only.count,
         "{own} and {only} contradict each other: each chooses the methods that are hooked; leave "
         "one of them out, or say with {own_code} which code is own"},
        {o->live && leaves_out(o),
         "{live} and {types}, {min_size}, {sample} or {paused} contradict each other: what is "
         "alive is known only of objects that are recorded; leave one of them out"},
        {o->live && !options_records(o, OPTIONS_ALLOC),
         "{live} and {events} contradict each other: what is alive is known only of objects that "
         "are recorded; add alloc to {events}, or leave {live} out"},
        {o->live && o->stacks == OPTIONS_STACKS_INLINE,
         "{live} and {stacks} contradict each other: sums of live objects are by node; leave one "
         "of them out"},
        {!o->live && (o->check_live || o->live_memory != OPTIONS_LIVE_MEMORY ||
                      o->live_grows != OPTIONS_LIVE_GROWS),
         "{check_live}, {live_memory} and {live_grows} need the table of live objects; add "
         "{live}"},
        {o->native && !o->check && !snapshots,
         "{native} and {check} contradict each other: native frames are those of snapshots, and "
         "{check} 0 takes none; leave one of them out"},
        {o->stacks == OPTIONS_STACKS_INLINE && o->log == OPTIONS_LOG_SITES,
         "{stacks} and {log} contradict each other: \"sites\" writes no events that could carry a "
         "stack; leave one of them out"},
        {!calls && tells_of_calls(o),
         "{calls}, {max_depth} and {min_duration} are for traced calls, and calls are not traced; "
         "add calls to {events}"},
        {o->call_buffer != OPTIONS_CALL_BUFFER && !options_by_hooks(o),
         "{call_buffer} is for traced calls and for values, and there are none; add calls to "
         "{events}, or add {args} or {returns}"},
        {calls && !hooked, "{events} and {capture} contradict each other: it sets no hooks, so it "
                           "records no calls; leave calls out of {events}, or leave {capture} out"},
        {o->hooks == OPTIONS_HOOKS_ELT3 && needs_elt2(o),
         "{hooks} and {args}, {returns} or {exact_generics} contradict each other: only elt2 "
         "records arguments, results and exact types; leave {hooks} out"},
        {!hooked && needs_elt2(o),
         "{capture} and {args}, {returns} or {exact_generics} contradict each other: it "
         "runs without hooks; use {capture} shadow or both"},
        {o->profile_snapshot && !o->profile,
         "{profile_snapshot} and {profile} contradict each other: how often is said by {profile}"},
        {o->profile && !hooked && !o->profile_snapshot,
         "{profile} and {capture} contradict each other: it keeps no shadow stacks; "
         "give {profile_snapshot} too, or leave one of them out"},
        {o->rich && (o->no_rich || o->no_lines || o->no_inline),
         "{rich} and {no_rich}, {no_lines} or {no_inline} contradict each other: it is for lines "
         "of inlined methods; leave one of them out"},
    };

    return first_met(rules, COUNT_OF(rules));
}

/* `text` with each {key} in the spelling of the user: key, or --key with hyphens. */
static void say(const char *text, enum options_names names, char *why, size_t why_size)
{
    const bool arguments = names == OPTIONS_NAMES_ARGUMENTS;
    size_t used = 0;
    bool key = false;

    for (; *text; text++) {
        char c = *text;

        if (c == '{' || c == '}')
            key = c == '{';
        for (int i = 0; c == '{' && arguments && i < 2 && used + 1 < why_size; i++)
            why[used++] = '-';
        if (c != '{' && c != '}' && used + 1 < why_size)
            why[used++] = key && arguments && c == '_' ? '-' : c;
    }
    if (why_size)
        why[used] = '\0';
}

int options_settle(struct options *o, bool check_given, enum options_names names, char *why,
                   size_t why_size)
{
    static const uint32_t checks[] = {OPTIONS_CHECK_DEFAULT, 0, 1, OPTIONS_CHECK_DEFAULT};
    const char *wrong;

    if (!check_given)
        o->check = checks[o->capture];
    o->check_bounded = !check_given && o->check > 1;
    if (o->hooks == OPTIONS_HOOKS_AUTO && needs_elt2(o))
        o->hooks = OPTIONS_HOOKS_ELT2;
    if (o->sampler == OPTIONS_SAMPLER_RUNTIME && !o->sample)
        o->sample = OPTIONS_SAMPLE_RUNTIME;
    wrong = contradiction(o);
    if (!wrong)
        wrong = sampler_contradiction(o);
    if (!wrong)
        wrong = parts_contradiction(o);
    if (!wrong)
        return 0;
    say(wrong, names, why, why_size);
    return -EINVAL;
}
