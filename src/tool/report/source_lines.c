#include "report/source_lines.h"

#include "base/clean.h"
#include "base/file.h"
#include "base/path.h"
#include "readers/header.h"
#include "report/generated.h"
#include "symbols/mvid.h"
#include "symbols/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MISSING_NAMED 3 /* modules without symbols that are named; the rest is counted */

struct module_lines {
    bool tried;
    bool given;                 /* source_lines_give has lines of it */
    enum symbols_reason reason; /* why there are no symbols */
    struct symbols *symbols;    /* NULL: none */
    json_t *json;               /* Source Link, once asked for */
    struct symbols_link *links;
    size_t link_count;
    uint8_t *origins; /* by document: enum origin; NULL: nobody has asked */
    bool all_placed;  /* all documents lie in a folder called obj: that says nothing */
};

/* Who wrote a document. */
enum origin { ORIGIN_OPEN, ORIGIN_WRITTEN, ORIGIN_GENERATED };

/* What was asked before. */
struct answer {
    uint32_t method;
    int32_t il;
    struct source_line line; /* file NULL: none */
};

struct source_lines {
    const struct log_defs *defs;
    source_lines_tell *tell;
    const void *context;
    const char *const *dirs;
    size_t ndirs;
    time_t started;     /* of the recording; 0 not known */
    const char *bundle; /* the program, which may be a single file; NULL not known */
    struct module_lines *modules;
    size_t module_count;
    struct answer *answers;
    size_t answer_count, answer_capacity;
    struct index index;
    bool shows_generated; /* as if it had been written by hand */
    struct buffer notes;  /* lines for stderr, kept until what they would fall into is printed */
};

int source_lines_new(const struct log_defs *defs, const char *const *dirs, size_t ndirs,
                     const json_t *header, source_lines_tell *tell, const void *context,
                     struct source_lines **out)
{
    struct source_lines *s = memory_zalloc(1, sizeof(*s));

    *out = NULL;
    if (!s)
        return -ENOMEM;
    *s = (struct source_lines){.defs = defs,
                               .tell = tell,
                               .context = context,
                               .dirs = dirs,
                               .ndirs = ndirs,
                               .started = log_started(header),
                               .bundle = json_string_value(json_object_get(header, "executable")),
                               .module_count = defs->modules.count};
    s->modules = memory_zalloc(s->module_count, sizeof(*s->modules));
    if (!s->modules) {
        memory_free(s);
        return -ENOMEM;
    }
    *out = s;
    return 0;
}

static void print_notes(struct source_lines *s)
{
    char *line = s->notes.data, *end;

    for (; line && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        s->tell(s->context, line);
    }
    buffer_free(&s->notes);
}

void source_lines_free(struct source_lines *s)
{
    if (!s)
        return;
    print_notes(s);
    for (size_t i = 0; i < s->module_count; i++) {
        symbols_free(s->modules[i].symbols);
        json_decref(s->modules[i].json);
        memory_free_all(s->modules[i].links, s->modules[i].origins);
    }
    memory_free_all(s->modules, s->answers);
    index_free(&s->index);
    memory_free(s);
}

/* ---- opening ---- */

/* The assembly where it was, or else, by its name, in one of the folders given. */
static struct symbols *open_build(const struct source_lines *s, const char *path,
                                  const uint8_t *mvid, struct symbols_error *error)
{
    const char *name = path_base_name(path);
    struct symbols *symbols = NULL;
    char other[PATH_MAX];

    if (name != path)
        (void)symbols_open(path, s->dirs, s->ndirs, mvid, &symbols, error);
    else
        (void)symbols_open_bundled(s->bundle, path, s->dirs, s->ndirs, mvid, &symbols, error);
    if (error->reason != SYMBOLS_NO_ASSEMBLY && error->reason != SYMBOLS_OTHER_BUILD)
        return symbols;
    for (size_t i = 0; i < s->ndirs && mvid && !symbols; i++)
        if (snprintf(other, sizeof(other), "%s/%s", s->dirs[i], name) < (int)sizeof(other))
            (void)symbols_open(other, s->dirs, s->ndirs, mvid, &symbols, NULL);
    if (symbols)
        *error = (struct symbols_error){.reason = SYMBOLS_OK};
    return symbols;
}

static void note(struct source_lines *s, const char *format, const char *what)
{
    char line[1200];

    snprintf(line, sizeof(line), format, what);
    clean_in_place(line); /* one line it is */
    buffer_text(&s->notes, line);
    buffer_char(&s->notes, '\n');
}

