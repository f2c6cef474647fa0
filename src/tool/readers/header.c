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

const char *log_program(const json_t *header)
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
    struct log_lines *lines = NULL;
    struct log_parser parser;
    struct log_record record;
    struct log_line line;
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
    err = log_lines_open(opened, &lines);
    close(fd);
    if (err)
        return NULL;
    log_lines_allow(lines, LOG_HEADER_MAX);
    log_parser_init(&parser);
    if (log_lines_next(lines, &line) > 0) {
        *whole = !line.cut;
        if (!line.too_long && !log_parse_any(&parser, &line, &record) &&
            record.kind == SST_KIND_HEADER)
            header = json_deep_copy(record.json);
    } else {
        const char *damage = log_lines_damage(lines);

        *whole = damage && strcmp(damage, LOG_LINES_CUT) != 0;
    }
    log_parser_fini(&parser);
    log_lines_free(lines);
    return header;
}

json_t *log_header_of(const char *path)
{
    bool whole;

    return header_of(path, &whole);
}

bool log_header_missing(const char *path)
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

time_t log_started(const json_t *header)
{
    const char *text = json_string_value(json_object_get(header, "started"));
    struct tm utc = {0};
    const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &utc) : NULL;
    long ahead;

    return end && zone_of(end + strspn(end, ".0123456789"), &ahead) ? timegm(&utc) - ahead : 0;
}

bool log_attached(const json_t *header)
{
    return json_is_true(json_object_get(header, "attached"));
}

static const char *const sampler_words[] = {
    [LOG_SAMPLER_EXACT] = "exact",
    [LOG_SAMPLER_RUNTIME] = "runtime",
    [LOG_SAMPLER_TICKS] = "ticks",
};

enum log_sampler_kind log_sampler_kind(const json_t *header)
{
    const char *text = json_string_value(json_object_get(header, "sampler"));

    for (size_t i = 0; text && i < COUNT_OF(sampler_words); i++)
        if (!strcmp(text, sampler_words[i]))
            return (enum log_sampler_kind)i;
    return LOG_SAMPLER_EXACT;
}

const char *log_sampler_word(enum log_sampler_kind sampler)
{
    return sampler_words[sampler];
}

uint64_t log_alive_mean(const json_t *header, const json_t *end)
{
    const json_t *alive = json_object_get(json_object_get(end, "sampling"), "alive");
    json_int_t mean = json_integer_value(json_object_get(alive, "mean"));
    uint64_t first = log_sample_mean(header);

    return mean > 0 && (uint64_t)mean > first ? (uint64_t)mean : first;
}

uint64_t log_sample_mean(const json_t *header)
{
    json_int_t mean =
        json_integer_value(json_object_get(json_object_get(header, "options"), "sample"));

    return mean > 0 ? (uint64_t)mean : 0;
}
