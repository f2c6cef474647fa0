#include "retained/held.h"

#include "base/glob.h"
#include "base/order.h"

#include "base/path.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- reading ---- */

static int on_record(void *context, const struct log_record *record)
{
    struct held *h = context;

    return origins_take(&h->origins, &h->defs, record);
}

static int read_log(struct held *h, const struct held_options *options, const char *path)
{
    struct reading_progress progress;
    const struct log_consumer consumer = {.record = on_record,
                                          .context = h,
                                          .progress = reading_progress,
                                          .progress_context = &progress};
    int err;

    log_problems_init(&h->problems);
    log_input_init(&h->log);
    origins_init(&h->origins);
    err = log_defs_init(&h->defs, &h->problems);
    if (err)
        return cli_failed(h->command, err);
    h->log.jobs = reading_threads(&options->reading);
    reading_progress_init(&progress, &options->reading);
    err = log_input_read(path, &h->defs, &consumer, &h->log);
    reading_progress_end(&progress);
    if (err)
        return reading_failed(h->command, path, &h->log, err);
    reading_problems(h->command, &h->problems);
    return CLI_OK;
}

/* There is no dump: how one is made. Of a process that runs still: now. */
static int tell_how(const struct held *h, const char *log)
{
    const char *name = path_base_name(log);
    int size = (int)strcspn(name, ".");
    pid_t pid = (pid_t)h->log.recording.pid;
    char why[PATH_MAX + 40] = "a heap dump is missing";

    if (h->dump)
        snprintf(why, sizeof(why), "%s does not exist", h->dump);
    if (pid > 0 && !h->log.end && (!kill(pid, 0) || errno == EPERM))
        cli_complain(h->command, "%s; `shadowtrace ctl %d heap -o %.*s.heap` writes one", why,
                     (int)pid, size, name);
    else
        cli_complain(h->command,
                     "%s, and the program has ended; `shadowtrace record --live --heap-at-exit "
                     "%.*s.heap -- COMMAND` writes one at its end",
                     why, size, name);
    return h->dump ? CLI_IO : CLI_USAGE;
}

static int dump_failed(const struct held *h, const struct heap_dump *dump, int err)
{
    if (err == -EBADMSG || err == -EPROTO)
        cli_complain(h->command, "%s: %s", h->dump, dump->why);
    else if (err == -EFBIG)
        cli_complain(h->command, "%s: it has over 2 billion objects or references", h->dump);
    else if (err)
        cli_complain(h->command, "cannot read %s: %s", h->dump,
                     err == -EINVAL ? "it must be a file, because it is read several times"
                                    : strerror(-err));
    return err ? CLI_IO : CLI_OK;
}

static int read_dump(struct held *h, const char *path)
{
    struct heap_dump dump;
    int err = heap_dump_open(path, &dump);

    h->head = dump.head;
    if (!err)
        err = heap_graph_read(&dump, &h->g);
    err = dump_failed(h, &dump, err);
    heap_dump_close(&dump);
    return err;
}

/* A dump says which recording it belongs to, as the log's header does. */
static int check_same(const struct held *h, const char *log, const char *dump)
{
    const struct log_recording *r = &h->log.recording;

    if (!h->head.clock || (h->head.clock == r->clock && h->head.pid == r->pid))
        return CLI_OK;
    if (h->head.pid == r->pid)
        cli_complain(h->command, "%s is of another recording than %s", dump, log);
    else
        cli_complain(h->command, "%s is of process %" PRIu64 ", %s of process %" PRIu64, dump,
                     h->head.pid, log, r->pid);
    return CLI_USAGE;
}

int held_read(struct held *h, const struct cli_command *command, const struct held_options *options,
              const char *log, const char *dump)
{
    int status;

    *h = (struct held){.command = command};
    h->dump = dump;
    h->raw = options->style == NAMES_RAW;
    status = read_log(h, options, log);
    if (!status && (!dump || (access(dump, F_OK) && errno == ENOENT)))
        return tell_how(h, log);
    if (!status)
        status = read_dump(h, dump);
    return status ? status : check_same(h, log, dump);
}

