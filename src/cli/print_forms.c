#include "cli/print_forms.h"

#include "cli/text.h"

#include <string.h>

struct wording {
    const char *name, *words;
};

static const struct wording titles[] = {
    {"registers", "Registers of each frame of equal stacks, beside the snapshot's"}, {NULL, NULL}};

/* Of what is a class by name, and of the classes. */
static const struct wording labels[] = {
    {"ip", "instruction"},
    {"sp", "stack pointer"},
    {"fp", "frame pointer"},
    {"runtime", "called through the runtime"},
    {"native", "called through other native code"},
    {"handler", "in a handler of the method"},
    {"filter", "beside a filter"},
    {"tail_call", "called through the stub for tail calls"},
    {"stub", "called through another stub"},
    {"dynamic", "called through a DynamicMethod"},
    {"hidden", "called through hidden exception machinery"},
    {"hijacked", "replaced by a suspension before Enter"},
    {"unnamed", "called through what has no name in a hook"},
    {"unhooked", "called through a method without hooks"},
    {"between", "higher, for what lies between"},
    {"replaced", "lower, for a body replaced on the stack"},
    {"tried", "threads with frames"},
    {"running", "not waiting: no registers to be had"},
    {"lost", "native frames led to no managed one"},
    {"met", "met the youngest frame of the walk"},
    {"met_stub", "met a stub that walks leave out"},
    {"taken", "walks with that frame as seed"},
    {"same", "frame by frame as without"},
    {"different", "different"},
    {"refused", "refused by the runtime"},
    {"refused_by", "refused with"},
    {"entering", "called from native code, not let in yet"},
    {"dispatching", "in an exception dispatch"},
    {"ended_early", "ended before the oldest frame"},
    {"mismatched", "different"},
    {"other", "not explained"},
    {"seeds", "Stopped threads seen from their native frames, and walked with a seed"},
    {"calls", "Snapshots from inside of an Enter hook, with a seed"},
    {NULL, NULL}};

static const char *words_of(const struct wording *table, const char *name)
{
    while (table->name && strcmp(table->name, name) != 0)
        table++;
    return table->name ? table->words : name;
}

static void print_counts(const json_t *object, const char *indent, FILE *out)
{
    json_t *counts = json_deep_copy(object), *value; /* iterating takes no const */
    struct text_number number;
    const char *name;
    char words[100];

    json_object_foreach(counts, name, value)
    {
        text_clean(words, sizeof(words), words_of(labels, name));
        if (json_is_object(value)) {
            fprintf(out, "%s%s\n", indent, words);
            print_counts(value, "    ", out);
        } else {
            fprintf(out, "%s%-44s %15s\n", indent, words,
                    text_count(&number, (uint64_t)json_integer_value(value)));
        }
    }
    json_decref(counts);
}

void print_forms(const struct report_checks *checks, FILE *out)
{
    for (const struct wording *title = titles; title->name; title++) {
        const json_t *counts = json_object_get(checks->forms, title->name);

        if (!json_object_size(counts))
            continue;
        fprintf(out, "\n%s\n", title->words);
        print_counts(counts, "  ", out);
    }
}
