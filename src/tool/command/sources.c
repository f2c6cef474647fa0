#include "command/sources.h"

#include "base/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(const char *path)
{
    struct stat s;

    return !stat(path, &s) && S_ISREG(s.st_mode) && !access(path, R_OK);
}

static bool slash(char c)
{
    return c == '/' || c == '\\';
}

/* The part after the next slash of a compiler's path; NULL: no slash. */
static const char *next_part(const char *path)
{
    while (*path && !slash(*path))
        path++;
    while (slash(*path))
        path++;
    return *path ? path : NULL;
}

/* A path below a folder, with this system's slashes. Returns: whether it fits. */
static bool join(char to[PATH_MAX], const char *dir, const char *tail)
{
    int size = snprintf(to, PATH_MAX, "%s/%s", dir, tail);

    for (char *at = to + strlen(dir); *at; at++)
        *at = *at == '\\' ? '/' : *at;
    return size < PATH_MAX && !strstr(to + strlen(dir), "/../");
}

/* Whether a path holds the file that was compiled. */
static int check(const struct sources *s, const struct source_line *document, const char *path,
                 char **text, size_t *size)
{
    return is_file(path) ? source_lines_text(s->lines, document, path, text, size) : -ENOENT;
}

/* There is a file, and it is another one, or nothing says that it is the one. */
static bool is_other(int err)
{
    return err == -ESTALE || err == -ENOTSUP;
}

/* Below one folder: the longest part of its path that leads to the file. */
static int below(const struct sources *s, const struct source_line *document, const char *dir,
                 char path[PATH_MAX], char **text, size_t *size)
{
    int result = -ENOENT;

    for (const char *tail = document->file; tail; tail = next_part(tail)) {
        int err = join(path, dir, slash(*tail) ? tail + 1 : tail)
                      ? check(s, document, path, text, size)
                      : -ENOENT;

        if (!err || err == -ENOMEM)
            return err;
        result = is_other(err) ? err : result;
    }
    return result;
}

static int below_any(const struct sources *s, const struct source_line *document,
                     char path[PATH_MAX], char **text, size_t *size)
{
    static const char *const here = ".";
    const char *const *dirs = s->count ? s->dirs : &here;
    int result = -ENOENT;

    for (size_t i = 0; i < (s->count ? s->count : 1); i++) {
        int err = below(s, document, dirs[i], path, text, size);

        if (!err || err == -ENOMEM)
            return err;
        result = is_other(err) ? err : result;
    }
    return result;
}

static bool find_document(const struct sources *s, const char *file, struct source_line *out)
{
    *out = (struct source_line){.file = NULL};
    return s->lines && source_lines_document(s->lines, file, out);
}

int sources_path(const struct sources *s, const char *file, char path[PATH_MAX])
{
    struct source_line document;
    char *text = NULL;
    size_t size;
    int err;

    if (is_file(file) && strlen(file) < PATH_MAX) {
        strcpy(path, file);
        return 0;
    }
    if (!find_document(s, file, &document))
        return -ENOENT;
    err = below_any(s, &document, path, &text, &size);
    if (!err)
        memory_free(text);
    return err;
}

int sources_text(const struct sources *s, const char *file, char **text, size_t *size)
{
    struct source_line document;
    char path[PATH_MAX];
    int err, other;

    if (!find_document(s, file, &document))
        return -ENOENT;
    err = source_lines_text(s->lines, &document, NULL, text, size);
    if (err != -ENOENT && err != -ESTALE)
        return err;
    other = below_any(s, &document, path, text, size);
    return other == -ENOENT ? err : other;
}
