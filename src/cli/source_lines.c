#include "cli/source_lines.h"

#include "symbols/symbols.h"

#include <sys/stat.h>
#include <time.h>

struct module_lines {
    bool tried;
    struct symbols *symbols; /* NULL: none */
};

struct source_lines {
    const struct cli_command *command;
    const struct report_defs *defs;
    const char *const *dirs;
    size_t ndirs;
    time_t started; /* of the recording; 0 not known */
    struct module_lines *modules;
    size_t module_count;
};

/*
 * "2026-11-21T10:00:00Z"; an offset of a time zone makes it another moment, and the check is left
 * out.
 */
static time_t started_at(const json_t *header)
{
    const char *text = json_string_value(json_object_get(header, "started"));
    const char *end;
    struct tm utc = {0};

    end = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &utc) : NULL;
    while (end && *end && *end != 'Z' && *end != '+' && *end != '-')
        end++; /* a fraction */
    return end && *end == 'Z' ? timegm(&utc) : 0;
}

int source_lines_new(const struct cli_command *command, const struct report_defs *defs,
                     const char *const *dirs, size_t ndirs, const json_t *header,
                     struct source_lines **out)
{
    struct source_lines *s = memory_zalloc(1, sizeof(*s));

    *out = NULL;
    if (!s)
        return -ENOMEM;
    *s = (struct source_lines){
        command, defs, dirs, ndirs, started_at(header), NULL, defs->modules.count};
    s->modules = memory_zalloc(s->module_count, sizeof(*s->modules));
    if (!s->modules) {
        memory_free(s);
        return -ENOMEM;
    }
    *out = s;
    return 0;
}

void source_lines_free(struct source_lines *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->module_count; i++)
        symbols_free(s->modules[i].symbols);
    memory_free(s->modules);
    memory_free(s);
}

static struct symbols *open_module(struct source_lines *s, const char *path)
{
    struct symbols *symbols = NULL;
    struct symbols_error error = {.reason = SYMBOLS_OK};
    struct stat st;

    if (path[0] != '/') /* made in memory, or of another machine's idea of a path */
        return NULL;
    (void)symbols_open(path, s->dirs, s->ndirs, NULL, &symbols, &error);
    switch (error.reason) {
    case SYMBOLS_OK:
    case SYMBOLS_NO_ASSEMBLY:
    case SYMBOLS_NOT_MANAGED:
    case SYMBOLS_NONE:
    case SYMBOLS_MISSING:
        break;
    default:
        if (!symbols)
            cli_complain(s->command, "no lines: %s", error.text);
    }
    /* Built again since, it may have other lines; what has none is nobody's concern. */
    if (symbols && s->started && stat(path, &st) == 0 && st.st_mtime > s->started) {
        cli_complain(s->command, "%s was written after the recording began: no lines from it",
                     path);
        symbols_free(symbols);
        symbols = NULL;
    }
    return symbols;
}

bool source_line_of(struct source_lines *s, uint32_t method, int32_t il, struct source_line *out)
{
    const struct report_def *def;
    struct module_lines *module;
    struct symbols_line line;

    if (!s || il < 0)
        return false;
    def = report_method(s->defs, method);
    if (!def->module || !def->token || def->module >= s->module_count)
        return false;
    module = &s->modules[def->module];
    if (!module->tried) {
        module->tried = true;
        module->symbols = open_module(s, report_module(s->defs, def->module)->path);
    }
    if (!module->symbols || symbols_line(module->symbols, def->token, (uint32_t)il, &line))
        return false;
    *out = (struct source_line){line.file, line.line};
    return true;
}
