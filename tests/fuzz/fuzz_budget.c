/*
 * fuzz_budget - any bytes as a budget: it is refused with a reason, or what is written of it is a budget with the same
 * limits; and a log is held against it in each format, whose JSON loads. Few mutated inputs are JSON: of each its lines that
 * are make another one, in which a limit may say anything.
 */
#include "must.h"

#include "gate/change.h"
#include "gate/gate.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern bool fuzz_mutated; /* driver.c, as is the next */
void fuzz_silence(void);

static const char log_text[] =
    "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":4711,\"executable\":\"/"
    "app/Shop\","
    "\"runtime\":\"10.0.12\",\"hooks\":\"elt3\",\"options\":{\"check\":0},\"clock\":1,"
    "\"started\":\"2026-11-21T10:00:00Z\"}\n"
    "{\"kind\":\"module\",\"id\":1,\"name\":\"Shop\",\"path\":\"/app/"
    "Shop.dll\",\"owner\":\"own\"}\n"
    "{\"kind\":\"thread\",\"id\":1,\"os\":4711}\n"
    "{\"kind\":\"method\",\"id\":1,\"name\":\"Shop.Cart.Add()\",\"module\":1,\"token\":100663297}\n"
    "{\"kind\":\"class\",\"id\":1,\"name\":\"Shop.Item\"}\n"
    "{\"kind\":\"node\",\"id\":1,\"parent\":0,\"method\":1,\"call\":\"native\"}\n"
    "{\"kind\":\"mark\",\"t\":10,\"text\":\"a\"}\n"
    "{\"kind\":\"alloc\",\"t\":20,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":1,\"il\":6}\n"
    "{\"kind\":\"mark\",\"t\":30,\"text\":\"b\"}\n"
    "{\"kind\":\"alloc\",\"t\":40,\"thread\":1,\"class\":1,\"bytes\":24,\"node\":1,\"il\":6}\n"
    "{\"kind\":\"end\",\"t\":50,\"seen\":2,\"written\":2,\"lost\":0,\"lost_by\":{},\"bytes\":48,"
    "\"threads\":1,"
    "\"nodes\":1,\"nodes_refused\":0}\n";

struct file {
    int fd;
    char path[64];
};

static struct file file_of(const void *data, size_t size)
{
    struct file file = {.fd = memfd_create("fuzz", MFD_CLOEXEC)};

    MUST(file.fd >= 0 && pwrite(file.fd, data, size, 0) == (ssize_t)size);
    snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
    return file;
}

static char *written(const struct budget *b, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);

    MUST(out && !budget_write(b, out) && !fclose(out));
    return text;
}

/* What is written of a budget says the same, to the letter, once it has been read. */
static void write_again(const struct budget *b)
{
    size_t size, again_size;
    struct gate_changes changes;
    struct budget read, again;
    char why[400] = "", *text = written(b, &size), *more;

    budget_init(&read);
    budget_init(&again);
    MUST(budget_parse(text, size, &read, why, sizeof(why)) == 0);
    MUST(read.count == b->count);
    more = written(&read, &again_size);
    MUST(again_size == size && !memcmp(text, more, size));
    MUST(budget_parse(more, again_size, &again, why, sizeof(why)) == 0);
    MUST(!gate_changes_new(&read, &again, &changes));
    gate_changes_free(&changes);
    budget_free(&again);
    budget_free(&read);
    free(text);
    free(more);
}

/* good: it is a budget, and has a limit. */
static void hold(const char *budget, const char *log, const char *format, bool good)
{
    char *words[] = {(char *)(uintptr_t) "gate", (char *)(uintptr_t) "--format",
                     (char *)(uintptr_t)format,  (char *)(uintptr_t)budget,
                     (char *)(uintptr_t)log,     NULL};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int status;

    MUST(out);
    status = cli_run(&cmd_gate, 5, words, out);
    MUST(!fclose(out));
    MUST(status >= CLI_OK && status <= CLI_IO);
    MUST(good || status == CLI_USAGE);
    MUST(!good || status != CLI_USAGE);
    if (good && (!strcmp(format, "sarif") || !strcmp(format, "gitlab"))) {
        json_t *json = json_loadb(text, size, 0, NULL);

        MUST(json);
        json_decref(json);
    }
    for (size_t i = 0; good && i < size; i++)
        MUST((unsigned char)text[i] >= ' ' || text[i] == '\n');
    free(text);
}

/* One budget, whatever it is. */
static void try_budget(const char *text, size_t size, const char *log)
{
    static const char *const formats[] = {"text", "junit", "sarif", "github", "gitlab", "markdown"};
    struct file file = file_of(text, size);
    char why[400] = "";
    struct budget b;
    bool good;

    budget_init(&b);
    good = !budget_parse(text, size, &b, why, sizeof(why));
    MUST(good != !!*why);
    if (good)
        write_again(&b);
    good = good && b.count > 0;
    budget_free(&b);
    for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
        if (!fuzz_mutated || (good && i == size % 6))
            hold(file.path, log, formats[i], good);
    close(file.fd);
}

/* The lines that are JSON objects, but for a comma at their end, as limits. */
static char *of_lines(const char *text, size_t size, size_t *out_size)
{
    const char *end = text + size, *stop;
    char *made = NULL;
    FILE *out = open_memstream(&made, out_size);
    const char *before = "";

    MUST(out);
    fputs("{\"budget\":\"shadowtrace\",\"version\":1,\"limits\":[", out);
    for (; text < end; text = stop + 1) {
        json_t *limit;

        stop = memchr(text, '\n', (size_t)(end - text));
        stop = stop ? stop : end;
        limit = json_loadb(text, (size_t)(stop - text) - (stop > text && stop[-1] == ','), 0, NULL);
        if (json_is_object(limit)) {
            fputs(before, out);
            MUST(!json_dumpf(limit, out, JSON_COMPACT));
            before = ",";
        }
        json_decref(limit);
    }
    fputs("]}", out);
    MUST(!fclose(out));
    return made;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool silent;
    static struct file log;
    size_t made_size;
    char *made = of_lines((const char *)data, size, &made_size);

    if (!silent) {
        fuzz_silence();
        log = file_of(log_text, sizeof(log_text) - 1);
    }
    silent = true;
    try_budget((const char *)data, size, log.path);
    try_budget(made, made_size, log.path);
    free(made);
    return 0;
}
