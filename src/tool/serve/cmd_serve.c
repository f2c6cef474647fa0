/*
 * shadowtrace serve - starts shadowtrace-serve, a program of its own: it needs libmicrohttpd, and
 * nothing else of the command does.
 */
#include "serve/serve.h"

#include "serve/options.h"

#include "base/array.h"
#include "base/buffer.h"
#include "base/memory.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

bool serve_program(const char *self, char *path, size_t size)
{
    const char *slash = strrchr(self, '/');
    int length =
        snprintf(path, size, "%.*s%s", slash ? (int)(slash + 1 - self) : 0, self, SERVE_PROGRAM);

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

/* In place of this program: `shadowtrace serve ...` becomes `shadowtrace-serve ...`. */
static int become(char *program)
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
        cli_complain(&cmd_serve, "cannot start %s: %s", program, strerror(-err));
    } else {
        cli_complain(&cmd_serve, "cannot read its own command line: %s",
                     strerror(err ? -err : ENOMEM));
    }
    memory_free(words);
    buffer_free(&text);
    return CLI_IO;
}

static int run(void *into, const struct args *args, FILE *out)
{
    char self[PATH_MAX], program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    (void)into;
    (void)args;
    (void)out;
    self[length < 0 ? 0 : length] = '\0';
    if (serve_program(self, program, sizeof(program)))
        return become(program);
    cli_complain(
        &cmd_serve,
        "cannot find %s, which is a program of its own: install libmicrohttpd-dev (Debian) "
        "and run `make` again, or its package",
        program);
    return CLI_IO;
}

const struct cli_command cmd_serve = SERVE_COMMAND(run);
