#include "export/formats.h"

#include "export/protobuf.h"
#include "export/stack.h"
#include "export/strings.h"

#include "base/hash128.h"
#include "base/memory.h"

#include <errno.h>
#include <string.h>

/* Fields, by message: profiles.proto and its neighbours in github.com/open-telemetry. */
enum { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY };
enum { RESOURCE_PROFILES_RESOURCE = 1, RESOURCE_PROFILES_SCOPES };
enum { RESOURCE_ATTRIBUTE = 1 };
enum { SCOPE_PROFILES_SCOPE = 1, SCOPE_PROFILES_PROFILE };
enum { SCOPE_NAME = 1 };
enum { PROFILE_TYPE = 1, PROFILE_SAMPLE, PROFILE_TIME, PROFILE_DURATION, PROFILE_PERIOD_TYPE };
enum { PROFILE_PERIOD = 6, PROFILE_ID, PROFILE_ATTRIBUTES = 11 };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_STACK = 1, SAMPLE_VALUES = 4 };
enum { TABLE_MAPPING = 1, TABLE_LOCATION, TABLE_FUNCTION, TABLE_LINK, TABLE_STRING };
enum { TABLE_ATTRIBUTE = 6, TABLE_STACK };
enum { MAPPING_FILE = 4, MAPPING_ATTRIBUTES };
enum { STACK_LOCATIONS = 1 };
enum { LOCATION_MAPPING = 1, LOCATION_ADDRESS, LOCATION_LINE, LOCATION_ATTRIBUTES };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_NAME = 1, FUNCTION_FILE = 3 };
enum { LINK_TRACE = 1, LINK_SPAN };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE };
enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE };
enum { ANY_TEXT = 1, ANY_NUMBER = 3, ANY_ARRAY = 5 };
enum { ARRAY_VALUE = 1 };

/* A profile has values of one type: there is one of each. Viewers show the first. */
enum otlp_value { SPACE, OBJECTS, LIVE_SPACE, LIVE_OBJECTS, VALUES };
static const struct {
    const char *type, *unit; /* units are UCUM's */
} value_types[] = {[SPACE] = {"alloc_space", "By"},
                   [OBJECTS] = {"alloc_objects", "{object}"},
                   [LIVE_SPACE] = {"inuse_space", "By"},
                   [LIVE_OBJECTS] = {"inuse_objects", "{object}"}};

/*
 * A message says how long it is before it begins. So all is put twice: first only its size is
 * taken, and the strings get their numbers; then it goes out.
 */
struct otlp {
    const struct export_profile *p;
    FILE *out;                     /* NULL while sizes are taken */
    uint64_t size;                 /* of what was put since they are */
    struct buffer message, inner;  /* inner: a message within that one */
    struct export_strings strings; /* number 0 is "" */
    uint64_t attributes;           /* put so far; 0 is none */
    struct export_stack stack;
    int err;
};

static uint64_t string(struct otlp *w, const char *text)
{
    uint32_t number;
    int added = export_strings_add(&w->strings, text, &number);

    if (added < 0)
        w->err = added;
    return number;
}

static void put_bytes(struct otlp *w, const void *data, size_t size)
{
    if (w->out)
        fwrite_unlocked(data, 1, size, w->out);
    w->size += size;
}

/* Starts that field, a message of `size` bytes. */
static void put_head(struct otlp *w, unsigned field, uint64_t size)
{
    struct buffer head = BUFFER_ON((char[16]){0});

    protobuf_tag(&head, field, PROTOBUF_BYTES);
    protobuf_varint(&head, size);
    put_bytes(w, head.data, head.size);
}

/* The message that was built is that field. */
static void put(struct otlp *w, unsigned field)
{
    put_head(w, field, w->message.size);
    if (w->message.size)
        put_bytes(w, w->message.data, w->message.size);
    if (w->message.failed || w->inner.failed)
        w->err = -ENOMEM;
    buffer_clear(&w->message);
}

