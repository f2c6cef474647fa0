#include "log/tally.h"

#include "log/json.h"
#include "options/options_fields.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_texts[SST_KIND_COUNT] = {
#define KIND_TEXT(name, text) [SST_KIND_##name] = text,
    SST_KINDS(KIND_TEXT)
#undef KIND_TEXT
};

/* The lines of a family are of one kind; calls are many to a line. */
static const enum sst_kind family_kinds[OPTIONS_FAMILIES] = {
    [OPTIONS_ALLOC] = SST_KIND_ALLOC,
    [OPTIONS_CALLS] = SST_KIND_CALLS,
    [OPTIONS_THREADS] = SST_KIND_MANAGED_THREAD,
    [OPTIONS_MODULES] = SST_KIND_LOAD,
    [OPTIONS_CLASSES] = SST_KIND_CLASS_LOAD,
    [OPTIONS_JIT] = SST_KIND_JIT,
    [OPTIONS_EXCEPTIONS] = SST_KIND_EXCEPTION,
    [OPTIONS_GC] = SST_KIND_GC,
    [OPTIONS_SUSPEND] = SST_KIND_SUSPEND,
    [OPTIONS_TRANSITIONS] = SST_KIND_TRANSITION,
    [OPTIONS_FINALIZERS] = SST_KIND_FINALIZER,
};

enum sst_kind log_family_kind(uint32_t family)
{
    return family_kinds[family];
}

#define COUNTERS (sizeof(struct log_tally) / sizeof(uint64_t))
static_assert(COUNTERS == SST_KIND_COUNT + 5, "nothing else is in it");

void log_tally_add(struct log_tally *to, const struct log_tally *more)
{
    uint64_t *counter = (uint64_t *)to;

    for (size_t i = 0; i < COUNTERS; i++)
        counter[i] += ((const uint64_t *)more)[i];
}

void log_tally_take(struct log_tally *from, const struct log_tally *less)
{
    uint64_t *counter = (uint64_t *)from;

    for (size_t i = 0; i < COUNTERS; i++)
        counter[i] -= ((const uint64_t *)less)[i];
}

static enum sst_kind kind_of(const char *line, size_t size)
{
    static const char head[] = "{\"kind\":\"";
    const size_t skip = sizeof(head) - 1;

    if (size <= skip || memcmp(line, head, skip))
        return SST_KIND_UNKNOWN;
    for (unsigned i = 1; i < SST_KIND_COUNT; i++) {
        size_t length = strlen(kind_texts[i]);

        if (size > skip + length && !memcmp(line + skip, kind_texts[i], length) &&
            line[skip + length] == '"')
            return (enum sst_kind)i;
    }
    return SST_KIND_UNKNOWN;
}

/* The number behind a member's first occurrence: for these the member itself, behind numbers. */
static uint64_t number_in(const char *line, size_t size, const char *member)
{
    const char *at = memmem(line, size, member, strlen(member));

    return at ? strtoull(at + strlen(member), NULL, 10) : 0;
}

/* Codes and numbers in turn; see SST_CALL_. */
static void count_calls(struct log_tally *t, const char *line, size_t size)
{
    static const char member[] = "\"e\":[";
    const char *at = memmem(line, size, member, sizeof(member) - 1), *end = line + size;

    at = at ? at + sizeof(member) - 1 : end;
    while (at < end && *at != ']') {
        char *next;
        long long code = strtoll(at, &next, 10);

        t->entered += code > 0;
        t->ended += code <= 0 && code != SST_CALL_MISSING && code != SST_CALL_VALUES;
        at = next + (*next == ',');
        strtoll(at, &next, 10);
        at = next + (*next == ',');
    }
}

static void count_line(struct log_tally *t, const char *line, size_t size)
{
    static const char cut[] = ",\"cut\":true";
    enum sst_kind kind = kind_of(line, size);

    t->lines[kind]++;
    if (kind == SST_KIND_ALLOC || kind == SST_KIND_SITE) {
        uint64_t allocs = kind == SST_KIND_ALLOC ? 1 : number_in(line, size, "\"allocs\":");

        t->allocs += allocs;
        t->bytes += number_in(line, size, "\"bytes\":");
        t->cut += memmem(line, size, cut, sizeof(cut) - 1) ? allocs : 0;
    } else if (kind == SST_KIND_CALLS) {
        count_calls(t, line, size);
    }
}

size_t log_tally_lines(struct log_tally *t, const char *data, size_t size)
{
    const char *line = data, *end = data + size, *next;

    while (line < end && (next = memchr(line, '\n', (size_t)(end - line)))) {
        count_line(t, line, (size_t)(next - line));
        line = next + 1;
    }
    return (size_t)(line - data);
}

json_t *log_kinds_json(const uint64_t lines[SST_KIND_COUNT])
{
    json_t *object = json_object();

    for (unsigned i = 1; i < SST_KIND_COUNT; i++)
        log_set_any(object, kind_texts[i], lines[i]);
    return object;
}

uint64_t log_kinds_sum(const uint64_t lines[SST_KIND_COUNT])
{
    uint64_t sum = 0;

    for (unsigned i = 1; i < SST_KIND_COUNT; i++)
        sum += lines[i];
    return sum;
}
