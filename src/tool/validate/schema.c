#include "validate/schema.h"

#include "base/atomics.h"
#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DEPTH 64 /* of a schema within a schema, of a value within a value */

enum { /* bits of rule.types */
       TYPE_NULL = 1,
       TYPE_BOOLEAN = 2,
       TYPE_OBJECT = 4,
       TYPE_ARRAY = 8,
       TYPE_NUMBER = 16,
       TYPE_STRING = 32,
       TYPE_INTEGER = 64,
};

static const struct {
    const char *name;
    unsigned bit;
} types[] = {
    {"null", TYPE_NULL},       {"boolean", TYPE_BOOLEAN}, {"object", TYPE_OBJECT},
    {"array", TYPE_ARRAY},     {"number", TYPE_NUMBER},   {"string", TYPE_STRING},
    {"integer", TYPE_INTEGER},
};

struct property {
    const char *key;
    struct rule *rule;
};

struct rules {
    struct rule **rule;
    size_t count;
};

/* One (sub)schema. Texts and JSON values belong to the document. */
struct rule {
    struct rule *next; /* all rules of the schema, for freeing */
    const json_t *source;
    unsigned types; /* 0: any */
    bool never;     /* the schema `false` */
    const json_t *constant, *choices;
    const json_t *required;
    struct property *properties;
    size_t property_count;
    struct rule *other_properties, *items, *not, *ref;
    struct rules one_of, any_of;
    bool has_pattern;
    double minimum, maximum, multiple; /* none: infinite, NaN */
    size_t min_length, min_items, max_items;
    regex_t pattern;
};

struct report_schema {
    json_t *document;
    bool shipped;
    struct rule *all, *root;
};

/* Compiling. */

struct compiler {
    struct report_schema *schema;
    char *why;
    size_t why_size;
    int depth;
};

static int compile(struct compiler *c, const json_t *source, struct rule **out);

static int refuse(struct compiler *c, const char *what, const char *which)
{
    snprintf(c->why, c->why_size, "%s%s%s", what, *which ? ": " : "", which);
    return -EINVAL;
}

static int compile_type(struct compiler *c, struct rule *r, const json_t *value)
{
    const json_t *one;
    size_t i;

    if (json_is_array(value)) {
        int err = 0;

        json_array_foreach(value, i, one)
        {
            err = err ? err : compile_type(c, r, json_is_array(one) ? NULL : one);
        }
        return err;
    }
    for (i = 0; json_is_string(value) && i < COUNT_OF(types); i++)
        if (strcmp(types[i].name, json_string_value(value)) == 0) {
            r->types |= types[i].bit;
            return 0;
        }
    return refuse(c, "unknown type", json_is_string(value) ? json_string_value(value) : "");
}

static int compile_list(struct compiler *c, struct rules *to, const json_t *list)
{
    const json_t *one;
    size_t i;
    int err = 0;

    if (!json_is_array(list) || json_array_size(list) == 0)
        return refuse(c, "oneOf and anyOf want a list of schemas", "");
    to->rule = memory_zalloc(json_array_size(list), sizeof(*to->rule));
    if (!to->rule)
        return -ENOMEM;
    json_array_foreach(list, i, one)
    {
        if (!err)
            err = compile(c, one, &to->rule[to->count]);
        to->count += !err;
    }
    return err;
}

static int compile_properties(struct compiler *c, struct rule *r, const json_t *object)
{
    const char *key;
    json_t *value;
    int err = 0;

    if (!json_is_object(object))
        return refuse(c, "properties wants an object", "");
    r->properties = memory_zalloc(json_object_size(object) + 1, sizeof(*r->properties));
    if (!r->properties)
        return -ENOMEM;
    json_object_foreach((json_t *)(uintptr_t)object, key, value) /* it takes no const */
    {
        if (!err)
            err = compile(c, value, &r->properties[r->property_count].rule);
        if (!err)
            r->properties[r->property_count++].key = key;
    }
    return err;
}

static int compile_ref(struct compiler *c, struct rule *r, const json_t *value)
{
    static const char prefix[] = "#/$defs/";
    const char *path = json_string_value(value);
    const json_t *target = NULL;

    if (path && strncmp(path, prefix, sizeof(prefix) - 1) == 0)
        target = json_object_get(json_object_get(c->schema->document, "$defs"),
                                 path + sizeof(prefix) - 1);
    if (!target)
        return refuse(c, "$ref leads nowhere", path ? path : "");
    return compile(c, target, &r->ref);
}

static int compile_pattern(struct compiler *c, struct rule *r, const json_t *value)
{
    const char *text = json_string_value(value);

    if (!text || regcomp(&r->pattern, text, REG_EXTENDED | REG_NOSUB))
        return refuse(c, "pattern cannot be used", text ? text : "");
    r->has_pattern = true;
    return 0;
}

