/*
 * readers/record.h - one line as one record. Lines of kinds of which a log has many are
 * read by hand; every other line, and one of these that is written in any unusual way, by jansson.
 * Both ways give the same record (tests/fuzz/fuzz_log.c holds them against each other).
 */
#ifndef SHADOWTRACE_READERS_RECORD_H
#define SHADOWTRACE_READERS_RECORD_H

#include "readers/counts.h"
#include "readers/lines.h"

#include <jansson.h>

#include <shadowtrace/log_counters.h>
#include <shadowtrace/log_reader.h>

#define LOG_NO_IL (-1)

/* One allocation, or with kind site all those of one site since the last such record. */
struct log_alloc {
    uint64_t t; /* ns since the header's clock; a site has none: 0 */
    uint64_t bytes;
    uint64_t allocs; /* 1 unless a site */
    double weight;   /* bytes this stands for; 0: not sampled, it stands for itself */
    uint32_t thread; /* 0: a site of all threads */
    uint32_t class_id, node;
    uint32_t
        inlined; /* the frame that allocates, if it was inlined; 0: it was not, or nobody says */
    int32_t il;  /* of the allocation; LOG_NO_IL */
    bool unoptimised; /* made by unoptimised code only: not there when nobody records */
    enum sst_heap heap;
    bool cut; /* the frames above were not kept: node, or stack, is not where it was allocated */
    enum sst_call call; /* SST_CALL_DYNAMIC: a dynamic method allocated, which `il` called */
    /* Inline stacks: the line's JSON array of names, leaf first; NULL: node says. */
    const char *stack;
    size_t stack_size;
    const char *type; /* JSON string with its quotes, beside class_id; or NULL */
    size_t type_size;
    uint32_t id;   /* of a live_site, which has no more than a place and a type; 0 else */
    bool unloaded; /* of one: its path is not known any more */
};

/* A frame of an inlined method. il: of what it calls or makes. */
struct log_inlined {
    uint32_t id, parent, method; /* parent: inlined into; 0: into the method of a node */
    int32_t il;
};

struct log_node {
    uint32_t id, parent, method;
    uint32_t inlined; /* the frame that calls, as in an allocation */
    int32_t il;       /* of the call, in the parent's method; LOG_NO_IL: call says why not */
    enum sst_call call;
    bool filter;    /* a filter's second frame of its method */
    uint32_t begun; /* node; 0: not said */
};

/* Calls of one thread. The arrays are those of the line: read them with log_call_next. */
struct log_batch {
    uint64_t t; /* ns since the header's clock */
    uint32_t thread;
    uint64_t depth;     /* calls open before it */
    const char *open;   /* "[method,t,...]", whole pairs; NULL: not said */
    const char *events; /* "[code,number,...]", whole pairs, at least one */
};

/* What collections found of the objects of one live_site since its last such line. */
struct log_live_line {
    uint64_t gc;
    uint64_t survived, survived_bytes; /* objects found alive for the first time; opening: alive */
    uint32_t site;                     /* 0: of a live_site that says nothing of its objects */
    bool opening;                      /* of a part: all that is alive of the site */
    const char *died;                  /* "[[generation,age,objects,bytes],...]"; NULL: none */
};

/* Of those: objects that had survived `age` collections, 15: or more. */
struct log_died {
    uint64_t generation, age, objects, bytes;
};

struct log_record {
    enum sst_kind kind; /* SST_KIND_UNKNOWN: of a later version, json and kind_text say more */
    struct log_place at;
    union {
        struct log_alloc alloc; /* alloc, site, live_site */
        struct log_node node;
        struct log_inlined inlined;
        struct log_batch calls;
    };
    struct log_live_line live; /* live, and of a live_site what is in its line */
    const json_t *json; /* the record; NULL if read by hand; the parser's, until the next line */
};

struct log_parser {
    json_t *json;
    char *stack, *type; /* of a record that jansson read: its inline stack put back into text */
    uint64_t unknown_members;
    int err; /* of the record that jansson reads */
    char why[160];
};

void log_parser_init(struct log_parser *p);
void log_parser_fini(struct log_parser *p);

/*
 * log_parse - read one line.
 * Returns: 0 and *out; -EBADMSG: no record, p->why says what is wrong with it; -ENOMEM.
 * Owns:    what out points to is the line's and the parser's: valid until either moves on.
 */
int log_parse(struct log_parser *p, const struct log_line *line, struct log_record *out);

/* log_parse_by_hand - only the first of the two ways. Returns: whether that could read it. */
bool log_parse_by_hand(struct log_parser *p, const struct log_line *line, struct log_record *out);
/* log_parse_any - only the second. Returns: as log_parse. */
int log_parse_any(struct log_parser *p, const struct log_line *line, struct log_record *out);

/*
 * log_call_next - the next pair of an array of a batch. *at starts at the array and moves on.
 * Returns: whether there was one.
 */
static inline bool log_call_next(const char **at, int64_t *code, int64_t *number)
{
    const char *c = *at;
    int64_t pair[2];

    if (*c == ']' || *++c == ']')
        return false;
    for (int i = 0; i < 2; i++, c += i < 2) {
        bool negative = *c == '-';
        int64_t value = 0;

        for (c += negative; *c >= '0' && *c <= '9'; c++)
            value = value * 10 + (*c - '0');
        pair[i] = negative ? -value : value;
    }
    *at = c;
    *code = pair[0];
    *number = pair[1];
    return true;
}

/*
 * log_died_next - the next of a line's deaths. *at starts at the array and moves on.
 * Returns: whether there was one.
 */
bool log_died_next(const char **at, struct log_died *out);

/*
 * The recording, of a log or of several logs read in a row, to which lines belong. Its parts
 * (--max-log, rotate), read in order, are one recording: ids, clock and cumulative counts continue.
 */
struct log_recording {
    uint64_t number; /* 1, 2, ...; 0 before the first header */
    uint64_t pid, clock, part;
};

/* log_recording_next - a header came. Returns: whether a recording begins with it. */
bool log_recording_next(struct log_recording *r, const json_t *header);

/* log_recording_goes_on - whether the header is of a later part of the one being read. */
bool log_recording_goes_on(const struct log_recording *r, const json_t *header);

/* log_recording_again - whether the header is that of the very part that is being read. */
bool log_recording_again(const struct log_recording *r, const json_t *header);

const char *log_kind_name(enum sst_kind kind);

/*
 * log_stack_next - the next string of an inline stack. *at starts at alloc->stack and moves on.
 * Returns: the string with its quotes and *size, or NULL at the array's end.
 */
const char *log_stack_next(const char **at, size_t *size);

/*
 * Members of a definition: 0 and *out when there and as expected, -ENOENT when absent (*out
 * untouched), -EBADMSG when something else stands there. An id is 1 (or `min`) to UINT32_MAX - 1.
 */
int log_member_id(const json_t *record, const char *key, uint32_t min, uint32_t *out);
int log_member_count(const json_t *record, const char *key, uint64_t *out);
int log_member_text(const json_t *record, const char *key, const char **out);
int log_member_number(const json_t *record, const char *key, double *out);

/* log_text_in - the same; "" if it is missing. */
static inline const char *log_text_in(const struct log_record *r, const char *key)
{
    const char *text = "";

    (void)log_member_text(r->json, key, &text);
    return text;
}

#endif
