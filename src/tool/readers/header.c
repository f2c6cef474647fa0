#include "readers/header.h"

#include "base/atomics.h"
#include "base/file.h"
#include "base/path.h"
#include "readers/record.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *report_program(const json_t *header)
{
    const char *executable = json_string_value(json_object_get(header, "executable"));
    const json_t *argument;
    size_t i;

    if (!executable)
        return NULL;
    executable = path_base_name(executable);
    if (strcmp(executable, "dotnet") != 0)
        return executable;
    json_array_foreach(json_object_get(header, "command"), i, argument)
    {
        const char *text = json_string_value(argument);

        if (i && text && path_is_assembly(text))
            return path_base_name(text);
    }
    return executable;
}

/* *whole: there is a first line, whatever it is. */
static json_t *header_of(const char *path, bool *whole)
{
    struct report_lines *lines = NULL;
    struct report_parser parser;
    struct report_record record;
    struct report_line line;
    json_t *header = NULL;
    char opened[64];
    int fd = -1, err;

    *whole = false;
    /* In a folder of another user a FIFO, or a device, can take its name at any moment. */
    if (strcmp(path, "-") != 0)
        fd = file_open_regular(AT_FDCWD, path, O_RDONLY, FILE_ANY_OWNER);
    if (fd < 0)
        return NULL;
    snprintf(opened, sizeof(opened), "/proc/self/fd/%d", fd);
    err = report_lines_open(opened, &lines);
    close(fd);
    if (err)
        return NULL;
    report_lines_allow(lines, REPORT_HEADER_MAX);
    report_parser_init(&parser);
    if (report_lines_next(lines, &line) > 0) {
        *whole = !line.cut;
        if (!line.too_long && !report_parse_any(&parser, &line, &record) &&
            record.kind == SST_KIND_HEADER)
            header = json_deep_copy(record.json);
    } else {
        const char *damage = report_lines_damage(lines);

        *whole = damage && strcmp(damage, REPORT_LINES_CUT) != 0;
    }
    report_parser_fini(&parser);
    report_lines_free(lines);
    return header;
}

json_t *report_header_of(const char *path)
{
    bool whole;

    return header_of(path, &whole);
}

bool report_header_missing(const char *path)
{
    bool whole;
    json_t *header = header_of(path, &whole);
    bool missing = whole && !header;

    json_decref(header);
    return missing;
}

/* Behind the seconds, and a fraction of one: "Z", "+01:00". Returns: whether it is one of these. */
static bool zone_of(const char *text, long *ahead)
{
    unsigned hours, minutes;
    char sign[2];
    int end = 0;

    *ahead = 0;
    if (strcmp(text, "Z") == 0)
        return true;
    if (sscanf(text, "%1[+-]%2u:%2u%n", sign, &hours, &minutes, &end) != 3 || text[end])
        return false;
    *ahead = (long)(hours * 60 + minutes) * (*sign == '-' ? -60 : 60);
    return true;
}

time_t report_started(const json_t *header)
{
    const char *text = json_string_value(json_object_get(header, "started"));
    struct tm utc = {0};
    const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &utc) : NULL;
    long ahead;

    return end && zone_of(end + strspn(end, ".0123456789"), &ahead) ? timegm(&utc) - ahead : 0;
}

bool report_attached(const json_t *header)
{
    return json_is_true(json_object_get(header, "attached"));
}

static const char *const sampler_words[] = {
    [REPORT_SAMPLER_EXACT] = "exact",
    [REPORT_SAMPLER_RUNTIME] = "runtime",
    [REPORT_SAMPLER_TICKS] = "ticks",
};

enum report_sampler report_sampler(const json_t *header)
{
    const char *text = json_string_value(json_object_get(header, "sampler"));

    for (size_t i = 0; text && i < COUNT_OF(sampler_words); i++)
        if (!strcmp(text, sampler_words[i]))
            return (enum report_sampler)i;
    return REPORT_SAMPLER_EXACT;
}

const char *report_sampler_word(enum report_sampler sampler)
{
    return sampler_words[sampler];
}

uint64_t report_alive_mean(const json_t *header, const json_t *end)
{
    const json_t *alive = json_object_get(json_object_get(end, "sampling"), "alive");
    json_int_t mean = json_integer_value(json_object_get(alive, "mean"));
    uint64_t first = report_sample_mean(header);

    return mean > 0 && (uint64_t)mean > first ? (uint64_t)mean : first;
}

uint64_t report_sample_mean(const json_t *header)
{
    json_int_t mean =
        json_integer_value(json_object_get(json_object_get(header, "options"), "sample"));

    return mean > 0 ? (uint64_t)mean : 0;
}