/* Keywords that are a number, with the member of struct rule that it goes to. */
static const struct limit {
    const char *key;
    bool size; /* a size_t, else a double */
    size_t offset;
} limits[] = {
    {"minimum", false, offsetof(struct rule, minimum)},
    {"maximum", false, offsetof(struct rule, maximum)},
    {"multipleOf", false, offsetof(struct rule, multiple)},
    {"minLength", true, offsetof(struct rule, min_length)},
    {"minItems", true, offsetof(struct rule, min_items)},
    {"maxItems", true, offsetof(struct rule, max_items)},
};

static int compile_limit(struct compiler *c, const struct limit *l, const json_t *value, void *out)
{
    if (l->size ? !json_is_integer(value) || json_integer_value(value) < 0 : !json_is_number(value))
        return refuse(c, l->size ? "no size" : "no number", l->key);
    if (l->size)
        *(size_t *)out = (size_t)json_integer_value(value);
    else
        *(double *)out = json_number_value(value);
    return 0;
}

static int compile_keyword(struct compiler *c, struct rule *r, const char *key, const json_t *value)
{
    static const char *const annotations[] = {"$schema",  "$id",     "$defs",
                                              "$comment", "title",   "description",
                                              "examples", "default", "deprecated"};

    for (size_t i = 0; i < COUNT_OF(annotations); i++)
        if (strcmp(key, annotations[i]) == 0)
            return 0;
    for (size_t i = 0; i < COUNT_OF(limits); i++)
        if (strcmp(key, limits[i].key) == 0)
            return compile_limit(c, &limits[i], value, (char *)r + limits[i].offset);
    if (strcmp(key, "type") == 0)
        return compile_type(c, r, value);
    if (strcmp(key, "$ref") == 0)
        return compile_ref(c, r, value);
    if (strcmp(key, "properties") == 0)
        return compile_properties(c, r, value);
    if (strcmp(key, "additionalProperties") == 0)
        return compile(c, value, &r->other_properties);
    if (strcmp(key, "items") == 0)
        return compile(c, value, &r->items);
    if (strcmp(key, "not") == 0)
        return compile(c, value, &r->not );
    if (strcmp(key, "oneOf") == 0)
        return compile_list(c, &r->one_of, value);
    if (strcmp(key, "anyOf") == 0)
        return compile_list(c, &r->any_of, value);
    if (strcmp(key, "pattern") == 0)
        return compile_pattern(c, r, value);
    if (strcmp(key, "const") == 0)
        r->constant = value;
    else if (strcmp(key, "enum") == 0 && json_is_array(value))
        r->choices = value;
    else if (strcmp(key, "required") == 0 && json_is_array(value))
        r->required = value;
    else
        return refuse(c, "the schema uses what is not understood here", key);
    return 0;
}

static int compile_object(struct compiler *c, struct rule *r, json_t *source)
{
    const char *key;
    json_t *value;
    int err = 0;

    json_object_foreach(source, key, value)
    {
        if (!err)
            err = compile_keyword(c, r, key, value);
    }
    return err;
}

/* Each definition is compiled once. What is under way is found too: a schema may recur. */
static int compile(struct compiler *c, const json_t *source, struct rule **out)
{
    struct rule *r;
    int err;

    for (r = c->schema->all; r; r = r->next)
        if (r->source == source && json_is_object(source)) {
            *out = r;
            return 0;
        }
    if (!json_is_object(source) && !json_is_boolean(source))
        return refuse(c, "a schema is an object, true or false", "");
    if (c->depth == DEPTH)
        return refuse(c, "the schema is nested too deeply", "");
    r = memory_zalloc(1, sizeof(*r));
    if (!r)
        return -ENOMEM;
    r->source = source;
    r->never = json_is_false(source);
    r->max_items = SIZE_MAX;
    r->minimum = -INFINITY;
    r->maximum = INFINITY;
    r->multiple = NAN;
    r->next = c->schema->all;
    c->schema->all = r;
    *out = r;
    c->depth++;
    err = json_is_object(source) ? compile_object(c, r, (json_t *)(uintptr_t)source) : 0;
    c->depth--;
    return err;
}

int report_schema_new(const char *text, size_t size, struct report_schema **out, char *why,
                      size_t why_size)
{
    struct report_schema *schema = memory_zalloc(1, sizeof(*schema));
    struct compiler c = {.schema = schema, .why = why, .why_size = why_size};
    json_error_t error;
    int err = schema ? 0 : -ENOMEM;

    *out = NULL;
    if (!err) {
        schema->document = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
        if (!schema->document) {
            snprintf(why, why_size, "line %d: %s", error.line, error.text);
            err = -EINVAL;
        }
    }
    if (!err)
        err = compile(&c, schema->document, &schema->root);
    if (!err)
        schema->shipped = text == report_schema_text;
    if (err)
        report_schema_free(schema);
    else
        *out = schema;
    return err;
}

