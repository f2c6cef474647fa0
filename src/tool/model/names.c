#include "model/names.h"

#include "model/name_short.h"
#include "model/name_words.h"
#include "report/demangle.h"

#include "base/name.h"

#include <string.h>

#define ROUNDS 8

const char *const names_styles[] = {"short", "full", "raw", NULL};

/* Hashes of a full name: without parameters, with them. */
struct overload {
    uint64_t name, whole;
    bool several; /* methods of that name differ in parameters */
};

/* A full name, made and looked at once: what all names tell takes several rounds over them. */
struct known {
    char *text;  /* NULL: as the log has it */
    size_t size; /* without parameters */
    struct overload hashes;
    uint64_t brief;  /* the short name's hash; 0: not made yet */
    bool parameters; /* it has them */
    bool in_full;    /* a short one would look like another's */
};

/* Names of one kind of one log, by number. */
struct shown {
    const struct log_table *table;
    bool methods;
    char **texts; /* NULL: not asked for yet */
    size_t capacity;
    struct known *known;
    size_t count; /* of those that the knowledge is of */
};

/* What all names of the logs together tell; of all logs that are shown beside one another. */
struct knowledge {
    struct names *logs; /* a list */
    bool learned, failed;
    struct name_short brief;
    struct name_parts parts; /* of the name at hand */
    struct buffer full, text;
    struct overload *overloads;
    size_t overload_count, overload_capacity;
    struct index overload_index;
};

struct names {
    enum names_style style;
    struct knowledge *knowledge;
    bool owner;
    struct names *next;
    struct shown methods, classes;
    struct log_table texts[2]; /* of names_of_texts */
    char **words;              /* of classes, what is not their short name; NULL: not made */
    size_t word_count;
};

INDEX_OF_BYTES(overload_kind, struct overload, name);

/* ---- objects ---- */

static struct names *log_new(const struct log_table *methods, const struct log_table *classes,
                             enum names_style style, struct knowledge *k)
{
    struct names *n = memory_zalloc(1, sizeof(*n));

    if (!n)
        return NULL;
    *n = (struct names){.style = style, .knowledge = k, .next = k->logs};
    n->methods = (struct shown){.table = methods, .methods = true};
    n->classes = (struct shown){.table = classes};
    k->logs = n;
    return n;
}

static int first_new(const struct log_table *methods, const struct log_table *classes,
                     enum names_style style, struct names **out)
{
    struct knowledge *k = memory_zalloc(1, sizeof(*k));

    *out = k ? log_new(methods, classes, style, k) : NULL;
    if (!*out) {
        memory_free(k);
        return -ENOMEM;
    }
    (*out)->owner = true;
    name_short_init(&k->brief, &k->parts);
    return 0;
}

int names_new(const struct log_defs *defs, enum names_style style, struct names **out)
{
    return first_new(&defs->methods, &defs->classes, style, out);
}

int names_beside(struct names *first, const struct log_defs *defs, struct names **out)
{
    *out = log_new(&defs->methods, &defs->classes, first->style, first->knowledge);
    return *out ? 0 : -ENOMEM;
}

/* Returns: whether there was memory. */
static bool table_of(struct log_table *table, const char *const *texts, size_t count)
{
    table->defs = memory_zalloc(count + 1, sizeof(*table->defs));
    if (!table->defs)
        return false;
    for (size_t i = 0; i < count; i++)
        table->defs[i] = (struct log_def){.name = texts[i], .path = "", .defined = true};
    table->count = count;
    return true;
}

int names_of_texts(const struct names_texts *texts, enum names_style style, struct names **out)
{
    struct names *n;
    int err = first_new(NULL, NULL, style, &n);

    *out = NULL;
    if (err)
        return err;
    n->methods.table = &n->texts[0];
    n->classes.table = &n->texts[1];
    if (!table_of(&n->texts[0], texts->methods, texts->method_count) ||
        !table_of(&n->texts[1], texts->classes, texts->class_count)) {
        names_free(n);
        return -ENOMEM;
    }
    *out = n;
    return 0;
}

static void shown_free(struct shown *s)
{
    for (size_t i = 0; i < s->capacity; i++)
        memory_free(s->texts[i]);
    for (size_t i = 0; i < s->count; i++)
        memory_free(s->known[i].text);
    memory_free_all(s->texts, s->known);
}

void names_free(struct names *n)
{
    struct names **link;

    if (!n)
        return;
    for (link = &n->knowledge->logs; *link != n; link = &(*link)->next)
        ;
    *link = n->next;
    shown_free(&n->methods);
    shown_free(&n->classes);
    for (size_t i = 0; n->words && i < n->word_count; i++)
        memory_free(n->words[i]);
    memory_free_all(n->texts[0].defs, n->texts[1].defs, n->words);
    if (n->owner) {
        struct knowledge *k = n->knowledge;

        name_short_fini(&k->brief);
        buffer_free(&k->full);
        buffer_free(&k->text);
        index_free(&k->overload_index);
        memory_free_all(k->overloads, k);
    }
    memory_free(n);
}

