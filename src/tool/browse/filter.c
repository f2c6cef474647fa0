#include "browse/filter.h"

#include "args/args.h"
#include "model/matches.h"
#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000ull

enum what { TYPE, METHOD, EXCLUDE, BELOW, THREAD, FROM, TO, WHATS };
static const char *const keys[WHATS] = {"type",   "method", "exclude", "below",
                                        "thread", "from",   "to"};

/* One filter while it is read. */
struct reading {
    struct filter *to;
    const struct model *model;
    uint64_t from, until; /* ns */
    bool has_from, has_until;
    char *why;
    size_t why_size;
};

static int refuse(const struct reading *r, const char *what, const char *value)
{
    snprintf(r->why, r->why_size, "%s: %.80s", what, value);
    return -EINVAL;
}

/* Whether a text is the whole name of something. */
static bool is_name(const struct reading *r, enum what what, const char *text)
{
    const struct model_globs globs = {&text, 1};
    bool *meant = NULL;
    bool is = what != TYPE && matches_of(r->model, MATCHES_METHODS, &globs, &meant) > 0;

    memory_free(meant);
    meant = NULL;
    is = is || ((what == TYPE || what == EXCLUDE) &&
                matches_of(r->model, MATCHES_TYPES, &globs, &meant) > 0);
    memory_free(meant);
    return is;
}

static int take_glob(struct reading *r, enum what what, const char *value, size_t word)
{
    struct filter *f = r->to;
    struct model_globs *globs[] = {&f->model.types, &f->model.methods, &f->model.exclude,
                                   &f->model.below};
    char *pattern = f->patterns[word];

    if (!*value)
        return refuse(r, "a name is missing behind", keys[what]);
    snprintf(pattern, PROMPT_SIZE, "*%s*", value);
    if (strpbrk(value, "*?") || is_name(r, what, value) || !is_name(r, what, pattern))
        snprintf(pattern, PROMPT_SIZE, "%s",
                 value); /* if it matches nothing, the nearest name is shown */
    f->globs[what][globs[what]->count++] = pattern;
    globs[what]->globs = f->globs[what];
    return 0;
}

/* 10s, 250ms, 50%. */
static int take_time(const struct reading *r, const char *value, uint64_t *ns)
{
    uint64_t duration = model_duration_ns(r->model);
    char *end;
    double share;

    if (!duration)
        return refuse(r, "this log has no times", value);
    share = strtod(value, &end);
    if (end > value && !strcmp(end, "%") && share >= 0 && share <= 100) {
        *ns = (uint64_t)((double)duration * share / 100);
        return 0;
    }
    if (args_number(ARGS_DURATION, value, SECOND, UINT64_MAX / 2, ns))
        return refuse(r, "a time is like 10s, 250ms or 50%, not", value);
    return 0;
}

static int take_thread(const struct reading *r, const char *value)
{
    uint64_t id;

    if (args_number(ARGS_COUNT, value, 1, UINT32_MAX - 1, &id) || !id)
        return refuse(r, "a thread is a number of the threads view, not", value);
    r->to->model.thread = (uint32_t)id;
    return 0;
}

static int take_word(struct reading *r, const char *word, size_t number)
{
    const char *value = strchr(word, '=');

    if (!value)
        return take_glob(r, METHOD, word, number);
    for (int what = 0; what < WHATS; what++) {
        if (strlen(keys[what]) != (size_t)(value - word) ||
            strncmp(keys[what], word, (size_t)(value - word)) != 0)
            continue;
        if (what <= BELOW)
            return take_glob(r, (enum what)what, value + 1, number);
        if (what == THREAD)
            return take_thread(r, value + 1);
        r->has_from = r->has_from || what == FROM;
        r->has_until = r->has_until || what == TO;
        return take_time(r, value + 1, what == FROM ? &r->from : &r->until);
    }
    return refuse(r, "type, method, exclude, below, thread, from or to, not", word);
}

/* Slices are the finest that is kept: a part of one is all of it. */
static int take_slices(const struct reading *r)
{
    uint64_t width = model_slice_ns(r->model);
    struct model_filter *m = &r->to->model;

    if (!r->has_from && !r->has_until)
        return 0;
    if (!width)
        return refuse(r, "this log has no times", "from, to");
    m->has_slices = true;
    m->from_slice = r->has_from ? (unsigned)(r->from / width) : 0;
    m->to_slice =
        r->has_until ? (unsigned)((r->until + width - 1) / width) : model_slice_count(r->model);
    return m->from_slice < m->to_slice ? 0 : refuse(r, "nothing lies between", "from and to");
}

int filter_new(const struct model *m, const char *text, struct filter **out, char *why,
               size_t why_size)
{
    struct filter *f = memory_zalloc(1, sizeof(*f));
    struct reading r = {.to = f, .model = m, .why = why, .why_size = why_size};
    int err = f ? words_split(text, &f->words) : -ENOMEM;

    if (err == -EINVAL)
        refuse(&r, "a quote is open, or there are too many words", text);
    for (size_t i = 0; !err && i < f->words.count; i++)
        err = take_word(&r, f->words.word[i], i);
    if (!err)
        err = take_slices(&r);
    if (!err)
        snprintf(f->text, sizeof(f->text), "%s", text);
    else
        memory_free(f);
    *out = err ? NULL : f;
    return err;
}