/* The PDB that the log has. Returns: whether it has one that can be used. */
static bool open_recorded(const struct source_lines *s, uint32_t number,
                          struct module_lines *module)
{
    const struct log_pdb *pdb = log_defs_pdb(s->defs, number);
    struct symbols_error error;

    if (pdb)
        (void)symbols_of_pdb(pdb->bytes, pdb->size, pdb->packed, (size_t)pdb->unpacked_size,
                             &module->symbols, &error);
    return module->symbols;
}

static void open_module(struct source_lines *s, const struct log_def *def,
                        struct module_lines *module)
{
    struct symbols_error error = {.reason = SYMBOLS_OK};
    uint8_t mvid[SYMBOLS_MVID_SIZE];
    bool known = symbols_mvid_parse(def->mvid, mvid);
    struct stat st;

    module->tried = true;
    if (open_recorded(s, (uint32_t)(module - s->modules), module))
        return;
    /* Made in memory; with another machine's path; or, with a name alone, part of a single file. */
    if (!def->path[0] || (def->path[0] != '/' && (strpbrk(def->path, "/\\") || !s->bundle)))
        return;
    module->symbols = open_build(s, def->path, known ? mvid : NULL, &error);
    module->reason = error.reason;
    switch (error.reason) {
    case SYMBOLS_OK:
    case SYMBOLS_NO_ASSEMBLY:
    case SYMBOLS_NOT_MANAGED:
    case SYMBOLS_NONE:
    case SYMBOLS_MISSING:
        break;
    default:
        note(s, "no lines: %s", error.text);
    }
    /* Built again since, it may have other lines; what has none is nobody's concern. */
    if (module->symbols && !known && s->started && stat(def->path, &st) == 0 &&
        st.st_mtime > s->started) {
        note(s, "%s was written after the recording began: no lines from it", def->path);
        symbols_free(module->symbols);
        module->symbols = NULL;
    }
}

static struct module_lines *module_of(struct source_lines *s, uint32_t number)
{
    struct module_lines *module = number < s->module_count ? &s->modules[number] : NULL;

    if (module && !module->tried)
        open_module(s, log_module(s->defs, number), module);
    return module && module->symbols ? module : NULL;
}

/* The runtime's own: nobody expects their PDBs. */
static bool is_framework(const struct source_lines *s, const struct log_def *def)
{
    static const char corelib[] = "System.Private.CoreLib";

    if (strncmp(def->name, "System", 6) != 0 && strncmp(def->name, "Microsoft.", 10) != 0 &&
        strcmp(def->name, "netstandard") != 0 && strcmp(def->name, "mscorlib") != 0)
        return false;
    for (size_t i = 0; i < s->module_count; i++) {
        const struct log_def *m = log_module(s->defs, (uint32_t)i);
        const char *slash = strrchr(m->path, '/'), *own = strrchr(def->path, '/');

        if (strcmp(m->name, corelib) == 0 && !slash && !own)
            return true; /* all in one file */
        if (strcmp(m->name, corelib) == 0 && slash && own && slash - m->path == own - def->path &&
            memcmp(m->path, def->path, (size_t)(own - def->path)) == 0)
            return true;
    }
    return false;
}

void source_lines_missing(struct source_lines *s, bool (*wanted)(const void *, uint32_t),
                          const void *context)
{
    static const char *const why[] = {[SYMBOLS_NO_ASSEMBLY] = "its file is gone",
                                      [SYMBOLS_NONE] = "built without symbols",
                                      [SYMBOLS_MISSING] = "no PDB next to it"};
    struct buffer b = BUFFER_INIT;
    size_t count = 0;

    if (s)
        print_notes(s);
    for (size_t i = 0; s && i < s->module_count; i++) {
        const struct log_def *def = log_module(s->defs, (uint32_t)i);
        enum symbols_reason reason = s->modules[i].reason;

        if ((reason != SYMBOLS_NO_ASSEMBLY && reason != SYMBOLS_NONE &&
             reason != SYMBOLS_MISSING) ||
            is_framework(s, def) || (wanted && !wanted(context, (uint32_t)i)))
            continue;
        if (count++ < MISSING_NAMED)
            buffer_format(&b, "%s%.80s (%s)",
                          count > 1 ? ", " : "IL offsets instead of lines: ", def->name,
                          why[reason]);
    }
    if (count > MISSING_NAMED)
        buffer_format(&b, " and %zu more", count - MISSING_NAMED);
    if (count)
        buffer_text(&b, "; --symbols DIR looks elsewhere too");
    if (count && !b.failed)
        s->tell(s->context, b.data);
    buffer_free(&b);
}

