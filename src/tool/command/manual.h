/*
 * command/manual.h - what the manual page of a command says beyond its help page, which it has from
 * the same tables. Texts are as in those: paragraphs, with `code` in backquotes.
 */
#ifndef SHADOWTRACE_COMMAND_MANUAL_H
#define SHADOWTRACE_COMMAND_MANUAL_H

/* A term and what it means. A list of them ends with a row without one. */
struct manual_term {
    const char *term, *text;
};

/* Whatever a page has nothing to say of is NULL. */
struct cli_manual {
    const char *description;          /* paragraphs behind the command's `about` */
    const struct manual_term *status; /* exit statuses, where they are not manual_status */
    const struct manual_term *files;
    const struct manual_term *environment;
    const struct manual_term *examples; /* the term is a command line */
    const char *see_also;               /* pages of others: "jq(1), less(1)" */
};

/* Both within the command's row: what only its page has, and a list in that. */
#define CLI_MANUAL(...)   (&(const struct cli_manual){__VA_ARGS__})
#define MANUAL_TERMS(...) ((const struct manual_term[]){__VA_ARGS__, MANUAL_END})

/* The same of a command that says no more than how it is used on a terminal. */
#define CLI_EXAMPLES(...) \
    CLI_MANUAL(.environment = manual_of_terminal, .examples = MANUAL_TERMS(__VA_ARGS__))

/* Exit statuses of a command that says nothing else. */
extern const struct manual_term manual_status[];

/* Rows that several lists have. */
#define MANUAL_END \
    { \
        NULL, NULL \
    }
#define MANUAL_STATUS_USAGE \
    { \
        "2", "wrong usage: an unknown option, a missing argument, a wrong value" \
    }
#define MANUAL_STATUS_IO \
    { \
        "3", "something cannot be read or written" \
    }
#define MANUAL_NO_COLOR \
    { \
        "NO_COLOR", "if it is set and not empty, no colours are used on a terminal" \
    }
#define MANUAL_TERM \
    { \
        "TERM", "the kind of terminal; without one, or with `dumb`, there are no colours and no " \
                "screens" \
    }
#define MANUAL_RUNTIME_DIR \
    { \
        "XDG_RUNTIME_DIR", \
            "folder of the user's runtime files; sockets are in `shadowtrace` below it if it is " \
            "private to the user, otherwise in /tmp/shadowtrace-UID" \
    }
#define MANUAL_SOCKET \
    { \
        "$XDG_RUNTIME_DIR/shadowtrace/PID.sock, /tmp/shadowtrace-UID/PID.sock", \
            "the control socket of a traced process; its protocol is described by " \
            "control_schema.json" \
    }

/* Lists that several commands have. */
extern const struct manual_term manual_of_terminal[]; /* environment of what prints */
extern const struct manual_term manual_of_sockets[];  /* environment of what talks to processes */
extern const struct manual_term manual_sockets[];     /* files of it */

#endif
