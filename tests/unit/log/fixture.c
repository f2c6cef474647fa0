/* A log's world of records made by hand, and what is read back of it. */
#include "fixture.h"

#include "readers/problems.h"
#include "validate/validate.h"

#include <dirent.h>

struct metadata_module modules[] = {
    {.id = 1, .name = "App", .path = "/app/App.dll"},
    {.id = 2, .name = "Lib", .path = ""},
};
char *const command[] = {"dotnet", "App.dll", "--flag", NULL};

int world_open(struct world *w)
{
    for (size_t i = 0; i < COUNT_OF(modules); i++)
        modules[i].written = 0; /* in the product there is one log, and records are as new as it */
    for (size_t i = 0; i < RECORDS; i++)
        w->classes[i].written = w->methods[i].written = 0;
    w->config.options = &w->options;
    return log_open(&w->config, &w->log, w->why, sizeof(w->why));
}

void world_init(struct world *w)
{
    const struct metadata_config metadata = {0};
    const struct tree_config tree = {.max_nodes = 100000};
    const struct tree_sites_config sites = {.max_sites = 100000};

    memset(w, 0, sizeof(*w));
    strcpy(w->folder, "/tmp/shadowtrace-test-XXXXXX");
    assert_non_null(mkdtemp(w->folder));
    snprintf(w->path, sizeof(w->path), "%s/out.ndjson", w->folder);
    options_init(&w->options);
    w->options.output = memory_strdup(w->path);
    assert_int_equal(metadata_new(&metadata, &w->metadata), 0);
    assert_int_equal(tree_new(&tree, &w->tree), 0);
    assert_int_equal(tree_sites_new(&sites, &w->sites), 0);
    w->hub.slots = 1024;
    w->config = (struct log_config){.metadata = w->metadata,
                                    .tree = w->tree,
                                    .sites = w->sites,
                                    .hub = &w->hub,
                                    .runtime = "10.0.12",
                                    .hooks = "elt3",
                                    .executable = "/usr/bin/dotnet",
                                    .name = "App",
                                    .command = command,
                                    .missed = &w->missed,
                                    .spared = &w->spared,
                                    .unpatched = &w->unpatched,
                                    .rich = &w->rich,
                                    .guard = &w->guard};
}

static void payload_free(const struct event *event)
{
    if (event_kind(event) != EVENT_ALLOC)
        memory_free((void *)event->subject);
}

static void ring_dispose(struct event_ring *ring)
{
    for (uint64_t at = load_relaxed(&ring->tail); at != load_acquire(&ring->head); at++)
        payload_free(event_at(ring, at));
    event_ring_free(ring);
}

void log_dispose(struct world *w)
{
    struct log *log = w->log;
    uint64_t until = clock_ns() + PATIENCE_NS;

    if (!log)
        return;
    if (log->started) {
        while (!load_acquire(&log->ended) && clock_ns() < until)
            usleep(1000);
        assert_true(load_acquire(&log->ended));
        pthread_join(log->thread, NULL);
    }
    while (log->threads) {
        struct log_thread *next = log->threads->next;

        const struct event *event;

        while ((event = log_deferred_oldest(&log->threads->deferred))) {
            payload_free(event);
            log_deferred_pop(log, &log->threads->deferred);
        }
        memory_free(log->threads->name);
        if (log->threads->ring == w->ring)
            w->ring = NULL;
        ring_dispose(log->threads->ring);
        memory_free(log->threads);
        log->threads = next;
    }
    if (log->file.fd >= 0)
        close(log->file.fd);
    ZSTD_freeCCtx(log->file.compressor);
    buffer_free(&log->file.packed);
    buffer_free(&log->file.buffer);
    memory_free(log->file.path);
    memory_free(log->file.fate.moved);
    memory_free(log->path);
    log_ids_free(&log->defined_threads);
    log_sites_free(log->sites);
    log_deferred_free(log->spare);
    json_decref(log->unmatched);
    memory_free(log);
}

static void folder_remove(const char *folder)
{
    DIR *dir = opendir(folder);
    char path[512];

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        int length = snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);

        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            length < (int)sizeof(path) && unlink(path))
            folder_remove(path);
    }
    if (dir)
        closedir(dir);
    rmdir(folder);
}

void world_again(struct world *w)
{
    struct event_ring *ring;

    memory_fail_after(-1);
    if (w->log && w->log->started && !load_acquire(&w->log->stopping))
        log_stop(w->log, STOP_MS);
    log_dispose(w);
    w->log = NULL;
    while ((ring = event_hub_adopt(&w->hub)))
        while (ring) {
            struct event_ring *next = ring->next;

            if (ring == w->ring)
                w->ring = NULL;
            ring_dispose(ring);
            ring = next;
        }
    if (w->ring) /* the writer took it off the hub and had no memory for it */
        ring_dispose(w->ring);
    w->ring = NULL;
    for (unsigned i = 0; i < EVENT_LOST_REASONS; i++)
        store_relaxed(&w->hub.lost[i], 0);
    store_relaxed(&w->hub.threads, 0);
    store_relaxed(&w->hub.stopped, false);
    tree_marks_clear(w->tree);
    unlink(w->path);
}