/* How long a part is, which is not put. */
static uint64_t size_of(struct otlp *w, void (*part)(struct otlp *w, enum otlp_value value),
                        enum otlp_value value)
{
    FILE *out = w->out;
    uint64_t before = w->size, attributes = w->attributes, size;

    w->out = NULL;
    w->size = 0;
    part(w, value);
    size = w->size;
    w->out = out;
    w->size = before;
    w->attributes = attributes;
    return size;
}

/* ---- the resource: the process ---- */

static void put_resource_attribute(struct otlp *w, const char *key, const char *text,
                                   uint64_t number)
{
    struct buffer any = BUFFER_INIT;

    if (text)
        protobuf_bytes(&any, ANY_TEXT, text, strlen(text));
    else
        protobuf_number(&any, ANY_NUMBER, number);
    buffer_clear(&w->inner);
    protobuf_bytes(&w->inner, KEY_VALUE_KEY, key, strlen(key));
    protobuf_bytes(&w->inner, KEY_VALUE_VALUE, any.data, any.size);
    protobuf_bytes(&w->message, RESOURCE_ATTRIBUTE, w->inner.data, w->inner.size);
    w->err = any.failed ? -ENOMEM : w->err;
    buffer_free(&any);
}

/* Names are those of OpenTelemetry's semantic conventions. */
static void put_resource(struct otlp *w, enum otlp_value value)
{
    (void)value;
    put_resource_attribute(w, "service.name", w->p->program, 0);
    if (w->p->pid)
        put_resource_attribute(w, "process.pid", NULL, w->p->pid);
    put_resource_attribute(w, "process.runtime.name", ".NET", 0);
    put(w, RESOURCE_PROFILES_RESOURCE);
}

/* ---- profiles ---- */

static uint64_t value_of(const struct export_sample *s, enum otlp_value value)
{
    const uint64_t values[VALUES] = {[SPACE] = s->bytes,
                                     [OBJECTS] = s->allocs,
                                     [LIVE_SPACE] = s->live_bytes,
                                     [LIVE_OBJECTS] = s->live_allocs};

    return values[value];
}

static void put_samples(struct otlp *w, enum otlp_value value)
{
    for (size_t i = 0; i < w->p->sample_count; i++) {
        uint64_t amount = value_of(&w->p->samples[i], value);

        if (!amount)
            continue;
        buffer_clear(&w->inner);
        protobuf_varint(&w->inner, amount);
        protobuf_number(&w->message, SAMPLE_STACK, i + 1);
        protobuf_bytes(&w->message, SAMPLE_VALUES, w->inner.data, w->inner.size);
        put(w, PROFILE_SAMPLE);
    }
}

static void put_type(struct otlp *w, unsigned field, const char *type, const char *unit)
{
    protobuf_number(&w->message, TYPE_TYPE, string(w, type));
    protobuf_number(&w->message, TYPE_UNIT, string(w, unit));
    put(w, field);
}

/* The same for each export of the same recording and type, so that a copy can be recognized. */
static hash128 id_of(const struct export_profile *p, enum otlp_value value)
{
    hash128 id = hash128_text(HASH128_BEGIN, "shadowtrace profile");

    id = hash128_text(id, p->program);
    id = hash128_number(id, p->pid, 8);
    id = hash128_number(id, (uint64_t)p->started, 8);
    id = hash128_number(id, p->duration, 8);
    id = hash128_number(id, p->bytes, 8);
    return hash128_number(id, value, 1);
}

static void put_id(struct otlp *w, enum otlp_value value)
{
    hash128 id = id_of(w->p, value);
    unsigned char bytes[16];

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(id >> 8 * (sizeof(bytes) - 1 - i));
    put_head(w, PROFILE_ID, sizeof(bytes));
    put_bytes(w, bytes, sizeof(bytes));
}

/* Attributes: of frames, of a profile that something is to be known of, then those of modules. */
enum { FRAME_DOTNET = 1, REMARKS };

