/*
 * options/options_fields.h - struct options as a table, so that JSON and the command line agree by
 * construction: a new option is a member and a row.
 */
#ifndef SHADOWTRACE_OPTIONS_OPTIONS_FIELDS_H
#define SHADOWTRACE_OPTIONS_OPTIONS_FIELDS_H

#include "options/options.h"

#define OPTIONS_CHECK_DEFAULT   1000
#define OPTIONS_CALL_BUFFER     (UINT64_C(1) << 30) /* bytes */
#define OPTIONS_LIVE_MEMORY     (UINT64_C(1) << 30) /* bytes */
#define OPTIONS_LIVE_GROWS      5                   /* full collections */
#define OPTIONS_LIVE_GROWS_MOST 60
#define OPTIONS_KEEP            1 /* older parts */
#define OPTIONS_KEEP_MOST       100
#define OPTIONS_SAMPLE_RUNTIME  UINT64_C(102400) /* bytes: a constant of the runtime's sampler */

enum options_kind {
    OPTIONS_KIND_WORD,  /* one of `words`; the member is an enum */
    OPTIONS_KIND_FLAG,  /* bool */
    OPTIONS_KIND_COUNT, /* uint32_t */
    OPTIONS_KIND_BYTES, /* uint64_t */
    OPTIONS_KIND_SET,   /* some of `words`: uint32_t, 1 << word; "all" is every one */
    OPTIONS_KIND_LIST,  /* struct options_patterns */
    OPTIONS_KIND_PATH,  /* char *, absolute */
};

/* The spelling of option names in messages: live_grows (JSON) or --live-grows. */
enum options_names { OPTIONS_NAMES_KEYS, OPTIONS_NAMES_ARGUMENTS };

struct options_field {
    const char *key; /* in JSON; on the command line `--` and this with hyphens */
    enum options_kind kind;
    size_t offset;            /* of the member */
    const char *const *words; /* of words and sets, by value, NULL-ended; for others NULL */
    uint64_t standard, max;   /* default and greatest value of a number */
    uint64_t automatic;       /* a number that is called "auto", too; 0: none is */
};

extern const struct options_field options_fields[];
extern const size_t options_field_count;

const struct options_field *options_field_find(const char *key); /* NULL: no such key */

/* Numbers, flags and words as one number. Set: 0 or -ERANGE, then the member is as it was. */
uint64_t options_field_get(const struct options *o, const struct options_field *f);
int options_field_set(struct options *o, const struct options_field *f, uint64_t value);

/*
 * options_field_set_words - a set from "a,b,c" or "all".
 * Returns: 0; -EINVAL when none is given, or a word is not the field's: *length bytes at *wrong.
 */
int options_field_set_words(struct options *o, const struct options_field *f, const char *text,
                            const char **wrong, size_t *length);

/* The value of a word, or -EINVAL. */
int options_field_word(const struct options_field *f, const char *text);

/*
 * options_field_text - set a path, or append to a list.
 * Returns: 0; -EINVAL: empty, not UTF-8, or a path that is not absolute; -ENOMEM.
 * Owns:    text is copied. On failure the member is as it was.
 */
int options_field_text(struct options *o, const struct options_field *f, const char *text);

/*
 * options_settle - what depends on more than one option, once all are set: the default of `check`,
 * and choices that contradict each other.
 * Returns: 0, or -EINVAL with a line in why, which begins with the names of the options and says
 *          what to do.
 */
int options_settle(struct options *o, bool check_given, enum options_names names, char *why,
                   size_t why_size);

/* Takes `text`, for memory_free. Returns: 0; -ENOMEM, and the text is still the caller's. */
int options_patterns_append(struct options_patterns *list, char *text);
void options_patterns_free(struct options_patterns *list);

#endif
