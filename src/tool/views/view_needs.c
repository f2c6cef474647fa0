/* What a view is of has to be in the log: what is missing, and which option gives it. */
#include "views/view.h"

#include <string.h>

static const json_t *option(const struct view *v, const char *key)
{
    return json_object_get(json_object_get(model_log(v->read.model)->header, "options"), key);
}

static bool has_threads(const struct view *v)
{
    for (size_t i = 0; i < model_cell_count(v->read.model); i++)
        if (model_cell(v->read.model, i)->thread)
            return true;
    return false;
}

static bool has_modules(const struct view *v)
{
    for (uint32_t i = 1; i < v->read.defs->methods.count; i++)
        if (log_method(v->read.defs, i)->module)
            return true;
    return false;
}

static bool has_offsets(const struct view *v)
{
    for (size_t i = 0; i < model_cell_count(v->read.model); i++)
        if (model_cell(v->read.model, i)->il >= 0)
            return true;
    for (uint32_t i = LOG_PATH_LOST + 1; i < v->read.defs->path_count; i++)
        if (log_call_path(v->read.defs, i)->il >= 0)
            return true;
    return false;
}

static bool has_lines(const struct view *v)
{
    const struct model_tree *t = v->tree;

    for (uint32_t i = 0; i < t->place_count; i++)
        if (t->places[i].file || (t->places[i].kind == MODEL_PLACE_METHOD &&
                                  source_line_any(v->read.lines, t->places[i].method)))
            return true;
    return false;
}

int view_needs(const struct view *v)
{
    const char *file = model_log(v->read.model)->file;

    if (v->live && !model_live(v->read.model)->lines && !json_is_true(option(v, "live"))) {
        cli_complain(v->command, "%s has no data on live objects; record with --live", file);
        return CLI_USAGE;
    }
    if (!v->tree->cell_count || v->lenient)
        return CLI_OK;
    if (v->kind == VIEW_TIME && model_untimed(v->read.model))
        cli_complain(v->command,
                     "%s has sums of call sites, which have no times; record without --log sites",
                     file);
    else if (v->kind == VIEW_THREADS && !has_threads(v))
        cli_complain(v->command,
                     "%s does not say which thread allocated; record without --log sites", file);
    else if ((v->kind == VIEW_MODULES || v->kind == VIEW_LINES) && !has_modules(v))
        cli_complain(v->command,
                     "%s does not say which module a method is of; record without --stacks inline",
                     file);
    else if (v->kind == VIEW_LINES && !has_offsets(v))
        cli_complain(v->command,
                     "%s has no IL offsets, which lines need; record without --no-lines", file);
    else if (v->kind == VIEW_LINES && !has_lines(v))
        cli_complain(v->command,
                     "%s: nothing that %s has a source line, since no PDB of its modules was "
                     "found; --symbols DIR says where they are",
                     file, v->filtered ? "was selected" : "allocates");
    else
        return CLI_OK;
    return CLI_USAGE;
}

const char *view_empty(const struct view *v)
{
    const json_t *events = option(v, "events"), *one;
    bool recorded = !events;
    size_t i;

    json_array_foreach(events, i, one)
    {
        const char *word = json_string_value(one);

        recorded = recorded || (word && (!strcmp(word, "alloc") || !strcmp(word, "all")));
    }
    if (!recorded)
        return "Allocations were not recorded: `record --events` has to name alloc, too.";
    if (v->read.found.has_from || v->read.found.has_to)
        return "Nothing was allocated within these bounds.";
    if (json_is_true(option(v, "paused")))
        return "It was recorded with --paused: `shadowtrace ctl PID start` begins.";
    return "No allocation is in the log.";
}
