#include "record/environment.h"

#include "base/atomics.h"
#include "base/buffer.h"
#include "base/clean.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "command/xml.h"
#include "process/profiling.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Is the JIT to keep rich debug info? Not if a runtime that can take the samples is to do so. */
static bool is_rich(const struct options *options)
{
    struct options settled = *options;

    options_sampler_settle(&settled, OPTIONS_SAMPLER_MAJOR);
    return options_rich(&settled);
}

int record_environment_make(struct record_environment *e, const char *library,
                            const struct options *o, struct record_why *why)
{
    memset(e, 0, sizeof(*e));
    if (!utf8_valid(library))
        return record_refuse(
            why, CLI_IO, "%s is not UTF-8; .NET cannot load a library from such a path", library);
    *e = (struct record_environment){
        .count = RECORD_VARIABLES,
        .set = {
            [RECORD_ENABLE] = {"CORECLR_ENABLE_PROFILING", memory_strdup("1")},
            [RECORD_PROFILER] = {"CORECLR_PROFILER", memory_strdup(OPTIONS_CLSID)},
            [RECORD_PATH] = {"CORECLR_PROFILER_PATH", memory_strdup(library)},
            [RECORD_OPTIONS] = {OPTIONS_VARIABLE, options_write(o)},
            [RECORD_RICH] = {is_rich(o) ? "DOTNET_RichDebugInfo" : NULL, memory_strdup("1")},
            [RECORD_TAIL_CALLS] = {o->keep_tail_calls || o->no_inline ? "DOTNET_TailCallOpt" : NULL,
                                   memory_strdup("0")},
            /* A collection beside the program frees memory that is used again before it ends. */
            [RECORD_CONCURRENT] = {(o->live && !o->sample) || o->heap_at_exit
                                       ? "DOTNET_gcConcurrent"
                                       : NULL,
                                   memory_strdup("0")},
        }};
    for (size_t i = 0; i < COUNT_OF(e->set); i++)
        if (!e->set[i].value)
            return record_refuse(why, CLI_IO, "out of memory");
    e->count = 0;
    for (size_t i = 0; i < COUNT_OF(e->set); i++) {
        if (e->set[i].name)
            e->set[e->count++] = e->set[i];
        else
            memory_free(e->set[i].value);
    }
    return CLI_OK;
}

void record_environment_fini(struct record_environment *e)
{
    for (size_t i = 0; i < e->count; i++)
        memory_free(e->set[i].value);
    memset(e, 0, sizeof(*e));
}

/* "NAME=VALUE", of one that is set here or has to go? */
static bool is_replaced(const struct record_environment *e, const char *variable)
{
    size_t length = strcspn(variable, "=");

    for (size_t i = 0; i < e->count; i++)
        if (strlen(e->set[i].name) == length && !memcmp(e->set[i].name, variable, length))
            return true;
    return strlen(RECORD_UNSET) == length && !memcmp(RECORD_UNSET, variable, length);
}

char **record_environment_list(const struct record_environment *e)
{
    size_t own = 0, kept = 0, text = 0;
    char **list, *at;

    while (environ[own])
        own++;
    for (size_t i = 0; i < e->count; i++)
        text += strlen(e->set[i].name) + strlen(e->set[i].value) + sizeof("=");
    list = memory_alloc((own + COUNT_OF(e->set) + 1) * sizeof(*list) + text);
    if (!list)
        return NULL;
    at = (char *)(list + own + COUNT_OF(e->set) + 1);
    for (size_t i = 0; i < own; i++)
        if (!is_replaced(e, environ[i]))
            list[kept++] = environ[i];
    for (size_t i = 0; i < e->count; i++) {
        list[kept++] = at;
        at += sprintf(at, "%s=%s", e->set[i].name, e->set[i].value) + 1;
    }
    list[kept] = NULL;
    return list;
}

/*
 * Control characters are written as escapes for printf, which every shell has; not all know $'...'.
 * $() drops line breaks at the end, so those follow it.
 */
static void print_escaped(FILE *out, const char *text)
{
    const char *end = text + strlen(text);
    bool safe;

    while (end > text && end[-1] == '\n')
        end--;
    fputs("\"$(printf '", out);
    while (text < end) {
        size_t length = clean_letter(text, &safe);

        for (size_t i = 0; i < length; i++)
            if (!safe)
                fprintf(out, "\\%03o", (unsigned char)text[i]);
            else if (text[i] == '\'')
                fputs("\\047", out);
            else if (text[i] == '\\' || text[i] == '%')
                fprintf(out, "%c%c", text[i], text[i]);
            else
                putc(text[i], out);
        text += length;
    }
    fprintf(out, "')\"%s%s%s", *end ? "'" : "", end, *end ? "'" : "");
}

