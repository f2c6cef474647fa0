#include "model/name_words.h"

#include "report/demangle.h"

#include <string.h>

struct span {
    const char *at;
    size_t size;
};

#define CLOSURE    "<>c__DisplayClass"
#define VB_CLOSURE "_Closure$__"
#define VB_MACHINE "VB$StateMachine_"

static bool begins(struct span s, const char *text)
{
    return s.size >= strlen(text) && memcmp(s.at, text, strlen(text)) == 0;
}

/* A name taken apart: the type itself, and what it is nested in, without the dot between. */
struct nested {
    struct span outer, type, arguments; /* of the type, without brackets */
};

static struct nested take_apart(const char *name)
{
    size_t size = strlen(name), type = 0, end;
    struct nested n = {.outer = {name, 0}};
    int depth = 0;

    for (size_t i = 0; i < size; i++) {
        depth += (name[i] == '<') - (name[i] == '>');
        if (name[i] == '.' && depth == 0)
            type = i + 1;
    }
    n.outer.size = type ? type - 1 : 0;
    n.type = (struct span){name + type, size - type};
    n.arguments = (struct span){name + size, 0};
    if (!n.type.size || n.type.at[n.type.size - 1] != '>')
        return n;
    depth = 0;
    for (end = size; end-- > type;) {
        depth += (name[end] == '>') - (name[end] == '<');
        if (depth == 0)
            break;
    }
    if (end > type) /* else it is part of a name: "<>c" */
        n.arguments = (struct span){name + end + 1, size - end - 2};
    return n;
}

static void put(struct buffer *b, struct span s)
{
    buffer_append(b, s.at, s.size);
}

static void put_outer(struct buffer *b, const struct nested *n)
{
    if (n->outer.size)
        put(b, n->outer);
    else
        put(b, n->type);
}

static void put_closure(struct buffer *b, const struct nested *n, const char *home)
{
    buffer_text(b, "closure of ");
    if (home)
        buffer_text(b, home);
    else
        put_outer(b, n);
}

/* "<Items>d__3<T>", of C#. */
static bool is_machine(struct span type)
{
    const char *close;

    if (type.size < 4 || type.at[0] != '<' || type.at[1] == '>')
        return false;
    close = memchr(type.at, '>', type.size);
    while (close && close + 1 < type.at + type.size && close[1] != 'd')
        close = memchr(close + 1, '>', type.size - (size_t)(close + 1 - type.at));
    return close && (close + 2 >= type.at + type.size || close[2] == '_' || close[2] == '<');
}

/* The method that a state machine was made of: "Basket.Items". */
static bool put_machine(struct buffer *b, const char *words, struct span name)
{
    struct buffer method = BUFFER_INIT, written = BUFFER_INIT;
    const char *found;

    put(&method, name);
    buffer_text(&method, ".MoveNext");
    found = method.failed ? "" : report_demangle(&written, method.data);
    if (*found && found != method.data) {
        buffer_text(b, words);
        buffer_text(b, found);
    }
    buffer_free(&written);
    buffer_free(&method);
    return b->size > 0;
}

static const char *machine_words(enum sst_sort sort)
{
    if (sort == SST_SORT_ASYNC)
        return "async machine of ";
    return sort == SST_SORT_ITERATOR ? "iterator of " : "state machine of ";
}

/* "VB$StateMachine_3_Items" */
static bool put_vb_machine(struct buffer *b, const struct nested *n, enum sst_sort sort)
{
    const char *at = n->type.at + sizeof(VB_MACHINE) - 1, *end = n->type.at + n->type.size;

    while (at < end && *at >= '0' && *at <= '9')
        at++;
    if (at + 1 >= end || *at != '_')
        return false;
    buffer_text(b, machine_words(sort));
    put_outer(b, n);
    buffer_char(b, '.');
    put(b, (struct span){at + 1, (size_t)(end - at - 1)});
    return true;
}

/* The box in which an async method's structure waits. */
static bool put_state(struct buffer *b, const struct nested *n)
{
    static const char box[] = "StateMachineBox<";
    struct nested machine;
    struct buffer name = BUFFER_INIT;
    bool known = false;

    if (!n->arguments.size || !memmem(n->type.at, n->type.size, box, sizeof(box) - 1))
        return false;
    put(&name, n->arguments);
    if (!name.failed) {
        machine = take_apart(name.data);
        known = is_machine(machine.type) &&
                put_machine(b, "async state of ", (struct span){name.data, name.size});
    }
    buffer_free(&name);
    return known;
}