bool report_schema_is_shipped(const struct report_schema *schema)
{
    return schema->shipped;
}

void report_schema_free(struct report_schema *schema)
{
    struct rule *r, *next;

    if (!schema)
        return;
    for (r = schema->all; r; r = next) {
        next = r->next;
        memory_free_all(r->properties, r->one_of.rule, r->any_of.rule);
        if (r->has_pattern)
            regfree(&r->pattern);
        memory_free(r);
    }
    json_decref(schema->document);
    memory_free(schema);
}

/* Checking. */

struct complaint {
    char *text;
    size_t size;
};

/* Where in the value we are: a chain on the stack, made into text only for a complaint. */
struct spot {
    const struct spot *outer;
    const char *key; /* NULL: index */
    size_t index;
    int depth;
    const struct complaint *wanted; /* NULL: nobody wants to know */
};

static size_t put_spot(const struct spot *spot, char *to, size_t size)
{
    size_t used;
    int more;

    if (!spot->outer)
        return 0;
    used = put_spot(spot->outer, to, size);
    more = spot->key ? snprintf(to + used, size - used, ".%s", spot->key)
                     : snprintf(to + used, size - used, "[%zu]", spot->index);
    return more < 0 || (size_t)more >= size - used ? used : used + (size_t)more;
}

__attribute__((format(printf, 2, 3))) static bool fail(const struct spot *spot, const char *format,
                                                       ...)
{
    const struct complaint *c = spot->wanted;
    char where[128] = "";
    size_t used;
    va_list args;

    if (!c)
        return false;
    put_spot(spot, where, sizeof(where));
    used = (size_t)snprintf(c->text, c->size, "%s%s", where[0] ? where + 1 - (where[0] != '.') : "",
                            where[0] ? " " : "");
    va_start(args, format);
    if (used < c->size)
        vsnprintf(c->text + used, c->size - used, format, args);
    va_end(args);
    return false;
}

static bool check(const struct rule *r, const json_t *value, const struct spot *spot);

static bool is_integer(const json_t *value)
{
    return json_is_integer(value) ||
           (json_is_real(value) && floor(json_real_value(value)) == json_real_value(value));
}

static unsigned type_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return TYPE_OBJECT;
    case JSON_ARRAY:
        return TYPE_ARRAY;
    case JSON_STRING:
        return TYPE_STRING;
    case JSON_INTEGER:
    case JSON_REAL:
        return TYPE_NUMBER | (is_integer(value) ? TYPE_INTEGER : 0);
    case JSON_NULL:
        return TYPE_NULL;
    default:
        return TYPE_BOOLEAN;
    }
}

static bool equal(const json_t *a, const json_t *b)
{
    if (json_is_number(a) && json_is_number(b))
        return json_number_value(a) == json_number_value(b);
    return json_equal(a, b);
}

static bool check_type(const struct rule *r, const json_t *value, const struct spot *spot)
{
    if (!r->types || type_of(value) & r->types)
        return true;
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (types[i].bit & r->types)
            return fail(spot, "must be of type %s", types[i].name);
    return false;
}

static bool check_value(const struct rule *r, const json_t *value, const struct spot *spot)
{
    const json_t *one;
    size_t i;

    if (r->constant && !equal(r->constant, value)) {
        if (json_is_string(r->constant))
            return fail(spot, "must be \"%s\"", json_string_value(r->constant));
        if (json_is_integer(r->constant))
            return fail(spot, "must be %lld", (long long)json_integer_value(r->constant));
        return fail(spot, "has not the one value it may have");
    }
    if (!r->choices)
        return true;
    json_array_foreach(r->choices, i, one)
    {
        if (equal(one, value))
            return true;
    }
    if (json_is_string(value))
        return fail(spot, "may not be \"%.60s\"", json_string_value(value));
    return fail(spot, "is none of the values it may have");
}

static bool check_number(const struct rule *r, const json_t *value, const struct spot *spot)
{
    double number = json_number_value(value);

    if (!json_is_number(value))
        return true;
    if (number < r->minimum)
        return fail(spot, "is below %.16g", r->minimum);
    if (number > r->maximum)
        return fail(spot, "is above %.16g", r->maximum);
    if (!isnan(r->multiple) && fmod(number, r->multiple) != 0)
        return fail(spot, "is not a multiple of %.16g", r->multiple);
    return true;
}

static bool check_string(const struct rule *r, const json_t *value, const struct spot *spot)
{
    const char *text = json_string_value(value);
    size_t letters = 0;

    if (!text)
        return true;
    for (const char *at = text; r->min_length && *at && letters < r->min_length; at++)
        letters += ((unsigned char)*at & 0xC0) != 0x80;
    if (letters < r->min_length)
        return fail(spot, "has less than %zu characters", r->min_length);
    if (r->has_pattern && regexec(&r->pattern, text, 0, NULL, 0))
        return fail(spot, "does not have the form it must have");
    return true;
}

