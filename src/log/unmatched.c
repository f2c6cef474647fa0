/* log/unmatched.c - patterns of options that nothing matched, with names that may have been meant. */
#include "log/log_internal.h"

#include "options/options_fields.h"

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
        if (!*at)
            break;
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

    while (end && text[end - 1] == '>') { /* type arguments of its own */
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

/* The text of the method, or class, with that id: false past the last; NULL: it has none yet. */
typedef bool name_by_id(const struct names *names, uint32_t id, const char **text);

static bool method_by_id(const struct names *names, uint32_t id, const char **text)
{
    const struct names_method *method = names_method_by_id(names, id);

    *text = method ? names_method_text(method) : NULL;
    return method != NULL;
}

static bool class_by_id(const struct names *names, uint32_t id, const char **text)
{
    const struct names_class *class = names_class_by_id(names, id);

    *text = class ? names_class_text(class) : NULL;
    return class != NULL;
}

/* Names that contain the pattern's text; else those with the same last part; else with a like one. */
static json_t *near_names(const struct names *names, const char *pattern, name_by_id *by_id)
{
    char wanted[128], name[128];
    const char *const list[] = {name, NULL};
    json_t *found = json_array();
    const char *text;
    size_t length;
    const char *literal = literal_of(pattern, &length);

    bare_name(pattern, wanted, sizeof(wanted));
    for (int pass = 0; pass < 3 && !json_array_size(found); pass++)
        for (uint32_t id = 1; json_array_size(found) < NEAR && by_id(names, id, &text); id++) {
            if (!text)
                continue;
            bare_name(text, name, sizeof(name));
            if (pass == 0   ? length >= 3 && contains(text, literal, length)
                : pass == 1 ? !strcmp(wanted, name)
                            : options_near(wanted, list) != NULL)
                json_array_append_new(found, log_text(text));
        }
    return found;
}

json_t *log_unmatched(const struct log *log)
{
    const struct options *options = log->config.options;
    const struct {
        const char *option;
        const struct options_patterns *patterns;
        name_by_id *by_id;
    } lists[] = {
        {"only", &options->only, method_by_id},       {"exclude", &options->exclude, method_by_id},
        {"types", &options->types, class_by_id},      {"args", &options->args, method_by_id},
        {"returns", &options->returns, method_by_id}, {"calls", &options->calls, method_by_id},
    };
    json_t *array = json_array();

    for (size_t i = 0; i < COUNT_OF(lists); i++)
        for (size_t p = 0; p < lists[i].patterns->count; p++) {
            const char *pattern = lists[i].patterns->pattern[p];

            if (!load_relaxed(&lists[i].patterns->met[p]))
                json_array_append_new(
                    array, json_pack("{s:s, s:o, s:o}", "option", lists[i].option, "pattern",
                                     log_text(pattern), "near",
                                     near_names(log->config.names, pattern, lists[i].by_id)));
        }
    return array;
}