/* "name@12-1" of F#: a closure, or a machine if the log says so. */
static bool is_fsharp(struct span type)
{
    const char *at = memchr(type.at, '@', type.size), *end = type.at + type.size;

    return at && at > type.at && at + 1 < end && at[1] >= '0' && at[1] <= '9' &&
           !memchr(type.at, '<', (size_t)(at - type.at));
}

static bool put_fsharp(struct buffer *b, enum sst_sort sort, const char *shown)
{
    buffer_text(b, sort == SST_SORT_ASYNC ? "async machine of " : "closure of ");
    buffer_text(b, shown);
    return true;
}

static bool put_anonymous(struct buffer *b, const struct nested *n)
{
    buffer_text(b, "anonymous type of ");
    put(b, n->arguments);
    return true;
}

/* What is a value type in every program: logs of earlier versions do not say. */
static bool is_well_known_value(const char *full)
{
    static const char *const names[] = {
        "System.Boolean", "System.Byte",     "System.SByte",   "System.Char",   "System.Decimal",
        "System.Double",  "System.Single",   "System.Int32",   "System.UInt32", "System.IntPtr",
        "System.UIntPtr", "System.Int64",    "System.UInt64",  "System.Int16",  "System.UInt16",
        "System.Guid",    "System.DateTime", "System.TimeSpan"};

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcmp(full, names[i]) == 0)
            return true;
    return false;
}

static bool put_enumerator(struct buffer *b, const struct nested *n, bool value)
{
    if (begins(n->type, "SZGenericArrayEnumerator<")) {
        buffer_text(b, "enumerator of ");
        put(b, n->arguments);
        buffer_text(b, "[]");
        return true;
    }
    if (!value || !n->outer.size || !begins(n->type, "Enumerator") ||
        (n->type.size > 10 && n->type.at[10] != '<'))
        return false;
    buffer_text(b, "boxed enumerator of ");
    put(b, n->outer);
    return true;
}

/*
 * Appends the words. shown: the type's short name; home: the short name of the method whose closure
 * it is, or NULL. Returns: false: the short name says it all, and nothing was appended.
 */
static bool put_type_words(struct buffer *b, const struct log_def *type, const char *shown,
                           const char *home)
{
    struct nested n = take_apart(shown);
    enum sst_sort sort = (enum sst_sort)type->sort;
    bool value = sort == SST_SORT_VALUE || is_well_known_value(type->name);

    if (!n.type.size || n.type.at[n.type.size - 1] == ']')
        return false; /* an array */
    if (begins(n.type, CLOSURE) || begins(n.type, VB_CLOSURE)) {
        put_closure(b, &n, home);
        return true;
    }
    if (begins(n.type, "<>c") && (n.type.size == 3 || n.type.at[3] == '<')) {
        buffer_text(b, "lambdas of ");
        put_outer(b, &n);
        return true;
    }
    if (n.arguments.size &&
        (begins(n.type, "<>f__AnonymousType") || begins(n.type, "VB$AnonymousType_")))
        return put_anonymous(b, &n);
    if (is_machine(n.type))
        return put_machine(b, machine_words(sort), (struct span){shown, strlen(shown)});
    if (begins(n.type, VB_MACHINE))
        return put_vb_machine(b, &n, sort);
    if (put_state(b, &n) || put_enumerator(b, &n, value))
        return true;
    if (is_fsharp(n.type))
        return put_fsharp(b, sort, shown);
    if (!value)
        return false;
    buffer_text(b, "boxed ");
    buffer_text(b, shown);
    return true;
}

/* ---- those of a log ---- */

/*
 * The closure class of C# that a method, a lambda or a local function, is in: *size bytes of the
 * name. (Names of generic ones have arguments, of which nothing is known here.)
 */
static bool find_closure(const char *method, size_t *size)
{
    const char *at = strstr(method, CLOSURE), *end;

    at = at ? at + 3 : NULL; /* lambdas of VB do not name their home */
    if (!at || at > strchrnul(method, '('))
        return false;
    end = at + strcspn(at, ".<");
    *size = (size_t)(end - method);
    return *end == '.';
}

struct closure {
    uint64_t name; /* a hash of the full name */
    uint32_t class_number;
    uint32_t home; /* a method; 0 not known */
    bool several;
};
INDEX_OF_BYTES(closure_kind, struct closure, name);