/* ---- one name ---- */

static const char *full_name(struct knowledge *k, const struct shown *s, size_t number)
{
    const char *name = s->table->defs[number].name;

    if (number < s->count)
        return s->known[number].text ? s->known[number].text : name;
    return s->methods ? report_demangle(&k->full, name) : name;
}

/*
 * Takes a name apart that is known. Returns: false where it stays as it is: no name, or of nothing
 * that was defined.
 */
static bool take_apart(struct knowledge *k, const struct shown *s, size_t number, const char *full)
{
    if (!s->table->defs[number].defined)
        return false;
    if (!s->methods)
        return parts_of_class(&k->parts, full);
    return parts_of_method(&k->parts, full, full + s->known[number].size) && k->parts.method > 0;
}

static bool is_overloaded(const struct knowledge *k, const struct known *known)
{
    size_t slot;
    uint32_t number = index_find(&k->overload_index, &overload_kind, k->overloads,
                                 overload_kind_hash(&known->hashes), &known->hashes, &slot);

    return number != INDEX_NONE && k->overloads[number].several;
}

/* In k->text, or the full one. */
static const char *short_name(struct knowledge *k, const struct shown *s, size_t number)
{
    const char *full = full_name(k, s, number);

    buffer_clear(&k->text);
    if (!take_apart(k, s, number, full))
        return full;
    if (s->methods)
        name_short_method(&k->brief, &k->parts, is_overloaded(k, &s->known[number]), &k->text);
    else
        name_short_class(&k->brief, &k->parts, &k->text);
    return k->text.failed || !k->text.size ? full : k->text.data;
}

/* ---- what all names tell ---- */

static bool is_constructor(const struct name_parts *p)
{
    uint16_t at = p->types[0].segment;

    for (unsigned i = 0; i < p->method; i++)
        at = p->segments[at].next;
    return p->segments[at].name.at[0] == '.';
}

static int note_overload(struct knowledge *k, const struct known *known)
{
    uint32_t number;
    int added;

    if (!known->parameters)
        return 0;
    added = index_add(&k->overload_index, &overload_kind, &k->overloads, &k->overload_count,
                      &k->overload_capacity, &known->hashes, &number);
    if (added == 0 && k->overloads[number].whole != known->hashes.whole)
        k->overloads[number].several = true;
    return added < 0 ? added : 0;
}

/* What is a type for sure: one that has objects, is an argument, or has a constructor. */
static int note_sure(struct knowledge *k, const struct shown *s, size_t number)
{
    const char *full = full_name(k, s, number);
    const struct name_parts *p = &k->parts;
    int err = 0;

    if (!take_apart(k, s, number, full))
        return 0;
    for (uint16_t i = s->methods; i < p->type_count && !err; i++)
        err = name_types_add(&k->brief.types, p, &p->types[i], 0, p->types[i].segment_count,
                             NAME_SURE);
    if (!err && s->methods && is_constructor(p))
        err = name_types_add(&k->brief.types, p, &p->types[0], 0, p->method, NAME_SURE);
    return err || !s->methods ? err : note_overload(k, &s->known[number]);
}

/* The types that its short name shows. */
static int note_seen(struct knowledge *k, const struct shown *s, size_t number)
{
    const char *full = full_name(k, s, number);
    struct name_types *types = &k->brief.types;
    const struct name_parts *p = &k->parts;
    struct name_split split;
    bool overloaded;
    int err = 0;

    if (!take_apart(k, s, number, full))
        return 0;
    overloaded = s->methods && is_overloaded(k, &s->known[number]);
    for (uint16_t i = s->methods; i < p->type_count && !err; i++)
        if (!p->types[i].parameter || overloaded)
            err = name_types_add(types, p, &p->types[i], 0, p->types[i].segment_count, NAME_SEEN);
    if (err || !s->methods)
        return err;
    split = name_short_split(&k->brief, p);
    err = name_types_add(types, p, &p->types[0], 0, split.type, NAME_SEEN);
    if (!err && split.type < split.method)
        err = name_types_add(types, p, &p->types[0], split.type, split.method, NAME_SEEN);
    return err;
}

static int for_all(struct knowledge *k,
                   int (*each)(struct knowledge *k, const struct shown *s, size_t number))
{
    int err = 0;

    for (struct names *n = k->logs; n && !err; n = n->next) {
        for (size_t i = 0; i < n->classes.count && !err; i++)
            err = each(k, &n->classes, i);
        for (size_t i = 0; i < n->methods.count && !err; i++)
            err = each(k, &n->methods, i);
    }
    return err;
}

/* ---- no two alike ---- */

/* Who has a name so far. */
struct holder {
    uint64_t shown;       /* the name's hash */
    struct overload full; /* hashes of the full one of the first that had parameters, if any */
    bool whole;           /* that one had them, or is a type's */
    struct shown *of;
    size_t number;
};

INDEX_OF_BYTES(holder_kind, struct holder, shown);

