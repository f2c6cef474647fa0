#include "readers/record.h"

#include "base/atomics.h"
#include "base/il.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ID_MAX (UINT32_MAX - 1)

static const char *const kind_names[] = {
#define NAME(name, text) text,
    "unknown", SST_KINDS(NAME)};
static const char *const heap_names[] = {"", SST_HEAPS(NAME)};
static const char *const call_names[] = {"", SST_CALLS(NAME)};
#undef NAME

const char *log_kind_name(enum sst_kind kind)
{
    return kind_names[kind];
}

/* The index of a word in one of the tables above, 0 if it is not there. */
static unsigned word_index(const char *const *names, size_t count, const char *text, size_t size)
{
    for (unsigned i = 1; i < count; i++)
        if (strlen(names[i]) == size && memcmp(names[i], text, size) == 0)
            return i;
    return 0;
}

void log_parser_init(struct log_parser *p)
{
    memset(p, 0, sizeof(*p));
}

void log_parser_fini(struct log_parser *p)
{
    json_decref(p->json);
    free(p->stack); /* jansson's: from malloc */
    free(p->type);
    p->json = NULL;
    p->stack = p->type = NULL;
}

/*
 * By hand. `at` walks a line of compact JSON: no spaces, no escapes, ASCII only. Whatever is not
 * exactly so gives NULL or false, and the line goes to jansson. The newlines behind the line end
 * every loop here.
 */

/* Digits up to the character behind them; at most 16, which is all that 2^53 needs. */
static inline const char *hand_unsigned(const char *at, uint64_t *out)
{
    uint64_t value = (uint64_t)(unsigned char)*at - '0';
    const char *first = at;

    if (UNLIKELY(value > 9))
        return NULL;
    for (at++;; at++) {
        uint64_t digit = (uint64_t)(unsigned char)*at - '0';

        if (digit > 9)
            break;
        value = value * 10 + digit;
        if (UNLIKELY(at - first >= 16))
            return NULL;
    }
    if (UNLIKELY((*first == '0' && at - first > 1) || value > SST_INTEGER_MAX))
        return NULL;
    *out = value;
    return at;
}

static inline const char *hand_id(const char *at, uint64_t min, uint32_t *out)
{
    uint64_t value;

    at = hand_unsigned(at, &value);
    if (UNLIKELY(!at || value < min || value > ID_MAX))
        return NULL;
    *out = (uint32_t)value;
    return at;
}

static inline const char *hand_il(const char *at, int32_t *out)
{
    uint64_t value;

    at = hand_unsigned(at, &value);
    if (UNLIKELY(!at || value > IL_MOST))
        return NULL;
    *out = (int32_t)value;
    return at;
}

/* The last of several instructions, behind the member with the first. */
static const char *hand_il_last(const char *at, int32_t *il)
{
    int32_t last;

    if (*il < 0 || *il & IL_SEVERAL || !(at = hand_il(at, &last)) || last <= *il)
        return NULL;
    *il = il_several((uint32_t)*il, (uint32_t)last);
    return *il < 0 ? NULL : at;
}

/* Any number; its bounds only, by the grammar of JSON. */
static const char *hand_number_end(const char *at)
{
    const char *first;

    at += *at == '-';
    first = at;
    while (*at >= '0' && *at <= '9')
        at++;
    if (at == first || (*first == '0' && at - first > 1))
        return NULL;
    if (*at == '.') {
        first = ++at;
        while (*at >= '0' && *at <= '9')
            at++;
        if (at == first)
            return NULL;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '-' || *at == '+';
        first = at;
        while (*at >= '0' && *at <= '9')
            at++;
        if (at == first)
            return NULL;
    }
    return at;
}

/*
 * A number that is not negative. Up to 15 digits over a power of ten up to 10^15 are exact doubles,
 * so is the quotient.
 */
static const char *hand_weight(const char *at, double *out)
{
    const char *end = hand_number_end(at), *first = at;
    uint64_t digits = 0;
    double scale = 1;
    bool fraction = false;

    if (!end || *at == '-' || end - at > 32)
        return NULL;
    if (end - at > 18 && !memchr(at, '.', (size_t)(end - at)))
        return NULL; /* perhaps more than an int64 holds: jansson decides */
    for (; at < end && (*at == '.' || (*at >= '0' && *at <= '9')); at++) {
        if (*at == '.') {
            fraction = true;
            continue;
        }
        digits = digits * 10 + (uint64_t)(*at - '0');
        scale *= fraction ? 10 : 1;
    }
    *out = at == end && end - first <= 16 ? (double)digits / scale : strtod(first, NULL);
    return *out <= SST_INTEGER_MAX ? end : NULL;
}

/*
 * `at` is behind the opening quote; gives the closing one. Eight bytes at once while none of them
 * is special: below 0x20, a quote, a backslash, 0x7F or above. (A borrow may make an innocent byte
 *          look special, never the other way round.)
 */
static inline const char *hand_string_end(const char *at)
{
    const uint64_t each = 0x0101010101010101u, top = 0x80 * each;
    uint64_t eight;

    for (;; at += 8) {
        memcpy(&eight, at, 8); /* see LOG_LINE_PADDING */
        if (((eight - 0x20 * each) | (eight + each) | eight | ((eight ^ '"' * each) - each) |
             ((eight ^ '\\' * each) - each)) &
            top)
            break;
    }
    for (;; at++) {
        unsigned char c = (unsigned char)*at;

        if (c == '"')
            return at;
        if (UNLIKELY(c < 0x20 || c >= 0x7F || c == '\\'))
            return NULL;
    }
}

