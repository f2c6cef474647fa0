#include "rows/tables.h"

#include <stdarg.h>
#include <stdio.h>

#define VERSION 1

INDEX_OF_TEXT(text_kind, struct rows_text);
INDEX_OF_TEXT(module_kind, struct rows_module);
INDEX_OF_BYTES(method_kind, struct rows_method, id);
INDEX_OF_BYTES(type_kind, struct rows_type, id);
INDEX_OF_BYTES(frame_kind, struct rows_frame, id);
INDEX_OF_BYTES(stack_kind, struct rows_stack, id);
INDEX_OF_BYTES(recording_kind, struct rows_recording, id);
INDEX_OF_BYTES(place_kind, struct rows_place, il);
INDEX_OF_BYTES(other_kind, struct rows_other, line);
INDEX_OF_BYTES(amount_kind, struct rows_amount, type);

/* As index_add, of a table. */
#define ADD(table, kind, key, number) \
    index_add(&(table)->index, &(kind), &(table)->rows, &(table)->count, &(table)->capacity, \
              (key), (number))

/* Whether the table has that key; its number. */
#define FIND(table, kind, key, number) \
    (*(number) = find(&(table)->index, &(kind), (table)->rows, (key)), *(number) != INDEX_NONE)

static uint32_t find(const struct index *index, const struct index_kind *kind, const void *rows,
                     const void *key)
{
    size_t slot;

    return index_find(index, kind, rows, kind->hash(key), key, &slot);
}

/* ---- members of a row ---- */

static int bad(char why[ROWS_LOG_WHY], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int bad(char why[ROWS_LOG_WHY], const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(why, ROWS_LOG_WHY, format, args);
    va_end(args);
    return -EBADMSG;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool id_of(const char *text, uint64_t id[2])
{
    unsigned digits = 0;

    id[0] = id[1] = 0;
    for (unsigned i = 0; i < 36; i++) {
        int digit = digit_of(text[i]);

        if (i == 8 || i == 13 || i == 18 || i == 23) {
            if (text[i] != '-')
                return false;
            continue;
        }
        if (digit < 0)
            return false;
        id[digits / 16] = id[digits / 16] << 4 | (uint64_t)digit;
        digits++;
    }
    return !text[36];
}

/*
 * An id. A table of SQL has no absent members: null and all zeros mean no id.
 * Returns: 0; -ENOENT; -EBADMSG.
 */
static int member_id(const json_t *row, const char *key, uint64_t id[2], char why[ROWS_LOG_WHY])
{
    const json_t *member = json_object_get(row, key);

    if (!member || json_is_null(member))
        return -ENOENT;
    if (!json_is_string(member) || !id_of(json_string_value(member), id))
        return bad(why, "member \"%s\" is not an id", key);
    return id[0] || id[1] ? 0 : -ENOENT;
}

static int needed_id(const json_t *row, const char *key, uint64_t id[2], char why[ROWS_LOG_WHY])
{
    int err = member_id(row, key, id, why);

    return err == -ENOENT ? bad(why, "member \"%s\" is missing", key) : err;
}

static int needed_count(const json_t *row, const char *key, uint64_t *out, char why[ROWS_LOG_WHY])
{
    int err = log_member_count(row, key, out);

    return err ? bad(why, "member \"%s\" is %s", key, err == -ENOENT ? "missing" : "not a count")
               : 0;
}

/* "" if it is missing. */
static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));

    return text ? text : "";
}

/* As JSON has it, or as a table has it: 0 and 1. */
static bool is_true(const json_t *row, const char *key)
{
    const json_t *member = json_object_get(row, key);

    return json_is_true(member) || json_integer_value(member) != 0;
}

static bool is_false(const json_t *row, const char *key)
{
    return json_object_get(row, key) && !is_true(row, key);
}

/* ---- definitions ---- */

static int text_add(struct rows_log *r, const char *text, const char **out)
{
    struct rows_text key = {text};
    uint32_t number;

    if (!FIND(&r->texts, text_kind, &key, &number)) {
        key.text = memory_strdup(text);
        if (!key.text || ADD(&r->texts, text_kind, &key, &number) < 0) {
            memory_free((void *)(uintptr_t)key.text);
            return -ENOMEM;
        }
    }
    *out = r->texts.rows[number].text;
    return 0;
}

