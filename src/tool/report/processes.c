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

/* "MSBuild" of "MSBuild.dll". Returns: NULL: the header has none, or there is no memory. */
static char *name_of(const json_t *header)
{
    const char *program = report_program(header);
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

int report_processes_begin(struct report_processes *p, const json_t *header)
{
    const char *started = json_string_value(json_object_get(header, "started"));
    struct report_process *one;

    if (!array_reserve(&p->process, &p->capacity, p->count + 1))
        return -ENOMEM;
    one = &p->process[p->count++];
    *one = (struct report_process){.name = name_of(header)};
    (void)report_member_count(header, "pid", &one->pid);
    (void)report_member_count(header, "clock", &one->clock);
    one->started = started ? memory_strdup(started) : NULL;
    if ((report_program(header) && !one->name) || (started && !one->started))
        return -ENOMEM;
    return command_of(header, &one->command);
}

void report_processes_end(struct report_processes *p, uint64_t t)
{
    if (p->count)
        p->process[p->count - 1].ran = t;
}

void report_processes_fini(struct report_processes *p)
{
    for (size_t i = 0; i < p->count; i++)
        memory_free_all(p->process[i].name, p->process[i].command, p->process[i].started);
    memory_free(p->process);
    *p = (struct report_processes){NULL, 0, 0};
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
    const char *program = report_program(header);
    char *name = name_of(header);
    bool is = name && (glob_match(pattern, name) || glob_match(pattern, program));

    memory_free(name);
    return is;
}
