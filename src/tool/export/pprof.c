#include "export/formats.h"

#include "export/protobuf.h"
#include "export/stack.h"
#include "export/strings.h"

#include "base/memory.h"
#include "command/gzip.h"

#include <errno.h>
#include <string.h>

/* Fields, by message. */
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION };
enum { PROFILE_FUNCTION = 5, PROFILE_STRING, PROFILE_TIME = 9, PROFILE_DURATION };
enum { PROFILE_PERIOD_TYPE = 11, PROFILE_PERIOD, PROFILE_COMMENT, PROFILE_DEFAULT_TYPE };
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER, LABEL_UNIT };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_BUILD, MAPPING_FUNCTIONS, MAPPING_FILENAMES };
enum { MAPPING_LINES = 9 };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_FILE = 4 };

struct pprof {
    const struct export_profile *p;
    struct gzip *gzip;
    struct buffer message, inner;  /* inner: a message within that one */
    struct export_strings strings; /* number 0 is "" */
    struct export_stack stack;
    int err;
};

/* The message goes out as that field of the profile. */
static void put(struct pprof *w, unsigned field)
{
    struct buffer head = BUFFER_ON((char[16]){0});

    protobuf_tag(&head, field, PROTOBUF_BYTES);
    protobuf_varint(&head, w->message.size);
    gzip_write(w->gzip, head.data, head.size);
    gzip_write(w->gzip, w->message.data, w->message.size);
    if (w->message.failed)
        w->err = -ENOMEM;
    buffer_clear(&w->message);
}

/* The number of a string, which goes out when it comes first. */
static uint64_t string(struct pprof *w, const char *text)
{
    uint32_t number;
    int added = export_strings_add(&w->strings, text, &number);

    if (added < 0)
        w->err = added;
    if (added > 0) {
        struct buffer head = BUFFER_ON((char[16]){0});
        size_t size = strlen(text);

        protobuf_tag(&head, PROFILE_STRING, PROTOBUF_BYTES);
        protobuf_varint(&head, size);
        gzip_write(w->gzip, head.data, head.size);
        gzip_write(w->gzip, text, size);
    }
    return number;
}

static void put_value_type(struct pprof *w, unsigned field, const char *type, const char *unit)
{
    uint64_t numbers[] = {string(w, type), string(w, unit)};

    protobuf_number(&w->message, VALUE_TYPE, numbers[0]);
    protobuf_number(&w->message, VALUE_UNIT, numbers[1]);
    put(w, field);
}

/* A number of the profile itself. */
static void put_number(struct pprof *w, unsigned field, uint64_t value)
{
    struct buffer b = BUFFER_ON((char[32]){0});

    protobuf_number(&b, field, value);
    gzip_write(w->gzip, b.data, b.size);
}

/* ---- what samples refer to: mappings are modules, the program's own first ---- */

static uint64_t mapping_of(const struct export_profile *p, uint32_t module)
{
    if (module == EXPORT_NO_MODULE)
        return 0;
    if (p->main_module == EXPORT_NO_MODULE || module > p->main_module)
        return module + 1;
    return module == p->main_module ? 1 : module + 2;
}

static void put_mapping(struct pprof *w, uint32_t number, bool lines)
{
    const struct export_module *module = &w->p->modules[number];
    uint64_t file = string(w, *module->path ? module->path : module->name);
    uint64_t build = module->mvid ? string(w, module->mvid) : 0;

    protobuf_number(&w->message, MAPPING_ID, mapping_of(w->p, number));
    protobuf_number(&w->message, MAPPING_FILE, file);
    protobuf_number(&w->message, MAPPING_BUILD, build);
    protobuf_number(&w->message, MAPPING_FUNCTIONS, 1);
    protobuf_number(&w->message, MAPPING_FILENAMES, lines);
    protobuf_number(&w->message, MAPPING_LINES, lines);
    put(w, PROFILE_MAPPING);
}

static int put_mappings(struct pprof *w)
{
    const struct export_profile *p = w->p;
    bool *lines = memory_zalloc(p->module_count + 1, sizeof(*lines));

    if (!lines)
        return -ENOMEM;
    for (size_t i = 0; i < p->frame_count; i++)
        if (p->frames[i].line && p->frames[i].module != EXPORT_NO_MODULE)
            lines[p->frames[i].module] = true;
    if (p->main_module != EXPORT_NO_MODULE)
        put_mapping(w, p->main_module, lines[p->main_module]);
    for (uint32_t i = 0; i < p->module_count; i++)
        if (i != p->main_module)
            put_mapping(w, i, lines[i]);
    memory_free(lines);
    return 0;
}

/* Its system_name stays empty: equal to the name, pprof takes it for C++ and strips generics. */
static void put_function(struct pprof *w, const struct export_frame *frame)
{
    uint64_t name = string(w, frame->name), file = frame->file ? string(w, frame->file) : 0;

    protobuf_number(&w->message, FUNCTION_ID, (uint64_t)frame->function + 1);
    protobuf_number(&w->message, FUNCTION_NAME, name);
    protobuf_number(&w->message, FUNCTION_FILE, file);
    put(w, PROFILE_FUNCTION);
}