/* Its id; 0: it has no name. What the first row says of its owner counts. */
static int module_add(struct rows_log *r, const char *name, const char *owner, uint32_t *id)
{
    struct rows_module module;
    uint32_t number;
    int added = *name ? text_add(r, name, &module.name) : 0;

    *id = 0;
    if (!*name || added < 0)
        return added;
    added = ADD(&r->modules, module_kind, &module, &number);
    if (added < 0)
        return added;
    *id = number + 1;
    return added ? rows_log_put(r, SST_KIND_MODULE,
                                json_pack("{s:I, s:s, s:s, s:s*}", "id", (json_int_t)*id, "name",
                                          name, "path", "", "owner", *owner ? owner : NULL))
                 : 0;
}

/* What a method and a type have: an id and a module, and once they are numbered a definition. */
static int take_named(struct rows_log *r, const json_t *row, uint64_t id[2], const char *owner,
                      uint32_t *module, char why[ROWS_LOG_WHY])
{
    int err = needed_id(row, "id", id, why);

    return err ? err : module_add(r, text_of(row, "module"), owner, module);
}

static int define_named(struct rows_log *r, const json_t *row, enum sst_kind kind, uint32_t number,
                        uint32_t module)
{
    return rows_log_put(r, kind,
                        json_pack("{s:I, s:s, s:o*}", "id", (json_int_t)number + 1, "name",
                                  text_of(row, "name"), "module",
                                  module ? json_integer(module) : NULL));
}

/* The frame of an empty stack (log_no_frame), for which a log has no method. */
static bool is_no_frame(const json_t *row)
{
    const char *name = text_of(row, "name");

    return !*text_of(row, "owner") &&
           (strcmp(name, "(no managed frame)") == 0 || strcmp(name, "(no own frame)") == 0);
}

static int take_method(struct rows_log *r, const json_t *row, char why[ROWS_LOG_WHY])
{
    struct rows_method method = {.none = is_no_frame(row)};
    uint32_t number = 0, module = 0;
    int added = take_named(r, row, method.id, text_of(row, "owner"), &module, why);

    if (!added)
        added = ADD(&r->methods, method_kind, &method, &number);
    return added > 0 ? define_named(r, row, SST_KIND_METHOD, number, module) : added;
}

static int take_type(struct rows_log *r, const json_t *row, char why[ROWS_LOG_WHY])
{
    struct rows_type type;
    uint32_t number = 0, module = 0;
    int added = take_named(r, row, type.id, "", &module, why);

    if (!added)
        added = ADD(&r->types, type_kind, &type, &number);
    return added > 0 ? define_named(r, row, SST_KIND_CLASS, number, module) : added;
}

/* A line whose offset means another one, or is not known: one that no method has. */
static int place_other(struct rows_log *r, struct rows_place *place)
{
    struct rows_other other = {place->file, place->method, place->line, r->invented};
    uint32_t number;
    int added = ADD(&r->others, other_kind, &other, &number);

    if (added < 0)
        return added;
    place->il = r->others.rows[number].il;
    if (!added)
        return 0;
    if (--r->invented <= ROWS_IL_MOST)
        return -EOVERFLOW;
    added = ADD(&r->places, place_kind, place, &number);
    return added < 0 ? added : 0;
}

/* place->il becomes what means this place in the cells. */
static int place_add(struct rows_log *r, struct rows_place *place)
{
    struct rows_place *have;
    uint32_t number;
    int added;

    if (place->il == LOG_NO_IL)
        return place->line ? place_other(r, place) : 0;
    added = ADD(&r->places, place_kind, place, &number);
    if (added)
        return added < 0 ? added : 0;
    have = &r->places.rows[number];
    if (!place->line || (have->line == place->line && have->file == place->file))
        return 0;
    if (have->line)
        return place_other(r, place);
    *have = *place; /* the same frame, of a machine that has symbols */
    return 0;
}

