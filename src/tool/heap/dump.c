#include "heap/dump.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define ADDRESS_MAX (UINT64_MAX / 2) /* no user's address is higher */

/* Returns: -EBADMSG. */
static int bad(struct heap_dump *d, uint64_t offset, const char *what)
{
    snprintf(d->why, sizeof(d->why), "the heap dump is damaged at offset %" PRIu64 ": %s", offset,
             what);
    return -EBADMSG;
}

/* Returns: -EBADMSG. */
static int cut(struct heap_dump *d)
{
    snprintf(d->why, sizeof(d->why),
             "the heap dump is cut: it ends at offset %" PRIu64
             " without its end record; write it again",
             d->size);
    return -EBADMSG;
}

static int check_head(struct heap_dump *d)
{
    const struct sst_heap_head *h = &d->head;

    if (memcmp(h->magic, SST_HEAP_MAGIC, sizeof(h->magic)) != 0) {
        snprintf(d->why, sizeof(d->why),
                 "not a heap dump; `shadowtrace ctl PID heap -o FILE` writes one");
        return -EBADMSG;
    }
    if (h->version > SST_HEAP_VERSION) {
        snprintf(d->why, sizeof(d->why),
                 "a heap dump of version %" PRIu32 "; this shadowtrace reads up to %d", h->version,
                 SST_HEAP_VERSION);
        return -EPROTO;
    }
    if (h->version < 1 || h->bytes < sizeof(*h) ||
        h->sum != sst_heap_sum(h, offsetof(struct sst_heap_head, sum)))
        return bad(d, 0, "its head does not add up");
    return 0;
}

int heap_dump_open(const char *path, struct heap_dump *d)
{
    struct stat status;
    ssize_t got;

    *d = (struct heap_dump){.fd = file_open(path)};
    if (d->fd < 0)
        return d->fd;
    if (fstat(d->fd, &status))
        return -errno;
    if (!S_ISREG(status.st_mode))
        return -EINVAL;
    d->size = (uint64_t)status.st_size;
    d->changed = status.st_mtim;
    d->chunk = memory_alloc(SST_HEAP_CHUNK_MAX);
    if (!d->chunk)
        return -ENOMEM;
    got = file_read_at(d->fd, &d->head, sizeof(d->head), 0);
    if (got < 0)
        return (int)got;
    if ((size_t)got >= sizeof(d->head.magic) && (size_t)got < sizeof(d->head) &&
        memcmp(d->head.magic, SST_HEAP_MAGIC, sizeof(d->head.magic)) == 0)
        return cut(d);
    if ((size_t)got < sizeof(d->head))
        d->head.magic[0] = '\0';
    d->offset = d->head.bytes;
    return check_head(d);
}

void heap_dump_close(struct heap_dump *d)
{
    if (d->fd >= 0)
        close(d->fd);
    memory_free(d->chunk);
}

int heap_damaged(struct heap_dump *d, const struct heap_records *records, const char *what)
{
    return bad(d, d->offset - (uint64_t)(records->end - records->at), what);
}

/* Behind the end record. Returns: 0; -EBADMSG: the file is not what it was, or longer. */
static int finish(struct heap_dump *d)
{
    struct stat status;

    d->ended = false;
    if (d->offset != d->size)
        return bad(d, d->offset, "something follows the end record");
    if (fstat(d->fd, &status))
        return -errno;
    if ((uint64_t)status.st_size != d->size || status.st_mtim.tv_sec != d->changed.tv_sec ||
        status.st_mtim.tv_nsec != d->changed.tv_nsec) {
        snprintf(d->why, sizeof(d->why), "the heap dump changed while it was read");
        return -EBADMSG;
    }
    d->offset = d->head.bytes;
    return 0;
}

/* Returns: 1, or 0: it is not wanted; -EBADMSG; -errno. */
static int read_chunk(struct heap_dump *d, uint32_t kinds, struct heap_records *out)
{
    struct sst_heap_chunk head;
    ssize_t got = file_read_at(d->fd, &head, sizeof(head), d->offset);
    bool wanted;

    if (got < 0)
        return (int)got;
    if ((size_t)got < sizeof(head))
        return cut(d);
    if (!head.bytes || head.bytes > SST_HEAP_CHUNK_MAX)
        return bad(d, d->offset, "a chunk of an impossible length");
    if (!head.kind || head.kind > SST_HEAP_LAST)
        return bad(d, d->offset, "a chunk of no kind that there is");
    wanted = head.kind == SST_HEAP_END || (kinds & HEAP_KIND(head.kind));
    got = wanted ? file_read_at(d->fd, d->chunk, head.bytes, d->offset + sizeof(head)) : head.bytes;
    if (got < 0)
        return (int)got;
    if ((size_t)got < head.bytes)
        return cut(d);
    if (wanted && head.sum != sst_heap_sum(d->chunk, head.bytes))
        return bad(d, d->offset, "a chunk's checksum differs");
    d->offset += sizeof(head) + head.bytes;
    d->ended = head.kind == SST_HEAP_END;
    *out =
        (struct heap_records){head.kind, d->chunk, d->chunk + head.bytes, 0, d->head.version > 1};
    return wanted;
}

int heap_dump_next(struct heap_dump *d, uint32_t kinds, struct heap_records *out)
{
    int got = 0;

    if (d->ended)
        return finish(d);
    while (!got)
        got = read_chunk(d, kinds, out);
    return got;
}

/* ---- records ---- */