void held_free(struct held *h)
{
    heap_paths_free(&h->paths);
    memory_free_all(h->class_of, h->named, h->types, h->places, h->made, h->wanted, h->slots);
    heap_dominators_free(&h->d);
    heap_graph_free(&h->g);
    names_free(h->names);
    names_free(h->others);
    model_own_free(h->own);
    source_lines_free(h->lines);
    origins_free(&h->origins);
    log_defs_fini(&h->defs);
    log_input_fini(&h->log);
    log_problems_fini(&h->problems);
}

/* ---- names ---- */

/* A class that no line of the log defines becomes one of the defs. Ids: from the top down. */
static int add_class(struct held *h, const char *name, uint32_t number, uint32_t *out)
{
    json_t *line = json_pack("{s:s, s:I, s:s}", "kind", "class", "id",
                             (json_int_t)(UINT32_MAX - 1 - number), "name", name);
    struct log_record record = {.kind = SST_KIND_CLASS, .json = line};
    int err = line ? log_defs_add(&h->defs, &record) : 0;

    *out = 0; /* a name that is no text is as none */
    if (!err && line)
        err = log_defs_class(&h->defs, UINT32_MAX - 1 - number, record.at, out);
    json_decref(line);
    return err == -EBADMSG ? 0 : err;
}

static int add_method(struct held *h, const char *text, uint32_t number, uint32_t *out)
{
    (void)number;
    return log_defs_method_named(&h->defs, text, out);
}

/* The number among the definitions of each name of the dump: by its id, or added by its text. */
static int name_all(struct held *h, const struct heap_names *names, const struct log_id_map *ids,
                    int (*add)(struct held *h, const char *text, uint32_t number, uint32_t *out),
                    uint32_t **out)
{
    uint32_t *of = *out = memory_zalloc(names->count + 1, sizeof(*of));
    int err = of ? 0 : -ENOMEM;

    for (uint32_t i = 1; !err && i < names->count; i++) {
        const struct heap_name *name = &names->names[i];
        uint32_t known = name->id ? log_id_map_get(ids, name->id) : 0;

        if (known)
            of[i] = known - 1;
        else if (name->at)
            err = add(h, names->text + name->at, i, &of[i]);
    }
    return err;
}

/* ---- joining ---- */

/* Sites of the graph become numbers of origins + 1; what the log does not define becomes 0. */
static void number_sites(struct held *h)
{
    for (uint32_t node = 1; h->g.sites && node < h->g.edges.nodes; node++) {
        uint32_t id = h->g.sites[node];

        h->g.sites[node] = id ? log_id_map_get(&h->origins.ids, id) : 0;
        h->placed = h->placed || h->g.sites[node];
    }
}

static int sum_types(struct held *h)
{
    const struct heap_grouping by = {h->g.classes, h->class_of, (uint32_t)h->g.class_names.count,
                                     (uint32_t)h->defs.classes.count};

    h->types = memory_alloc(by.group_count * sizeof(*h->types));
    return h->types ? heap_sums(&h->g, &h->d, &by, h->types) : -ENOMEM;
}

ORDERED_BY(made_order, struct held_made, ORDER(x->place, y->place),
           ORDER(x->class_number, y->class_number))

ORDERED_BY(made_shown, struct held_made, ORDER(x->place, y->place), ORDER(y->bytes, x->bytes),
           ORDER(x->class_number, y->class_number))

/* What each origin made, brought together by place and type. */
static int sum_made(struct held *h)
{
    const struct origins *o = &h->origins;
    size_t kept = 0;

    h->made = memory_zalloc(o->count + 1, sizeof(*h->made));
    if (!h->made)
        return -ENOMEM;
    for (size_t i = 0; i < o->count; i++)
        h->made[i + 1] =
            (struct held_made){.place = o->all[i].place, .class_number = o->all[i].class_number};
    for (uint32_t p = 1; h->g.sites && p < h->d.count; p++)
        h->made[h->g.sites[h->d.node[p]]].bytes +=
            (uint64_t)h->g.units[h->d.node[p]] * SST_HEAP_UNIT;
    SORT(h->made + 1, o->count, made_order);
    for (size_t i = 1; i <= o->count; i++) {
        if (!h->made[i].bytes)
            continue;
        if (kept && !made_order(&h->made[kept - 1], &h->made[i]))
            h->made[kept - 1].bytes += h->made[i].bytes;
        else
            h->made[kept++] = h->made[i];
    }
    h->made_count = kept;
    SORT(h->made, kept, made_shown);
    return 0;
}