static const char *hand_strings_end(const char *at)
{
    if (*at++ != '[')
        return NULL;
    if (*at == ']')
        return at + 1;
    for (;;) {
        if (*at++ != '"' || !(at = hand_string_end(at)))
            return NULL;
        at++;
        if (*at == ']')
            return at + 1;
        if (*at++ != ',')
            return NULL;
    }
}

/* A member we do not know: passed over if it is simple. */
static const char *hand_skip(const char *at)
{
    const char *end;

    if (*at == '"') {
        end = hand_string_end(at + 1);
        return end ? end + 1 : NULL;
    }
    if (strncmp(at, "true", 4) == 0 || strncmp(at, "null", 4) == 0)
        return at + 4;
    if (strncmp(at, "false", 5) == 0)
        return at + 5;
    end = hand_number_end(at);
    return end && end - at <= 18 && !memchr(at, 'e', (size_t)(end - at)) &&
                   !memchr(at, 'E', (size_t)(end - at))
               ? end
               : NULL;
}

static const char *hand_word(const char *at, const char *const *names, size_t count, unsigned *out)
{
    const char *end;

    if (*at != '"' || !(end = hand_string_end(at + 1)))
        return NULL;
    *out = word_index(names, count, at + 1, (size_t)(end - at - 1));
    return *out ? end + 1 : NULL;
}

enum { /* members seen: one twice is jansson's business */
       SAW_T = 1,
       SAW_THREAD = 2,
       SAW_CLASS = 4,
       SAW_BYTES = 8,
       SAW_NODE = 16,
       SAW_IL = 32,
       SAW_HEAP = 64,
       SAW_WEIGHT = 128,
       SAW_STACK = 256,
       SAW_TYPE = 512,
       SAW_ALLOCS = 1024,
       SAW_ID = 2048,
       SAW_PARENT = 4096,
       SAW_METHOD = 8192,
       SAW_CALL = 16384,
       SAW_FILTER = 32768,
       SAW_VALUES = 65536,
       SAW_CUT = 131072,
       SAW_BEGUN = 262144,
       SAW_INLINED = 1u << 30,
       SAW_GC = 524288,
       SAW_SITE = 1048576,
       SAW_SURVIVED = 2097152,
       SAW_SURVIVED_BYTES = 4194304,
       SAW_DIED = 8388608,
       SAW_OPENING = 16777216,
       SAW_UNLOADED = 33554432,
};

/* Is the key that begins behind the quote at `at` this one? Then `at` moves to its value. */
#define KEY(at, text) \
    (memcmp((at), text "\":", sizeof(text) + 1) == 0 && ((at) += sizeof(text) + 1))

/* The members common to every kind that is read by hand: what to do with a key nobody asked for. */
static const char *hand_unknown(const char *at, uint64_t *unknown)
{
    if (memcmp(at, "kind\":", 6) == 0)
        return NULL; /* a second one: jansson decides which counts */
    at = hand_string_end(at);
    if (!at || at[1] != ':')
        return NULL;
    ++*unknown;
    return hand_skip(at + 2);
}

static const char *hand_bool(const char *at, bool *value)
{
    *value = *at == 't';
    if (*value)
        return strncmp(at, "true", 4) == 0 ? at + 4 : NULL;
    return strncmp(at, "false", 5) == 0 ? at + 5 : NULL;
}

static const char *hand_stack(const char *at, struct log_alloc *a)
{
    const char *end = hand_strings_end(at);

    a->stack = at;
    a->stack_size = end ? (size_t)(end - at) : 0;
    return end;
}

static const char *hand_type(const char *at, struct log_alloc *a)
{
    const char *end = *at == '"' ? hand_string_end(at + 1) : NULL;

    a->type = at;
    a->type_size = end ? (size_t)(end + 1 - at) : 0;
    return end ? end + 1 : NULL;
}

/* Is it this member: then its bit, and what is behind its value, are the function's results. */
#define READ_MEMBER(key, its_bit, value) \
    if (KEY(at, key)) { \
        *bit = (its_bit); \
        return (value); \
    }

/* The same of a member that is one of these words. */
#define READ_WORD(key, its_bit, names, value) \
    if (KEY(at, key)) { \
        unsigned word = 0; \
\
        *bit = (its_bit); \
        at = hand_word(at, (names), COUNT_OF(names), &word); \
        (value) = word; \
        return at; \
    }

/* The same in a switch by the first letter. */
#define READ_CASE(letter, key, its_bit, value) \
    case letter: \
        READ_MEMBER(key, its_bit, value) \
        break;

/* "il0" in place of "il" of what only unoptimised code makes; and the last of several. */
#define READ_IL_MORE(il_, unoptimised_) \
    READ_MEMBER("il_last", 0, hand_il_last(at, &(il_))) \
    if (KEY(at, "il0")) { \
        *bit = SAW_IL; \
        (unoptimised_) = true; \
        return hand_il(at, &(il_)); \
    }