static bool take(struct heap_records *r, uint64_t *number)
{
    const unsigned char *next = sst_heap_get(r->at, r->end, number);

    if (next)
        r->at = next;
    return next != NULL;
}

static bool take32(struct heap_records *r, uint32_t *number)
{
    uint64_t value;

    if (!take(r, &value) || value > UINT32_MAX - 1)
        return false;
    *number = (uint32_t)value;
    return true;
}

/* base + units, which may be below 0. */
static bool take_from(struct heap_records *r, uint64_t base, uint64_t *address)
{
    uint64_t folded;

    if (!take(r, &folded))
        return false;
    *address = base + (uint64_t)sst_heap_unfold(folded) * SST_HEAP_UNIT;
    return *address && *address <= ADDRESS_MAX;
}

int heap_next_object(struct heap_records *r, struct heap_object *object)
{
    if (r->at == r->end)
        return 0;
    if (!take_from(r, r->base, &object->address) || !take32(r, &object->class_number) ||
        !take(r, &object->units) || object->units > UINT32_MAX || !take(r, &object->references))
        return -EBADMSG;
    object->slotted = r->slots && (object->references & 1);
    object->references >>= r->slots;
    object->slot = 0;
    object->next = 1;
    if (object->references > (uint64_t)(r->end - r->at))
        return -EBADMSG;
    r->base = object->address + object->units * SST_HEAP_UNIT;
    return 1;
}

int heap_next_reference(struct heap_records *r, struct heap_object *object, uint64_t *address)
{
    uint64_t slot;

    if (!object->references)
        return 0;
    object->references--;
    if (!take_from(r, object->address, address))
        return -EBADMSG;
    if (!object->slotted)
        return 1;
    if (!take(r, &slot))
        return -EBADMSG;
    object->slot = slot ? object->next + (uint64_t)sst_heap_unfold(slot - 1) : 0;
    if (object->slot > UINT32_MAX || (slot && !object->slot))
        return -EBADMSG;
    if (slot)
        object->next = object->slot + 1;
    return 1;
}

int heap_skip_references(struct heap_records *r, struct heap_object *object)
{
    uint64_t numbers = object->references << object->slotted;
    const unsigned char *at = r->at;

    for (; numbers && at < r->end; at++)
        numbers -= *at < 128;
    r->at = at;
    object->references = 0;
    return numbers ? -EBADMSG : 0;
}

int heap_next_root(struct heap_records *r, struct heap_root_record *out)
{
    uint64_t kind, flags;

    if (r->at == r->end)
        return 0;
    if (!take(r, &out->address) || !take(r, &kind) || !take(r, &flags) || !take32(r, &out->name))
        return -EBADMSG;
    out->kind = kind <= SST_HEAP_ROOT_STATIC ? (uint8_t)kind : SST_HEAP_ROOT_OTHER;
    out->flags = (uint8_t)flags;
    return 1;
}

int heap_next_pair(struct heap_records *r, uint64_t pair[2])
{
    if (r->at == r->end)
        return 0;
    for (int i = 0; i < 2; i++) {
        if (!take(r, &pair[i]) || pair[i] > ADDRESS_MAX / SST_HEAP_UNIT)
            return -EBADMSG;
        pair[i] *= SST_HEAP_UNIT;
    }
    return 1;
}

int heap_next_site(struct heap_records *r, struct heap_site_record *out)
{
    uint64_t units;

    if (r->at == r->end)
        return 0;
    if (!take(r, &units) || units > ADDRESS_MAX / SST_HEAP_UNIT || !take32(r, &out->site))
        return -EBADMSG;
    out->address = r->base + units * SST_HEAP_UNIT;
    if (out->address > ADDRESS_MAX)
        return -EBADMSG;
    r->base = out->address;
    return 1;
}

static bool take_text(struct heap_records *r, const char **text, size_t *size)
{
    uint64_t length;

    if (!take(r, &length) || length > (uint64_t)(r->end - r->at))
        return false;
    *text = (const char *)r->at;
    *size = (size_t)length;
    r->at += length;
    return true;
}

int heap_next_name(struct heap_records *r, struct heap_name_record *out)
{
    if (r->at == r->end)
        return 0;
    return take32(r, &out->number) && out->number && take32(r, &out->id) &&
                   take_text(r, &out->name, &out->size)
               ? 1
               : -EBADMSG;
}

int heap_next_field(struct heap_records *r, struct heap_field_record *out)
{
    if (r->at == r->end)
        return 0;
    return take32(r, &out->class_number) && take32(r, &out->first) && take32(r, &out->stride) &&
                   take32(r, &out->slot) && take_text(r, &out->name, &out->size)
               ? 1
               : -EBADMSG;
}

int heap_next_static(struct heap_records *r, struct heap_static_record *out)
{
    uint64_t flags;

    if (r->at == r->end)
        return 0;
    if (!take(r, &out->place) || !take(r, &out->object) ||
        out->object > ADDRESS_MAX / SST_HEAP_UNIT || !take32(r, &out->class_number) ||
        !take(r, &flags) || !take_text(r, &out->name, &out->size))
        return -EBADMSG;
    out->object *= SST_HEAP_UNIT;
    out->flags = (uint8_t)flags;
    return 1;
}

int heap_next_counts(struct heap_records *r, struct heap_counts *out)
{
    uint64_t *const all[] = {&out->objects, &out->references, &out->roots,
                             &out->pairs,   &out->sites,      &out->statics};

    if (r->at == r->end)
        return 0;
    out->statics = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) - !r->slots; i++)
        if (!take(r, all[i]))
            return -EBADMSG;
    return 1;
}