void world_fini(struct world *w)
{
    world_again(w);
    tree_free(w->tree);
    tree_sites_free(w->sites);
    metadata_free(w->metadata);
    options_fini(&w->options);
    folder_remove(w->folder);
}

struct metadata_class *class_new(struct world *w, const char *text)
{
    struct metadata_class *class = &w->classes[w->class_count++];

    class->id = w->class_count;
    class->token = 0x02000000 + class->id;
    class->module = &modules[class->id % 2];
    store_release(&class->text, text);
    return class;
}

struct metadata_method *method_new(struct world *w, const char *text)
{
    struct metadata_method *method = &w->methods[w->method_count++];

    method->id = w->method_count;
    method->token = 0x06000000 + method->id;
    method->module = &modules[method->id % 2];
    store_release(&method->text, text);
    return method;
}

struct tree_node *node_open(struct world *w, struct tree_node *parent,
                            struct metadata_method *method, uintptr_t ip)
{
    return tree_child(w->tree, parent ? parent : tree_root(w->tree), (uintptr_t)method, ip);
}

struct tree_node *node_new(struct world *w, struct tree_node *parent,
                           struct metadata_method *method, int32_t il)
{
    struct tree_node *node = node_open(w, parent, method, il >= 0 ? 0x1000 + (uintptr_t)il : 0x10);

    store_release(&tree_call(w->tree, node)->il, il);
    return node;
}

uint32_t site_new(struct world *w, struct metadata_method *method, int32_t il)
{
    uint32_t site = tree_site_alloc(w->sites, (uintptr_t)method, 0x1000 + (uintptr_t)il, 0);

    store_release(&tree_site_at(w->sites, site)->il, il);
    return site;
}

struct event_ring *ring_new(struct world *w)
{
    struct event_ring *ring;

    assert_int_equal(event_ring_new(&w->hub, &ring), 0);
    return ring;
}

void allocate_on(struct event_ring *ring, const struct metadata_class *class,
                 const struct tree_node *node, uint32_t site, uint64_t bytes, enum event_heap heap)
{
    const struct world *w = container_of(ring->hub, struct world, hub);
    const struct event event = {.ticks = clock_ticks(),
                                .subject = (uintptr_t) class,
                                .node = node ? tree_id(w->tree, node) : 0,
                                .site = site,
                                .bytes_kind = event_pack(bytes, heap, EVENT_ALLOC)};

    store_relaxed(&ring->seen, load_relaxed(&ring->seen) + 1);
    if (event_post(ring, &event))
        event_lose(ring, EVENT_LOST_RING_FULL);
}

void allocate(struct world *w, const struct metadata_class *class, const struct tree_node *node,
              uint64_t bytes)
{
    if (!w->ring)
        w->ring = ring_new(w);
    allocate_on(w->ring, class, node, 0, bytes, EVENT_HEAP_NORMAL);
}

void wait_for_room(const struct world *w)
{
    const struct event_ring *ring = w->ring;

    while (ring && load_acquire(&ring->head) - load_acquire(&ring->tail) >= ring->room / 2)
        usleep(500);
}

void start(struct world *w)
{
    if (!w->log && world_open(w))
        fail_msg("%s", w->why);
    assert_int_equal(log_start(w->log), 0);
}

void stop(struct world *w)
{
    store_relaxed(&w->hub.stopped, true);
    log_stop(w->log, STOP_MS);
    assert_true(load_acquire(&w->log->ended));
}

json_t *lines_read(const char *path, bool *cut)
{
    json_t *lines = json_array();
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;

    if (cut)
        *cut = false;
    if (!file)
        fail_msg("%s: %s", path, strerror(errno));
    while ((length = getline(&line, &capacity, file)) > 0) {
        json_error_t error;
        json_t *json;

        if (line[length - 1] != '\n') {
            if (!cut)
                fail_msg("ends within a line: %s", line);
            *cut = true;
            break;
        }
        json = json_loadb(line, (size_t)length, JSON_REJECT_DUPLICATES, &error);
        if (!json_is_object(json) || strncmp(line, "{\"kind\":\"", 9) != 0)
            fail_msg("%s: %s", error.text, line);
        json_array_append_new(lines, json);
    }
    free(line);
    fclose(file);
    return lines;
}

json_t *lines_unpack(const char *path, bool *cut)
{
    static char packed[1 << 20];
    char plain[300], out[4096];
    FILE *from = fopen(path, "re"), *to;
    ZSTD_DCtx *unpacker = ZSTD_createDCtx();
    ZSTD_inBuffer in = {packed, 0, 0};
    json_t *lines;

    assert_non_null(from);
    snprintf(plain, sizeof(plain), "%s.plain", path);
    to = fopen(plain, "we");
    in.size = fread(packed, 1, sizeof(packed), from);
    assert_true(in.size < sizeof(packed));
    for (size_t before = 1, made = 1; in.pos != before || made;) {
        ZSTD_outBuffer piece = {out, sizeof(out), 0};

        before = in.pos;
        assert_false(ZSTD_isError(ZSTD_decompressStream(unpacker, &piece, &in)));
        made = piece.pos;
        fwrite(out, 1, made, to);
    }
    ZSTD_freeDCtx(unpacker);
    fclose(from);
    fclose(to);
    lines = lines_read(plain, cut);
    unlink(plain);
    return lines;
}