static const char *hand_alloc_rare(const char *at, struct log_alloc *a, unsigned *bit,
                                   uint64_t *unknown)
{
    uint32_t values;

    READ_WORD("heap", SAW_HEAP, heap_names, a->heap)
    READ_MEMBER("weight", SAW_WEIGHT, hand_weight(at, &a->weight))
    READ_MEMBER("stack", SAW_STACK, hand_stack(at, a))
    READ_MEMBER("type", SAW_TYPE, hand_type(at, a))
    READ_MEMBER("cut", SAW_CUT, hand_bool(at, &a->cut))
    READ_WORD("call", SAW_CALL, call_names, a->call)
    READ_MEMBER("values", SAW_VALUES, hand_id(at, 1, &values))
    READ_MEMBER("inlined", SAW_INLINED, hand_id(at, 1, &a->inlined))
    READ_MEMBER("allocs", SAW_ALLOCS, hand_unsigned(at, &a->allocs))
    READ_IL_MORE(a->il, a->unoptimised)
    return hand_unknown(at, unknown);
}

/* One member of alloc or site; `at` is behind its opening quote. */
static inline const char *hand_alloc_member(const char *at, void *record, unsigned *bit,
                                            uint64_t *unknown)
{
    struct log_alloc *a = record;

    switch (*at) {
    case 't':
        READ_MEMBER("t", SAW_T, hand_unsigned(at, &a->t))
        READ_MEMBER("thread", SAW_THREAD, hand_id(at, 1, &a->thread))
        break;
        READ_CASE('c', "class", SAW_CLASS, hand_id(at, 1, &a->class_id))
        READ_CASE('b', "bytes", SAW_BYTES, hand_unsigned(at, &a->bytes))
        READ_CASE('n', "node", SAW_NODE, hand_id(at, 0, &a->node))
        READ_CASE('i', "il", SAW_IL, hand_il(at, &a->il))
    }
    return hand_alloc_rare(at, a, bit, unknown);
}

/* Arrays of four whole numbers each; what is behind them all, or NULL. */
static const char *hand_died(const char *at, const char **out)
{
    uint64_t number;

    *out = at;
    if (*at++ != '[')
        return NULL;
    if (*at == ']')
        return at + 1;
    for (;; at++) {
        for (int i = 0; i < 4; i++) {
            if (*at != (i ? ',' : '[') || !(at = hand_unsigned(at + 1, &number)))
                return NULL;
        }
        if (*at++ != ']')
            return NULL;
        if (*at != ',')
            return *at == ']' ? at + 1 : NULL;
    }
}

static const char *hand_live_member(const char *at, void *record, unsigned *bit, uint64_t *unknown)
{
    struct log_live_line *l = record;

    READ_MEMBER("site", SAW_SITE, hand_id(at, 1, &l->site))
    READ_MEMBER("gc", SAW_GC, hand_unsigned(at, &l->gc))
    READ_MEMBER("survived", SAW_SURVIVED, hand_unsigned(at, &l->survived))
    READ_MEMBER("survived_bytes", SAW_SURVIVED_BYTES, hand_unsigned(at, &l->survived_bytes))
    READ_MEMBER("died", SAW_DIED, hand_died(at, &l->died))
    READ_MEMBER("opening", SAW_OPENING, hand_bool(at, &l->opening))
    return hand_unknown(at, unknown);
}

/* A live_site's: where its objects are made, of what type, and what a live line says of them. */
static const char *hand_live_site_member(const char *at, void *record, unsigned *bit,
                                         uint64_t *unknown)
{
    struct log_alloc *a = &((struct log_record *)record)->alloc;

    READ_MEMBER("id", SAW_ID, hand_id(at, 1, &a->id))
    READ_MEMBER("node", SAW_NODE, hand_id(at, 0, &a->node))
    READ_MEMBER("il", SAW_IL, hand_il(at, &a->il))
    READ_MEMBER("class", SAW_CLASS, hand_id(at, 1, &a->class_id))
    READ_MEMBER("inlined", SAW_INLINED, hand_id(at, 1, &a->inlined))
    READ_MEMBER("cut", SAW_CUT, hand_bool(at, &a->cut))
    READ_WORD("call", SAW_CALL, call_names, a->call)
    READ_MEMBER("unloaded", SAW_UNLOADED, hand_bool(at, &a->unloaded))
    READ_IL_MORE(a->il, a->unoptimised)
    return hand_live_member(at, &((struct log_record *)record)->live, bit, unknown);
}

static inline const char *hand_node_member(const char *at, void *record, unsigned *bit,
                                           uint64_t *unknown)
{
    struct log_node *n = record;

    READ_MEMBER("id", SAW_ID, hand_id(at, 1, &n->id))
    READ_MEMBER("parent", SAW_PARENT, hand_id(at, 0, &n->parent))
    READ_MEMBER("method", SAW_METHOD, hand_id(at, 1, &n->method))
    READ_MEMBER("il", SAW_IL, hand_il(at, &n->il))
    READ_MEMBER("il_last", 0, hand_il_last(at, &n->il))
    READ_WORD("call", SAW_CALL, call_names, n->call)
    READ_MEMBER("filter", SAW_FILTER, hand_bool(at, &n->filter))
    READ_MEMBER("begun", SAW_BEGUN, hand_id(at, 1, &n->begun))
    READ_MEMBER("inlined", SAW_INLINED, hand_id(at, 1, &n->inlined))
    return hand_unknown(at, unknown);
}