struct holders {
    struct holder *all;
    size_t count, capacity;
    struct index index;
    bool changed;
};

/* Whether one name may stand for both: a method and what a compiler made of it are one. */
static bool is_same(const struct holder *a, const struct holder *b)
{
    return a->full.name == b->full.name &&
           (!a->whole || !b->whole || a->full.whole == b->full.whole);
}

static int hold(struct knowledge *k, struct shown *s, size_t number, struct holders *h)
{
    struct known *known = &s->known[number];
    struct holder key = {.full = known->hashes,
                         .whole = !s->methods || known->parameters,
                         .of = s,
                         .number = number},
                  *have;
    uint32_t found;
    int added;

    if (!known->brief) {
        const char *text = short_name(k, s, number);

        known->brief = hash_bytes(text, strlen(text));
    }
    key.shown = known->in_full ? known->hashes.whole : known->brief;
    added = index_add(&h->index, &holder_kind, &h->all, &h->count, &h->capacity, &key, &found);
    if (added)
        return added < 0 ? added : 0;
    have = &h->all[found];
    if (!is_same(have, &key)) {
        h->changed |= !have->of->known[have->number].in_full || !known->in_full;
        have->of->known[have->number].in_full = known->in_full = true;
    } else if (!have->whole) {
        *have = key;
    }
    return 0;
}

/*
 * Where two would look alike both keep their full names, until none do; in names made up to look
 * like others' full ones all do, after some rounds. methods or classes.
 */
static int tell_apart(struct knowledge *k, bool methods)
{
    struct holders h = {.changed = true};
    int err = 0;

    for (unsigned round = 0; h.changed && !err; round++) {
        h.changed = false;
        h.count = 0;
        index_clear(&h.index);
        for (struct names *n = k->logs; n && !err; n = n->next) {
            struct shown *s = methods ? &n->methods : &n->classes;

            for (size_t i = 0; i < s->count && !err; i++) {
                s->known[i].in_full |= round == ROUNDS;
                err = hold(k, s, i, &h);
            }
        }
    }
    index_free(&h.index);
    memory_free(h.all);
    return err;
}

static int look_at(struct knowledge *k, struct shown *s)
{
    s->known = memory_zalloc(s->table->count + 1, sizeof(*s->known));
    if (!s->known)
        return -ENOMEM;
    for (size_t i = 0; i < s->table->count; i++) {
        const char *name = s->table->defs[i].name, *full = full_name(k, s, i);
        const char *parameters = s->methods ? name_parameters(full) : full + strlen(full);
        struct known *known = &s->known[i];

        if (full != name && !(known->text = memory_strdup(full)))
            return -ENOMEM;
        known->size = (size_t)(parameters - full);
        known->hashes.name = hash_bytes(full, known->size);
        known->hashes.whole = hash_bytes(full, known->size + strlen(parameters));
        known->parameters = *parameters;
        s->count = i + 1;
    }
    return 0;
}

static void learn(struct knowledge *k)
{
    int err = 0;

    k->learned = true;
    for (struct names *n = k->logs; n && !err; n = n->next) {
        err = look_at(k, &n->methods);
        if (!err)
            err = look_at(k, &n->classes);
    }
    if (!err)
        err = for_all(k, note_sure);
    if (!err)
        err = for_all(k, note_seen);
    if (!err)
        err = name_types_finish(&k->brief.types);
    if (!err)
        err = tell_apart(k, true);
    if (!err)
        err = tell_apart(k, false);
    k->failed = err != 0;
}

/* ---- names ---- */

static const char *text_of(struct names *n, struct shown *s, uint32_t number)
{
    struct knowledge *k = n->knowledge;
    const char *text;

    if (n->style == NAMES_RAW || (n->style == NAMES_FULL && !s->methods))
        return s->table->defs[number].name;
    if (number < s->capacity && s->texts[number])
        return s->texts[number];
    if (n->style == NAMES_SHORT && !k->learned)
        learn(k);
    text = n->style == NAMES_FULL || k->failed || number >= s->count || s->known[number].in_full
               ? full_name(k, s, number)
               : short_name(k, s, number);
    if (!array_reserve_zeroed(&s->texts, &s->capacity, s->table->count) ||
        !(s->texts[number] = memory_strdup(text)))
        return s->table->defs[number].name;
    return s->texts[number];
}

const char *names_method(struct names *n, uint32_t method)
{
    return text_of(n, &n->methods, method);
}

const char *names_type(struct names *n, uint32_t class_number)
{
    return text_of(n, &n->classes, class_number);
}

const char *names_class(struct names *n, uint32_t class_number)
{
    if (n->style == NAMES_SHORT && !n->words) {
        const struct name_words_log log = {n->classes.table, n->methods.table, names_type,
                                           names_method, n};

        n->word_count = n->classes.table->count;
        (void)name_words_all(&log, &n->words); /* without memory: their C# names */
    }
    if (n->words && class_number < n->word_count && n->words[class_number])
        return n->words[class_number];
    return names_type(n, class_number);
}
