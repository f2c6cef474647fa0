/* The value of one option: read, held against its row, put where it belongs. */
#include "args/value.h"

#include "base/atomics.h"
#include "base/near.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

int args_refuse(char why[ARGS_WHY_SIZE], const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, ARGS_WHY_SIZE, format, args);
    va_end(args);
    return -EINVAL;
}

const struct options_field *args_field(const struct args_option *row)
{
    char key[32];
    size_t i = 0;

    if (row->kind != ARGS_FIELD)
        return NULL;
    for (; row->name[i] && i < sizeof(key) - 1; i++)
        key[i] = row->name[i] == '-' ? '_' : row->name[i];
    key[i] = '\0';
    return options_field_find(key);
}

enum args_kind args_number_kind(const struct args_option *row)
{
    const struct options_field *f = args_field(row);

    if (!f)
        return row->kind;
    if (row->unit)
        return ARGS_DURATION;
    return f->kind == OPTIONS_KIND_BYTES ? ARGS_BYTES : ARGS_COUNT;
}

const char *const *args_words(const struct args_option *row)
{
    const struct options_field *f = args_field(row);

    return f ? f->words : row->words;
}

bool args_takes_value(const struct args_option *row)
{
    const struct options_field *f = args_field(row);

    return f ? f->kind != OPTIONS_KIND_FLAG : row->kind != ARGS_FLAG;
}

bool args_repeats(const struct args_option *row)
{
    const struct options_field *f = args_field(row);

    return f ? f->kind == OPTIONS_KIND_LIST : row->kind == ARGS_LIST;
}

void args_list_words(struct buffer *b, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        buffer_format(b, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

struct unit {
    const char *name;
    uint64_t times;
};

#define UNITS 4 /* of each kind, the largest last */

static const struct unit units[][UNITS] = {
    [ARGS_COUNT] = {{"", 1}, {"k", 1000}, {"M", 1000000}, {"G", 1000000000}},
    [ARGS_BYTES] = {{"", 1}, {"KiB", 1u << 10}, {"MiB", 1u << 20}, {"GiB", 1u << 30}},
    [ARGS_DURATION] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}},
};

/* K is KiB. NULL: there is no such unit. */
static const struct unit *unit_of(enum args_kind kind, const char *name)
{
    for (size_t i = 0; i < UNITS; i++) {
        const char *unit = units[kind][i].name;

        if (!strcasecmp(unit, name) ||
            (kind == ARGS_BYTES && name[0] && !name[1] && !strncasecmp(unit, name, 1)))
            return &units[kind][i];
    }
    return NULL;
}

const char *args_show_number(enum args_kind kind, uint64_t value, char text[ARGS_NUMBER_SIZE])
{
    size_t i = UNITS - 1;

    while (i > 0 && (!value || value % units[kind][i].times))
        i--;
    snprintf(text, ARGS_NUMBER_SIZE, "%llu%s", (unsigned long long)(value / units[kind][i].times),
             value ? units[kind][i].name : "");
    return text;
}

int args_number(enum args_kind kind, const char *text, uint64_t unit, uint64_t limit, uint64_t *out)
{
    const struct unit *of, given = {"", unit};
    uint64_t whole = 0, rest;
    double part = 0, digit = 0.1;
    bool too_large = false;

    if (!is_digit(*text))
        return -EINVAL;
    for (; is_digit(*text); text++)
        too_large |= __builtin_mul_overflow(whole, (uint64_t)10, &whole) ||
                     __builtin_add_overflow(whole, (uint64_t)(*text - '0'), &whole);
    if (kind == ARGS_DURATION && *text == '.')
        for (text++; is_digit(*text); text++, digit /= 10)
            part += digit * (*text - '0');
    of = kind == ARGS_DURATION && !*text ? &given : unit_of(kind, text);
    if (!of)
        return -EINVAL;
    if (too_large || whole > limit / of->times)
        return -ERANGE;
    rest = (uint64_t)(part * (double)of->times + 0.5);
    if (rest > limit - whole * of->times)
        return -ERANGE;
    *out = whole * of->times + rest;
    return 0;
}

/* ---- of struct options ---- */

static int wrong_number(const struct args_value *v, enum args_kind kind)
{
    static const char *const takes[] = {
        [ARGS_COUNT] = "a whole number, such as 20 or 10k",
        [ARGS_BYTES] = "a number of bytes, such as 65536, 64K or 1MiB",
        [ARGS_DURATION] = "a duration, such as 20us, 1.5ms or 2s",
    };

    return args_refuse(v->why, "%s takes %s, not \"%s\"", v->as, takes[kind], v->text);
}

/* As the member has it: from least to limit. */
static int number(const struct args_value *v, const struct options_field *f, uint64_t limit,
                  uint64_t *out)
{
    enum args_kind kind = args_number_kind(v->row);
    uint64_t per = f && v->row->unit ? v->row->unit : 1; /* a field of time is in its unit */
    int err = args_number(kind, v->text, v->row->unit,
                          limit > UINT64_MAX / per ? limit : limit * per, out);
    char from[ARGS_NUMBER_SIZE], to[ARGS_NUMBER_SIZE];

    if (err == -EINVAL || (!err && *out % per))
        return wrong_number(v, kind);
    *out /= per;
    if (!err && *out >= v->row->least)
        return 0;
    return args_refuse(v->why, "%s takes a %s from %s to %s, not %s", v->as,
                       kind == ARGS_DURATION ? "duration" : "number",
                       args_show_number(kind, v->row->least * per, from),
                       args_show_number(kind, limit > UINT64_MAX / per ? limit : limit * per, to),
                       v->text);
}

