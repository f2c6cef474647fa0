/*
 * retained/changes.h - two dumps compared: what types, and objects on ways of one shape, retain in
 * each. Types and ways match by their text.
 */
#ifndef SHADOWTRACE_RETAINED_CHANGES_H
#define SHADOWTRACE_RETAINED_CHANGES_H

#include "retained/held.h"

enum { CHANGES_OLD, CHANGES_NEW, CHANGES_SIDES };

struct change {
    char *name; /* "": not known */
    struct heap_sum sum[CHANGES_SIDES];
};

struct change_rows {
    struct change *rows; /* what grew most by retained bytes comes first; then by own bytes */
    size_t count, capacity;
};

struct changes {
    const struct held *sides[CHANGES_SIDES];
    struct change_rows types, paths;
};

/* changes_find - sides: joined, of the same style of names. Returns: as held_read. */
int changes_find(struct changes *c, struct held *old, struct held *new);
void changes_free(struct changes *c); /* also after a failure */

/* Return: 0 or -ENOMEM. top: rows of each; 0 all. */
int changes_text(const struct changes *c, uint64_t top, bool wide, FILE *out);
int changes_json(const struct changes *c, uint64_t top, FILE *out);

#endif
