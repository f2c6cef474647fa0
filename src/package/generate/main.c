/*
 * A program of the build. It writes the command's manual pages and shell completions from the
 * tables of options.
 *
 *   generate manual FOLDER DATE     a file for each page
 *   generate bash|zsh|fish          the head and tables of a shell's completion, on standard output
 */
#include "cli/commands.h"
#include "completion/completion.h"
#include "manual/manual.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int failed(const char *what)
{
    fprintf(stderr, "generate: %s: %s\n", what, errno ? strerror(errno) : "out of memory");
    return CLI_IO;
}

/* Writes what was made, and frees it. Closes the file, which may be NULL: it was not opened. */
static int save(struct buffer *made, FILE *file, const char *path)
{
    bool wrong = made->failed || !file || fwrite(made->data, 1, made->size, file) != made->size;

    if (file && fclose(file))
        wrong = true;
    buffer_free(made);
    return wrong ? failed(path) : CLI_OK;
}

static int make_manual(const char *folder, const char *date)
{
    const struct manual_edition edition = {SHADOWTRACE_VERSION, date};
    struct buffer page = BUFFER_INIT;
    const struct cli_command *command;
    char path[4096];
    const char *group;
    int status;

    snprintf(path, sizeof(path), "%s/shadowtrace.1", folder);
    manual_overview(&page, &edition);
    status = save(&page, fopen(path, "w"), path);
    for (size_t i = 0; status == CLI_OK && (command = cli_at(i, &group)); i++) {
        snprintf(path, sizeof(path), "%s/shadowtrace-%s.1", folder, command->name);
        manual_page(&page, command, &edition);
        status = save(&page, fopen(path, "w"), path);
    }
    return status;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name, *first_line;
        void (*make)(struct buffer *b);
    } shells[] = {
        {"bash", "# Completion of shadowtrace in bash.", completion_bash},
        {"zsh", "#compdef shadowtrace", completion_zsh},
        {"fish", "# Completion of shadowtrace in fish.", completion_fish},
    };
    struct buffer tables = BUFFER_INIT;

    if (argc == 4 && strcmp(argv[1], "manual") == 0)
        return make_manual(argv[2], argv[3]);
    for (size_t i = 0; argc == 2 && i < sizeof(shells) / sizeof(shells[0]); i++)
        if (strcmp(argv[1], shells[i].name) == 0) {
            buffer_format(&tables, "%s\n# Made from the tables of options; do not edit.\n\n",
                          shells[i].first_line);
            shells[i].make(&tables);
            return save(&tables, stdout, "standard output");
        }
    fputs("usage: generate manual FOLDER DATE | generate bash|zsh|fish\n", stderr);
    return CLI_USAGE;
}