static int take_frame(struct rows_log *r, const json_t *row, char why[ROWS_LOG_WHY])
{
    struct rows_frame frame = {.il = LOG_NO_IL, .filter = is_true(row, "filter")};
    struct rows_method method;
    struct rows_place place = {.line = 0};
    uint64_t il = 0, line = 0;
    uint32_t number;
    int err = needed_id(row, "id", frame.id, why);

    if (!err)
        err = needed_id(row, "method", method.id, why);
    if (err || FIND(&r->frames, frame_kind, &frame, &number))
        return err;
    if (!FIND(&r->methods, method_kind, &method, &place.method))
        return bad(why, "the frame's method is not defined before it");
    place.il = log_member_count(row, "il", &il) || il > ROWS_IL_MOST ? LOG_NO_IL : (int32_t)il;
    if (*text_of(row, "file") && !log_member_count(row, "line", &line) && line <= UINT32_MAX) {
        place.line = (uint32_t)line;
        err = text_add(r, text_of(row, "file"), &place.file);
    }
    if (!err)
        err = place_add(r, &place);
    frame.method = place.method;
    frame.il = place.il;
    if (!err && ADD(&r->frames, frame_kind, &frame, &number) < 0)
        err = -ENOMEM;
    return err;
}

/* A node: the method, and where the frame above it calls it. */
static int define_node(struct rows_log *r, const struct rows_stack *stack,
                       const struct rows_stack *parent)
{
    const struct rows_frame *frame = &r->frames.rows[stack->frame];
    const struct log_record node = {
        .kind = SST_KIND_NODE,
        .node = {.id = stack->node,
                 .parent = parent ? parent->node : 0,
                 .method = frame->method + 1,
                 .il = parent ? r->frames.rows[parent->frame].il : LOG_NO_IL,
                 .filter = frame->filter}};

    return report_cells_put(r->cells, &node);
}

static int take_stack(struct rows_log *r, const json_t *row, char why[ROWS_LOG_WHY])
{
    struct rows_stack stack, above, *parent = NULL;
    struct rows_frame frame;
    uint32_t number;
    int err = needed_id(row, "id", stack.id, why), has_parent;

    if (!err)
        err = needed_id(row, "frame", frame.id, why);
    if (err || FIND(&r->stacks, stack_kind, &stack, &number))
        return err;
    has_parent = member_id(row, "parent", above.id, why);
    if (has_parent == -EBADMSG)
        return has_parent;
    if (!FIND(&r->frames, frame_kind, &frame, &stack.frame))
        return bad(why, "the stack's frame is not defined before it");
    if (!has_parent) {
        if (!FIND(&r->stacks, stack_kind, &above, &number))
            return bad(why, "the stack's parent is not defined before it");
        parent = &r->stacks.rows[number];
        above = *parent; /* the table may move */
    }
    stack.node = !parent && r->methods.rows[r->frames.rows[stack.frame].method].none
                     ? 0
                     : (uint32_t)r->stacks.count + 1;
    if (ADD(&r->stacks, stack_kind, &stack, &number) < 0)
        return -ENOMEM;
    return stack.node ? define_node(r, &stack, parent ? &above : NULL) : 0;
}

/* ---- recordings and amounts ---- */

/* The program that all have, and the earliest beginning. RFC 3339 in UTC is in order as text. */
static void note_recording(struct rows_log *r, const json_t *row)
{
    const char *program = text_of(row, "program"), *started = text_of(row, "started");

    if (!r->sums.recordings++)
        r->pid = (uint64_t)json_integer_value(json_object_get(row, "pid"));
    if (*program && (!r->programs || strcmp(r->program.data, program) != 0)) {
        r->programs++;
        buffer_clear(&r->program);
        buffer_text(&r->program, program);
    }
    if (*started && (!r->started.size || strcmp(started, r->started.data) < 0)) {
        buffer_clear(&r->started);
        buffer_text(&r->started, started);
    }
}

/* From when its samples count. A table has 0 where a row has nothing. */
static void take_sampling(const json_t *row, struct rows_recording *to)
{
    struct log_sampling *s = &to->sampling;
    const char *sampler = text_of(row, "sampler");
    uint64_t exact = 0, most = 0;

    to->ticks = !strcmp(sampler, "ticks");
    if (!to->ticks && strcmp(sampler, "runtime") != 0)
        return;
    (void)log_member_count(row, "before_bytes", &exact);
    (void)log_member_count(row, "before_bytes_most", &most);
    s->how = exact ? LOG_BEFORE_EXACT : most ? LOG_BEFORE_MOST : LOG_BEFORE_UNKNOWN;
    s->bytes = exact ? exact : most;
    (void)log_member_count(row, "sampling_since_ns", &s->since_ns);
}