/* All members of a line. Returns: the bits of those seen, 0 if it cannot be read by hand. */
INTO_CALLER unsigned hand_members(const char *at, const char *end,
                                  const char *member(const char *, void *, unsigned *, uint64_t *),
                                  void *record, uint64_t *unknown)
{
    unsigned saw = 0;

    for (;;) {
        unsigned bit = 0;

        if (UNLIKELY(*at++ != '"'))
            return 0;
        at = member(at, record, &bit, unknown);
        if (UNLIKELY(!at || (saw & bit)))
            return 0;
        saw |= bit;
        if (*at == '}')
            return at + 1 == end ? saw : 0;
        if (UNLIKELY(*at++ != ','))
            return 0;
    }
}

static bool hand_alloc(const char *at, const char *end, enum sst_kind kind, struct log_alloc *a,
                       uint64_t *unknown)
{
    unsigned need = SAW_BYTES | (kind == SST_KIND_SITE ? SAW_ALLOCS : SAW_T | SAW_THREAD), saw;

    *a = (struct log_alloc){.allocs = 1, .il = LOG_NO_IL};
    saw = hand_members(at, end, hand_alloc_member, a, unknown);
    return (saw & need) == need && (saw & (SAW_CLASS | SAW_TYPE)) &&
           (saw & (SAW_NODE | SAW_STACK)) && (kind == SST_KIND_SITE || !(saw & SAW_ALLOCS));
}

static bool hand_node(const char *at, const char *end, struct log_node *n, uint64_t *unknown)
{
    unsigned need = SAW_ID | SAW_PARENT | SAW_METHOD;

    *n = (struct log_node){.il = LOG_NO_IL};
    return (hand_members(at, end, hand_node_member, n, unknown) & need) == need;
}

static bool hand_live_site(const char *at, const char *end, struct log_record *r, uint64_t *unknown)
{
    unsigned need = SAW_ID | SAW_NODE | SAW_CLASS, saw;

    r->alloc = (struct log_alloc){.il = LOG_NO_IL};
    r->live = (struct log_live_line){.gc = 0};
    saw = hand_members(at, end, hand_live_site_member, r, unknown);
    if (saw & SAW_GC)
        r->live.site = r->alloc.id;
    else
        r->live = (struct log_live_line){.gc = 0};
    return (saw & need) == need && !(saw & SAW_SITE);
}

static bool hand_live(const char *at, const char *end, struct log_live_line *l, uint64_t *unknown)
{
    unsigned need = SAW_GC | SAW_SITE;

    *l = (struct log_live_line){.gc = 0};
    return (hand_members(at, end, hand_live_member, l, unknown) & need) == need;
}

/* Pairs of whole numbers; what is behind the array, or NULL. */
static const char *hand_pairs_end(const char *at, bool signs)
{
    unsigned count = 0;

    if (*at++ != '[')
        return NULL;
    if (*at == ']')
        return at + 1;
    for (;; at++, count++) {
        const char *first;

        if (*at == '-' && !(signs && at[1] >= '1' && at[1] <= '9'))
            return NULL;
        first = at += *at == '-';
        while (*at >= '0' && *at <= '9')
            at++;
        if (at == first || at - first > 15 || (*first == '0' && at - first > 1))
            return NULL;
        if (*at != ',')
            break;
    }
    return *at == ']' && count % 2 == 1 ? at + 1 : NULL;
}

/* Members in the order in which they are written, and no others. */
static bool hand_calls(const char *at, const char *end, struct log_batch *b)
{
    *b = (struct log_batch){0};
    if (strncmp(at, "\"t\":", 4) != 0 || !(at = hand_unsigned(at + 4, &b->t)) ||
        strncmp(at, ",\"thread\":", 10) != 0 || !(at = hand_id(at + 10, 1, &b->thread)) ||
        strncmp(at, ",\"depth\":", 9) != 0 || !(at = hand_unsigned(at + 9, &b->depth)))
        return false;
    if (strncmp(at, ",\"open\":", 8) == 0) {
        b->open = at + 8;
        if (!(at = hand_pairs_end(b->open, false)))
            return false;
    }
    if (strncmp(at, ",\"e\":", 5) != 0)
        return false;
    b->events = at + 5;
    at = hand_pairs_end(b->events, true);
    return at && b->events[1] != ']' && *at == '}' && at + 1 == end;
}

/* Behind how a line of some kind begins, or NULL. */
static inline const char *members_of(const struct log_line *line, const char *begin, size_t size)
{
    return line->size > size && memcmp(line->text, begin, size) == 0 ? line->text + size : NULL;
}
#define MEMBERS_OF(line, begin) members_of((line), (begin), sizeof(begin) - 1)

bool log_parse_by_hand(struct log_parser *p, const struct log_line *line, struct log_record *out)
{
    const char *at, *end = line->text + line->size;
    uint64_t unknown = 0;
    bool done = false;

    if (LIKELY((at = MEMBERS_OF(line, "{\"kind\":\"alloc\",")) != NULL)) {
        out->kind = SST_KIND_ALLOC;
        done = hand_alloc(at, end, out->kind, &out->alloc, &unknown);
    } else if ((at = MEMBERS_OF(line, "{\"kind\":\"node\",")) != NULL) {
        out->kind = SST_KIND_NODE;
        done = hand_node(at, end, &out->node, &unknown);
    } else if ((at = MEMBERS_OF(line, "{\"kind\":\"site\",")) != NULL) {
        out->kind = SST_KIND_SITE;
        done = hand_alloc(at, end, out->kind, &out->alloc, &unknown);
    } else if ((at = MEMBERS_OF(line, "{\"kind\":\"calls\",")) != NULL) {
        out->kind = SST_KIND_CALLS;
        done = hand_calls(at, end, &out->calls);
    } else if ((at = MEMBERS_OF(line, "{\"kind\":\"live\",")) != NULL) {
        out->kind = SST_KIND_LIVE;
        done = hand_live(at, end, &out->live, &unknown);
    } else if ((at = MEMBERS_OF(line, "{\"kind\":\"live_site\",")) != NULL) {
        out->kind = SST_KIND_LIVE_SITE;
        done = hand_live_site(at, end, out, &unknown);
    }
    if (LIKELY(done)) {
        out->at = line->at;
        out->json = NULL;
        p->unknown_members += unknown;
    }
    return done;
}

