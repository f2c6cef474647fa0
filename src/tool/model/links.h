/*
 * model/links.h - the nodes of a tree while it is made, with their parents and no order but that
 * parents have lower numbers than their children; and the folding of frames on their way into it.
 */
#ifndef SHADOWTRACE_MODEL_LINKS_H
#define SHADOWTRACE_MODEL_LINKS_H

#include "model/places.h"
#include "model/runs.h"

struct link {
    uint32_t parent, place;
};

struct links {
    const struct model_shape *shape;
    struct places places;
    struct runs runs;   /* fold_framework only */
    struct link *links; /* 0 is the root */
    size_t count, capacity;
    struct index index;
    uint32_t *longest; /* by link: frames of its longest run; NULL without fold_framework */
    size_t longest_capacity;
    bool fold_framework;
};

/* How far a stack has come from its root on: its node, and the run of frames that have none yet. */
struct links_state {
    uint32_t link, run;
};

int links_init(struct links *l, const struct model *m, const struct model_shape *shape);
void links_fini(struct links *l);

/* links_step - a stack with one frame more. links_end - its node. Both return: 0 or -ENOMEM. */
int links_step(struct links *l, struct links_state from, const struct report_frame *f,
               struct links_state *out);
int links_end(struct links *l, struct links_state from, uint32_t *out);

/* links_child - the node of a place below another. Returns: 0 or -ENOMEM. */
int links_child(struct links *l, uint32_t parent, uint32_t place, uint32_t *out);

/* links_finish - nothing is added any more: runs say how long they are. Returns: 0 or -ENOMEM. */
int links_finish(struct links *l);

#endif