/* ---- lines ---- */

void source_line_put(struct buffer *b, uint32_t line, uint32_t line_last)
{
    if (line)
        buffer_format(b, ":%u", line);
    if (line_last)
        buffer_format(b, "-%u", line_last);
}

INDEX_OF_BYTES(answer_kind, struct answer, il);

static void look_up(struct source_lines *s, struct answer *a)
{
    const struct log_def *def = log_method(s->defs, a->method);
    const struct module_lines *module =
        def->module && def->token ? module_of(s, def->module) : NULL;
    struct symbols_line line;

    if (module && symbols_line_of(module->symbols, def->token, a->il, &line) == 0)
        a->line =
            (struct source_line){line.file, line.line, def->module, line.document, line.line_last};
}

bool source_line_of(struct source_lines *s, uint32_t method, int32_t il, struct source_line *out)
{
    struct answer a = {method, il < 0 ? LOG_NO_IL : il, {.file = NULL}}, *known = &a;
    uint32_t number;
    int added;

    if (!s)
        return false;
    added = index_add(&s->index, &answer_kind, &s->answers, &s->answer_count, &s->answer_capacity,
                      &a, &number);
    if (added >= 0)
        known = &s->answers[number];
    if (added != 0) /* out of memory: the answer is found again each time */
        look_up(s, known);
    *out = known->line;
    return out->file;
}

int source_lines_give(struct source_lines *s, uint32_t method, int32_t il, const char *file,
                      uint32_t line)
{
    uint32_t module = log_method(s->defs, method)->module, number;
    struct answer a = {method, il, {.file = file, .line = line, .module = module}};
    int added = index_add(&s->index, &answer_kind, &s->answers, &s->answer_count,
                          &s->answer_capacity, &a, &number);

    if (module < s->module_count)
        s->modules[module].given = true;
    return added < 0 ? added : 0;
}

bool source_line_any(struct source_lines *s, uint32_t method)
{
    struct source_line line;

    return source_line_of(s, method, SOURCE_LINE_LAST, &line);
}

bool source_lines_of_module(struct source_lines *s, uint32_t module)
{
    if (!s || module >= s->module_count)
        return false;
    return s->modules[module].given || module_of(s, module);
}

bool source_lines_rebuilt(const struct source_lines *s, uint32_t module)
{
    return s && module < s->module_count && !s->modules[module].symbols &&
           s->modules[module].reason == SYMBOLS_OTHER_BUILD;
}

/* ---- who wrote it ---- */

void source_lines_show_generated(struct source_lines *s)
{
    if (s)
        s->shows_generated = true;
}

static bool prepare_origins(struct module_lines *module)
{
    uint32_t count = module->symbols ? symbols_document_count(module->symbols) : 0;
    struct symbols_document document;

    if (module->origins || !count)
        return module->origins;
    module->origins = memory_zalloc(count + 1, sizeof(*module->origins));
    module->all_placed = true;
    for (uint32_t i = 1; i <= count && module->all_placed; i++)
        module->all_placed =
            symbols_document(module->symbols, i, &document) == 0 && generated_placed(document.file);
    return module->origins;
}

static enum origin find_origin(struct source_lines *s, const struct module_lines *module,
                               const struct source_line *line)
{
    char *text = NULL;
    size_t size = 0;
    bool marked;

    if (generated_named(line->file) || (!module->all_placed && generated_placed(line->file)))
        return ORIGIN_GENERATED;
    if (source_lines_text(s, line, NULL, &text, &size))
        return ORIGIN_WRITTEN;
    marked = generated_marked(text, size);
    memory_free(text);
    return marked ? ORIGIN_GENERATED : ORIGIN_WRITTEN;
}

bool source_line_generated(struct source_lines *s, uint32_t method)
{
    struct module_lines *module;
    struct source_line line;

    if (!s || s->shows_generated || !source_line_of(s, method, SOURCE_LINE_LAST, &line))
        return false;
    if (!line.document) /* given: all that is known is its name */
        return generated_named(line.file) || generated_placed(line.file);
    module = &s->modules[line.module];
    if (!prepare_origins(module))
        return false;
    if (module->origins[line.document] == ORIGIN_OPEN)
        module->origins[line.document] = (uint8_t)find_origin(s, module, &line);
    return module->origins[line.document] == ORIGIN_GENERATED;
}