json_t *log_read(const struct world *w)
{
    return lines_read(w->path, NULL);
}

const char *kind_of(const json_t *line)
{
    return json_string_value(json_object_get(line, "kind"));
}

bool is(const json_t *line, const char *kind)
{
    return strcmp(kind_of(line), kind) == 0;
}

json_int_t number(const json_t *line, const char *key)
{
    const json_t *value = json_object_get(line, key);

    if (!json_is_integer(value))
        fail_msg("%s without the number %s", kind_of(line), key);
    return json_integer_value(value);
}

size_t count_of(const json_t *lines, const char *kind)
{
    size_t i, count = 0;
    json_t *line;

    json_array_foreach(lines, i, line) count += is(line, kind);
    return count;
}

json_t *nth(const json_t *lines, const char *kind, size_t n)
{
    size_t i;
    json_t *line;

    json_array_foreach(lines, i, line) if (is(line, kind) && n-- == 0) return line;
    fail_msg("no more lines of kind %s", kind);
    return NULL;
}

json_t *last(const json_t *lines)
{
    return json_array_get(lines, json_array_size(lines) - 1);
}

enum { DEF_MODULE, DEF_CLASS, DEF_METHOD, DEF_NODE, DEF_THREAD, DEFS };

struct defs {
    unsigned seen[DEFS][RECORDS * 2];
};

static void used(const struct defs *defs, const json_t *line, int what, json_int_t id)
{
    if (!defs->seen[what][id])
        fail_msg("%s uses %d of kind %d before it is defined", json_dumps(line, JSON_COMPACT),
                 (int)id, what);
}

static void used_key(const struct defs *defs, const json_t *line, int what, const char *key)
{
    if (json_object_get(line, key) && number(line, key))
        used(defs, line, what, number(line, key));
}

static void used_list(const struct defs *defs, const json_t *line, const char *key)
{
    size_t i;
    json_t *id;

    json_array_foreach(json_object_get(line, key), i, id) if (json_integer_value(id))
        used(defs, line, DEF_METHOD, json_integer_value(id));
}

void expect_definitions_first(const json_t *lines, bool once)
{
    static const char *const kinds[DEFS] = {"module", "class", "method", "node", "thread"};
    static struct defs all, *defs = &all;
    size_t i;
    json_t *line;

    memset(defs, 0, sizeof(*defs));
    json_array_foreach(lines, i, line)
    {
        if (is(line, "class") || is(line, "method"))
            used_key(defs, line, DEF_MODULE, "module");
        if (is(line, "node"))
            used_key(defs, line, DEF_METHOD, "method");
        used_key(defs, line, DEF_NODE, is(line, "node") ? "parent" : "node");
        if (is(line, "alloc") || is(line, "site") || is(line, "mismatch"))
            used_key(defs, line, DEF_CLASS, "class");
        used_key(defs, line, DEF_THREAD, "thread");
        used_list(defs, line, "shadow");
        used_list(defs, line, "snapshot");
        if (is(line, "snapshot"))
            used_list(defs, line, "stack");
        for (int what = 0; what < DEFS; what++)
            if (is(line, kinds[what]) && defs->seen[what][number(line, "id")]++ && once &&
                what != DEF_THREAD)
                fail_msg("%s is defined again", json_dumps(line, JSON_COMPACT));
    }
}

void expect_valid(const char *path)
{
    struct log_problems problems;
    struct report_validation found;

    log_problems_init(&problems);
    assert_int_equal(
        report_validate_parts(
            &(struct log_parts){.paths = (char *[]){(char *)(uintptr_t)path}, .count = 1}, NULL,
            NULL, &problems, &found),
        0);
    if (problems.count)
        fail_msg("line %" PRIu64 ": %s", problems.kept ? (uint64_t)problems.kept[0].place.line : 0,
                 problems.kept ? problems.kept[0].text : "?");
    log_problems_fini(&problems);
}

void expect_totals(const json_t *lines, uint64_t seen)
{
    const json_t *end = last(lines);
    json_int_t lost_by = 0;
    const char *reason;
    json_t *count;

    assert_string_equal(kind_of(end), "end");
    assert_int_equal(number(end, "seen"), seen);
    assert_int_equal(number(end, "seen"), number(end, "written") + number(end, "lost"));
    assert_int_equal(count_of(lines, "alloc"), number(end, "written"));
    json_object_foreach(json_object_get(end, "lost_by"), reason, count) lost_by +=
        json_integer_value(count);
    assert_int_equal(lost_by, number(end, "lost"));
}
