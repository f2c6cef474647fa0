#include "gate/calls.h"

#include "base/array.h"
#include "base/glob.h"
#include "base/memory.h"
#include "base/name.h"

#include "model/names.h"
#include "report/demangle.h"
#include "report/events.h"

#include <errno.h>
#include <string.h>

void gate_calls_free(struct gate_calls *calls)
{
    for (size_t i = 0; i < calls->count; i++)
        memory_free(calls->of[i].method);
    memory_free(calls->of);
    *calls = (struct gate_calls){.count = 0};
}

/* Why a log does not have each call; NULL: it does, as far as its options say. */
static const char *why_not_all(const struct events_report *f)
{
    const json_t *options = json_object_get(f->log.header, "options");

    if (!reading_records(&f->log, "calls"))
        return "calls were not recorded; record with --events alloc,calls";
    if (json_integer_value(json_object_get(options, "max_depth")) ||
        json_integer_value(json_object_get(options, "min_duration")))
        return "not all calls were recorded; record without --max-depth and --min-duration";
    return f->missing ? "some calls are not in the log" : NULL;
}

static int take(const struct events_report *f, struct gate_calls *out)
{
    struct names *names = NULL;
    int err = names_new(&f->defs, NAMES_FULL, &names);

    for (size_t i = 0; !err && i < f->table.count; i++) {
        const struct events_row *row = &f->table.rows[i];
        struct gate_call call = {.machine =
                                     report_demangle_is_machine(log_method(&f->defs, row->a)->name),
                                 .calls = row->count};

        call.method = memory_strdup(names_method(names, row->a));
        if (!call.method || !array_reserve(&out->of, &out->capacity, out->count + 1)) {
            memory_free(call.method);
            err = -ENOMEM;
            break;
        }
        out->of[out->count++] = call;
    }
    names_free(names);
    return err;
}

int gate_calls_read(const struct cli_command *command, const struct reading_options *reading,
                    const char *log, struct gate_calls *out)
{
    struct reading_progress progress;
    struct log_problems problems; /* the reading of allocations tells the same ones */
    struct events_report f;
    int err, status = CLI_OK;

    *out = (struct gate_calls){.count = 0};
    log_problems_init(&problems);
    err = events_report_init(&f, EVENTS_CALLS, &problems);
    if (!err) {
        reading_progress_init(&progress, reading);
        f.log.jobs = reading_threads(reading);
        err = events_report_read(&f, log, reading_progress, &progress);
        reading_progress_end(&progress);
        if (err)
            status = reading_failed(command, log, &f.log, err);
    }
    if (!err)
        err = take(&f, out);
    if (!err)
        out->why = why_not_all(&f);
    events_report_fini(&f);
    log_problems_fini(&problems);
    return status ? status : cli_failed(command, err);
}

/* Whether a pattern is this name, or matches it, with its parameters or without. */
static bool means(const char *pattern, const char *name, bool exactly)
{
    char head[512];
    size_t size = (size_t)(name_parameters(name) - name);

    if (exactly)
        return strcmp(pattern, name) == 0;
    if (glob_match(pattern, name))
        return true;
    if (size >= sizeof(head))
        return false;
    memcpy(head, name, size);
    head[size] = '\0';
    return glob_match(pattern, head);
}

/* Without state machines, or of these alone. */
static uint64_t sum(const struct gate_calls *calls, const char *method, bool exactly, bool machines)
{
    uint64_t count = 0;

    for (size_t i = 0; i < calls->count; i++)
        if (calls->of[i].machine == machines && means(method, calls->of[i].method, exactly))
            count += calls->of[i].calls;
    return count;
}

uint64_t gate_calls_of(const struct gate_calls *calls, const char *method)
{
    uint64_t count = 0;

    /* what resumes is no call: machines count only where nothing else has the name */
    for (int way = 0; !count && way < 4; way++)
        count = sum(calls, method, way % 2 == 0, way >= 2);
    return count;
}