static void put_profile_body(struct otlp *w, enum otlp_value value)
{
    const struct export_profile *p = w->p;
    struct buffer numbers = BUFFER_ON((char[64]){0});

    put_type(w, PROFILE_TYPE, value_types[value].type, value_types[value].unit);
    put_samples(w, value);
    protobuf_fixed64(&numbers, PROFILE_TIME, (uint64_t)p->started);
    protobuf_number(&numbers, PROFILE_DURATION, p->duration);
    put_bytes(w, numbers.data, numbers.size);
    put_type(w, PROFILE_PERIOD_TYPE, "alloc_space", "By");
    buffer_clear(&numbers);
    protobuf_number(&numbers, PROFILE_PERIOD, p->period);
    put_bytes(w, numbers.data, numbers.size);
    put_id(w, value);
    protobuf_varint(&w->message, REMARKS);
    put(w, PROFILE_ATTRIBUTES);
}

static void put_profiles(struct otlp *w, enum otlp_value none)
{
    (void)none;
    protobuf_bytes(&w->message, SCOPE_NAME, "shadowtrace", strlen("shadowtrace"));
    put(w, SCOPE_PROFILES_SCOPE);
    for (enum otlp_value value = SPACE; value < (w->p->live ? VALUES : LIVE_SPACE); value++) {
        put_head(w, SCOPE_PROFILES_PROFILE, size_of(w, put_profile_body, value));
        put_profile_body(w, value);
    }
}

static void put_resource_profiles(struct otlp *w, enum otlp_value none)
{
    put_resource(w, none);
    put_head(w, RESOURCE_PROFILES_SCOPES, size_of(w, put_profiles, none));
    put_profiles(w, none);
}

/* ---- the dictionary: entry 0 of each table is empty ---- */

/* Its value is in `inner`. Returns: its number. */
static uint64_t put_attribute(struct otlp *w, const char *key)
{
    protobuf_number(&w->message, ATTRIBUTE_KEY, string(w, key));
    protobuf_bytes(&w->message, ATTRIBUTE_VALUE, w->inner.data, w->inner.size);
    put(w, TABLE_ATTRIBUTE);
    return ++w->attributes;
}

static uint64_t put_text(struct otlp *w, const char *key, const char *text)
{
    buffer_clear(&w->inner);
    protobuf_bytes(&w->inner, ANY_TEXT, text, strlen(text));
    return put_attribute(w, key);
}

/* A list of texts, empty where nothing is to be known. */
static void put_remarks(struct otlp *w)
{
    struct buffer list = BUFFER_INIT;

    for (size_t i = 0; i < w->p->remark_count; i++) {
        const char *text = w->p->remarks[i];

        buffer_clear(&w->inner);
        protobuf_bytes(&w->inner, ANY_TEXT, text, strlen(text));
        protobuf_bytes(&list, ARRAY_VALUE, w->inner.data, w->inner.size);
    }
    buffer_clear(&w->inner);
    protobuf_bytes(&w->inner, ANY_ARRAY, list.data, list.size);
    put_attribute(w, "shadowtrace.remarks");
    w->err = list.failed ? -ENOMEM : w->err;
    buffer_free(&list);
}

static void put_attributes(struct otlp *w)
{
    put(w, TABLE_ATTRIBUTE);
    w->attributes = 0;
    put_text(w, "profile.frame.type", "dotnet");
    put_remarks(w);
}

static void put_mappings(struct otlp *w)
{
    put(w, TABLE_MAPPING);
    for (size_t i = 0; i < w->p->module_count; i++) {
        const struct export_module *module = &w->p->modules[i];
        uint64_t build = module->mvid ? put_text(w, "shadowtrace.module.mvid", module->mvid) : 0;

        protobuf_number(&w->message, MAPPING_FILE,
                        string(w, *module->path ? module->path : module->name));
        buffer_clear(&w->inner);
        protobuf_varint(&w->inner, build);
        if (build)
            protobuf_bytes(&w->message, MAPPING_ATTRIBUTES, w->inner.data, w->inner.size);
        put(w, TABLE_MAPPING);
    }
}