/* By jansson. */

/* Notes what is wrong with the record; only the first such thing counts. */
static void bad(struct log_parser *p, const char *key, const char *what)
{
    if (!p->err)
        snprintf(p->why, sizeof(p->why), "member \"%s\" %s", key, what);
    p->err = p->err ? p->err : -EBADMSG;
}

int log_member_count(const json_t *record, const char *key, uint64_t *out)
{
    const json_t *member = json_object_get(record, key);
    json_int_t value;

    if (!member)
        return -ENOENT;
    value = json_is_integer(member) ? json_integer_value(member) : -1;
    if (value < 0 || value > SST_INTEGER_MAX)
        return -EBADMSG;
    *out = (uint64_t)value;
    return 0;
}

int log_member_id(const json_t *record, const char *key, uint32_t min, uint32_t *out)
{
    uint64_t value = 0;
    int err = log_member_count(record, key, &value);

    if (err)
        return err;
    if (value < min || value > ID_MAX)
        return -EBADMSG;
    *out = (uint32_t)value;
    return 0;
}

int log_member_text(const json_t *record, const char *key, const char **out)
{
    const json_t *member = json_object_get(record, key);

    if (json_is_string(member))
        *out = json_string_value(member);
    if (!member)
        return -ENOENT;
    return json_is_string(member) ? 0 : -EBADMSG;
}

int log_member_number(const json_t *record, const char *key, double *out)
{
    const json_t *member = json_object_get(record, key);

    if (json_is_number(member))
        *out = json_number_value(member);
    if (!member)
        return -ENOENT;
    return json_is_number(member) ? 0 : -EBADMSG;
}

static struct log_recording recording_of(const json_t *header)
{
    struct log_recording now = {0, 0, 0, 1};

    (void)log_member_count(header, "pid", &now.pid);
    (void)log_member_count(header, "clock", &now.clock);
    (void)log_member_count(header, "part", &now.part);
    return now;
}

bool log_recording_goes_on(const struct log_recording *r, const json_t *header)
{
    const struct log_recording now = recording_of(header);

    return r->number && now.pid == r->pid && now.clock == r->clock && now.part > r->part;
}

bool log_recording_again(const struct log_recording *r, const json_t *header)
{
    const struct log_recording now = recording_of(header);

    return r->number && now.pid == r->pid && now.clock == r->clock && now.part == r->part;
}

bool log_recording_next(struct log_recording *r, const json_t *header)
{
    bool begins = !log_recording_goes_on(r, header);
    uint64_t number = r->number + begins;

    *r = recording_of(header);
    r->number = number;
    return begins;
}

static void want(struct log_parser *p, int err, const char *key, bool needed)
{
    if (err == -EBADMSG)
        bad(p, key, "is not what it should be");
    else if (err == -ENOENT && needed)
        bad(p, key, "is missing");
}

static void any_count(struct log_parser *p, const char *key, bool needed, uint64_t *out)
{
    want(p, log_member_count(p->json, key, out), key, needed);
}

static void any_id(struct log_parser *p, const char *key, uint32_t min, bool needed, uint32_t *out)
{
    want(p, log_member_id(p->json, key, min, out), key, needed);
}

static void any_il(struct log_parser *p, const char *key, int32_t *out)
{
    uint64_t il = 0, last = 0;

    *out = LOG_NO_IL;
    if (!json_object_get(p->json, key))
        return;
    any_count(p, key, true, &il);
    if (il > IL_MOST)
        bad(p, key, "is too large");
    else
        *out = (int32_t)il;
    if (!json_object_get(p->json, "il_last"))
        return;
    any_count(p, "il_last", true, &last);
    *out = last > il && last <= IL_MOST ? il_several((uint32_t)il, (uint32_t)last) : -1;
    if (*out < 0)
        bad(p, "il_last", "is not a little behind il");
}

/* An allocation's has either of two names. */
static void any_alloc_il(struct log_parser *p, struct log_alloc *alloc)
{
    alloc->unoptimised = json_object_get(p->json, "il0");
    if (alloc->unoptimised && json_object_get(p->json, "il"))
        bad(p, "il0", "cannot occur together with il");
    any_il(p, alloc->unoptimised ? "il0" : "il", &alloc->il);
}

/* A value as text again, the parser's; NULL: no memory. */
static const char *any_text(struct log_parser *p, const json_t *value, char **text)
{
    *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    p->err = *text ? p->err : -ENOMEM;
    return *text;
}

