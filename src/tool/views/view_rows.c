#include "views/view_rows.h"

/* VIEW_OVERVIEW: its lines of own code. */
static const enum model_key keys[VIEW_COUNT] = {
    [VIEW_OVERVIEW] = MODEL_BY_OWN,   [VIEW_OWN] = MODEL_BY_OWN,
    [VIEW_SITES] = MODEL_BY_SITE,     [VIEW_TYPES] = MODEL_BY_TYPE,
    [VIEW_METHODS] = MODEL_BY_METHOD, [VIEW_LINES] = MODEL_BY_LINE,
    [VIEW_MODULES] = MODEL_BY_MODULE, [VIEW_NAMESPACES] = MODEL_BY_NAMESPACE,
    [VIEW_THREADS] = MODEL_BY_THREAD, [VIEW_PROCESSES] = MODEL_BY_PROCESS,
    [VIEW_SIZES] = MODEL_BY_SIZE};

int view_rows_init(struct view_rows *r, const struct view *v, enum view_kind kind)
{
    const enum report_live_question q = v->question;
    const struct model_rows_options options = {.key = keys[kind],
                                               .sort = v->sort,
                                               .top = v->top,
                                               .min_bytes = v->min_bytes,
                                               .min_share = v->min_share,
                                               .signed_bytes = q == REPORT_LIVE_GROWN,
                                               .no_totals = q != REPORT_LIVE_NONE,
                                               .of_cells = q == REPORT_LIVE_LIFETIMES ||
                                                           q == REPORT_LIVE_GROWN};

    *r = (struct view_rows){.view = v, .kind = kind};
    return model_rows_init(&r->rows, v->tree, &options);
}

void view_rows_fini(struct view_rows *r)
{
    model_rows_fini(&r->rows);
}
