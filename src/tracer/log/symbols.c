#include "log/symbols.h"

#include "log/records.h"

#include "base/base64.h"
#include "base/file.h"
#include "base/load.h"
#include "base/memory.h"
#include "base/path.h"
#include "owner/owner.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PDB_MOST      ((size_t)2 << 20)   /* bytes of one that goes into a log of events */
#define PDB_MOST_SUMS ((size_t)128 << 10) /* into one of sums, which is small */
#define LOG_SHARE     16                  /* of --max-log at most that part */
#define STREAMS_MOST  16

/* The id at the beginning of stream #Pdb. Returns: false: it is no portable PDB. */
static bool has_id(const uint8_t *pdb, size_t size, const uint8_t id[METADATA_PDB_ID])
{
    size_t at;
    unsigned streams;

    if (size < 20 || memcmp(pdb, "BSJB", 4) != 0 || load_u32(pdb + 12) > 255)
        return false;
    at = 16 + load_u32(pdb + 12);
    if (at + 4 > size)
        return false;
    streams = load_u16(pdb + at + 2);
    at += 4;
    for (unsigned i = 0; i < streams && i < STREAMS_MOST && at + 9 <= size; i++) {
        const char *name = (const char *)pdb + at + 8;
        size_t length = strnlen(name, size - at - 8);
        uint32_t offset = load_u32(pdb + at);

        if (strncmp(name, "#Pdb", length + 1) == 0)
            return offset <= size && size - offset >= METADATA_PDB_ID &&
                   memcmp(pdb + offset, id, METADATA_PDB_ID) == 0;
        at += 8 + (length / 4 + 1) * 4;
    }
    return false;
}

/* "/app/Shop.pdb" of "/app/Shop.dll"; of a single file's module beside the program. */
static bool path_of(const char *module, char *out, size_t size)
{
    char program[PATH_MAX];
    const char *folder = module;
    size_t bytes = (size_t)(path_base_name(module) - module);
    const char *name = path_base_name(module);

    if (!bytes) {
        ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

        if (length <= 0)
            return false;
        program[length] = '\0';
        folder = program;
        bytes = (size_t)(path_base_name(program) - program);
    }
    return snprintf(out, size, "%.*s%.*s.pdb", (int)bytes, folder, (int)path_stem(name), name) <
           (int)size;
}

static size_t most(const struct log *log)
{
    const struct options *o = log->config.options;
    size_t bytes = o->log == OPTIONS_LOG_SITES ? PDB_MOST_SUMS : PDB_MOST;

    return o->max_log && o->max_log / LOG_SHARE < bytes ? (size_t)(o->max_log / LOG_SHARE) : bytes;
}

static void put(struct log *log, const struct metadata_module *module, const char *form,
                const uint8_t *pdb, size_t size)
{
    struct buffer *b = &log->file.buffer;
    size_t mark = b->size;

    if (log_file_full(&log->file))
        return;
    log_put_number(b, "{\"kind\":\"symbols\",\"module\":", module->id);
    if (module->pdb_packed)
        log_put_number(b, ",\"size\":", module->pdb_size);
    buffer_text(b, form);
    base64_put(b, pdb, size);
    buffer_char(b, '"');
    (void)log_line_end(log, SST_KIND_SYMBOLS, mark); /* dropped: as if the PDB were not there */
}

void log_put_symbols(struct log *log, const struct metadata_module *module)
{
    char path[PATH_MAX], *pdb;
    size_t size;

    if (module->owner != SST_OWNER_OWN || !module->has_pdb || log->config.options->no_lines)
        return;
    if (module->pdb_packed) {
        if (module->packed_size <= most(log))
            put(log, module, ",\"packed\":\"", module->pdb_packed, module->packed_size);
        return;
    }
    if (!path_of(module->path, path, sizeof(path)) || file_load(path, most(log), &pdb, &size))
        return;
    if (has_id((const uint8_t *)pdb, size, module->pdb_id))
        put(log, module, ",\"pdb\":\"", (const uint8_t *)pdb, size);
    memory_free(pdb);
}
