#include "gate/budget.h"

#include "base/array.h"
#include "base/atomics.h"
#include "base/file.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "base/order.h"
#include "report/source_lines.h"

#include "validate/schema.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET_MAX (64u << 20) /* bytes of a file */

const char *const budget_measure_keys[BUDGET_MEASURES] = {"objects", "bytes", "live_objects",
                                                          "live_bytes"};
const char *const budget_measure_words[BUDGET_MEASURES] = {"objects", "bytes", "live objects",
                                                           "live bytes"};
static const char *const of_words[] = {"whole", "line", "other lines", "method", "type"};
static const char *const per_words[] = {"recording", "call", "span"};

void budget_init(struct budget *b)
{
    *b = (struct budget){.steady = true};
}

void budget_free(struct budget *b)
{
    for (size_t i = 0; i < b->text_count; i++)
        memory_free(b->texts[i]);
    memory_free_all(b->texts, b->limits, b->builds);
    budget_init(b);
}

const char *budget_text(struct budget *b, const char *text)
{
    char *copy;

    if (!text || !array_reserve(&b->texts, &b->text_capacity, b->text_count + 1) ||
        !(copy = memory_strdup(text)))
        return NULL;
    return b->texts[b->text_count++] = copy;
}

/* Whether there was memory. */
static bool keep(struct budget *b, const char **text)
{
    return !*text || (*text = budget_text(b, *text));
}

int budget_add(struct budget *b, const struct budget_limit *limit)
{
    struct budget_limit copy = *limit;

    if (!array_reserve(&b->limits, &b->capacity, b->count + 1) || !keep(b, &copy.method) ||
        !keep(b, &copy.type) || !keep(b, &copy.file) || !keep(b, &copy.text) ||
        !keep(b, &copy.from) || !keep(b, &copy.to) || !keep(b, &copy.at))
        return -ENOMEM;
    b->limits[b->count++] = copy;
    return 0;
}

int budget_build_add(struct budget *b, const char *module, const char *mvid)
{
    struct budget_build build = {module, mvid};

    if (budget_build_of(b, module))
        return 0;
    if (!array_reserve(&b->builds, &b->build_capacity, b->build_count + 1) ||
        !keep(b, &build.module) || !keep(b, &build.mvid))
        return -ENOMEM;
    b->builds[b->build_count++] = build;
    return 0;
}

const char *budget_build_of(const struct budget *b, const char *module)
{
    for (size_t i = 0; i < b->build_count; i++)
        if (strcmp(b->builds[i].module, module) == 0)
            return b->builds[i].mvid;
    return NULL;
}

/* ---- reading: the schema has been held against it ---- */

