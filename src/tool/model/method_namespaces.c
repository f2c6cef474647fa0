#include "model/method_namespaces.h"

#include "base/name.h"

struct namespace_text {
    char *text; /* owned */
    size_t size;
    bool is_type; /* some method's */
};

static uint64_t text_hash(const void *record)
{
    const struct namespace_text *t = record;

    return hash_bytes(t->text, t->size);
}

static bool text_equal(const void *record, const void *key)
{
    const struct namespace_text *have = record, *want = key;

    return have->size == want->size && memcmp(have->text, want->text, want->size) == 0;
}

static const struct index_kind kind = {sizeof(struct namespace_text), text_hash, text_equal};

/* text need not end. Returns: 0 or -ENOMEM. */
static int add(struct namespaces *n, const char *text, size_t size, uint32_t *out)
{
    struct namespace_text key = {(char *)(uintptr_t)text, size, false};
    int added = index_add(&n->index, &kind, &n->texts, &n->count, &n->capacity, &key, out);
    char *copy;

    if (added <= 0)
        return added;
    copy = memory_alloc(size + 1);
    if (copy) {
        memcpy(copy, text, size);
        copy[size] = '\0';
    }
    n->texts[*out].text = copy ? copy : memory_strdup(""); /* the index is of no use any more */
    n->texts[*out].size = copy ? size : 0;
    return copy ? 0 : -ENOMEM;
}

/*
 * The length of the type in the name of a method, or of the type around a type: the part before the
 * last dot outside of brackets. 0: no such dot.
 */
static size_t outer(const char *name, size_t size)
{
    int depth = 0;

    for (size_t at = size; at-- > 0;) {
        depth += name[at] == '>' || name[at] == ']';
        depth -= name[at] == '<' || name[at] == '[';
        if (name[at] == '.' && depth <= 0 && at && name[at - 1] != '.')
            return at;
    }
    return 0;
}

/* Without type arguments at its end: Cart<T> and Cart are one type's name here. */
static size_t bare(const char *name, size_t size)
{
    const char *open = memchr(name, '<', size);

    return open && open > name && name[size - 1] == '>' ? (size_t)(open - name) : size;
}

static size_t type_of(const char *method)
{
    size_t size = (size_t)(name_parameters(method) - method);

    return outer(method, size);
}

int namespaces_init(struct namespaces *n, const struct log_defs *defs)
{
    int err = 0;

    *n = (struct namespaces){.defs = defs};
    n->of_method = memory_zalloc(defs->methods.count, sizeof(*n->of_method));
    if (!n->of_method)
        return -ENOMEM;
    for (size_t i = 0; !err && i < defs->methods.count; i++) {
        const char *name = defs->methods.defs[i].name;
        size_t size = type_of(name);
        uint32_t number;

        if (!size)
            continue;
        err = add(n, name, bare(name, size), &number);
        if (!err)
            n->texts[number].is_type = true;
    }
    return err;
}

void namespaces_fini(struct namespaces *n)
{
    for (size_t i = 0; i < n->count; i++)
        memory_free(n->texts[i].text);
    memory_free_all(n->texts, n->of_method);
    index_free(&n->index);
}

/* Whether that many bytes are the name of a type that has methods. */
static bool is_type(const struct namespaces *n, const char *name, size_t size)
{
    const struct namespace_text key = {(char *)(uintptr_t)name, size, false};
    size_t slot;
    uint32_t number = index_find(&n->index, &kind, n->texts, text_hash(&key), &key, &slot);

    return number != INDEX_NONE && n->texts[number].is_type;
}

uint32_t namespaces_of(struct namespaces *n, uint32_t method)
{
    const char *name = log_method(n->defs, method)->name;
    uint32_t number;
    size_t size;

    if (n->of_method[method])
        return n->of_method[method] - 1;
    size = type_of(name);
    do
        size = outer(name, bare(name, size));
    while (size && is_type(n, name, bare(name, size)));
    if (add(n, name, size, &number))
        return NAMESPACES_NONE;
    n->of_method[method] = number + 1;
    return number;
}

const char *namespaces_text(const struct namespaces *n, uint32_t number)
{
    return n->texts[number].text;
}