/* A location is a place in a method: what pprof merges or not, as -functions or -lines say. */
static void put_location(struct pprof *w, uint32_t number)
{
    const struct export_frame *frame = &w->p->frames[number];

    buffer_clear(&w->inner);
    protobuf_number(&w->inner, LINE_FUNCTION, (uint64_t)frame->function + 1);
    protobuf_number(&w->inner, LINE_LINE, frame->line);
    protobuf_number(&w->message, LOCATION_ID, (uint64_t)number + 1);
    protobuf_number(&w->message, LOCATION_MAPPING, mapping_of(w->p, frame->module));
    protobuf_number(&w->message, LOCATION_ADDRESS, export_address(frame));
    protobuf_bytes(&w->message, LOCATION_LINE, w->inner.data, w->inner.size);
    put(w, PROFILE_LOCATION);
}

static int put_frames(struct pprof *w)
{
    const struct export_profile *p = w->p;
    const struct export_frame **functions;
    int err = export_functions(p, &functions);

    if (err)
        return err;
    for (uint32_t i = 0; i < p->frame_count; i++)
        put_location(w, i);
    for (size_t i = 0; i < p->function_count; i++)
        if (functions[i])
            put_function(w, functions[i]);
    memory_free(functions);
    return 0;
}

/* ---- samples ---- */

static void put_label(struct pprof *w, uint64_t key, unsigned field, uint64_t value, uint64_t unit)
{
    buffer_clear(&w->inner);
    protobuf_number(&w->inner, LABEL_KEY, key);
    protobuf_number(&w->inner, field, value);
    protobuf_number(&w->inner, LABEL_UNIT, unit);
    protobuf_bytes(&w->message, SAMPLE_LABEL, w->inner.data, w->inner.size);
}

static void put_labels(struct pprof *w, const struct export_sample *sample)
{
    const struct export_profile *p = w->p;
    const struct export_frame *leaf = &p->frames[w->stack.frames[w->stack.count - 1]];

    if (leaf->kind == EXPORT_TYPE)
        put_label(w, string(w, "type"), LABEL_TEXT, string(w, leaf->name), 0);
    if (sample->allocs)
        put_label(w, string(w, "bytes"), LABEL_NUMBER, sample->bytes / sample->allocs,
                  string(w, "bytes"));
    for (size_t i = w->stack.count; i-- > 0;) {
        const struct export_frame *frame = &p->frames[w->stack.frames[i]];

        if (!frame->own || frame->kind != EXPORT_METHOD)
            continue;
        put_label(w, string(w, "own"), LABEL_TEXT, string(w, frame->name), 0);
        break;
    }
}

static int put_sample(struct pprof *w, const struct export_sample *sample)
{
    if (export_stack_of(&w->stack, w->p, sample->node))
        return -ENOMEM;
    buffer_clear(&w->inner);
    for (size_t i = w->stack.count; i-- > 0;) /* the leaf comes first */
        protobuf_varint(&w->inner, (uint64_t)w->stack.frames[i] + 1);
    protobuf_bytes(&w->message, SAMPLE_LOCATION, w->inner.data, w->inner.size);
    buffer_clear(&w->inner);
    protobuf_varint(&w->inner, sample->allocs);
    protobuf_varint(&w->inner, sample->bytes);
    if (w->p->live) {
        protobuf_varint(&w->inner, sample->live_allocs);
        protobuf_varint(&w->inner, sample->live_bytes);
    }
    protobuf_bytes(&w->message, SAMPLE_VALUE, w->inner.data, w->inner.size);
    if (w->stack.count)
        put_labels(w, sample);
    if (w->inner.failed)
        w->err = -ENOMEM;
    put(w, PROFILE_SAMPLE);
    return w->err;
}

static void put_head(struct pprof *w)
{
    const struct export_profile *p = w->p;

    string(w, "");
    put_value_type(w, PROFILE_SAMPLE_TYPE, "alloc_objects", "count");
    put_value_type(w, PROFILE_SAMPLE_TYPE, "alloc_space", "bytes");
    if (p->live) {
        put_value_type(w, PROFILE_SAMPLE_TYPE, "inuse_objects", "count");
        put_value_type(w, PROFILE_SAMPLE_TYPE, "inuse_space", "bytes");
    }
    put_value_type(w, PROFILE_PERIOD_TYPE, "space", "bytes");
    put_number(w, PROFILE_PERIOD, p->period);
    put_number(w, PROFILE_DEFAULT_TYPE,
               string(w, p->live && p->live_first ? "inuse_space" : "alloc_space"));
    put_number(w, PROFILE_TIME, (uint64_t)p->started);
    put_number(w, PROFILE_DURATION, p->duration);
    for (size_t i = 0; i < p->remark_count; i++) {
        struct buffer b = BUFFER_ON((char[32]){0});

        protobuf_tag(&b, PROFILE_COMMENT, PROTOBUF_VARINT);
        protobuf_varint(&b, string(w, p->remarks[i]));
        gzip_write(w->gzip, b.data, b.size);
    }
}

int export_pprof(const struct export_profile *p, FILE *out)
{
    struct pprof w = {.p = p, .message = BUFFER_INIT, .inner = BUFFER_INIT};
    int err = gzip_new(GZIP_FRAME, GZIP_USUAL, gzip_to_file, out, &w.gzip);

    if (err)
        return err;
    put_head(&w);
    err = put_mappings(&w);
    if (!err)
        err = put_frames(&w);
    for (size_t i = 0; !err && i < p->sample_count; i++)
        err = put_sample(&w, &p->samples[i]);
    if (!err)
        err = w.err;
    if (!err)
        err = gzip_finish(w.gzip);
    gzip_free(w.gzip);
    export_strings_free(&w.strings);
    export_stack_free(&w.stack);
    buffer_free(&w.message);
    buffer_free(&w.inner);
    return err;
}
