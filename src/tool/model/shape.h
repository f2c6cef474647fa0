/* model/shape.h - what of a model a tree is made of, and how: filter, grain, and the places. */
#ifndef SHADOWTRACE_MODEL_SHAPE_H
#define SHADOWTRACE_MODEL_SHAPE_H

#include "model/model.h"

/*
 * Globs (`*`, `?`) over names: as logged, as written (report/demangle.h), as shown and in full
 * (model_call), each also without parameters. Several: any of them.
 */
struct model_globs {
    const char *const *globs;
    size_t count;
};

struct model_filter {
    struct model_globs types;
    struct model_globs methods; /* some frame of the stack matches */
    struct model_globs exclude; /* no frame of the stack, nor the type, does */
    struct model_globs
        below;       /* stacks begin at their outermost frame that matches; others are left out */
    uint32_t thread; /* id in the log; 0 all; needs the dimension */
    bool has_slices; /* only slices [from_slice, to_slice); needs the dimension */
    unsigned from_slice, to_slice;
    bool own;           /* only what own code allocates, itself or through others */
    bool no_own;        /* only what has no frame of own code on its stack */
    bool once, no_once; /* only what is made once (model_path_once), or all but that */
    bool steady;        /* without what only unoptimised code makes */
};

/* Frames of one node differ in no more than this. NONE: no frames, all cells are the root's. */
enum model_grain { MODEL_GRAIN_METHOD, MODEL_GRAIN_LINE, MODEL_GRAIN_IL, MODEL_GRAIN_NONE };

/*
 * Folding changes the frames of a stack before it goes into the tree. Every cell still belongs to
 * one node, and totals are exact.
 *
 * fold_framework: two or more adjacent frames that are not near (model_is_near) become one frame.
 * It is named after their common namespace, without one after their common module, otherwise it has
 * no name. A single frame stays, and so do frames that are not methods (lost, several or dropped
 * callers, dynamic methods); they end a run. Runs with the same name below one node are one node,
 * with the count of the longest.
 *
 * fold_recursion: taken from the root, a near frame whose method stands above it already (among
 * the 1,000 frames next to it that are left) goes back to that one: A B A C is A C, A B A B is A B,
 * and A A A is A. So such a method stands below itself nowhere, and of a cycle each has one frame.
 * Other frames do not go back: what builders of tasks or of lists call is not the same each time.
 * What a method makes by calling itself through others is of its node, not of theirs: sums by
 * method (inclusive ones, callers, callees) want a tree that is not folded. The line of a frame is
 * that of the last one that went into it: the one that goes on.
 *
 * Both want to know whose code is whose (model_know); else nothing is folded.
 */
struct model_shape {
    enum model_grain grain;
    bool fold_framework;
    bool fold_recursion;
    bool types;       /* the type is a separate leaf below its path */
    double min_share; /* nodes below that share of the total go into their parent; see folded */
};

enum model_place_kind {
    MODEL_PLACE_ROOT,
    MODEL_PLACE_METHOD,
    MODEL_PLACE_FOLDED,  /* `count` frames of namespace or module `name` */
    MODEL_PLACE_TYPE,    /* method: the number of a class */
    MODEL_PLACE_SEVERAL, /* callers that the log cannot tell apart; name says how many */
    MODEL_PLACE_LOST,    /* callers that are not in the log */
    MODEL_PLACE_CUT,     /* the path was not kept */
    MODEL_PLACE_DYNAMIC, /* a dynamic method */
    MODEL_PLACE_NONE     /* no managed frame */
};

/* What a node is of. Nodes share places. */
struct model_place {
    enum model_place_kind kind;
    uint32_t method; /* number in defs, or of a class */
    /* Where in it the next inner frame is called, or the object is made; grain IL, as in
     * report/frames.h. LOG_NO_IL with other grains. */
    int32_t il;
    uint32_t line;      /* 0 not known; grain LINE and IL */
    uint32_t line_last; /* if it may be one of several lines, the last of them; else 0 */
    const char *file;   /* as the compiler wrote it, or NULL */
    const char *name;   /* of a node that is neither a method nor a type */
    uint32_t count;     /* frames it stands for; of MODEL_PLACE_SEVERAL: callers */
    bool own;
    bool near;   /* model_is_near: own code, or the nearest to it that there is */
    bool filter; /* an exception filter's second frame of its method */
};

/* Names of places that are no methods; log_no_frame is another. */
#define MODEL_NAME_LOST "(callers not in the log)"

#endif
