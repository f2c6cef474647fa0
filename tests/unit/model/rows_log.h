/* unit/model/rows_log.h - rows of a log in memory, by one key. */
#ifndef SHADOWTRACE_TESTS_UNIT_MODEL_ROWS_LOG_H
#define SHADOWTRACE_TESTS_UNIT_MODEL_ROWS_LOG_H

#include "model/rows.h"

#include "unit/readers/memory_log.h"
#include "support/test.h"

struct rows_log {
    struct log_problems problems;
    struct model *model;
    struct model_tree *tree;
    struct model_rows rows;
};

static inline void rows_log_free(struct rows_log *l)
{
    model_rows_fini(&l->rows);
    model_tree_free(l->tree);
    model_free(l->model);
    log_problems_fini(&l->problems);
    *l = (struct rows_log){.model = NULL};
}

/* Sites and what is on no path have no frames: their paths are whole. Returns: 0 or -ENOMEM. */
static inline int rows_log_make(struct rows_log *l, enum model_key key,
                                const struct model_filter *filter)
{
    const struct model_rows_options options = {.key = key, .no_totals = true};
    const bool frames = key == MODEL_BY_METHOD || key == MODEL_BY_MODULE;
    const struct model_shape shape = {.grain = frames ? MODEL_GRAIN_METHOD : MODEL_GRAIN_NONE};
    char why[100];
    int err = model_tree_new(l->model, filter, &shape, &l->tree, why, sizeof(why));

    return err ? err : model_rows_init(&l->rows, l->tree, &options);
}

static inline int rows_log_read_lines(struct rows_log *l, struct log_lines *lines,
                                      enum model_key key, const struct model_filter *filter,
                                      bool physical)
{
    const struct model_options options = {
        .dimensions = {.threads = key == MODEL_BY_THREAD || filter->thread}, .physical = physical};
    int err;

    *l = (struct rows_log){.model = NULL};
    log_problems_init(&l->problems);
    err = model_new(&options, &l->problems, &l->model);
    if (!err)
        err = model_read_lines(l->model, lines, "memory", NULL);
    if (!err)
        err = model_finish(l->model);
    return err ? err : rows_log_make(l, key, filter);
}

static inline int rows_log_read(struct rows_log *l, const char *text, enum model_key key,
                                const struct model_filter *filter, bool physical)
{
    struct memory_log m = {.text = text, .size = strlen(text), .chunk = 100};
    struct log_lines *lines = memory_log_lines(&m);
    int err = rows_log_read_lines(l, lines, key, filter, physical);

    log_lines_free(lines);
    return err;
}

#endif
