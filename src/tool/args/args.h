/*
 * args/args.h - the arguments of a command, as data: one row for each option tells what it is
 * called, what its value is, where that goes and what its help says. The parser, help, suggestions
 * and refusals all come from the rows, and whatever else is to know options (man pages, completion)
 * reads the same ones.
 *
 * A table is a constant array that ends with a row without a name, or goes on in another one.
 * Values go to members of the command's own struct.
 */
#ifndef SHADOWTRACE_ARGS_ARGS_H
#define SHADOWTRACE_ARGS_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ARGS_MAX      64 /* rows of a table */
#define ARGS_WHY_SIZE 400

enum args_kind {
    ARGS_FLAG,     /* no value; the member becomes 1 */
    ARGS_COUNT,    /* how many: 500, 10k, 4M (thousands) */
    ARGS_BYTES,    /* how large: 85000, 64K, 1MiB, 2G (1,024s) */
    ARGS_DURATION, /* how long: 20us, 1.5ms, 2s; without a unit in `unit`; in nanoseconds */
    ARGS_WORD,     /* one of `words`: its index */
    ARGS_TEXT,     /* const char *, as given and not empty */
    ARGS_LIST,     /* struct args_list; may be given several times */
    ARGS_FIELD,    /* of struct options: options_fields has its kind, words, default and limit */
    ARGS_REFUSED,  /* no option, but tried by many: `help` is the answer; not on the help page */
    ARGS_OLD,   /* an old spelling, read as the long option in `help` ("names=raw"); on no page */
    ARGS_TOPIC, /* no option: a term (with `argument`) that only the help page explains */
};

struct args_option {
    /* Without hyphens; of a topic as written. NULL: the table goes on in `more`, or ends. */
    const char *name;
    char letter; /* the short one; 0 none */
    enum args_kind kind;
    const char *argument; /* what the help calls the value; NULL: the words, or none */
    const char *help;     /* without a full stop at its end; the default follows from the row */
    const char *group;    /* heading above this row; NULL: as the row before */
    const char *aliases;  /* further long names, with blanks between; NULL none */
    const char *const *words;
    uint64_t standard; /* the default of a number or word */
    /* Of a number, as the member has it. limit 0: what the member can hold. */
    uint64_t least, limit;
    uint64_t unit;       /* of a duration that has none, in nanoseconds */
    size_t offset, size; /* of the member: ARGS_AT() */
    const struct args_option *more;
};

/* The part of a row that says where its value goes. */
#define ARGS_AT(type, member) .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

/* A row whose value goes to a member of ARGS_INTO, a macro; then whatever else it has. */
#define ARGS_ROW(kind_, name_, argument_, member_, help_, ...) \
    { \
        .kind = ARGS_##kind_, .name = (name_), .argument = (argument_), .help = (help_), \
        ARGS_AT(ARGS_INTO, member_), __VA_ARGS__ \
    }
#define ARGS_EXPLAINED(name_, help_, ...) \
    { \
        .kind = ARGS_TOPIC, .name = (name_), .help = (help_), __VA_ARGS__ \
    }
#define ARGS_END \
    { \
        .name = NULL \
    }

struct args_list {
    const char *item[16]; /* as given */
    size_t count;
};

/* What a command takes. */
struct args_syntax {
    const struct args_option *options; /* NULL none; --help is understood without a row */
    unsigned min, max;                 /* other arguments */
    const char *expected;              /* what is expected when there are fewer: "a log: LOG" */
    bool stops;               /* at the first other argument: what follows is another program's */
    const char *const *usual; /* long names of options on the short help page; NULL: all */
};

/* The result. */
struct args {
    bool help;      /* --help: the rest was not looked at */
    char **word;    /* other arguments, in argv, which was put into a new order; ends with NULL */
    char **typed;   /* the same as they were typed, where folders now stand for their logs */
    size_t count;   /* of `word` */
    size_t apart;   /* those before "--"; `count` without one */
    uint64_t given; /* 1 << number of the row */
    const struct args_option *old; /* the last old spelling that was used; NULL: none */
};

/*
 * args_parse - reads argv, as main() gives it to a command.
 * Returns: 0; -EINVAL with one line in why; -ENOMEM, why empty.
 * Owns:    texts in `into` stay argv's. `into` is zeroed by the caller and gets the defaults of all
 *          rows first. Fields are the caller's to release (options_fini), also on failure.
 * Takes:   --name VALUE, --name=VALUE, -n VALUE, -nVALUE, -ab; names cut short, where only one
 *          begins like that; options and other arguments in any order, unless the syntax stops;
 *          "--" ends the options.
 */
int args_parse(const struct args_syntax *syntax, int argc, char **argv, void *into,
               struct args *out, char why[ARGS_WHY_SIZE]);

/* Was the option given? `name` is one of the rows. */
bool args_given(const struct args_syntax *syntax, const struct args *args, const char *name);

/* The first row at or after `row`; NULL: none. A topic is also a row. */
const struct args_option *args_row(const struct args_option *row);

/* The words of a row's value, its field's too; NULL: it has none. */
const char *const *args_words(const struct args_option *row);

/* Is it on help pages, and suggested? */
static inline bool args_is_shown(const struct args_option *row)
{
    return row->kind != ARGS_REFUSED && row->kind != ARGS_OLD;
}

/* Has the option a value? May it be given several times? */
bool args_takes_value(const struct args_option *row);
bool args_repeats(const struct args_option *row);

/* What help says of a row: its text, and what follows from the row, such as the default. */
struct buffer;
void args_explain(struct buffer *b, const struct args_option *row);

/*
 * args_number - the one grammar of numbers: decimal digits, and for ARGS_COUNT k, M or G for
 * thousands, for ARGS_BYTES K, M or G, or KiB, MiB or GiB, for 1,024s (small letters, too); for
 * ARGS_DURATION a fraction and ns, us, ms or s, to nanoseconds.
 * Returns: 0; -EINVAL: no such number; -ERANGE: above limit.
 */
int args_number(enum args_kind kind, const char *text, uint64_t unit, uint64_t limit,
                uint64_t *out);

/* What a word's place takes, for messages: "text, json or folded". */
void args_list_words(struct buffer *b, const char *const *words);

/*
 * The help page: no line is wider than `width` columns, as far as words allow.
 * args_print_text - paragraphs; a newline ends one. args_print_below - the same from column `from`.
 * args_print_row - a term and what it means, which begins at column `from`; args_print_options -
 * the rows of a table that are in `usual` (NULL: all), and --help. Returns: the rows left out.
 */
void args_print_text(FILE *out, const char *text, size_t width);
void args_print_below(FILE *out, const char *text, size_t from, size_t width);
void args_print_row(FILE *out, const char *term, const char *text, size_t from, size_t width);
size_t args_print_options(FILE *out, const struct args_option *options, const char *const *usual,
                          size_t width);

#endif