static size_t word_of(const char *const *words, size_t count, const char *word)
{
    for (size_t i = 0; word && i < count; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return 0;
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void take_bound(const json_t *json, struct budget_bound *bound)
{
    const json_t *seen = json_object_get(json, "seen"), *over;

    if (!json)
        return;
    over = json_object_get(json, "over_baseline");
    *bound = (struct budget_bound){.given = true,
                                   .over_baseline = over != NULL,
                                   .percent = json_is_string(over),
                                   .learned = seen != NULL,
                                   .max = json_number_value(json_object_get(json, "max")),
                                   .least = json_number_value(json_array_get(seen, 0)),
                                   .most = json_number_value(json_array_get(seen, 1))};
    bound->over = bound->percent ? strtod(json_string_value(over), NULL) : json_number_value(over);
}

static bool has_one(const json_t *json, const char *key)
{
    const json_t *bound = json_object_get(json, key);

    return !bound || (json_object_get(bound, "max") != NULL) !=
                         (json_object_get(bound, "over_baseline") != NULL);
}

/* What a schema cannot say. NULL: nothing is wrong. */
static const char *refuse(const struct budget_limit *l)
{
    bool live = l->bounds[BUDGET_LIVE_OBJECTS].given || l->bounds[BUDGET_LIVE_BYTES].given;
    bool any = live || l->bounds[BUDGET_OBJECTS].given || l->bounds[BUDGET_BYTES].given;

    if (!any)
        return "no limit: objects, bytes, live_objects or live_bytes is required";
    if (l->per == BUDGET_CALL && l->of != BUDGET_METHOD)
        return "per call is of a method only";
    if (l->per == BUDGET_CALL && live)
        return "live objects are not known per call";
    if ((l->per == BUDGET_SPAN) != (l->from && l->to) || (l->from != NULL) != (l->to != NULL))
        return "\"per\":\"span\", from and to go together";
    if (l->at && (l->per == BUDGET_SPAN || !live))
        return "at is of live objects, and not of a span";
    if (l->file && strpbrk(l->file, "/\\"))
        return "a file is named without its folders";
    return NULL;
}

static int take_limit(const json_t *json, size_t number, struct budget *b, char *why,
                      size_t why_size)
{
    struct budget_limit limit = {
        .of = (enum budget_of)word_of(of_words, COUNT_OF(of_words), text_of(json, "of")),
        .per = (enum budget_per)word_of(per_words, COUNT_OF(per_words), text_of(json, "per")),
        .method = text_of(json, "method"),
        .type = text_of(json, "type"),
        .file = text_of(json, "file"),
        .text = text_of(json, "text"),
        .line = (uint32_t)json_integer_value(json_object_get(json, "line")),
        .line_last = (uint32_t)json_integer_value(json_object_get(json, "line_last")),
        .from = text_of(json, "from"),
        .to = text_of(json, "to"),
        .at = text_of(json, "at")};
    const char *wrong;

    for (size_t i = 0; i < BUDGET_MEASURES; i++)
        take_bound(json_object_get(json, budget_measure_keys[i]), &limit.bounds[i]);
    wrong = refuse(&limit);
    for (size_t i = 0; !wrong && i < BUDGET_MEASURES; i++)
        if (!has_one(json, budget_measure_keys[i]))
            wrong = "a bound has either max or over_baseline";
    if (!wrong)
        return budget_add(b, &limit);
    snprintf(why, why_size, "limits[%zu]: %s", number, wrong);
    return -EINVAL;
}

static int by_limit(const void *left, const void *right)
{
    const struct budget_limit *const *a = left, *const *b = right;
    int order = budget_order(*a, *b);

    return order ? order : ORDER(*a, *b); /* the later one is reported */
}

/* No two limits are of the same. */
static int check_once(const struct budget *b, char *why, size_t why_size)
{
    const struct budget_limit **order = memory_alloc((b->count + 1) * sizeof(*order));
    int err = order ? 0 : -ENOMEM;

    for (size_t i = 0; !err && i < b->count; i++)
        order[i] = &b->limits[i];
    if (!err)
        SORT(order, b->count, by_limit);
    for (size_t i = 1; !err && i < b->count; i++)
        if (budget_same(order[i - 1], order[i])) {
            snprintf(why, why_size, "limits[%td]: the same limit is there already",
                     order[i] - b->limits);
            err = -EINVAL;
        }
    memory_free(order);
    return err;
}

static int take(const json_t *json, struct budget *b, char *why, size_t why_size)
{
    const json_t *learned = json_object_get(json, "learned"), *one;
    const json_t *steady = json_object_get(json, "steady");
    json_t *builds = json_object_get(learned, "builds"), *mvid;
    const char *module;
    size_t i;
    int err = 0;

    b->steady = !steady || json_is_true(steady);
    b->logs = (uint64_t)json_integer_value(json_object_get(learned, "logs"));
    json_object_foreach(builds, module, mvid)
    {
        err = err ? err : budget_build_add(b, module, json_string_value(mvid));
    }
    json_array_foreach(json_object_get(json, "limits"), i, one)
    {
        if (!err)
            err = take_limit(one, i, b, why, why_size);
    }
    return err ? err : check_once(b, why, why_size);
}

/* What each limit is of: the schema would only say that it has none of the forms. */
static bool check_kinds(const json_t *json, char *why, size_t why_size)
{
    const json_t *one;
    size_t i;

    json_array_foreach(json_object_get(json, "limits"), i, one)
    {
        const char *of = text_of(one, "of");
        size_t word = word_of(of_words, COUNT_OF(of_words), of);

        if (of && strcmp(of_words[word], of) == 0)
            continue;
        snprintf(
            why, why_size,
            "limits[%zu].of is %s%.100s%s; it is one of whole, line, other lines, method, type", i,
            of ? "\"" : "", of ? of : "missing, or no text", of ? "\"" : "");
        return false;
    }
    return true;
}

/* Another version is reported before anything else that the schema finds. */
static int check(const json_t *json, char *why, size_t why_size)
{
    struct report_schema *schema = NULL;
    const char *kind = text_of(json, "budget");
    const json_t *version = json_object_get(json, "version");
    int err;

    if (!kind || strcmp(kind, "shadowtrace") != 0) {
        snprintf(why, why_size, "no budget: it has no member \"budget\":\"shadowtrace\"");
        return -EINVAL;
    }
    if (json_is_integer(version) && json_integer_value(version) != BUDGET_VERSION) {
        snprintf(why, why_size, "a budget of version %lld; this shadowtrace reads version %d",
                 (long long)json_integer_value(version), BUDGET_VERSION);
        return -EINVAL;
    }
    if (!check_kinds(json, why, why_size))
        return -EINVAL;
    err = report_schema_new(budget_schema_text, budget_schema_size(), &schema, why, why_size);
    if (!err && !report_schema_check(schema, json, why, why_size))
        err = -EINVAL;
    report_schema_free(schema);
    return err;
}

int budget_parse(const char *text, size_t size, struct budget *b, char *why, size_t why_size)
{
    json_error_t error;
    json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    int err;

    if (!json) {
        snprintf(why, why_size, "no JSON: line %d, column %d: %s", error.line, error.column,
                 error.text);
        return -EINVAL;
    }
    err = check(json, why, why_size);
    if (!err)
        err = take(json, b, why, why_size);
    json_decref(json);
    return err;
}

static int load(const char *path, char **text, size_t *size)
{
    struct buffer b = BUFFER_INIT;
    int err;

    if (strcmp(path, "-") != 0)
        return file_load(path, BUDGET_MAX, text, size);
    err = buffer_file(&b, "/dev/stdin");
    *size = b.size;
    *text = err ? NULL : buffer_take(&b);
    if (err)
        buffer_free(&b);
    return err || *text ? err : -ENOMEM;
}

int budget_read(const char *path, struct budget *b, char *why, size_t why_size)
{
    char *text = NULL;
    size_t size;
    int err = load(path, &text, &size);

    if (err == -EINVAL) { /* not a regular file: -EINVAL means an invalid text */
        return -EISDIR;
    }
    if (!err)
        err = budget_parse(text, size, b, why, why_size);
    memory_free(text);
    return err;
}

/* ---- writing ---- */

static void put_number(struct json_writer *w, const char *key, double value)
{
    if (value == floor(value) && value < 9e15)
        jw_unsigned(w, key, (uint64_t)value);
    else
        jw_real(w, key, value);
}

static void put_bound(struct json_writer *w, const char *key, const struct budget_bound *bound)
{
    struct buffer b = BUFFER_INIT;

    if (!bound->given)
        return;
    jw_object(w, key);
    if (bound->over_baseline && bound->percent) {
        buffer_format(&b, "%.15g%%", bound->over);
        jw_text(w, "over_baseline", b.data ? b.data : "");
    } else {
        put_number(w, bound->over_baseline ? "over_baseline" : "max",
                   bound->over_baseline ? bound->over : bound->max);
    }
    if (bound->learned && !bound->over_baseline) {
        jw_array(w, "seen");
        put_number(w, NULL, bound->least);
        put_number(w, NULL, bound->most);
        jw_end(w);
    }
    jw_end(w);
    jw_spent(w, &b);
}

static void put_limit(struct json_writer *w, const struct budget_limit *limit)
{
    jw_line_object(w, 2, NULL);
    jw_text(w, "of", of_words[limit->of]);
    jw_text_if(w, "method", limit->method);
    jw_text_if(w, "file", limit->file);
    if (limit->of == BUDGET_LINE)
        jw_unsigned(w, "line", limit->line);
    if (limit->line_last)
        jw_unsigned(w, "line_last", limit->line_last);
    jw_text_if(w, "text", limit->text);
    jw_text_if(w, "type", limit->type);
    if (limit->per != BUDGET_RECORDING)
        jw_text(w, "per", per_words[limit->per]);
    jw_text_if(w, "from", limit->from);
    jw_text_if(w, "to", limit->to);
    jw_text_if(w, "at", limit->at);
    for (size_t i = 0; i < BUDGET_MEASURES; i++)
        put_bound(w, budget_measure_keys[i], &limit->bounds[i]);
    jw_end(w);
}

int budget_write(const struct budget *b, FILE *out)
{
    struct json_writer w;

    jw_init(&w, out);
    jw_object(&w, NULL);
    jw_text(&w, "budget", "shadowtrace");
    jw_unsigned(&w, "version", BUDGET_VERSION);
    jw_bool(&w, "steady", b->steady);
    if (b->logs) {
        jw_line_object(&w, 1, "learned");
        jw_unsigned(&w, "logs", b->logs);
        jw_object(&w, "builds");
        for (size_t i = 0; i < b->build_count; i++)
            jw_text(&w, b->builds[i].module, b->builds[i].mvid);
        jw_end(&w);
        jw_end(&w);
    }
    jw_line_array(&w, 1, "limits");
    for (size_t i = 0; i < b->count; i++)
        put_limit(&w, &b->limits[i]);
    jw_line(&w, 0);
    jw_end(&w);
    jw_end(&w);
    return jw_finish(&w);
}

/* ---- what a limit is of ---- */

bool budget_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool budget_same_part(const struct budget_limit *a, const struct budget_limit *limit)
{
    return a->per == limit->per && budget_same_text(a->from, limit->from) &&
           budget_same_text(a->to, limit->to) && budget_same_text(a->at, limit->at);
}

/* None comes before any text. */
static int order_of(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

int budget_order(const struct budget_limit *a, const struct budget_limit *limit)
{
    return ORDERS(ORDER(a->per, limit->per), order_of(a->from, limit->from),
                  order_of(a->to, limit->to), order_of(a->at, limit->at), ORDER(a->of, limit->of),
                  order_of(a->file, limit->file), ORDER(a->line, limit->line),
                  ORDER(a->line_last, limit->line_last), order_of(a->method, limit->method),
                  order_of(a->type, limit->type));
}

bool budget_same(const struct budget_limit *a, const struct budget_limit *limit)
{
    return a->of == limit->of && a->line == limit->line && budget_order(a, limit) == 0;
}

void budget_part_words(const struct budget_limit *l, struct buffer *out)
{
    if (l->per == BUDGET_CALL)
        buffer_text(out, " for each call");
    if (l->per == BUDGET_SPAN)
        buffer_format(out, " from \"%s\" to \"%s\"", l->from, l->to);
    if (l->at)
        buffer_format(out, " at \"%s\"", l->at);
}

void budget_limit_words(const struct budget_limit *l, struct buffer *out)
{
    switch (l->of) {
    case BUDGET_WHOLE:
        buffer_text(out, "all of it");
        break;
    case BUDGET_LINE:
        buffer_text(out, l->file);
        source_line_put(out, l->line, l->line_last);
        break;
    case BUDGET_OTHER_LINES:
        buffer_text(out, "each other line of own code");
        break;
    case BUDGET_METHOD:
        buffer_text(out, l->method);
        break;
    case BUDGET_TYPE:
        buffer_format(out, "type %s", l->type);
        break;
    }
    if (l->type && l->of != BUDGET_TYPE)
        buffer_format(out, " of type %s", l->type);
    budget_part_words(l, out);
}

void budget_limit_key(const struct budget_limit *l, struct buffer *out)
{
    buffer_format(out, "%s|%s|%s|%s|%s", of_words[l->of], l->method ? l->method : "",
                  l->file ? l->file : "", l->text ? l->text : "", l->type ? l->type : "");
    if (l->of == BUDGET_LINE && !l->text)
        buffer_format(out, "|%u", l->line);
    if (l->line_last && !l->text)
        buffer_format(out, "-%u", l->line_last);
    buffer_format(out, "|%s|%s|%s|%s", per_words[l->per], l->from ? l->from : "",
                  l->to ? l->to : "", l->at ? l->at : "");
}

void budget_number(double value, struct buffer *b)
{
    char digits[40], *end;
    size_t whole;

    if (value == floor(value))
        snprintf(digits, sizeof(digits), "%.0f", value);
    else
        snprintf(digits, sizeof(digits), "%.3f", value);
    end = strchr(digits, '.');
    whole = end ? (size_t)(end - digits) : strlen(digits);
    for (size_t i = 0; i < whole; i++) {
        if (i && (whole - i) % 3 == 0 && digits[i - 1] != '-')
            buffer_char(b, ',');
        buffer_char(b, digits[i]);
    }
    if (end) {
        for (char *last = end + strlen(end) - 1; *last == '0'; last--)
            *last = '\0';
        buffer_text(b, end[1] ? end : "");
    }
}