static void put_location(struct otlp *w, const struct export_frame *frame)
{
    protobuf_number(&w->message, LOCATION_MAPPING,
                    frame->module == EXPORT_NO_MODULE ? 0 : (uint64_t)frame->module + 1);
    protobuf_number(&w->message, LOCATION_ADDRESS, export_address(frame));
    buffer_clear(&w->inner);
    protobuf_number(&w->inner, LINE_FUNCTION, (uint64_t)frame->function + 1);
    protobuf_number(&w->inner, LINE_LINE, frame->line);
    protobuf_bytes(&w->message, LOCATION_LINE, w->inner.data, w->inner.size);
    buffer_clear(&w->inner);
    protobuf_varint(&w->inner, FRAME_DOTNET);
    if (frame->kind == EXPORT_METHOD)
        protobuf_bytes(&w->message, LOCATION_ATTRIBUTES, w->inner.data, w->inner.size);
    put(w, TABLE_LOCATION);
}

static void put_functions(struct otlp *w)
{
    const struct export_frame **functions;

    if (export_functions(w->p, &functions)) {
        w->err = -ENOMEM;
        return;
    }
    put(w, TABLE_FUNCTION);
    for (size_t i = 0; i < w->p->function_count; i++) {
        if (functions[i]) {
            protobuf_number(&w->message, FUNCTION_NAME, string(w, functions[i]->name));
            if (functions[i]->file)
                protobuf_number(&w->message, FUNCTION_FILE, string(w, functions[i]->file));
        }
        put(w, TABLE_FUNCTION);
    }
    memory_free(functions);
}

/* The stack of each sample, its leaf first. */
static void put_stacks(struct otlp *w)
{
    put(w, TABLE_STACK);
    for (size_t i = 0; !w->err && i < w->p->sample_count; i++) {
        if (export_stack_of(&w->stack, w->p, w->p->samples[i].node)) {
            w->err = -ENOMEM;
            break;
        }
        buffer_clear(&w->inner);
        for (size_t at = w->stack.count; at-- > 0;)
            protobuf_varint(&w->inner, (uint64_t)w->stack.frames[at] + 1);
        protobuf_bytes(&w->message, STACK_LOCATIONS, w->inner.data, w->inner.size);
        put(w, TABLE_STACK);
    }
}

static void put_dictionary(struct otlp *w, enum otlp_value none)
{
    static const char zeros[16] = "";

    (void)none;
    put_attributes(w);
    put_mappings(w);
    put(w, TABLE_LOCATION);
    for (size_t i = 0; i < w->p->frame_count; i++)
        put_location(w, &w->p->frames[i]);
    put_functions(w);
    protobuf_bytes(&w->message, LINK_TRACE, zeros, 16);
    protobuf_bytes(&w->message, LINK_SPAN, zeros, 8);
    put(w, TABLE_LINK);
    put_stacks(w);
    for (size_t i = 0; i < w->strings.count; i++) {
        size_t size = strlen(w->strings.texts[i]);

        put_head(w, TABLE_STRING, size);
        put_bytes(w, w->strings.texts[i], size);
    }
}

int export_otlp(const struct export_profile *p, FILE *out)
{
    struct otlp w = {.p = p, .message = BUFFER_INIT, .inner = BUFFER_INIT};
    uint64_t profiles, dictionary;

    string(&w, "");
    profiles = size_of(&w, put_resource_profiles, VALUES);
    dictionary = size_of(&w, put_dictionary, VALUES);
    w.out = out;
    if (!w.err) {
        put_head(&w, DATA_RESOURCE_PROFILES, profiles);
        put_resource_profiles(&w, VALUES);
        put_head(&w, DATA_DICTIONARY, dictionary);
        put_dictionary(&w, VALUES);
    }
    export_strings_free(&w.strings);
    export_stack_free(&w.stack);
    buffer_free(&w.message);
    buffer_free(&w.inner);
    return w.err;
}