/* An inline stack goes back into text, so that there is one way to read it. */
static void any_stack(struct log_parser *p, struct log_alloc *alloc)
{
    const json_t *stack = json_object_get(p->json, "stack"),
                 *type = json_object_get(p->json, "type");
    const json_t *frame;
    size_t i;

    if (stack && !json_is_array(stack))
        bad(p, "stack", "is not an array");
    json_array_foreach(stack, i, frame)
    {
        if (!json_is_string(frame))
            bad(p, "stack", "contains a value that is not a name");
    }
    if (type && !json_is_string(type))
        bad(p, "type", "is not a string");
    if (!p->err && stack && (alloc->stack = any_text(p, stack, &p->stack)))
        alloc->stack_size = strlen(alloc->stack);
    if (!p->err && type && (alloc->type = any_text(p, type, &p->type)))
        alloc->type_size = strlen(alloc->type);
}

static void any_bool(struct log_parser *p, const char *key, bool *out)
{
    const json_t *value = json_object_get(p->json, key);

    *out = json_is_true(value);
    if (value && !json_is_boolean(value))
        bad(p, key, "is neither true nor false");
}

/* The index of a text that is one of these words; 0: it is not there, or none of them. */
static unsigned any_word(struct log_parser *p, const char *key, const char *const *names,
                         size_t count)
{
    const char *word = "";

    want(p, log_member_text(p->json, key, &word), key, false);
    return word_index(names, count, word, strlen(word));
}

static void any_alloc(struct log_parser *p, enum sst_kind kind, struct log_alloc *alloc)
{
    bool site = kind == SST_KIND_SITE;

    *alloc = (struct log_alloc){.allocs = 1, .il = LOG_NO_IL};
    any_count(p, "bytes", true, &alloc->bytes);
    any_count(p, "t", !site, &alloc->t);
    any_id(p, "thread", 1, !site, &alloc->thread);
    if (site)
        any_count(p, "allocs", true, &alloc->allocs);
    want(p, log_member_number(p->json, "weight", &alloc->weight), "weight", false);
    if (!(alloc->weight >= 0 && alloc->weight <= SST_INTEGER_MAX))
        bad(p, "weight", "is out of range");
    alloc->heap = (enum sst_heap)any_word(p, "heap", heap_names, COUNT_OF(heap_names));
    any_alloc_il(p, alloc);
    any_bool(p, "cut", &alloc->cut);
    alloc->call = (enum sst_call)any_word(p, "call", call_names, COUNT_OF(call_names));
    any_stack(p, alloc);
    any_id(p, "class", 1, !alloc->type, &alloc->class_id);
    any_id(p, "node", 0, !alloc->stack, &alloc->node);
    any_id(p, "inlined", 1, false, &alloc->inlined);
}

static void any_inlined(struct log_parser *p, struct log_inlined *inlined)
{
    *inlined = (struct log_inlined){.il = LOG_NO_IL};
    any_id(p, "id", 1, true, &inlined->id);
    any_id(p, "parent", 1, false, &inlined->parent);
    any_id(p, "method", 1, true, &inlined->method);
    any_il(p, "il", &inlined->il);
}

static void any_node(struct log_parser *p, struct log_node *node)
{
    *node = (struct log_node){.il = LOG_NO_IL};
    any_bool(p, "filter", &node->filter);
    any_id(p, "id", 1, true, &node->id);
    any_id(p, "parent", 0, true, &node->parent);
    any_id(p, "method", 1, true, &node->method);
    any_id(p, "begun", 1, false, &node->begun);
    any_id(p, "inlined", 1, false, &node->inlined);
    node->call = (enum sst_call)any_word(p, "call", call_names, COUNT_OF(call_names));
    any_il(p, "il", &node->il);
}

/* An array of pairs of whole numbers, as text again, the parser's. */
static const char *any_pairs(struct log_parser *p, const char *key, int64_t min, char **text)
{
    const json_t *array = json_object_get(p->json, key), *number;
    size_t i;

    if (!json_is_array(array) || json_array_size(array) % 2)
        bad(p, key, "must be an array of pairs of whole numbers");
    json_array_foreach(array, i, number)
    {
        if (!json_is_integer(number) || json_integer_value(number) < min ||
            json_integer_value(number) > SST_INTEGER_MAX)
            bad(p, key, "contains a value that is not a call number");
    }
    return p->err ? NULL : any_text(p, array, text);
}

static void any_calls(struct log_parser *p, struct log_batch *batch)
{
    *batch = (struct log_batch){0};
    any_count(p, "t", true, &batch->t);
    any_id(p, "thread", 1, true, &batch->thread);
    any_count(p, "depth", true, &batch->depth);
    if (json_object_get(p->json, "open"))
        batch->open = any_pairs(p, "open", 0, &p->type);
    batch->events = any_pairs(p, "e", -SST_INTEGER_MAX, &p->stack);
    if (!json_array_size(json_object_get(p->json, "e")))
        bad(p, "e", "is empty");
}

/* Arrays of four whole numbers, as text again, the parser's. */
static const char *any_died(struct log_parser *p)
{
    const json_t *array = json_object_get(p->json, "died"), *death, *number;
    size_t i, j;

    if (!json_is_array(array))
        bad(p, "died", "is not an array");
    json_array_foreach(array, i, death)
    {
        if (json_array_size(death) != 4)
            bad(p, "died", "must contain arrays of four integers");
        json_array_foreach(death, j, number)
        {
            if (!json_is_integer(number) || json_integer_value(number) < 0 ||
                json_integer_value(number) > SST_INTEGER_MAX)
                bad(p, "died", "contains a value that is not a count");
        }
    }
    return p->err ? NULL : any_text(p, array, &p->stack);
}

