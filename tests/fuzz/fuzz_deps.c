/*
 * Fuzz target: src/tracer/owner, which reads files next to programs. An input is a deps.json,
 * and the file of a single-file program whose header begins at its first byte.
 */
#include "must.h"

#include "owner/deps.h"

#include "base/memory.h"
#include "options/json.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse(const char *text, size_t size)
{
    struct deps deps;
    int err = deps_parse(text, size, &deps);

    MUST(err == 0 || err == -EINVAL);
    MUST(err == 0 || deps.count == 0);
    for (size_t i = 0; i < deps.count; i++) {
        enum sst_owner owner = deps_find(&deps, deps.entries[i].name);

        MUST(owner >= deps.entries[i].owner && owner < SST_OWNER_COUNT);
    }
    MUST(deps_find(&deps, "\x01") == SST_OWNER_UNKNOWN || deps.count);
    deps_free(&deps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool started;
    char path[64], *text;
    size_t length;
    int fd = memfd_create("bundle", MFD_CLOEXEC), err;

    if (!started)
        json_memory_start();
    started = true;
    parse((const char *)data, size);
    MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    err = deps_bundled(path, 0, &text, &length);
    MUST(err == 0 || err == -ENOENT);
    if (!err) {
        MUST(length <= size && length <= DEPS_MAX);
        parse(text, length);
        memory_free(text);
    }
    close(fd);
    return 0;
}
