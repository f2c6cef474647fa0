/*
 * export/profile.h - what was allocated, as the formats of other tools have it: frames, a tree of
 * them, and samples that stand at its nodes. It knows neither logs nor models: profile_of.h makes
 * one of a model's tree, and each format (formats.h) writes one.
 *
 * Weights are whole numbers and add up to the total to the byte.
 */
#ifndef SHADOWTRACE_EXPORT_PROFILE_H
#define SHADOWTRACE_EXPORT_PROFILE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum export_frame_kind {
    EXPORT_METHOD,
    EXPORT_TYPE,  /* a leaf: what was allocated */
    EXPORT_OTHER, /* callers that are not known, frames that were folded */
};

#define EXPORT_NO_MODULE UINT32_MAX

struct export_module {
    const char *name, *path; /* path may be "" */
    const char *mvid;        /* the build as text, or NULL */
};

/* A place in a method; frames of one method differ in il and line. */
struct export_frame {
    const char *name;  /* of the method or type; never NULL nor empty */
    const char *file;  /* or NULL */
    uint32_t line;     /* 0 not known */
    int32_t il;        /* below 0: not known */
    uint32_t function; /* the same for all frames of one method, type or other; dense from 0 */
    uint32_t module;   /* number of a module, or EXPORT_NO_MODULE */
    enum export_frame_kind kind;
    bool own;
    uint32_t token; /* of the method, in its module's metadata; 0 not known */
};

/* Node 0 is the root, of no frame. Parents stand before their children. */
struct export_node {
    uint32_t parent, frame;
};

struct export_sample {
    uint32_t node;
    uint64_t bytes, allocs;
    uint64_t live_bytes, live_allocs; /* of these: not known to be dead at the end */
};

/* One allocation, or all of a sample. */
struct export_allocation {
    uint32_t node; /* of the type, or of what was folded */
    uint64_t thread, t;
    uint64_t bytes, object_bytes; /* of all; of one */
    bool large;
};

struct export_profile {
    struct export_module *modules;
    struct export_frame *frames;
    struct export_node *nodes;
    struct export_sample *samples; /* in order of their nodes */
    size_t module_count, frame_count, node_count, sample_count, function_count;
    uint64_t bytes, allocs; /* of all samples */
    bool live;              /* the log says what is alive */
    uint64_t live_bytes, live_allocs;
    bool live_first;      /* what is alive is what it is about */
    uint32_t main_module; /* the program's own, or EXPORT_NO_MODULE */

    const char *program; /* for a title */
    uint64_t pid;
    int64_t started;   /* ns since 1970; 0 not known */
    uint64_t duration; /* ns; 0 not known */
    uint64_t period;   /* bytes between two samples; 1: all was recorded */

    /* What is to be known of it, a line each: what is missing, what was folded. */
    char **remarks;
    size_t remark_count;
};

/*
 * export_address - where a place lies in its module: the method's row in the metadata, and the IL
 * offset. With the module's build that is what a line can be looked up by, later and elsewhere.
 */
static inline uint64_t export_address(const struct export_frame *frame)
{
    const uint32_t row = frame->token & 0xffffff;

    return row && frame->il >= 0 ? (uint64_t)row << 32 | (uint32_t)frame->il : 0;
}

/*
 * export_step - a value as a whole number, such that all of them add up to the whole: *told is the
 * sum of those before, and of this one then.
 */
static inline uint64_t export_step(double *told, double value)
{
    double before = floor(*told + 0.5);

    *told += value;
    return (uint64_t)(floor(*told + 0.5) - before);
}

#endif
