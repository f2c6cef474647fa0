#include "record/summary.h"

#include "base/cpu.h"
#include "base/path.h"
#include "command/print_complete.h"
#include "command/print_sampling.h"
#include "readers/log.h"
#include "record/environment.h"
#include "terminal/text.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define PREFIX "shadowtrace: "

/* The path as one would type it here. */
static const char *from_here(const char *path, const char *here)
{
    size_t length = here ? strlen(here) : 0;

    if (length > 1 && !strncmp(path, here, length) && path[length] == '/' &&
        path[length + 1] != '-')
        return path + length + 1;
    return path;
}

static void print_counts(FILE *out, const struct record_process *p)
{
    struct text_number number, bytes;
    struct buffer before = BUFFER_INIT;

    if (!p->counted)
        return;
    print_sampling_part(&p->sampling, &before);
    if (p->sampled) {
        fprintf(out, ": about %s allocation%s, %s, estimated from ",
                text_count(&number, p->estimated_allocs), text_plural(p->estimated_allocs),
                text_bytes(&bytes, p->estimated_bytes));
        fprintf(out, "%s sampled", text_count(&number, p->seen));
    } else {
        fprintf(out, ": %s allocation%s", text_count(&number, p->seen), text_plural(p->seen));
        if (p->sized && !p->lost)
            fprintf(out, ", %s", text_bytes(&bytes, p->bytes));
    }
    if (before.size && !before.failed)
        fprintf(out, " (%s)", before.data);
    buffer_free(&before);
    if (p->lost)
        fprintf(out, ", %s of them LOST", text_count(&number, p->lost));
    if (p->gone)
        fprintf(out, ", %s of them written, but gone since", text_count(&number, p->gone));
    if (!p->lost && !p->gone)
        fputs(", none lost", out);
    if (p->lost && p->sized && p->split && !p->sampled) { /* bytes are of what was written */
        fprintf(out, "; written were %s", text_count(&number, p->written));
        fprintf(out, ", %s", text_bytes(&bytes, p->bytes));
    }
}

static void print_state(FILE *out, const struct record_process *p)
{
    static const char *const says[] = {
        [RECORD_STATE_ENDED] = "",
        [RECORD_STATE_RECORDING] = ": still running, and still recording",
        [RECORD_STATE_LOST] =
            ": killed, or crashed, while recording; its log can be read up to there",
        [RECORD_STATE_DECLINED] = ": not recorded: ",
        [RECORD_STATE_FAILED] = ": recording failed: ",
        [RECORD_STATE_DAMAGED] = ": its status file cannot be read",
    };

    if (p->state == RECORD_STATE_ENDED || p->state == RECORD_STATE_FAILED)
        print_counts(out, p);
    if (p->state == RECORD_STATE_LOST && p->unhandled) {
        fputs(": ended by an unhandled exception; its log can be read up to there\n" PREFIX "    ",
              out);
        text_elide(out, p->unhandled, TEXT_WIDTH - strlen(PREFIX) - 4);
        return;
    }
    fputs(says[p->state], out);
    if (p->state == RECORD_STATE_DECLINED || p->state == RECORD_STATE_FAILED)
        fputs(p->reason ? p->reason : "it does not say why", out);
}

static int pass_over(void *context, const struct log_record *record)
{
    (void)context;
    (void)record;
    return 0;
}

/* Of a log that has nothing, and so is small: whether that is because nobody took samples. */
static void print_no_sampler(FILE *out, const char *path)
{
    const struct log_consumer nobody = {.record = pass_over};
    struct log_completeness gaps;
    const struct log_gap *gap;
    struct log_problems problems;
    struct buffer b = BUFFER_INIT;
    struct log_defs defs;
    struct log_input log;

    log_problems_init(&problems);
    log_input_init(&log);
    if (!log_defs_init(&defs, &problems) && !log_input_read(path, &defs, &nobody, &log)) {
        log_input_completeness(&log, &gaps);
        gap = log_gap_of(&gaps, LOG_GAP_SAMPLER);
        if (gap)
            print_gap(&b, gap);
        if (b.data && !b.failed)
            fprintf(out, PREFIX "    %s\n", b.data);
    }
    buffer_free(&b);
    log_defs_fini(&defs);
    log_input_fini(&log);
    log_problems_fini(&problems);
}