static int sum_places(struct held *h)
{
    struct origins *o = &h->origins;
    uint32_t *groups = memory_zalloc(o->count + 1, sizeof(*groups));
    struct heap_grouping by = {h->g.sites, groups, (uint32_t)o->count + 1,
                               (uint32_t)o->place_count};
    int err = -ENOMEM;

    h->places = memory_alloc(o->place_count * sizeof(*h->places));
    for (size_t i = 0; groups && i < o->count; i++)
        groups[i + 1] = o->all[i].place;
    if (groups && h->places)
        err = heap_sums(&h->g, &h->d, &by, h->places);
    memory_free(groups);
    return err ? err : sum_made(h);
}

static int sum_all(struct held *h)
{
    int err = heap_dominators_find(&h->g.edges, h->g.units, &h->d);

    if (err)
        return err;
    heap_held(&h->g, &h->d, &h->all);
    heap_loose(&h->g, &h->d, &h->loose);
    err = sum_types(h);
    return err ? err : sum_places(h);
}

int held_join(struct held *h, const struct held_options *options)
{
    char why[ARGS_WHY_SIZE] = "";
    int err = name_all(h, &h->g.class_names, &h->defs.classes.ids, add_class, &h->class_of);

    if (!err)
        err = name_all(h, &h->g.names, &h->defs.methods.ids, add_method, &h->named);
    if (!err && !options->no_lines)
        err = reading_source_lines(h->command, &h->defs, &options->symbols, &h->log, &h->lines);
    if (!err)
        err = model_own_new(&h->defs, &h->log, h->lines, options->own_code.item,
                            options->own_code.count, &h->own, why, sizeof(why));
    if (err == -ENOENT) {
        cli_complain(h->command, "%s", why);
        return CLI_USAGE;
    }
    if (!err)
        err = origins_place(&h->origins, &h->defs, h->own, h->lines);
    if (!err)
        err = names_new(&h->defs, options->style, &h->names);
    if (!err)
        err = names_new(&h->defs, options->others, &h->others);
    if (!err) {
        number_sites(h);
        err = sum_all(h);
    }
    return cli_failed(h->command, err);
}

/* ---- of one object ---- */

uint32_t held_class(const struct held *h, uint32_t object)
{
    uint32_t number = h->g.classes[object];

    return number < h->g.class_names.count ? h->class_of[number] : 0;
}

uint32_t held_place(const struct held *h, uint32_t object)
{
    uint32_t number = h->g.sites ? h->g.sites[object] : 0;

    return number ? h->origins.all[number - 1].place : 0;
}

int held_slots(struct held *h, const struct heap_paths *paths, size_t count)
{
    struct heap_dump dump;
    size_t steps = 0;
    int err;

    for (size_t i = 0; i < count; i++)
        for (size_t p = 0; p < paths[i].count; p++)
            steps += paths[i].paths[p].step_count;
    memory_free(h->slots);
    h->slot_count = 0;
    h->slots = memory_alloc((steps + 1) * sizeof(*h->slots));
    if (!h->slots)
        return cli_failed(h->command, -ENOMEM);
    for (size_t i = 0; i < count; i++)
        for (size_t p = 0; p < paths[i].count; p++)
            for (size_t s = 1; s < paths[i].paths[p].step_count; s++)
                h->slots[h->slot_count++] = (struct heap_step){paths[i].paths[p].steps[s - 1],
                                                               paths[i].paths[p].steps[s], 0};
    if (!h->g.field_count)
        return CLI_OK;
    err = heap_dump_open(h->dump, &dump);
    if (!err)
        err = heap_slots_find(&dump, &h->g, h->slots, h->slot_count);
    err = dump_failed(h, &dump, err);
    heap_dump_close(&dump);
    return err;
}

