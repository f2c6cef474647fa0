#include "command/program.h"

#include "base/array.h"
#include "base/buffer.h"
#include "base/memory.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* The path of the program, beside this one. Returns: whether it can be run. */
static bool find(const char *name, char *path, size_t size)
{
    char self[PATH_MAX];
    ssize_t got = readlink("/proc/self/exe", self, sizeof(self) - 1);
    const char *slash;
    int length;

    self[got < 0 ? 0 : got] = '\0';
    slash = strrchr(self, '/');
    length =
        snprintf(path, size, "%.*sshadowtrace-%s", slash ? (int)(slash + 1 - self) : 0, self, name);
    return length > 0 && (size_t)length < size && !access(path, X_OK);
}

/*
 * The words of this process's command line, each ended by a NUL in `text`: parsing has put argv
 * into another order. Returns: an array that ends with NULL, for memory_free; NULL without memory.
 */
static char **words_of(struct buffer *text, size_t *count)
{
    size_t capacity = 0;
    char **words = NULL;

    *count = 0;
    for (size_t at = 0; at < text->size; at += strlen(text->data + at) + 1) {
        if (!array_reserve(&words, &capacity, *count + 2)) {
            memory_free(words);
            return NULL;
        }
        words[(*count)++] = text->data + at;
        words[*count] = NULL;
    }
    return words;
}

static int become(const struct cli_command *command, char *program)
{
    struct buffer text = BUFFER_INIT;
    int err = buffer_file(&text, "/proc/self/cmdline");
    size_t count = 0;
    char **words = err || text.failed ? NULL : words_of(&text, &count);

    if (words && count >= 2) {
        words[1] = program;
        fflush(NULL);
        execv(program, words + 1);
        err = -errno;
        cli_complain(command, "cannot start %s: %s", program, strerror(-err));
    } else {
        cli_complain(command, "cannot read its own command line: %s",
                     strerror(err ? -err : ENOMEM));
    }
    memory_free(words);
    buffer_free(&text);
    return CLI_IO;
}

int program_become(const struct cli_command *command, const char *library)
{
    char program[PATH_MAX];

    if (find(command->name, program, sizeof(program)))
        return become(command, program);
    cli_complain(command,
                 "cannot find %s, which is a separate executable: install %s (Debian) and run "
                 "`make` again, or its package",
                 program, library);
    return CLI_IO;
}