static void print_notes(FILE *out, const char *notes)
{
    while (notes && *notes) {
        size_t length = strcspn(notes, "\n");

        fprintf(out, PREFIX "    %.*s\n", (int)length, notes);
        notes += length + (notes[length] == '\n');
    }
}

/* The log, as "x.html" beside it would be called. */
static void print_page_name(FILE *out, const char *log)
{
    size_t size = strlen(log), end = size;
    char name[PATH_MAX];

    for (size_t at = size; at > 0 && log[at - 1] != '/'; at--)
        if (log[at - 1] == '.' && strncmp(log + at - 1, ".ndjson", 7) == 0)
            end = at - 1;
    snprintf(name, sizeof(name), "%.*s.html", (int)end, log);
    record_print_quoted(out, name);
}

static bool has_log(const struct record_process *p)
{
    struct stat st;

    return p->log && stat(p->log, &st) == 0;
}

/* The folder that all logs are in, up to its slash; 0: they are in several, or in this one. */
static size_t folder_of(const struct record_processes *p, const char *here)
{
    const char *first = NULL;
    size_t size = 0;

    for (size_t i = 0; i < p->count; i++) {
        const char *log = has_log(&p->process[i]) ? from_here(p->process[i].log, here) : NULL;

        if (!log)
            continue;
        if (!first) {
            first = log;
            size = (size_t)(path_base_name(log) - log);
        } else if ((size_t)(path_base_name(log) - log) != size || strncmp(log, first, size) != 0) {
            return 0;
        }
    }
    return size;
}

/* One report over all of them. */
static void print_together(FILE *out, const struct record_processes *p, const char *here,
                           const char *log)
{
    char folder[PATH_MAX];
    size_t size = folder_of(p, here);

    if (!size)
        return;
    snprintf(folder, sizeof(folder), "%.*s", (int)size, log);
    fputs(PREFIX "    shadowtrace report --view processes ", out);
    record_print_quoted(out, folder);
    fputs("    (all logs in it)\n", out);
}

/* What else shows a log: in one line each for the only one, else in one for all. */
static void print_others(FILE *out, const char *log)
{
    if (!log) {
        fputs(PREFIX "    browse shows a log on this terminal, html makes a page of some for a "
                     "browser\n",
              out);
        return;
    }
    fputs(PREFIX "    shadowtrace browse ", out);
    record_print_quoted(out, log);
    fputs("    (on this terminal)\n" PREFIX "    shadowtrace html ", out);
    record_print_quoted(out, log);
    fputs(" -o ", out);
    print_page_name(out, log);
    fputs("    (a page for a browser)\n", out);
}

