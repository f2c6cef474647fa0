/*
 * fuzz_rows - any bytes as rows of tables, for report and html --from-rows: each ends with a status it may have, and what can
 * be read at all has the same bytes in every view.
 */
#include "must.h"

#include "cli/commands.h"
#include "page/page.h"
#include "views/views.h"

#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void fuzz_silence(void); /* driver.c */

/* What it prints, to be freed; NULL: it does not succeed. */
static char *print(const struct cli_command *command, const char *const *words, char *path)
{
    char *argv[8] = {NULL}, *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int argc = 0, status;

    MUST(out);
    for (; words[argc]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc];
    argv[argc++] = path;
    status = cli_run(command, argc, argv, out);
    MUST(!fclose(out) && (status == CLI_OK || status == CLI_IO));
    if (status == CLI_OK)
        return text;
    free(text);
    return NULL;
}

/* Of all that a view has; -1: it cannot be read. */
static json_int_t total(const char *view, char *path)
{
    const char *const words[] = {"report", "--from-rows", "--format=json", "--view", view, NULL};
    char *text = print(&cmd_report, words, path);
    json_t *json = text ? json_loads(text, 0, NULL) : NULL;
    json_int_t bytes =
        json ? json_integer_value(json_object_get(json_object_get(json, "total"), "bytes")) : -1;

    MUST(!text || json);
    json_decref(json);
    free(text);
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const page[] = {"html", "--from-rows", "--quiet", "-o-", NULL};
    int fd = memfd_create("rows", MFD_CLOEXEC);
    char path[40];
    json_int_t bytes;

    MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    opterr = 0;
    fuzz_silence();
    bytes = total("types", path);
    MUST(total("tree", path) == bytes);
    if (size % 8 == 0)
        free(print(&cmd_html, page, path));
    close(fd);
    return 0;
}
