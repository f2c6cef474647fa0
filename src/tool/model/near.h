/*
 * model/near.h - the line of own code: the one rule by which reports, pages, exports, budgets and
 * metrics choose the frame that an allocation counts for.
 *
 * The innermost own frame whose method has lines holds the allocation. The line is the frame's own:
 * where the allocation is, or the call that leads to it. If the log does not say where that is, the
 * frame keeps the allocation without a line: neither the first line of the method nor a caller's
 * line stands in for it. Methods without any lines, such as those that the compiler adds, leave the
 * allocation to a frame outwards. If no own frame has lines, the innermost one holds it.
 *
 * Code that a program wrote (report/generated.h: source generators, gRPC, designers) is own, but no
 * line that a person can change: a frame outwards that was written by hand holds the allocation,
 * and the generated one is what model_near_nodes passed over. Without one it holds it itself.
 *
 * Ask model_near_find for a call path, model_near_nodes for all nodes of a tree.
 */
#ifndef SHADOWTRACE_MODEL_NEAR_H
#define SHADOWTRACE_MODEL_NEAR_H

#include "model/own.h"
#include "model/tree.h"

#define MODEL_NEAR_NONE "(no own frame)" /* what views call allocations that have none */

struct model_near {
    const struct log_defs *defs;
    const struct model_own *own;
    struct source_lines *lines;
    bool any;       /* whose code it is does not matter: the innermost frame with lines */
    uint8_t *ranks; /* by method; 0: not asked yet */
};

/* Why a frame has no line. */
enum model_near_lack {
    MODEL_NEAR_LACKS_NOTHING, /* it has one, or lines were not asked for */
    MODEL_NEAR_LACKS_OFFSET,  /* optimised code does not tell where in the method it is */
    MODEL_NEAR_LACKS_READY,   /* nor does code that was compiled ahead of time */
    MODEL_NEAR_LACKS_RECORD,  /* with --no-lines or --stacks inline nothing is recorded of it */
    MODEL_NEAR_LACKS_SYMBOLS, /* of the module */
    MODEL_NEAR_LACKS_BUILD,   /* the module's symbols are there, of another build */
    MODEL_NEAR_LACKS_SOURCE,  /* the module has symbols, which have no line of the method */
    MODEL_NEAR_LACKS
};
extern const char *const model_near_keys[MODEL_NEAR_LACKS];  /* as in JSON */
extern const char *const model_near_words[MODEL_NEAR_LACKS]; /* for people */

struct model_near_place {
    uint32_t method;         /* number in defs */
    struct source_line line; /* file NULL: not known, and `lack` says why */
    enum model_near_lack lack;
};

/*
 * model_near_init - own: NULL: no code is own. lines: NULL: no lines are known.
 * Returns: 0 or -ENOMEM; model_near_fini even then. Owns: all three are borrowed. No method may be
 * added to defs until model_near_fini.
 */
int model_near_init(struct model_near *n, const struct log_defs *defs, const struct model_own *own,
                    struct source_lines *lines);
void model_near_fini(struct model_near *n);

/*
 * model_near_find - the place of what was allocated at `il` (or LOG_NO_IL) of a path's leaf.
 * Returns: false: no frame of the path is own code.
 */
bool model_near_find(struct model_near *n, uint32_t path, int32_t il, struct model_near_place *out);

/*
 * model_near_nodes - by node: the node, it or one above it, that its allocations count for; 0: none
 * is own code. passed: the innermost node of generated code between the two, 0 none; NULL: not
 * needed. Returns: 0 or -ENOMEM; *out and *passed are to be freed with memory_free, even then.
 */
int model_near_nodes(struct model_near *n, const struct model_tree *t, uint32_t **out,
                     uint32_t **passed);

/*
 * model_near_lack - why a frame of that method that has no line has none. MODEL_NEAR_LACKS_NOTHING:
 * no lines are known at all.
 */
enum model_near_lack model_near_lack(const struct model_near *n, uint32_t method);

#endif
