/*
 * retained/held.h - a heap dump joined with its log: names for types, lines for objects, and
 * what types and lines hold.
 *
 *     held_read -> held_join -> held_find (or not) -> held_free
 */
#ifndef SHADOWTRACE_RETAINED_HELD_H
#define SHADOWTRACE_RETAINED_HELD_H

#include "command/reading.h"
#include "heap/paths.h"
#include "model/names.h"
#include "retained/origins.h"

#include "base/json_writer.h"

/* What the command was asked for. */
struct held_options {
    struct reading_options reading;
    struct args_list symbols, own_code;
    struct args_list types; /* globs over names of types */
    struct args_list lines; /* FILE:LINE, FILE */
    bool no_lines;
    enum names_style style, others;
    size_t paths; /* at most */
};

struct held {
    const struct cli_command *command;
    struct sst_heap_head head;
    struct heap_graph g; /* its sites are numbers of origins + 1 once joined */
    struct heap_dominators d;
    struct log_problems problems;
    struct log_defs defs; /* names that only the dump has are there, too */
    struct log_input log;
    struct origins origins;
    struct source_lines *lines; /* NULL: not looked up */
    struct model_own *own;
    struct names *names, *others;
    uint32_t *class_of; /* by class of the dump: number in defs */
    uint32_t *named;    /* by name of the dump: number of a method in defs; 0 none */
    bool placed;        /* some object has an origin */
    const char *dump;   /* its path, as given */
    bool raw;           /* names of fields are shown as metadata has them */
    struct heap_sum all, loose;
    struct heap_sum *types;  /* by number of a class in defs */
    struct heap_sum *places; /* by number of a place */
    struct held_made {
        uint32_t place, class_number;
        uint64_t bytes;
    } * made; /* by place, most bytes first */
    size_t made_count;
    /* Of held_find. */
    uint32_t *wanted; /* by object: 1: it is of a type and from a line asked for */
    struct heap_paths paths;
    struct heap_step *slots; /* of held_slots; by from, to */
    size_t slot_count;
    uint64_t together_objects, together_bytes;
};

/* All return: CLI_OK, or the exit status: a line has said what is wrong. */
int held_read(struct held *h, const struct cli_command *command, const struct held_options *options,
              const char *log, const char *dump);
int held_join(struct held *h, const struct held_options *options);
int held_find(struct held *h, const struct held_options *options); /* fills paths */
/*
 * held_find_row - replaces the result: the objects of one type, or of one place, and HELD_ANY for
 * the other. Returns: 0 or -ENOMEM.
 */
#define HELD_ANY UINT32_MAX
int held_find_row(struct held *h, uint32_t class_number, uint32_t place, size_t paths);
void held_free(struct held *h); /* also after a failure, or of all zeros */

/* Names of an object's type and place. */
uint32_t held_class(const struct held *h, uint32_t object); /* number in defs */
uint32_t held_place(const struct held *h, uint32_t object); /* number of a place */
const char *held_type(const struct held *h, uint32_t class_number);

/* "File.cs:12", or the method where no line is known; why: and why not. In b. */
const char *held_place_text(const struct held *h, uint32_t place, bool wide, bool why,
                            struct buffer *out);

/* As held_type; the runtime's arrays of static fields say so. In b. */
const char *held_object(const struct held *h, uint32_t object, struct buffer *out);

/*
 * What a root is, in b: "static Cache.Items", "a pinned handle". held_handle - which kind of
 * handle, as in JSON; NULL: it is none. held_static - a static field with its full type, or NULL.
 */
const char *held_root(const struct held *h, const struct heap_root *root, struct buffer *out);
const char *held_handle(const struct held *h, const struct heap_root *root);
const char *held_static(const struct held *h, const struct heap_root *root, struct buffer *out);

/*
 * held_slots - reads where objects of these paths hold the next ones, for held_link. Returns: as
 * held_read.
 */
int held_slots(struct held *h, const struct heap_paths *paths, size_t count);

/* What leads from an object to the next: "entries", "[i].value", in b; NULL: nobody says. */
const char *held_link(const struct held *h, uint32_t from, uint32_t to, struct buffer *out);

/* "static Cache.Items -> Dictionary<,>.entries -> [i].value -> Coupon", in b. */
const char *held_chain(const struct held *h, const struct heap_path *path, struct buffer *out);

/*
 * The number of steps from `step` on that repeat the one or two types before it. The output
 * shows only this number for them. 0: none.
 */
size_t held_repeats(const struct held *h, const struct heap_path *path, size_t step);

/*
 * held_rows - numbers of the sums with objects, those that retain most first, 0 last. Returns: 0 or
 * -ENOMEM. Owns: *rows is the caller's, to be freed with memory_free.
 */
int held_rows(const struct heap_sum *sums, size_t count, uint32_t **rows, size_t *row_count);

/* held_shown - of `count` rows those that `top` lets through; 0: all. */
static inline size_t held_shown(uint64_t top, size_t count)
{
    return top && top < count ? (size_t)top : count;
}

/* held_sum_json - as members of the object open in w. */
void held_sum_json(const struct heap_sum *sum, struct json_writer *w);

/* The types made at a place, those of most bytes first: "Order, Order[], Node +2", in b. */
const char *held_place_types(const struct held *h, uint32_t place, struct buffer *out);

#endif