/* `all`: several processes say their command lines, too, in case their names are the same. */
static void print_process(FILE *out, const struct record_process *p, const char *here, bool all)
{
    const char *log = p->log ? from_here(p->log, here) : NULL;
    struct text_number size;
    struct stat st;

    fprintf(out, PREFIX "%s (", p->name ? p->name : "?");
    if (p->runtime)
        fprintf(out, ".NET %s, ", p->runtime);
    fprintf(out, "pid %ld)", p->pid);
    print_state(out, p);
    putc('\n', out);
    if (all && p->command) {
        fputs(PREFIX "    ", out);
        text_elide(out, p->command, TEXT_WIDTH - strlen(PREFIX) - 4);
        putc('\n', out);
    }
    if (p->unverified)
        fputs(PREFIX "    this version of .NET is not verified: stacks are compared with --check\n",
              out);
    print_notes(out, p->notes);
    if (p->no_native)
        fprintf(out, PREFIX "    without native frames: %s\n", p->no_native);
    if (p->no_inlined)
        fprintf(out, PREFIX "    without inlined methods: %s\n", p->no_inlined);
    if (p->uncontrolled)
        fprintf(out, PREFIX "    without a control socket: %s\n", p->uncontrolled);
    if (p->uncompressed)
        fprintf(out, PREFIX "    without compression: %s\n", p->uncompressed);
    if (p->no_heap)
        fprintf(out, PREFIX "    %s\n", p->no_heap);
    if (p->heap && log) {
        fputs(PREFIX "    shadowtrace retained ", out);
        record_print_quoted(out, log);
        putc(' ', out);
        record_print_quoted(out, from_here(p->heap, here));
        putc('\n', out);
    }
    if (!log || stat(p->log, &st)) /* a process that failed may have no log */
        return;
    if (p->counted && !p->seen && p->state == RECORD_STATE_ENDED)
        print_no_sampler(out, p->log);
    fputs(PREFIX "    shadowtrace report ", out);
    record_print_quoted(out, log);
    fprintf(out, "    (%s)\n", text_bytes(&size, (uint64_t)st.st_size));
    if (!p->live_view)
        return;
    fprintf(out, PREFIX "    shadowtrace report --view %s ", p->live_view);
    record_print_quoted(out, log);
    fprintf(out, "    (what %s)\n", strcmp(p->live_view, "grown") ? "is alive" : "grows");
}

void record_summary_print(FILE *out, const struct record_processes *p, const char *here, bool quiet)
{
    /* Where one process was recorded, another one declined on purpose or does not matter. */
    bool all_declined = record_status_count(p, RECORD_STATE_DECLINED) == p->count;

    const struct record_process *only = NULL;
    size_t logs = 0;

    for (size_t i = 0; i < p->count; i++) {
        const struct record_process *one = &p->process[i];
        bool wrong = one->state == RECORD_STATE_FAILED || one->state == RECORD_STATE_DAMAGED ||
                     (one->state == RECORD_STATE_DECLINED && all_declined);

        if (!quiet || wrong)
            print_process(out, one, here, p->count > 1);
        only = has_log(one) ? one : only;
        logs += has_log(one);
    }
    if (logs > 1 && !quiet)
        print_together(out, p, here, from_here(only->log, here));
    if (logs && !quiet)
        print_others(out, logs == 1 ? from_here(only->log, here) : NULL);
}

/* What it started is not known: it may have been .NET without the environment that was given. */
#define NOTHING_UNDER_IT \
    "and no .NET runtime started under it, or only one without its environment (sudo, env -i, a " \
    "container)"

void record_summary_why_none(FILE *out, const char *command, enum record_target kind, bool filtered)
{
    static const char *const reasons[] = {
        [RECORD_TARGET_UNKNOWN] = "is not a known kind of program, " NOTHING_UNDER_IT,
        [RECORD_TARGET_SCRIPT] = "is a script, " NOTHING_UNDER_IT,
        [RECORD_TARGET_LAUNCHER] = "ended before a .NET runtime had started in it (it says why "
                                   "itself, or did something that needs none)",
        [RECORD_TARGET_SINGLE_FILE] = "ended before the .NET runtime in it had started",
        [RECORD_TARGET_NATIVE_AOT] = "is a NativeAOT program, without the runtime that loads "
                                     "profilers; publish it without PublishAot to record it",
        [RECORD_TARGET_NATIVE] = "is a native program without .NET, " NOTHING_UNDER_IT,
        [RECORD_TARGET_FOREIGN] =
            "is a program for another CPU, and this shadowtrace records only " CPU_NAME " ones",
    };

    fputs(PREFIX "nothing was recorded, no process reported in: ", out);
    filtered &= kind != RECORD_TARGET_NATIVE_AOT && kind != RECORD_TARGET_FOREIGN;
    fputs(filtered ? "none that " : "", out);
    text_print(out, command);
    if (filtered)
        fputs(" started, nor itself, has a main assembly that --process names\n", out);
    else
        fprintf(out, " %s\n", reasons[kind]);
}