#define MANY_WORDS 6 /* too many to see at once which one was meant */

static int wrong_word(const struct args_value *v, const char *const *words)
{
    const char *near = NULL;
    struct buffer b = BUFFER_INIT;
    size_t count = 0;

    while (words[count])
        count++;
    if (count >= MANY_WORDS)
        near = near_find(v->text, words);
    args_list_words(&b, words);
    args_refuse(v->why, "%s takes %s, not \"%s\"%s%s%s", v->as,
                b.failed ? "one of its words" : b.data, v->text, near ? "; did you mean \"" : "",
                near ? near : "", near ? "\"?" : "");
    buffer_free(&b);
    return -EINVAL;
}

static int field_words(const struct args_value *v, struct options *o, const struct options_field *f)
{
    struct buffer b = BUFFER_INIT;
    const char *wrong;
    size_t length;

    if (!options_field_set_words(o, f, v->text, &wrong, &length))
        return 0;
    args_list_words(&b, f->words);
    args_refuse(v->why,
                "%s does not know \"%.*s\"; it takes all, or some of %s, separated by commas",
                v->as, (int)length, wrong, b.failed ? "its words" : b.data);
    buffer_free(&b);
    return -EINVAL;
}

static int field_text(const struct args_value *v, struct options *o, const struct options_field *f)
{
    int err = options_field_text(o, f, v->text);

    if (err != -EINVAL)
        return err;
    if (f->kind == OPTIONS_KIND_PATH && *v->text != '/')
        return args_refuse(v->why, "%s takes an absolute path, not \"%s\"", v->as, v->text);
    return args_refuse(
        v->why, *v->text ? "%s takes UTF-8 text, which \"%s\" is not" : "%s must not be empty",
        v->as, v->text);
}

static int set_field(const struct args_value *v, struct options *o)
{
    const struct options_field *f = args_field(v->row);
    uint64_t value = 1;
    int err = 0;

    switch (f->kind) {
    case OPTIONS_KIND_FLAG:
        break;
    case OPTIONS_KIND_WORD:
        err = options_field_word(f, v->text);
        if (err < 0)
            return wrong_word(v, f->words);
        value = (uint64_t)err;
        break;
    case OPTIONS_KIND_COUNT:
    case OPTIONS_KIND_BYTES:
        if (f->automatic && !strcmp(v->text, "auto")) {
            value = f->automatic;
            break;
        }
        err = number(v, f, f->max, &value);
        if (err)
            return err;
        break;
    case OPTIONS_KIND_SET:
        return field_words(v, o, f);
    case OPTIONS_KIND_LIST:
    case OPTIONS_KIND_PATH:
        return field_text(v, o, f);
    }
    return options_field_set(o, f, value);
}

/* ---- of a command's own ---- */

static void store(const struct args_option *row, void *into, uint64_t value)
{
    char *at = (char *)into + row->offset;

    if (row->size == sizeof(uint64_t))
        *(uint64_t *)(void *)at = value;
    else if (row->size == sizeof(uint32_t))
        *(uint32_t *)(void *)at = (uint32_t)value;
    else
        *(bool *)at = value != 0;
}

void args_default(const struct args_option *row, void *into)
{
    const struct options_field *f = args_field(row);

    if (f)
        options_field_set((struct options *)(void *)((char *)into + row->offset), f, f->standard);
    else if (row->standard)
        store(row, into, row->standard);
}

static int set_list(const struct args_value *v, struct args_list *list)
{
    if (list->count == COUNT_OF(list->item))
        return args_refuse(v->why, "%s can be given at most %zu times", v->as, list->count);
    list->item[list->count++] = v->text;
    return 0;
}

static int set_word(const struct args_value *v, void *into)
{
    for (unsigned i = 0; v->row->words[i]; i++)
        if (!strcmp(v->row->words[i], v->text)) {
            store(v->row, into, i);
            return 0;
        }
    return wrong_word(v, v->row->words);
}

static int set_number(const struct args_value *v, void *into)
{
    uint64_t largest = v->row->size == sizeof(uint32_t) ? UINT32_MAX : UINT64_MAX, value = 0;
    int err = number(v, NULL, v->row->limit ? v->row->limit : largest, &value);

    if (!err)
        store(v->row, into, value);
    return err;
}

int args_set(const struct args_value *v, void *into)
{
    void *at = (char *)into + v->row->offset;

    switch (v->row->kind) {
    case ARGS_FLAG:
        store(v->row, into, 1);
        return 0;
    case ARGS_COUNT:
    case ARGS_BYTES:
    case ARGS_DURATION:
        return set_number(v, into);
    case ARGS_WORD:
        return set_word(v, into);
    case ARGS_FIELD:
        return set_field(v, at);
    case ARGS_TEXT:
    case ARGS_LIST:
        if (!*v->text)
            return args_refuse(v->why, "%s must not be empty", v->as);
        if (v->row->kind == ARGS_LIST)
            return set_list(v, at);
        *(const char **)at = v->text;
        return 0;
    case ARGS_REFUSED:
        return args_refuse(v->why, "%s", v->row->help);
    case ARGS_OLD:
    case ARGS_TOPIC:
        break;
    }
    return -EINVAL;
}
