/*
 * model/places.h - what nodes of a tree are of, each once: methods, lines or instructions of them,
 * types, and placeholders for frames that are not distinguished.
 */
#ifndef SHADOWTRACE_MODEL_PLACES_H
#define SHADOWTRACE_MODEL_PLACES_H

#include "model/shape.h"

#include "report/frames.h"

struct places {
    const struct model *model;
    const struct log_defs *defs;
    enum model_grain grain;
    struct model_place *places;
    size_t count, capacity;
    struct index index;
    /* Frames of a log to their places. */
    struct place_frame *frames;
    size_t frame_count, frame_capacity;
    struct index frame_index;
    uint8_t *kinds; /* by method: enum model_place_kind */
};

int places_init(struct places *p, const struct model *m, enum model_grain grain);
void places_fini(struct places *p);

/* The number of a place. Return: 0 or -ENOMEM. Names are compared by their addresses. */
int places_frame(struct places *p, const struct report_frame *f, uint32_t *out);
int places_type(struct places *p, uint32_t class_number, uint32_t *out);
int places_folded(struct places *p, const char *name, uint32_t count, uint32_t *out);
int places_none(struct places *p, uint32_t *out);

#endif