/* ---- addresses ---- */

static void read_links(struct module_lines *module)
{
    size_t size, count;
    const char *text = symbols_source_link(module->symbols, &size), *pattern;
    json_t *documents, *url;

    if (module->json || !text)
        return;
    module->json = json_loadb(text, size, 0, NULL);
    documents = json_object_get(module->json, "documents");
    count = json_object_size(documents);
    module->links = count ? memory_alloc(count * sizeof(*module->links)) : NULL;
    if (!module->links)
        return;
    json_object_foreach(documents, pattern, url)
    {
        if (json_is_string(url))
            module->links[module->link_count++] =
                (struct symbols_link){pattern, json_string_value(url)};
    }
}

char *source_line_url(struct source_lines *s, const struct source_line *line)
{
    struct module_lines *module = s ? module_of(s, line->module) : NULL;
    struct buffer b = BUFFER_INIT;
    char *url = NULL;

    if (!module)
        return NULL;
    read_links(module);
    if (symbols_link_url(module->links, module->link_count, line->file, &url))
        return NULL;
    buffer_utf8(&b, url);
    if (line->line)
        buffer_format(&b, "#L%u", line->line);
    memory_free(url);
    return buffer_take(&b);
}

/* ---- files ---- */

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

static bool ends_with_path(const char *path, const char *end)
{
    size_t size = strlen(path), end_size = strlen(end);

    if (!end_size || end_size > size ||
        (end_size < size && !is_slash(path[size - end_size - 1]) && !is_slash(end[0])))
        return false;
    for (path += size - end_size; *end; path++, end++)
        if (*path != *end && !(is_slash(*path) && is_slash(*end)))
            return false;
    return true;
}

bool source_lines_document(struct source_lines *s, const char *file, struct source_line *out)
{
    struct symbols_document document;

    for (; out->module < s->module_count; out->module++, out->document = 0) {
        const struct module_lines *module = module_of(s, out->module);

        while (module && out->document < symbols_document_count(module->symbols)) {
            out->document++;
            if (symbols_document(module->symbols, out->document, &document) == 0 &&
                ends_with_path(document.file, file)) {
                out->file = document.file;
                return true;
            }
        }
    }
    return false;
}

static bool names_a_file(const struct symbols *symbols)
{
    struct symbols_document document;
    struct stat st;

    for (uint32_t i = 1; i <= symbols_document_count(symbols); i++)
        if (symbols_document(symbols, i, &document) == 0 && *document.file == '/' &&
            stat(document.file, &st) == 0 && S_ISREG(st.st_mode))
            return true;
    return false;
}

bool source_lines_at_home(struct source_lines *s, uint32_t number)
{
    struct module_lines *module = s && number < s->module_count ? &s->modules[number] : NULL;
    size_t told = s ? s->notes.size : 0;
    bool asked = module && module->tried;

    if (!module)
        return false;
    if (module_of(s, number))
        return names_a_file(module->symbols);
    if (!asked) { /* as if nobody had */
        *module = (struct module_lines){.tried = false};
        s->notes.size = told;
    }
    return false;
}

/* Read only if there is a hash to check it with: the author of the PDB chose the path. */
static int load_verified(const struct module_lines *module, uint32_t document, const char *path,
                         char **text, size_t *size)
{
    int err = symbols_source_checkable(module->symbols, document);

    if (!err)
        err = file_load(path, SYMBOLS_MAX_SOURCE, text, size);
    if (err)
        return err;
    err = symbols_source_check(module->symbols, document, *text, *size);
    if (err) {
        memory_free(*text);
        *text = NULL;
    }
    return err;
}

int source_lines_text(struct source_lines *s, const struct source_line *document, const char *path,
                      char **text, size_t *size)
{
    const struct module_lines *module = module_of(s, document->module);

    *text = NULL;
    if (!module)
        return -ENOENT;
    if (!path && symbols_source(module->symbols, document->document, text, size) == 0)
        return 0;
    return load_verified(module, document->document, path ? path : document->file, text, size);
}

int source_lines_named_text(struct source_lines *s, const struct source_line *document,
                            const char *path, char **text, size_t *size, bool *checked)
{
    int err = source_lines_text(s, document, path, text, size);

    *checked = err == 0;
    return err == -ENOTSUP ? file_load(path, SYMBOLS_MAX_SOURCE, text, size) : err;
}
