/* argv against a table of options. */
#include "args/value.h"

#include "base/near.h"

#include <string.h>

struct parser {
    const struct args_syntax *syntax;
    char **argv;
    int argc, at; /* at: the word that is read */
    void *into;
    struct args *out;
    char *why;
};

static const struct args_option help_row = {.name = "help", .letter = 'h', .kind = ARGS_FLAG};

const struct args_option *args_row(const struct args_option *row)
{
    while (row && !row->name)
        row = row->more;
    return row;
}

/* The first option at or after `row`. */
static const struct args_option *no_topic(const struct args_option *row)
{
    while (row && row->kind == ARGS_TOPIC)
        row = args_row(row + 1);
    return row;
}

static const struct args_option *first_row(const struct args_syntax *syntax)
{
    return no_topic(args_row(syntax->options));
}

static const struct args_option *next_row(const struct args_option *row)
{
    return no_topic(args_row(row + 1));
}

/* As a bit of args.given. */
static uint64_t bit_of(const struct args_syntax *syntax, const struct args_option *wanted)
{
    const struct args_option *row;
    uint64_t bit = 1;

    for (row = first_row(syntax); row && row != wanted; row = next_row(row))
        bit <<= 1;
    return bit;
}

/* Is it the whole name of the row, or one of its aliases? */
static bool is_called(const struct args_option *row, const char *name, size_t length)
{
    const char *alias = row->aliases ? row->aliases : "";

    if (strlen(row->name) == length && !memcmp(row->name, name, length))
        return true;
    for (; *alias; alias += strspn(alias, " ")) {
        size_t size = strcspn(alias, " ");

        if (size == length && !memcmp(alias, name, length))
            return true;
        alias += size;
    }
    return false;
}

static bool begins(const struct args_option *row, const char *name, size_t length)
{
    return args_is_shown(row) && !strncmp(row->name, name, length);
}

static int unknown(const struct parser *p, const char *name, size_t length)
{
    const char *names[ARGS_MAX + 1] = {NULL}, *near = NULL;
    const struct args_option *row;
    char text[48] = "";
    size_t count = 0;

    for (row = first_row(p->syntax); row; row = next_row(row))
        if (args_is_shown(row))
            names[count++] = row->name;
    if (length < sizeof(text)) {
        memcpy(text, name, length);
        near = near_find(text, names);
    }
    if (near)
        return args_refuse(p->why, "unknown option --%.*s; did you mean --%s?", (int)length, name,
                           near);
    return args_refuse(p->why, "unknown option --%.*s", (int)length, name);
}

static int find_long(const struct parser *p, const char *name, size_t length,
                     const struct args_option **out)
{
    const struct args_option *row, *shortened = NULL;
    size_t count = 0;

    for (row = first_row(p->syntax); row; row = next_row(row)) {
        if (is_called(row, name, length)) {
            *out = row;
            return 0;
        }
        if (length && begins(row, name, length)) {
            shortened = row;
            count++;
        }
    }
    if (length && !strncmp(help_row.name, name, length) && !count) {
        shortened = &help_row;
        count++;
    }
    *out = shortened;
    return count == 1 ? 0 : unknown(p, name, length);
}

static int set(struct parser *p, const struct args_option *row, const char *as, const char *text)
{
    const struct args_value value = {row, as, text, p->why};

    if (row == &help_row) {
        p->out->help = true;
        return 0;
    }
    p->out->given |= bit_of(p->syntax, row);
    return args_set(&value, p->into);
}

/* The value of an option, if it is a separate word. */
static int next_word(struct parser *p, const char *as, const char **out)
{
    if (++p->at >= p->argc || strcmp(p->argv[p->at], "--") == 0)
        return args_refuse(p->why, "%s needs a value", as);
    *out = p->argv[p->at];
    return 0;
}

static int long_option(struct parser *p, const char *name)
{
    size_t length = strcspn(name, "=");
    const char *value = name[length] ? name + length + 1 : NULL;
    const struct args_option *row = NULL;
    char as[48];
    int err = find_long(p, name, length, &row);

    if (err)
        return err;
    if (row->kind == ARGS_OLD) {
        p->out->old = row;
        return long_option(p, row->help);
    }
    snprintf(as, sizeof(as), "--%s", row->name);
    if (row->kind == ARGS_REFUSED || (!args_takes_value(row) && !value))
        return set(p, row, as, "");
    if (!args_takes_value(row))
        return args_refuse(p->why, "%s takes no value", as);
    if (!value)
        err = next_word(p, as, &value);
    return err ? err : set(p, row, as, value);
}

static const struct args_option *find_letter(const struct parser *p, char letter)
{
    const struct args_option *row;

    for (row = first_row(p->syntax); row; row = next_row(row))
        if (row->letter == letter)
            return row;
    return letter == help_row.letter ? &help_row : NULL;
}

/* One word: letters of flags, the last perhaps with its value. */
static int short_options(struct parser *p, const char *letters)
{
    int err = 0;

    for (; *letters && !err && !p->out->help; letters++) {
        const struct args_option *row = find_letter(p, *letters);
        const char as[] = {'-', *letters, '\0'}, *value = letters + 1;

        if (!row)
            return args_refuse(p->why, "unknown option -%c", *letters);
        if (row->kind == ARGS_REFUSED || !args_takes_value(row)) {
            err = set(p, row, as, "");
            continue;
        }
        if (!*value)
            err = next_word(p, as, &value);
        return err ? err : set(p, row, as, value);
    }
    return err;
}

static int check_count(const struct parser *p)
{
    const struct args_syntax *s = p->syntax;

    if (p->out->count < s->min)
        return args_refuse(p->why, "expected %s", s->expected);
    if (p->out->count > s->max)
        return args_refuse(p->why, "unexpected argument \"%.200s\"", p->out->word[s->max]);
    return 0;
}

int args_parse(const struct args_syntax *syntax, int argc, char **argv, void *into,
               struct args *out, char why[ARGS_WHY_SIZE])
{
    struct parser p = {syntax, argv, argc, 1, into, out, why};
    bool ended = false;
    int err = 0;

    *out = (struct args){.word = argv + 1, .typed = argv + 1, .apart = SIZE_MAX};
    *why = '\0';
    for (const struct args_option *row = first_row(syntax); row; row = next_row(row))
        args_default(row, into);
    for (; p.at < argc && !err && !out->help; p.at++) {
        const char *word = argv[p.at];

        if (ended || word[0] != '-' || !word[1]) {
            ended |= syntax->stops;
            out->word[out->count++] = argv[p.at];
        } else if (!strcmp(word, "--")) {
            ended = true;
            out->apart = out->count;
        } else {
            err = word[1] == '-' ? long_option(&p, word + 2) : short_options(&p, word + 1);
        }
    }
    if (err || out->help)
        return err;
    if (out->apart > out->count)
        out->apart = out->count;
    out->word[out->count] = NULL;
    return check_count(&p);
}

bool args_given(const struct args_syntax *syntax, const struct args *args, const char *name)
{
    const struct args_option *row;

    for (row = first_row(syntax); row; row = next_row(row))
        if (!strcmp(row->name, name))
            return args->given & bit_of(syntax, row);
    return false;
}