const char *held_type(const struct held *h, uint32_t class_number)
{
    return class_number ? names_class(h->names, class_number) : "(type not known)";
}

const char *held_place_text(const struct held *h, uint32_t number, bool wide, bool why,
                            struct buffer *out)
{
    const struct origin_place *place = &h->origins.places[number];

    buffer_clear(out);
    if (!number)
        return "(not known)";
    if (place->file) {
        buffer_text(out, wide ? place->file : path_base_name_foreign(place->file));
        source_line_put(out, place->line, place->line_last);
    } else if (place->method) {
        buffer_text(out, names_method(h->names, place->method));
        if (why && place->lack)
            buffer_format(out, " %s", model_near_words[place->lack]);
    } else {
        return log_no_frame(&h->defs);
    }
    return out->failed ? "?" : out->data;
}

/* ---- rows ---- */

/* Number 0, what is not known, stands last. */
static int row_order(const void *a, const void *b, void *context)
{
    const struct heap_sum *sums = context;
    uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    const struct heap_sum *x = &sums[first], *y = &sums[second];

    if (!first || !second)
        return ORDER(!first, !second);
    return ORDERS(ORDER(y->retained_bytes, x->retained_bytes), ORDER(y->bytes, x->bytes),
                  ORDER(first, second));
}

int held_rows(const struct heap_sum *sums, size_t count, uint32_t **rows, size_t *row_count)
{
    uint32_t *all = memory_alloc((count + 1) * sizeof(*all));
    union {
        const struct heap_sum *sums;
        void *context;
    } context = {sums};

    *row_count = 0;
    *rows = all;
    if (!all)
        return -ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        if (sums[i].objects)
            all[(*row_count)++] = i;
    if (*row_count)
        qsort_r(all, *row_count, sizeof(*all), row_order, context.context);
    return 0;
}

#define TYPES_SHOWN 3

static bool made_before(const void *element, const void *key)
{
    return ((const struct held_made *)element)->place < *(const uint32_t *)key;
}

const char *held_place_types(const struct held *h, uint32_t place, struct buffer *out)
{
    size_t first = order_first(h->made, h->made_count, sizeof(*h->made), made_before, &place);
    size_t i = first;

    buffer_clear(out);
    for (; i < h->made_count && h->made[i].place == place && i < first + TYPES_SHOWN; i++)
        buffer_format(out, "%s%s", i > first ? ", " : "", held_type(h, h->made[i].class_number));
    while (i < h->made_count && h->made[i].place == place)
        i++;
    if (i > first + TYPES_SHOWN)
        buffer_format(out, " +%zu", i - first - TYPES_SHOWN);
    return out->failed || !out->data ? "" : out->data;
}

/* ---- what was asked for ---- */

static bool ends_with(const char *path, const char *end, size_t size)
{
    size_t length = strlen(path);

    if (size > length)
        return false;
    for (size_t i = 0; i < size; i++) {
        char a = path[length - size + i], c = end[i];

        if ((a == '\\' ? '/' : a) != (c == '\\' ? '/' : c))
            return false;
    }
    return size == length || path[length - size - 1] == '/' || path[length - size - 1] == '\\';
}

/* Whether a number, or two with a hyphen between, name the place's line, or one that it may be. */
static bool is_number(const struct origin_place *place, const char *text)
{
    char lines[32];
    uint64_t line;

    snprintf(lines, sizeof(lines), "%u-%u", place->line, place->line_last);
    if (args_number(ARGS_COUNT, text, 0, UINT32_MAX, &line))
        return strcmp(text, lines) == 0;
    return place->line == line || (place->line < line && line <= place->line_last);
}

/* FILE, FILE:LINE or FILE:LINE-LINE; the file may lack folders in front. */
static bool is_line(const struct origin_place *place, const char *text)
{
    const char *colon = strrchr(text, ':');

    if (!place->file)
        return false;
    if (!colon || colon[1 + strspn(colon + 1, "0123456789-")])
        return ends_with(place->file, text, strlen(text));
    return is_number(place, colon + 1) && ends_with(place->file, text, (size_t)(colon - text));
}