static void any_objects(struct log_parser *p, struct log_live_line *line)
{
    *line = (struct log_live_line){.gc = 0};
    any_count(p, "gc", true, &line->gc);
    any_count(p, "survived", false, &line->survived);
    any_count(p, "survived_bytes", false, &line->survived_bytes);
    any_bool(p, "opening", &line->opening);
    if (json_object_get(p->json, "died"))
        line->died = any_died(p);
}

static void any_live(struct log_parser *p, struct log_live_line *line)
{
    any_objects(p, line);
    any_id(p, "site", 1, true, &line->site);
}

static void any_live_site(struct log_parser *p, struct log_record *record)
{
    struct log_alloc *a = &record->alloc;

    *a = (struct log_alloc){.il = LOG_NO_IL};
    record->live = (struct log_live_line){.gc = 0};
    any_id(p, "id", 1, true, &a->id);
    any_bool(p, "unloaded", &a->unloaded);
    any_alloc_il(p, a);
    any_bool(p, "cut", &a->cut);
    a->call = (enum sst_call)any_word(p, "call", call_names, COUNT_OF(call_names));
    any_id(p, "class", 1, true, &a->class_id);
    any_id(p, "node", 0, true, &a->node);
    any_id(p, "inlined", 1, false, &a->inlined);
    if (!json_object_get(p->json, "gc"))
        return;
    any_objects(p, &record->live);
    record->live.site = a->id;
}

/* What this version knows of each kind, so that what it does not know can be counted. */
#define MEMBER(form, member, label) #member,
static const char *const known_members[SST_KIND_COUNT][32] = {
    [SST_KIND_HEADER] = {"format",    "version",     "pid",        "executable",   "command",
                         "runtime",   "hooks",       "capture",    "options",      "clock",
                         "started",   "tracer",      "unverified", "part",         "uncontrolled",
                         "no_native", "rotated_out", "beginnings", "concurrent",   "sampler",
                         "attached",  "born",        "parents",    "uncompressed", "sampling",
                         "no_inlined"},
    [SST_KIND_MODULE] = {"id", "name", "path", "mvid", "owner"},
    [SST_KIND_SYMBOLS] = {"module", "pdb", "packed", "size"},
    [SST_KIND_CLASS] = {"id", "name", "module", "token", "sort"},
    [SST_KIND_METHOD] = {"id", "name", "module", "token"},
    [SST_KIND_IMAGE] = {"id", "path", "base", "build_id"},
    [SST_KIND_THREAD] = {"id", "os", "name", "end"},
    [SST_KIND_NODE] = {"id", "parent", "begun", "method", "il", "il_last", "call", "filter",
                       "snapshot", "inlined"},
    [SST_KIND_INLINED] = {"id", "parent", "method", "il", "il_last"},
    [SST_KIND_ALLOC] = {"t", "thread", "class", "bytes", "node", "il", "heap", "weight", "stack",
                        "type", "values", "args", "cut", "il0", "il_last", "call", "inlined"},
    [SST_KIND_VALUES] = {"id", "t", "thread", "method", "parent", "call", "depth", "args",
                         "returns", "out"},
    [SST_KIND_SITE] = {"node", "il", "class", "thread", "allocs", "bytes", "heap", "weight",
                       "stack", "type", "t", "cut", "il0", "il_last", "call", "inlined"},
    [SST_KIND_SNAPSHOT] = {"t", "thread", "refused", "stack", "native"},
    [SST_KIND_CHECK] = {"t", SST_COUNTERS_SNAPSHOTS(MEMBER) "shadow", "snapshot", "shadow_ns",
                        "snapshot_ns", "by_depth", "instructions", "registers", "threads", "seeds",
                        "calls", "live", "repairs"},
    [SST_KIND_CHECK_THREAD] = {"t", "thread", SST_COUNTERS_CHECK_THREAD(MEMBER)},
    [SST_KIND_MISMATCH] = {"t", "thread", "class", "cause", "first", "refused", "shadow",
                           "snapshot", "repairs", "stopped", "in_call", "native"},
    [SST_KIND_LOST] = {"t", "reason", "count"},
    [SST_KIND_REPAIR] = {"t", "reason", "count"},
    [SST_KIND_MANAGED_THREAD] = {"t", "thread", "node", "event", "id", "os", "name", "cut"},
    [SST_KIND_LOAD] = {"t", "thread", "node", "event", "what", "name", "assembly", "collectible",
                       "dynamic", "status", "cut"},
    [SST_KIND_CLASS_LOAD] = {"t", "thread", "node", "event", "class", "status", "cut"},
    [SST_KIND_JIT] = {"t", "thread", "node", "method", "ns", "version", "tier", "dynamic", "name",
                      "unloaded", "status", "cut"},
    [SST_KIND_EXCEPTION] = {"t", "thread", "node", "event", "id", "class", "message", "method",
                            "ns", "cut"},
    [SST_KIND_GC] = {"t", "thread", "node", "gc", "ns", "reason", "generations", "before", "after",
                     "cut"},
    [SST_KIND_SUSPEND] = {"t", "thread", "node", "reason", "ns", "stop_ns", "aborted", "cut"},
    [SST_KIND_TRANSITION] = {"t", "thread", "node", "method", "to", "by", "cut"},
    [SST_KIND_FINALIZER] = {"t", "thread", "class", "critical"},
    [SST_KIND_CALLS] = {"t", "thread", "depth", "open", "e"},
    [SST_KIND_FAMILY_LOST] = {"t", "family", "seen", "written", "lost", "lost_by"},
    [SST_KIND_MARK] = {"t", "text"},
    [SST_KIND_CONFIG] = {"t", "number", "paused", "sample", "only"},
    [SST_KIND_SAMPLE] = {"t", "os", "node", "source", "depth", "approximate", "cut"},
    [SST_KIND_PROFILE] = {"t", "source", "hz", SST_COUNTERS_PROFILE(MEMBER) "cost_ns", "worst_ns",
                          "cost"},
    [SST_KIND_SAMPLING] = {"t", "sampler", "since", "before", "before_most", "own"},
    [SST_KIND_LIVE_SITE] = {"id", "node", "il", "il_last", "call", "il0", "cut", "class",
                            "unloaded", "gc", "survived", "survived_bytes", "died", "opening",
                            "inlined"},
    [SST_KIND_LIVE] = {"site", "gc", "survived", "survived_bytes", "died", "opening"},
    [SST_KIND_LIVE_TOTAL] = {"t", "gc", "depth", "full", "pause", "pauses", "table_ns", "allocs",
                             "bytes", "memory", "memory_most", "exact", "why", "grows", "opening"},
    [SST_KIND_NOT_WRITTEN] = {"t", "records"},
    [SST_KIND_UNHANDLED] = {"t", "os", "type", "message"},
    [SST_KIND_END] = {"t",          "seen",        "written",     "lost",         "beginnings_lost",
                      "lost_by",    "bytes",       "threads",     "nodes",        "nodes_refused",
                      "repairs",    "snapshots",   "hooks",       "names_failed", "log_bytes",
                      "part",       "events",      "values",      "unmatched",    "calls",
                      "records",    "rotated_out", "not_written", "file",         "cut_allocs",
                      "given_back", "sampling",    "off",         "walks",        "rich"},
};

