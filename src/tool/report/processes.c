#include "report/processes.h"

#include "base/array.h"
#include "base/buffer.h"
#include "base/glob.h"
#include "base/memory.h"
#include "base/path.h"
#include "readers/header.h"
#include "readers/record.h"

#include <errno.h>
#include <string.h>

struct report_process_known {
    struct report_process_key key;
    uint32_t number;
};

INDEX_OF_BYTES(known_kind, struct report_process_known, key);

char *report_process_name(const json_t *header)
{
    const char *program = log_program(header);
    char *name = program ? memory_strdup(program) : NULL;

    if (name)
        name[path_stem(name)] = '\0';
    return name;
}

static int command_of(const json_t *header, char **out)
{
    struct buffer text = BUFFER_INIT;
    const json_t *word;
    int err = 0;
    size_t i;

    json_array_foreach(json_object_get(header, "command"), i, word)
    {
        buffer_text(&text, i ? " " : "");
        buffer_text(&text, json_string_value(word) ? json_string_value(word) : "");
    }
    *out = text.size && !text.failed ? memory_strdup(text.data) : NULL;
    if (text.failed || (text.size && !*out))
        err = -ENOMEM;
    buffer_free(&text);
    return err;
}

static int parents_of(const json_t *header, struct report_process *one)
{
    const json_t *list = json_object_get(header, "parents"), *parent;
    size_t i;

    if (!one->born || !json_array_size(list))
        return 0;
    one->parents = memory_zalloc(json_array_size(list), sizeof(*one->parents));
    if (!one->parents)
        return -ENOMEM;
    json_array_foreach(list, i, parent)
    {
        struct report_process_parent *to = &one->parents[one->parent_count];
        const char *name = json_string_value(json_object_get(parent, "name"));

        if (log_member_count(parent, "pid", &to->key.pid) ||
            log_member_count(parent, "born", &to->key.born))
            break; /* what follows may not belong there */
        one->parent_count++;
        to->name = name ? memory_strdup(name) : NULL;
        if (name && !to->name)
            return -ENOMEM;
    }
    return 0;
}

static int know(struct report_processes *p)
{
    const struct report_process *one = &p->process[p->count - 1];
    const struct report_process_known known = {{one->pid, one->born}, (uint32_t)p->count - 1};
    uint32_t number;

    if (!one->born)
        return 0;
    return index_add(&p->index, &known_kind, &p->known, &p->known_count, &p->known_capacity, &known,
                     &number) < 0
               ? -ENOMEM
               : 0;
}

int report_processes_begin(struct report_processes *p, const json_t *header)
{
    const char *started = json_string_value(json_object_get(header, "started"));
    struct report_process *one;
    int err;

    if (!array_reserve(&p->process, &p->capacity, p->count + 1))
        return -ENOMEM;
    one = &p->process[p->count++];
    *one = (struct report_process){.name = report_process_name(header)};
    (void)log_member_count(header, "pid", &one->pid);
    (void)log_member_count(header, "born", &one->born);
    (void)log_member_count(header, "clock", &one->clock);
    one->started = started ? memory_strdup(started) : NULL;
    if ((log_program(header) && !one->name) || (started && !one->started))
        return -ENOMEM;
    err = command_of(header, &one->command);
    if (!err)
        err = parents_of(header, one);
    return err ? err : know(p);
}

void report_processes_end(struct report_processes *p, uint64_t t)
{
    if (p->count)
        p->process[p->count - 1].ran = t;
}

void report_processes_fini(struct report_processes *p)
{
    for (size_t i = 0; i < p->count; i++) {
        for (size_t k = 0; k < p->process[i].parent_count; k++)
            memory_free(p->process[i].parents[k].name);
        memory_free_all(p->process[i].name, p->process[i].command, p->process[i].started,
                        p->process[i].parents);
    }
    memory_free_all(p->process, p->known);
    index_free(&p->index);
    *p = (struct report_processes){.process = NULL};
}

size_t report_process_parent(const struct report_processes *p, size_t number, size_t *between)
{
    const struct report_process *one = &p->process[number];

    for (*between = 0; *between < one->parent_count; ++*between) {
        const struct report_process_key *key = &one->parents[*between].key;
        size_t slot;
        uint32_t at =
            index_find(&p->index, &known_kind, p->known, hash_bytes(key, sizeof(*key)), key, &slot);

        if (at != INDEX_NONE && p->known[at].number != number)
            return p->known[at].number;
    }
    return REPORT_PROCESS_NONE;
}

const char *report_process_between(const struct report_process *p, size_t which)
{
    return p->parents[which].name ? p->parents[which].name : "?";
}

int report_processes_forest(const struct report_processes *p, const uint32_t *order, size_t asked,
                            struct forest *out)
{
    uint32_t *parents = memory_alloc((p->count + 1) * sizeof(*parents)),
             *all = memory_alloc((p->count + 1) * sizeof(*all));
    int err = parents && all ? 0 : -ENOMEM;
    size_t between;

    *out = (struct forest){NULL, 0};
    for (uint32_t i = 0; !err && i < p->count; i++) {
        size_t parent = report_process_parent(p, i, &between);

        parents[i] = parent == REPORT_PROCESS_NONE ? FOREST_NONE : (uint32_t)parent;
        all[i] = i;
    }
    if (!err)
        err = forest_make(out, parents, (uint32_t)p->count, order ? order : all,
                          order ? asked : p->count);
    memory_free_all(parents, all);
    return err;
}

uint64_t report_processes_first(const struct report_processes *p)
{
    uint64_t first = 0;

    for (size_t i = 0; i < p->count; i++)
        if (p->process[i].clock && (!first || p->process[i].clock < first))
            first = p->process[i].clock;
    return first;
}

bool report_process_is(const json_t *header, const char *pattern)
{
    const char *program = log_program(header);
    char *name = report_process_name(header);
    bool is = name && (glob_match(pattern, name) || glob_match(pattern, program));

    memory_free(name);
    return is;
}
