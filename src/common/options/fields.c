#include "options/options_fields.h"

#include "base/atomics.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define NUMBER_MAX ((UINT64_C(1) << 53) - 1) /* what every JSON reader keeps exactly */

static const char *const hooks_words[] = {"auto", "elt2", "elt3", NULL};
static const char *const capture_words[] = {"shadow", "snapshot", "both", "walk", NULL};
static const char *const stacks_words[] = {"node", "inline", NULL};
static const char *const log_words[] = {"events", "sites", NULL};
static const char *const full_words[] = {"wait", "drop", NULL};
static const char *const framework_words[] = {"auto", "none", "snapshot", "walk", NULL};
static const char *const sampler_words[] = {"auto", "runtime", "exact", NULL};

static const char *const events_words[] = {"alloc",   "calls",       "threads",    "modules",
                                           "classes", "jit",         "exceptions", "gc",
                                           "suspend", "transitions", "finalizers", NULL};

#define FIELD(member, kind, words, standard, max) \
    { \
#member, OPTIONS_KIND_##kind, offsetof(struct options, member), words, standard, max, 0 \
    }
#define WORD(member, words)     FIELD(member, WORD, words, 0, COUNT_OF(words) - 2)
#define FLAG(member)            FIELD(member, FLAG, NULL, 0, 1)
#define COUNT(member, standard) FIELD(member, COUNT, NULL, standard, UINT32_MAX)
#define BYTES(member, standard) FIELD(member, BYTES, NULL, standard, NUMBER_MAX)
#define SET(member, words, standard) \
    FIELD(member, SET, words, standard, (1u << (COUNT_OF(words) - 1)) - 1)
#define LIST(member) FIELD(member, LIST, NULL, 0, 0)
#define PATH(member) FIELD(member, PATH, NULL, 0, 0)

const struct options_field options_fields[] = {
    WORD(hooks, hooks_words),
    WORD(capture, capture_words),
    WORD(stacks, stacks_words),
    WORD(log, log_words),
    WORD(full, full_words),
    SET(events, events_words, 1u << OPTIONS_ALLOC),
    LIST(calls),
    COUNT(max_depth, 0),
    COUNT(min_duration, 0),
    BYTES(call_buffer, OPTIONS_CALL_BUFFER),
    COUNT(check, OPTIONS_CHECK_DEFAULT),
    COUNT(check_calls, 0),
    COUNT(check_threads, 0),
    FLAG(live),
    COUNT(check_live, 0),
    BYTES(live_memory, OPTIONS_LIVE_MEMORY),
    FIELD(live_grows, COUNT, NULL, OPTIONS_LIVE_GROWS, OPTIONS_LIVE_GROWS_MOST),
    FLAG(native),
    COUNT(max_nodes, 4000000),
    {"sample", OPTIONS_KIND_BYTES, offsetof(struct options, sample), NULL, 0, NUMBER_MAX,
     OPTIONS_SAMPLE_RUNTIME},
    WORD(sampler, sampler_words),
    WORD(framework_frames, framework_words),
    FIELD(budget, COUNT, NULL, 0, 100),
    BYTES(min_size, 0),
    LIST(only),
    LIST(exclude),
    FLAG(own),
    LIST(own_code),
    LIST(types),
    LIST(process),
    LIST(args),
    LIST(returns),
    COUNT(value_length, 100),
    COUNT(value_items, 10),
    FLAG(exact_generics),
    FLAG(compress),
    FLAG(paused),
    FLAG(no_inline),
    FLAG(keep_tail_calls),
    FLAG(no_lines),
    FLAG(rich),
    FLAG(no_rich),
    FLAG(optimized),
    FLAG(no_control),
    FIELD(profile, COUNT, NULL, 0, 1000),
    FLAG(profile_snapshot),
    BYTES(max_log, 0),
    COUNT(part_time, 0),
    FIELD(keep, COUNT, NULL, OPTIONS_KEEP, OPTIONS_KEEP_MOST),
    COUNT(sums_every, 0),
    COUNT(detach_after, 0),
    PATH(heap_at_exit),
    PATH(output),
    PATH(directory),
    PATH(status),
};

