/* log/unmatched.c - patterns of options that nothing matched, and names that were perhaps meant. */
#include "log/records.h"

#include "base/glob.h"
#include "base/near.h"
#include "options/options_fields.h"

#include <shadowtrace/log_reader.h>

#include <string.h>

#define NEAR 3

/* The longest part of a pattern without wildcards. */
static const char *literal_of(const char *pattern, size_t *length)
{
    const char *best = pattern;

    *length = 0;
    for (const char *at = pattern; *at; at += *at != '\0') {
        size_t run = strcspn(at, "*?");

        if (run > *length) {
            best = at;
            *length = run;
        }
        at += run;
    }
    return best;
}

/* Ignoring case. */
static bool contains(const char *text, const char *part, size_t length)
{
    for (; *text; text++)
        if (!strncasecmp(text, part, length))
            return true;
    return false;
}

/* The name of a method alone: "Get" of "Ns.Cache<T>.Get<U>(U)". */
static void bare_name(const char *text, char *name, size_t size)
{
    size_t end = strcspn(text, "("), start, depth = 0;

    while (end && text[end - 1] == '>') { /* its type arguments */
        do {
            end--;
            depth += text[end] == '>';
            depth -= text[end] == '<';
        } while (end && depth);
    }
    for (start = end; start && text[start - 1] != '.'; start--)
        ;
    snprintf(name, size, "%.*s", (int)(end - start), text + start);
}

/* The text of the method, or class, of that number: false past the last; NULL: it has none. */
typedef bool name_at(const struct metadata *metadata, uint32_t number, const char **text);

static bool method_at(const struct metadata *metadata, uint32_t number, const char **text)
{
    bool listed;
    const struct metadata_method *method = metadata_method_at(metadata, number, &listed);

    *text = listed ? metadata_method_text(method) : NULL;
    return method != NULL;
}

static bool class_at(const struct metadata *metadata, uint32_t number, const char **text)
{
    bool listed;
    const struct metadata_class *class = metadata_class_at(metadata, number, &listed);

    *text = listed ? metadata_class_text(class) : NULL;
    return class != NULL;
}

static bool module_at(const struct metadata *metadata, uint32_t number, const char **text)
{
    bool listed;
    const struct metadata_module *module = metadata_module_at(metadata, number, &listed);

    *text = listed ? module->name : NULL;
    return module != NULL;
}

/* Names that contain the pattern's text; else with the same last part; else with a similar one. */
static json_t *near_names(const struct metadata *metadata, const char *pattern, name_at *at)
{
    char wanted[128], name[128];
    const char *const list[] = {name, NULL};
    json_t *found = json_array();
    const char *text;
    size_t length;
    const char *literal = literal_of(pattern, &length);

    bare_name(pattern, wanted, sizeof(wanted));
    for (int pass = 0; pass < 3 && !json_array_size(found); pass++)
        for (uint32_t number = 1; json_array_size(found) < NEAR && at(metadata, number, &text);
             number++) {
            if (!text)
                continue;
            bare_name(text, name, sizeof(name));
            if (pass == 0   ? length >= 3 && contains(text, literal, length)
                : pass == 1 ? !strcmp(wanted, name)
                            : near_find(wanted, list) != NULL)
                json_array_append_new(found, log_text(text));
        }
    return found;
}

/* Without --own nothing is counted while the program runs: search what is known. */
static bool matches_any(const struct metadata *metadata, const char *pattern, name_at *at)
{
    const char *text;

    for (uint32_t number = 1; at(metadata, number, &text); number++)
        if (text && glob_match(pattern, text))
            return true;
    return false;
}

static void add_row(json_t *array, const char *option, const char *pattern, json_t *near)
{
    json_array_append_new(array, json_pack("{s:s, s:o, s:o}", "option", option, "pattern",
                                           log_text(pattern), "near", near));
}

static void find_own_code(const struct metadata *metadata, const struct options_patterns *patterns,
                          json_t *array)
{
    for (size_t i = 0; i < patterns->count; i++) {
        const char *pattern = patterns->pattern[i];
        json_t *near;

        if (load_relaxed(&patterns->met[i]) || matches_any(metadata, pattern, module_at) ||
            matches_any(metadata, pattern, method_at))
            continue;
        near = near_names(metadata, pattern, module_at);
        if (!json_array_size(near)) {
            json_decref(near);
            near = near_names(metadata, pattern, method_at);
        }
        add_row(array, "own-code", pattern, near);
    }
}

/*
 * --own where nothing is: names the first modules that may have been meant. Where all is of the
 * framework, as in the SDK's own processes, nobody expects any.
 */
static void find_own(const struct metadata *metadata, json_t *array)
{
    const struct metadata_module *module;
    json_t *near = json_array();
    bool listed, any = false;

    for (uint32_t n = 1; (module = metadata_module_at(metadata, n, &listed)); n++) {
        if (!listed || module->owner == SST_OWNER_FRAMEWORK)
            continue;
        any |= module->owner != SST_OWNER_PACKAGE;
        if (json_array_size(near) < NEAR)
            json_array_append_new(near, log_text(module->name));
    }
    if (any || !json_array_size(near))
        json_decref(near);
    else
        add_row(array, "own", "", near);
}

static json_t *find_all(const struct log *log)
{
    const struct options *options = log->config.options;
    const struct metadata *metadata = log->config.metadata;
    const struct {
        const char *option;
        const struct options_patterns *patterns;
        name_at *at;
    } lists[] = {
        {"only", &options->only, method_at},       {"exclude", &options->exclude, method_at},
        {"types", &options->types, class_at},      {"args", &options->args, method_at},
        {"returns", &options->returns, method_at}, {"calls", &options->calls, method_at},
    };
    json_t *array = json_array();

    metadata_hold(log->config.metadata);
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        for (size_t p = 0; p < lists[i].patterns->count; p++) {
            const char *pattern = lists[i].patterns->pattern[p];

            if (!load_relaxed(&lists[i].patterns->met[p]))
                add_row(array, lists[i].option, pattern,
                        near_names(metadata, pattern, lists[i].at));
        }
    find_own_code(metadata, &options->own_code, array);
    if (options->own && !options->own_code.count)
        find_own(metadata, array);
    metadata_unhold(log->config.metadata);
    return array;
}

/* For the end record and for the status: every name that is known is looked at. */
json_t *log_unmatched(struct log *log)
{
    if (!log->unmatched)
        log->unmatched = find_all(log);
    return json_incref(log->unmatched);
}
