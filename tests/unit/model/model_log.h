/* unit/model/model_log.h - models of logs: hand-made text, and the fixtures. */
#ifndef SHADOWTRACE_TESTS_UNIT_MODEL_MODEL_LOG_H
#define SHADOWTRACE_TESTS_UNIT_MODEL_MODEL_LOG_H

#include "model/tree.h"

#include "unit/readers/memory_log.h"
#include "support/test.h"

#define HEADER "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1}\n"

static struct log_problems problems;
static struct model *model;
static struct model_tree *tree;
static char why[300];

static const struct model_options plain_options;
static const struct model_filter everything;

static inline int model_setup(void **state)
{
    (void)state;
    log_problems_init(&problems);
    return 0;
}

static inline int model_teardown(void **state)
{
    (void)state;
    model_tree_free(tree);
    model_free(model);
    tree = NULL;
    model = NULL;
    log_problems_fini(&problems);
    return 0;
}

static inline void model_begin(const struct model_options *options)
{
    model_tree_free(tree);
    tree = NULL;
    model_free(model);
    assert_int_equal(model_new(options, &problems, &model), 0);
}

static inline void model_text(const struct model_options *options, const char *text)
{
    struct memory_log m = {.text = text, .size = strlen(text), .chunk = 100};
    struct log_lines *lines = memory_log_lines(&m);

    model_begin(options);
    assert_int_equal(model_read_lines(model, lines, "memory", NULL), 0);
    assert_int_equal(model_finish(model), 0);
    log_lines_free(lines);
}

static inline int model_tree_of(const struct model_filter *filter, const struct model_shape *shape)
{
    model_tree_free(tree);
    return model_tree_new(model, filter, shape, &tree, why, sizeof(why));
}

static inline const char *model_place_text(uint32_t place)
{
    const struct model_place *p = &tree->places[place];

    return p->kind == MODEL_PLACE_METHOD ? log_method(model_defs(model), p->method)->name
           : p->kind == MODEL_PLACE_TYPE ? log_class(model_defs(model), p->method)->name
           : p->name                     ? p->name
                                         : "all";
}

/* The tree as text, a line each: "  App.Work +3 24/56 1/2", as deep as it is indented. */
static inline const char *model_tree_text(void)
{
    static char text[1 << 16];
    size_t at = 0;

    for (uint32_t i = 0; i < tree->node_count; i++) {
        const struct model_node *n = &tree->nodes[i];
        const struct model_place *p = &tree->places[n->place];
        char il[40] = "";

        if (p->line)
            snprintf(il, sizeof(il), ":%u", p->line);
        else if (p->il >= 0)
            snprintf(il, sizeof(il), " +%d", p->il);
        else if (p->count > 1)
            snprintf(il, sizeof(il), " x%u", p->count);
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%*s%s%s %.0f/%.0f %.0f/%.0f\n",
                               (int)n->depth, "", model_place_text(n->place), il,
                               tree->self[MODEL_BYTES][i], tree->total[MODEL_BYTES][i],
                               tree->self[MODEL_ALLOCS][i], tree->total[MODEL_ALLOCS][i]);
        assert_true(at < sizeof(text));
    }
    return text;
}

#endif