struct closures {
    struct closure *all;
    size_t count, capacity;
    struct index index;
};

static int add_closures(struct closures *c, const struct log_table *classes)
{
    int added = 0;

    for (uint32_t i = 1; added >= 0 && i < classes->count; i++) {
        const char *name = classes->defs[i].name;
        const struct closure key = {.name = hash_bytes(name, strlen(name)), .class_number = i};
        uint32_t number;

        if (strstr(name, CLOSURE))
            added = index_add(&c->index, &closure_kind, &c->all, &c->count, &c->capacity, &key,
                              &number);
    }
    return added < 0 ? added : 0;
}

/* "Basket.Add" of the lambda "Basket.Add+lambda_0". */
static size_t home_size(const struct name_words_log *log, uint32_t method, const char **text)
{
    *text = log->method(log->names, method);
    return strcspn(*text, "+");
}

static void find_homes(struct closures *c, const struct name_words_log *log)
{
    const struct log_table *methods = log->methods;

    for (uint32_t i = 1; c->count && i < methods->count; i++) {
        const char *mine, *other;
        struct closure key = {.home = i};
        size_t size, slot;
        uint32_t number;

        if (!find_closure(methods->defs[i].name, &size))
            continue;
        key.name = hash_bytes(methods->defs[i].name, size);
        number = index_find(&c->index, &closure_kind, c->all, closure_kind_hash(&key), &key, &slot);
        if (number == INDEX_NONE || c->all[number].several)
            continue;
        if (!c->all[number].home)
            c->all[number].home = i;
        size = home_size(log, i, &mine);
        if (size != home_size(log, c->all[number].home, &other) || memcmp(mine, other, size) != 0)
            c->all[number].several = true;
    }
}

static int put_homes(const struct closures *c, const struct name_words_log *log, char **homes)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct closure *closure = &c->all[i];
        struct buffer b = BUFFER_INIT;
        const char *text;
        size_t size;

        if (!closure->home || closure->several)
            continue;
        size = home_size(log, closure->home, &text);
        buffer_append(&b, text, size);
        homes[closure->class_number] = buffer_take(&b);
        if (!homes[closure->class_number])
            return -ENOMEM;
    }
    return 0;
}

struct said {
    uint64_t text; /* a hash */
    uint32_t class_number;
};
INDEX_OF_BYTES(said_kind, struct said, text);

struct all_said {
    struct said *all;
    size_t count, capacity;
    struct index index;
};

static bool is_said(struct all_said *s, const char *text, uint32_t class_number, int *err)
{
    const struct said key = {hash_bytes(text, strlen(text)), class_number};
    uint32_t number;
    int added = index_add(&s->index, &said_kind, &s->all, &s->count, &s->capacity, &key, &number);

    *err = added < 0 ? added : 0;
    return added == 0;
}

/* What is called as another is has its own name beside. */
static int put_words(const struct name_words_log *log, char **homes, char **out)
{
    const struct log_table *classes = log->classes;
    struct all_said said = {.count = 0};
    int err = 0;

    for (uint32_t i = 1; !err && i < classes->count; i++) {
        const char *shown = log->type(log->names, i);
        struct buffer b = BUFFER_INIT;

        if (!classes->defs[i].defined || !put_type_words(&b, &classes->defs[i], shown, homes[i]))
            continue;
        if (!b.failed && is_said(&said, b.data, i, &err)) {
            struct nested nested = take_apart(shown);

            buffer_text(&b, " (");
            put(&b, nested.type);
            buffer_char(&b, ')');
        }
        out[i] = buffer_take(&b);
        err = !err && !out[i] ? -ENOMEM : err;
    }
    memory_free(said.all);
    index_free(&said.index);
    return err;
}

int name_words_all(const struct name_words_log *log, char ***out)
{
    size_t count = log->classes->count;
    char **homes = memory_zalloc(count, sizeof(*homes));
    struct closures c = {.count = 0};
    int err = -ENOMEM;

    *out = memory_zalloc(count, sizeof(**out));
    if (homes && *out)
        err = add_closures(&c, log->classes);
    if (!err) {
        find_homes(&c, log);
        err = put_homes(&c, log, homes);
    }
    if (!err)
        err = put_words(log, homes, *out);
    for (size_t i = 0; homes && i < count; i++)
        memory_free(homes[i]);
    memory_free_all(homes, c.all);
    index_free(&c.index);
    return err;
}