static void count_unknown(struct log_parser *p, enum sst_kind kind)
{
    const char *key;
    json_t *member;

    json_object_foreach(p->json, key, member)
    {
        const char *const *known = known_members[kind];

        while (*known && strcmp(*known, key) != 0)
            known++;
        if (!*known && strcmp(key, "kind") != 0)
            p->unknown_members++;
    }
}

int log_parse_any(struct log_parser *p, const struct log_line *line, struct log_record *out)
{
    const char *kind = NULL;
    json_error_t error;

    log_parser_fini(p); /* what the last record had */
    p->err = 0;
    p->json = json_loadb(line->text, line->size, 0, &error);
    if (!p->json) {
        if (json_error_code(&error) == json_error_out_of_memory)
            return -ENOMEM;
        snprintf(p->why, sizeof(p->why), "not JSON: %.140s", error.text);
        return -EBADMSG;
    }
    if (!json_is_object(p->json) || log_member_text(p->json, "kind", &kind)) {
        snprintf(p->why, sizeof(p->why), "no record: an object with a \"kind\" is wanted");
        return -EBADMSG;
    }
    out->at = line->at;
    out->kind = (enum sst_kind)word_index(kind_names, COUNT_OF(kind_names), kind, strlen(kind));
    out->json = p->json;
    if (out->kind == SST_KIND_UNKNOWN)
        return 0;
    if (out->kind == SST_KIND_ALLOC || out->kind == SST_KIND_SITE)
        any_alloc(p, out->kind, &out->alloc);
    else if (out->kind == SST_KIND_NODE)
        any_node(p, &out->node);
    else if (out->kind == SST_KIND_INLINED)
        any_inlined(p, &out->inlined);
    else if (out->kind == SST_KIND_CALLS)
        any_calls(p, &out->calls);
    else if (out->kind == SST_KIND_LIVE_SITE)
        any_live_site(p, out);
    else if (out->kind == SST_KIND_LIVE)
        any_live(p, &out->live);
    if (!p->err)
        count_unknown(p, out->kind);
    return p->err;
}

int log_parse(struct log_parser *p, const struct log_line *line, struct log_record *out)
{
    if (LIKELY(log_parse_by_hand(p, line, out)))
        return 0;
    return log_parse_any(p, line, out);
}

bool log_died_next(const char **at, struct log_died *out)
{
    uint64_t *const numbers[] = {&out->generation, &out->age, &out->objects, &out->bytes};
    const char *c = *at + 1;

    if (**at == ']' || *c == ']')
        return false;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        *numbers[i] = 0;
        for (c++; *c >= '0' && *c <= '9'; c++)
            *numbers[i] = *numbers[i] * 10 + (uint64_t)(*c - '0');
    }
    *at = c + 1;
    return true;
}

const char *log_stack_next(const char **at, size_t *size)
{
    const char *first = *at + 1, *end;

    /* *at is at the bracket or a comma */
    if (**at == ']' || *first == ']')
        return NULL;
    end = rawmemchr(first + 1, '"');
    if (UNLIKELY(memchr(first + 1, '\\', (size_t)(end - first - 1)) != NULL))
        for (end = first + 1; *end != '"'; end++)
            end += *end == '\\'; /* what is escaped is never the closing quote */
    *at = end + 1;
    *size = (size_t)(end + 1 - first);
    return first;
}