static int take_recording(struct rows_log *r, const json_t *row, char why[ROWS_LOG_WHY])
{
    struct rows_recording recording = {.incomplete = is_false(row, "complete"),
                                       .estimated = is_true(row, "estimated"),
                                       .lost = 0},
                          *have;
    uint32_t number;
    uint64_t version = VERSION;
    int err = needed_id(row, "id", recording.id, why), added;

    (void)log_member_count(row, "format_version", &version);
    (void)log_member_count(row, "lost", &recording.lost);
    if (!err && version > VERSION) {
        bad(why, "rows of version %llu; this program reads version %d", (unsigned long long)version,
            VERSION);
        return -EPROTO;
    }
    if (err)
        return err;
    added = ADD(&r->recordings, recording_kind, &recording, &number);
    if (added < 0)
        return added;
    if (added)
        note_recording(r, row);
    have = &r->recordings.rows[number]; /* told again, it had come further: its end may be there */
    r->sums.estimated += added && recording.estimated;
    have->incomplete &= recording.incomplete;
    take_sampling(row, have);
    have->lost = have->lost > recording.lost ? have->lost : recording.lost;
    return 0;
}

/* What the row's member `of` is: its number in a table whose rows begin with their ids. */
#define NEEDED(r, row, of, table, kind, out, why) \
    needed(row, of, &(r)->table.index, &(kind), (r)->table.rows, out, why)

static int needed(const json_t *row, const char *of, const struct index *index,
                  const struct index_kind *kind, const void *rows, uint32_t *out,
                  char why[ROWS_LOG_WHY])
{
    uint64_t id[2];
    int err = needed_id(row, of, id, why);

    if (err)
        return err;
    *out = find(index, kind, rows, id);
    return *out == INDEX_NONE ? bad(why, "the %s is not defined before it", of) : 0;
}

/* 0: the row does not say, as one that is a sum of several. */
static int find_recording(struct rows_log *r, const json_t *row, uint32_t *out,
                          char why[ROWS_LOG_WHY])
{
    struct rows_recording recording;
    uint32_t number;
    int err = member_id(row, "recording", recording.id, why);

    *out = 0;
    if (err)
        return err == -ENOENT ? 0 : err;
    if (!FIND(&r->recordings, recording_kind, &recording, &number))
        return bad(why, "the recording is not defined before it");
    *out = number + 1;
    return 0;
}

static int take_amount(struct rows_log *r, const json_t *row, char why[ROWS_LOG_WHY])
{
    struct rows_amount amount = {.minute = 0}, *have;
    uint32_t number;
    int err = NEEDED(r, row, "stack", stacks, stack_kind, &amount.stack, why);

    if (!err)
        err = NEEDED(r, row, "type", types, type_kind, &amount.type, why);
    if (!err)
        err = find_recording(r, row, &amount.recording, why);
    if (!err)
        err = needed_count(row, "bytes", &amount.bytes, why);
    if (!err)
        err = needed_count(row, "allocs", &amount.allocs, why);
    (void)log_member_count(row, "minute", &amount.minute);
    if (!err && ADD(&r->amounts, amount_kind, &amount, &number) < 0)
        err = -ENOMEM;
    if (err)
        return err;
    have = &r->amounts.rows[number];
    have->bytes = have->bytes > amount.bytes ? have->bytes : amount.bytes;
    have->allocs = have->allocs > amount.allocs ? have->allocs : amount.allocs;
    return 0;
}

/* ---- rows ---- */

int rows_log_take(struct rows_log *r, const json_t *row, char why[ROWS_LOG_WHY])
{
    static const struct {
        const char *kind;
        int (*take)(struct rows_log *r, const json_t *row, char why[ROWS_LOG_WHY]);
    } kinds[] = {{"allocated", take_amount}, {"stack", take_stack}, {"frame", take_frame},
                 {"method", take_method},    {"type", take_type},   {"recording", take_recording},
                 {"ancestors", NULL},        {"alive", NULL}};
    const char *kind = json_string_value(json_object_get(row, "kind"));

    if (!kind)
        return bad(why, "the line is not a row: it has no \"kind\"");
    if (strcmp(kind, "header") == 0)
        return bad(why, "this is a log, not rows of one: read it without --from-rows");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (strcmp(kinds[i].kind, kind) == 0)
            return kinds[i].take ? kinds[i].take(r, row, why) : 0;
    r->sums.unknown++;
    return 0;
}