static bool is_type(const struct held *h, uint32_t class_number, const char *glob)
{
    return class_number && (glob_match(glob, names_type(h->names, class_number)) ||
                            glob_match(glob, names_class(h->names, class_number)) ||
                            glob_match(glob, names_class(h->others, class_number)) ||
                            glob_match(glob, log_class(&h->defs, class_number)->name));
}

/* By class and by place: whether it is asked for. Returns: how many are, and have objects. */
static size_t choose_types(const struct held *h, const struct args_list *globs, bool *chosen)
{
    size_t count = 0;

    for (uint32_t c = 0; c < h->defs.classes.count; c++) {
        chosen[c] = !globs->count;
        for (size_t i = 0; i < globs->count && !chosen[c]; i++)
            chosen[c] = is_type(h, c, globs->item[i]);
        count += chosen[c] && h->types[c].objects;
    }
    return count;
}

static size_t choose_places(const struct held *h, const struct args_list *lines, bool *chosen)
{
    size_t count = 0;

    for (uint32_t p = 0; p < h->origins.place_count; p++) {
        chosen[p] = !lines->count;
        for (size_t i = 0; i < lines->count && !chosen[p]; i++)
            chosen[p] = is_line(&h->origins.places[p], lines->item[i]);
        count += chosen[p] && h->places[p].objects;
    }
    return count;
}

static int nothing(const struct held *h, const char *what, const struct args_list *asked)
{
    cli_complain(h->command, "no live object %s \"%s\"%s", what, asked->item[0],
                 asked->count > 1 ? ", or the others" : "");
    return CLI_USAGE;
}

/* Objects by whether they are wanted; without memory it has no keys. */
static struct heap_grouping begin_wanted(struct held *h)
{
    static const uint32_t groups[] = {0, 1};

    if (!h->wanted)
        h->wanted = memory_zalloc(h->g.edges.nodes, sizeof(*h->wanted));
    return (struct heap_grouping){h->wanted, groups, 2, 2};
}

static int find(struct held *h, const struct held_options *options, const bool *types,
                const bool *places)
{
    const struct heap_grouping wanted = begin_wanted(h);
    int err;

    if (!wanted.keys)
        return -ENOMEM;
    for (uint32_t node = 1; node < h->g.edges.nodes; node++)
        h->wanted[node] = types[held_class(h, node)] && places[held_place(h, node)];
    err = heap_together(&h->g, &h->d, &wanted, &h->together_objects, &h->together_bytes);
    return err ? err : heap_paths_find(&h->g, &h->d, &wanted, options->paths, &h->paths);
}

int held_find_row(struct held *h, uint32_t class_number, uint32_t place, size_t paths)
{
    const struct heap_grouping wanted = begin_wanted(h);

    heap_paths_free(&h->paths);
    h->paths = (struct heap_paths){.paths = NULL};
    if (!wanted.keys)
        return -ENOMEM;
    for (uint32_t node = 1; node < h->g.edges.nodes; node++)
        h->wanted[node] = (class_number == HELD_ANY || held_class(h, node) == class_number) &&
                          (place == HELD_ANY || held_place(h, node) == place);
    return heap_paths_find(&h->g, &h->d, &wanted, paths, &h->paths);
}

int held_find(struct held *h, const struct held_options *options)
{
    bool *types = memory_zalloc(h->defs.classes.count, sizeof(*types));
    bool *places = memory_zalloc(h->origins.place_count, sizeof(*places));
    int status;

    if (!types || !places)
        status = cli_failed(h->command, -ENOMEM);
    else if (!choose_types(h, &options->types, types))
        status = nothing(h, "is of a type", &options->types);
    else if (!choose_places(h, &options->lines, places))
        status = nothing(h, "was allocated at", &options->lines);
    else
        status = cli_failed(h->command, find(h, options, types, places));
    if (!status && !h->paths.sum.objects) {
        cli_complain(h->command, "no live object has such a type and was allocated at such a line");
        status = CLI_USAGE;
    }
    if (!status)
        status = held_slots(h, &h->paths, 1);
    memory_free_all(types, places);
    return status;
}