const size_t options_field_count = COUNT_OF(options_fields);

static_assert(sizeof(enum options_hooks) == sizeof(uint32_t),
              "every enum of struct options is set as a uint32_t");

const struct options_field *options_field_find(const char *key)
{
    for (size_t i = 0; i < options_field_count; i++)
        if (!strcmp(options_fields[i].key, key))
            return &options_fields[i];
    return NULL;
}

static void *member(struct options *o, const struct options_field *f)
{
    return (char *)o + f->offset;
}

uint64_t options_field_get(const struct options *o, const struct options_field *f)
{
    const void *at = (const char *)o + f->offset;

    switch (f->kind) {
    case OPTIONS_KIND_FLAG:
        return *(const bool *)at;
    case OPTIONS_KIND_WORD:
    case OPTIONS_KIND_COUNT:
    case OPTIONS_KIND_SET:
        return *(const uint32_t *)at;
    case OPTIONS_KIND_BYTES:
        return *(const uint64_t *)at;
    case OPTIONS_KIND_LIST:
    case OPTIONS_KIND_PATH:
        break;
    }
    return 0;
}

int options_field_set(struct options *o, const struct options_field *f, uint64_t value)
{
    if (value > f->max)
        return -ERANGE;
    switch (f->kind) {
    case OPTIONS_KIND_FLAG:
        *(bool *)member(o, f) = value != 0;
        break;
    case OPTIONS_KIND_WORD:
    case OPTIONS_KIND_COUNT:
    case OPTIONS_KIND_SET:
        *(uint32_t *)member(o, f) = (uint32_t)value;
        break;
    case OPTIONS_KIND_BYTES:
        *(uint64_t *)member(o, f) = value;
        break;
    case OPTIONS_KIND_LIST:
    case OPTIONS_KIND_PATH:
        break;
    }
    return 0;
}

const char *options_family_name(enum options_family family)
{
    return (unsigned)family < OPTIONS_FAMILIES ? events_words[family] : "?";
}

int options_field_set_words(struct options *o, const struct options_field *f, const char *text,
                            const char **wrong, size_t *length)
{
    uint64_t set = 0;

    for (;; text += *length + 1) {
        int word = -EINVAL;

        *wrong = text;
        *length = strcspn(text, ",");
        for (int i = 0; f->words[i] && word < 0; i++)
            if (strlen(f->words[i]) == *length && !memcmp(f->words[i], text, *length))
                word = i;
        if (word >= 0)
            set |= UINT64_C(1) << word;
        else if (*length == 3 && !memcmp(text, "all", 3))
            set = f->max;
        else
            return -EINVAL;
        if (!text[*length])
            break;
    }
    return options_field_set(o, f, set);
}

int options_field_word(const struct options_field *f, const char *text)
{
    for (int i = 0; f->words[i]; i++)
        if (!strcmp(f->words[i], text))
            return i;
    return -EINVAL;
}

int options_field_text(struct options *o, const struct options_field *f, const char *text)
{
    char *copy;

    if (!*text || !utf8_valid(text) || (f->kind == OPTIONS_KIND_PATH && *text != '/'))
        return -EINVAL;
    copy = memory_strdup(text);
    if (!copy)
        return -ENOMEM;
    if (f->kind == OPTIONS_KIND_PATH) {
        memory_free(*(char **)member(o, f));
        *(char **)member(o, f) = copy;
    } else if (options_patterns_append(member(o, f), copy)) {
        memory_free(copy);
        return -ENOMEM;
    }
    return 0;
}

void options_init(struct options *o)
{
    memset(o, 0, sizeof(*o));
    for (size_t i = 0; i < options_field_count; i++)
        options_field_set(o, &options_fields[i], options_fields[i].standard);
    o->check_bounded = true;
}

void options_fini(struct options *o)
{
    for (size_t i = 0; i < options_field_count; i++) {
        const struct options_field *f = &options_fields[i];

        if (f->kind == OPTIONS_KIND_LIST)
            options_patterns_free(member(o, f));
        else if (f->kind == OPTIONS_KIND_PATH)
            memory_free(*(char **)member(o, f));
    }
    memset(o, 0, sizeof(*o));
}
