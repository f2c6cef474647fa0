/* completion/values.h - what a value or an operand can be, by its name in the tables. */
#ifndef SHADOWTRACE_COMPLETION_VALUES_H
#define SHADOWTRACE_COMPLETION_VALUES_H

#include "command/command.h"

#include <stdbool.h>
#include <stddef.h>

enum completion_what {
    COMPLETION_NOTHING, /* a number, a pattern: nobody knows */
    COMPLETION_FILES,
    COMPLETION_FOLDERS,
    COMPLETION_PIDS,     /* of traced processes */
    COMPLETION_COMMANDS, /* ours */
    COMPLETION_PROGRAM,  /* the traced program's command line, from here on */
    COMPLETION_WORDS,    /* one of the row's words */
    COMPLETION_SET,      /* some of them, with commas between, or all */
    COMPLETION_TOPICS,   /* one of the topics of a group of the table */
    COMPLETION_OF_TOPIC, /* what the topic before it says that it takes */
};

/* What each shell calls it: bash.sh's kind; zsh's action; fish's flags. NULL: its tables say it. */
struct completion_words {
    const char *bash, *zsh, *fish;
};
extern const struct completion_words completion_words[];

#define COMPLETION_NAME_SIZE    32
#define COMPLETION_OPERANDS_MAX 8

struct completion_operand {
    char name[COMPLETION_NAME_SIZE];
    enum completion_what what;
    bool repeats;                     /* it may be given again; it is the last one */
    const struct args_option *topics; /* the first one */
};

/* What the value of an option is. The option takes one. */
enum completion_what completion_value(const struct args_option *row);

/*
 * What the command takes beside options, in the order of its usage line, of which only the first
 * of several ways counts. Returns: how many.
 */
size_t completion_operands(const struct cli_command *command,
                           struct completion_operand out[COMPLETION_OPERANDS_MAX]);

/* The rows that can be completed: no topic, none that is refused. NULL: there are no more. */
const struct args_option *completion_row(const struct args_option *row);

/* The topics of a group: the next one behind a topic. NULL: there are no more. */
const struct args_option *completion_next_topic(const struct args_option *topic);

/*
 * Names of a topic, which ", " parts: *at is moved behind the name.
 * Returns: its length; 0: there are no more.
 */
size_t completion_topic_name(const char **at, const char **name);

/* The next word with a hyphen of what a topic takes, "[--full] TEXT", in the same way. */
size_t completion_topic_option(const char **at, const char **name);

/* What a help says, in a few words. Returns: how many bytes of it these are. */
size_t completion_summary(const char *help);

/* Prints something of each of our commands, in the order of the help page. */
void completion_each_command(struct buffer *b,
                             void (*print)(struct buffer *, const struct cli_command *));

#endif
