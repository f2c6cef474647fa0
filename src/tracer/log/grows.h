/*
 * log/grows.h - places whose live objects grow, from what looks (live/live.h) find for the keys of
 * the table. A place is a frame and a type. Several keys can belong to one place: call paths that
 * differ above it, and code that was compiled again. Objects that were allocated outside of every
 * method have no place, because they have no line.
 *
 * A place grows if
 *   - at each of the last `after` looks it had more objects than at the look before;
 *   - the last increase is at least half of the average one: a cache that fills up slows down;
 *   - it gained more objects than it lost of those that a look had found: it keeps them.
 * Nothing is reported while the program builds something up, at its start or as a compiler does:
 *   - in that time more than one of 20 places was new;
 *   - more than ten places grow, and more than one of 200 of those that have any objects.
 *
 * Threads: the writer.
 */
#ifndef SHADOWTRACE_LOG_GROWS_H
#define SHADOWTRACE_LOG_GROWS_H

#include <stddef.h>
#include <stdint.h>

#define GROWS_MOST  16 /* reported: those that have grown most */
#define GROWS_LOOKS 60 /* `after`, at most */

struct grows;

struct grows_place {
    uint32_t method; /* log id */
    int32_t il;
    uint32_t class;
};

struct grown {
    uint32_t key;     /* of the place, the one that has most */
    uint32_t looks;   /* the last ones, without a break */
    uint64_t objects; /* the increase since then */
};

/* grows_new - after: looks; 0: nothing grows. Returns: 0 or -ENOMEM. */
int grows_new(uint32_t after, struct grows **out);
void grows_free(struct grows *g);

/* grows_note - of which place a key is; once. Returns: 0 or -ENOMEM. */
int grows_note(struct grows *g, uint32_t key, const struct grows_place *place);

/* One look: what it found of each key. Keys without a place are passed over. */
void grows_begin(struct grows *g);
void grows_add(struct grows *g, uint32_t key, uint32_t alive, uint32_t went);
void grows_end(struct grows *g);

/* grows_at - as of the last look, those that have grown most first. NULL: past the last. */
const struct grown *grows_at(const struct grows *g, size_t index);

#endif
