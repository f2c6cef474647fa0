#include "page/side.h"

#include <errno.h>

static int read_marks(void *side, const struct model *m, const char *log)
{
    struct side *s = side;

    (void)m;
    return log_marks_read(log, &s->marks) == -ENOMEM ? -ENOMEM : 0;
}

int side_read(const struct cli_command *command, const struct side_options *o, char **logs,
              size_t count, const struct side *first, struct side *s)
{
    const struct model_shape shape = {
        .grain = MODEL_GRAIN_LINE, .types = true, .min_share = o->min_share};
    struct loading_options how = o->how;
    char why[ARGS_WHY_SIZE];
    int status, err;

    *s = (struct side){.logs = logs, .count = count};
    if (o->live)
        how.live = (struct reading_live){.question = REPORT_LIVE_LIFETIMES, .changes = true};
    how.each = read_marks;
    how.context = s;
    status = loading_read(command, &how, logs, count, &s->read);
    if (status)
        return status;
    err = loading_know(command, &how, &s->read, why, sizeof(why));
    if (!err)
        err = loading_name(&s->read, first ? &first->read : NULL, o->names, NAMES_FULL);
    if (!err)
        err = namespaces_init(&s->spaces, s->read.defs);
    if (!err)
        err = model_tree_new(s->read.model, &o->filter, &shape, &s->tree, why, sizeof(why));
    if (err == -ENOENT)
        return cli_usage_error(command, "%s", why);
    loading_tell_own(command, &how, &s->read);
    return cli_failed(command, err);
}

bool side_is_live(const struct side *s)
{
    const struct report_live *live = model_live(s->read.model);

    const json_t *options = json_object_get(model_log(s->read.model)->header, "options");

    return live->question && (live->lines || json_is_true(json_object_get(options, "live")));
}

void side_fini(struct side *s)
{
    model_tree_free(s->tree);
    namespaces_fini(&s->spaces);
    loading_end(&s->read);
    log_marks_fini(&s->marks);
}