static bool check_array(const struct rule *r, const json_t *value, const struct spot *spot)
{
    const json_t *one;
    size_t i;

    if (!json_is_array(value))
        return true;
    if (json_array_size(value) < r->min_items)
        return fail(spot, "has less than %zu elements", r->min_items);
    if (json_array_size(value) > r->max_items)
        return fail(spot, "has more than %zu elements", r->max_items);
    if (!r->items)
        return true;
    json_array_foreach(value, i, one)
    {
        const struct spot inner = {spot, NULL, i, spot->depth + 1, spot->wanted};

        if (!check(r->items, one, &inner))
            return false;
    }
    return true;
}

static const struct rule *property_rule(const struct rule *r, const char *key)
{
    for (size_t i = 0; i < r->property_count; i++)
        if (strcmp(r->properties[i].key, key) == 0)
            return r->properties[i].rule;
    return r->other_properties;
}

static bool check_object(const struct rule *r, const json_t *value, const struct spot *spot)
{
    json_t *object = (json_t *)(uintptr_t)value; /* jansson's iterator takes no const */
    const json_t *needed;
    size_t i;

    if (!json_is_object(value))
        return true;
    json_array_foreach(r->required, i, needed)
    {
        if (!json_object_get(value, json_string_value(needed)))
            return fail(spot, "lacks the member \"%s\"", json_string_value(needed));
    }
    if (!r->property_count && !r->other_properties)
        return true;
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        const char *key = json_object_iter_key(at);
        const struct spot inner = {spot, key, 0, spot->depth + 1, spot->wanted};
        const struct rule *rule = property_rule(r, key);

        if (rule && !check(rule, json_object_iter_value(at), &inner))
            return false;
    }
    return true;
}

/* The branch that a member of the value chooses: one whose rule for it is that very constant. */
static const struct rule *chosen(const struct rules *branches, const json_t *value)
{
    for (size_t i = 0; json_is_object(value) && i < branches->count; i++) {
        const struct rule *r = branches->rule[i];

        for (int steps = 0; steps < DEPTH && r->ref && !r->property_count; steps++)
            r = r->ref;
        for (size_t p = 0; p < r->property_count; p++) {
            const json_t *constant = r->properties[p].rule->constant;

            if (constant && json_is_string(constant) &&
                json_equal(constant, json_object_get(value, r->properties[p].key)))
                return branches->rule[i];
        }
    }
    return NULL;
}

static bool fits(const struct rule *r, const json_t *value, const struct spot *spot)
{
    const struct spot silent = {spot->outer, spot->key, spot->index, spot->depth, NULL};

    return check(r, value, &silent);
}

static bool check_one_of(const struct rule *r, const json_t *value, const struct spot *spot)
{
    const struct rule *likely = chosen(&r->one_of, value);
    size_t count = 0;

    if (likely && !check(likely, value, spot))
        return false;
    for (size_t i = 0; i < r->one_of.count; i++)
        count += r->one_of.rule[i] == likely || fits(r->one_of.rule[i], value, spot);
    if (count == 1 || !r->one_of.count)
        return true;
    return fail(spot,
                count ? "has more than one of the allowed forms" : "has none of the allowed forms");
}

static bool check_any_of(const struct rule *r, const json_t *value, const struct spot *spot)
{
    for (size_t i = 0; i < r->any_of.count; i++)
        if (fits(r->any_of.rule[i], value, spot))
            return true;
    return !r->any_of.count || check(r->any_of.rule[0], value, spot);
}

static bool check(const struct rule *r, const json_t *value, const struct spot *spot)
{
    /* a $ref that leads to itself ends by depth */
    const struct spot same = {spot->outer, spot->key, spot->index, spot->depth + 1, spot->wanted};

    if (r->never)
        return fail(spot, "may not be there");
    if (spot->depth > DEPTH)
        return fail(spot, "is nested too deeply");
    if ((r->ref && !check(r->ref, value, &same)) || !check_type(r, value, spot) ||
        !check_value(r, value, spot) || !check_number(r, value, spot) ||
        !check_string(r, value, spot) || !check_array(r, value, spot) ||
        !check_object(r, value, spot) || !check_any_of(r, value, spot) ||
        !check_one_of(r, value, spot))
        return false;
    if (r->not &&fits(r->not, value, spot))
        return fail(spot, "has a value it may not have");
    return true;
}

bool report_schema_check(const struct report_schema *schema, const json_t *value, char *why,
                         size_t why_size)
{
    const struct complaint c = {why, why_size};
    const struct spot top = {NULL, NULL, 0, 0, &c};

    return check(schema->root, value, &top);
}
