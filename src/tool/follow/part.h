/*
 * follow/part.h - one file of a log that is followed: how far it was read, and whether what was
 * read is still in it. A file can be truncated, or overwritten, between any two looks at its size;
 * so the bytes that were read last are compared with those that are there now.
 */
#ifndef SHADOWTRACE_FOLLOW_PART_H
#define SHADOWTRACE_FOLLOW_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PART_TAIL 256 /* bytes that are compared: two lines and more */

struct part_id {
    dev_t device;
    ino_t inode;
};

struct part {
    int fd;
    struct part_id id;
    uint64_t at;          /* bytes that were read */
    uint64_t seen;        /* its size at the last look */
    char tail[PART_TAIL]; /* the last tail_size bytes before `at` */
    size_t tail_size;
};

/*
 * part_open - Returns: 0; -EINVAL: not a regular file; -errno; then p->fd is -1. A FIFO is not
 * waited for.
 */
int part_open(const char *path, struct part *p);
void part_close(struct part *p);

bool part_is(const struct part *p, const struct part_id *id);
int part_id_of(const char *path, struct part_id *out); /* Returns: 0; -errno */

uint64_t part_size(const struct part *p); /* 0: it cannot be found out */
bool part_is_removed(const struct part *p);

/*
 * part_read - the next bytes. Returns: how many, 0 at the end; -ESTALE: what was read before is not
 * there any more, and nothing is read; -errno.
 */
ssize_t part_read(struct part *p, void *to, size_t size);

/* part_intact - whether the file `in` has at p->at what was read of p before it. */
bool part_intact(const struct part *p, const struct part *in);

/* part_seek - read on from there. Returns: whether a line begins there. */
bool part_seek(struct part *p, uint64_t at);

#endif