static bool is_clean(const char *text)
{
    bool safe = true;

    while (*text && safe)
        text += clean_letter(text, &safe);
    return safe;
}

void record_print_quoted(FILE *out, const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:@_=";

    if (*text && !text[strspn(text, plain)]) {
        fputs(text, out);
        return;
    }
    if (!is_clean(text)) {
        print_escaped(out, text);
        return;
    }
    putc('\'', out);
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else
            putc(*text, out);
    }
    putc('\'', out);
}

/* systemd.exec(5): C escapes inside double quotes, and % begins a specifier. */
static void print_systemd(FILE *out, const char *text)
{
    bool safe;

    while (*text) {
        size_t length = clean_letter(text, &safe);

        for (size_t i = 0; i < length; i++)
            if (text[i] == '\n')
                fputs("\\n", out);
            else if (!safe)
                fprintf(out, "\\x%02x", (unsigned char)text[i]);
            else if (text[i] == '"' || text[i] == '\\')
                fprintf(out, "\\%c", text[i]);
            else if (text[i] == '%')
                fputs("%%", out);
            else
                putc(text[i], out);
        text += length;
    }
}

static void print_json(FILE *out, const struct record_environment *e)
{
    struct buffer b = BUFFER_INIT;

    for (size_t i = 0; i < e->count; i++) {
        buffer_char(&b, i ? ',' : '{');
        buffer_json_string(&b, e->set[i].name);
        buffer_char(&b, ':');
        buffer_json_string(&b, e->set[i].value);
    }
    buffer_text(&b, "}\n");
    if (!b.failed)
        fputs(b.data, out);
    buffer_free(&b);
}

/* For `dotnet test --settings FILE`: vstest gives them to the process that runs the tests. */
static void print_runsettings(FILE *out, const struct record_environment *e)
{
    struct buffer b = BUFFER_INIT;

    buffer_text(&b, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<RunSettings>\n"
                    "  <RunConfiguration>\n    <EnvironmentVariables>\n");
    for (size_t i = 0; i < e->count; i++) {
        buffer_format(&b, "      <%s>", e->set[i].name);
        xml_text(&b, e->set[i].value);
        buffer_format(&b, "</%s>\n", e->set[i].name);
    }
    buffer_text(&b, "    </EnvironmentVariables>\n  </RunConfiguration>\n</RunSettings>\n");
    if (!b.failed)
        fputs(b.data, out);
    buffer_free(&b);
}

/* Where a value that has a control character cannot be written. */
static const char *const holds_no_control[] = {
    [ENV_DOCKER] = "docker env-file",
    [ENV_RUNSETTINGS] = ".runsettings file",
};

int record_environment_print(const struct record_environment *e, enum env_format format, FILE *out,
                             struct record_why *why)
{
    if (format == ENV_JSON) {
        print_json(out, e);
        return CLI_OK;
    }
    for (size_t i = 0; i < e->count; i++)
        if (holds_no_control[format] && !is_clean(e->set[i].value))
            return record_refuse(why, CLI_IO,
                                 "%s contains a line break or another control character, which a "
                                 "%s cannot hold",
                                 e->set[i].name, holds_no_control[format]);
    if (format == ENV_RUNSETTINGS) {
        print_runsettings(out, e);
        return CLI_OK;
    }
    for (size_t i = 0; i < e->count; i++) {
        if (format == ENV_SHELL) {
            fprintf(out, "export %s=", e->set[i].name);
            record_print_quoted(out, e->set[i].value);
            putc('\n', out);
        } else if (format == ENV_SYSTEMD) {
            fprintf(out, "Environment=\"%s=", e->set[i].name);
            print_systemd(out, e->set[i].value);
            fputs("\"\n", out);
        } else {
            fprintf(out, "%s=%s\n", e->set[i].name, e->set[i].value);
        }
    }
    if (format == ENV_SHELL)
        fputs("unset " RECORD_UNSET "\n", out);
    else if (format == ENV_SYSTEMD)
        fputs("UnsetEnvironment=" RECORD_UNSET "\n", out);
    return CLI_OK;
}

int record_environment_check(struct record_why *why)
{
    const struct profiling_environment own = {NULL, 0};
    const char *off = profiling_off(&own);
    struct profiling_other other;

    if (profiling_another(&own, &other))
        return record_refuse(
            why, CLI_USAGE,
            "the environment sets another profiler, %s=%s%s%s%s; a process can have only one; "
            "unset %s first",
            other.profiler, other.clsid, other.library ? " (" : "",
            other.library ? other.library : "", other.library ? ")" : "", other.enable);
    if (off)
        return record_refuse(
            why, CLI_USAGE,
            "%s=%s in the environment keeps .NET from loading any profiler; unset it", off,
            getenv(off));
    return CLI_OK;
}
