#include "unit/readers/process_logs.h"

#include "base/atomics.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *born;
    unsigned pid, bytes; /* 0: it made nothing */
} processes[] = {
    {"Test", "\"born\":100,\"parents\":[{\"pid\":1,\"born\":1,\"name\":\"init\"}],", 10, 0},
    {"Host",
     "\"born\":103,\"parents\":[{\"pid\":11,\"born\":102,\"name\":\"s\\u001bh\"},"
     "{\"pid\":10,\"born\":100,\"name\":\"dotnet\"},{\"pid\":1,\"born\":1}],",
     12, 240},
    {"Old", "", 13, 72},
    {"Build", "\"born\":104,\"parents\":[{\"pid\":12,\"born\":103,\"name\":\"dotnet\"}],", 14, 480},
    {"Alone", "\"born\":105,\"parents\":[{\"pid\":12,\"born\":90,\"name\":\"dotnet\"}],", 15, 24},
};

static void write_log(const char *path, size_t number)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fprintf(file,
            "{\"kind\":\"header\",\"format\":\"shadowtrace\",\"version\":1,\"pid\":%u,%s"
            "\"executable\":\"/app/%s\",\"command\":[\"./%s\"],\"runtime\":\"10.0.12\","
            "\"hooks\":\"elt3\",\"clock\":%zu000000,\"started\":\"2026-11-25T10:00:00Z\"}\n"
            "{\"kind\":\"thread\",\"id\":1,\"os\":%u}\n"
            "{\"kind\":\"class\",\"id\":1,\"name\":\"Shop.Item\"}\n",
            processes[number].pid, processes[number].born, processes[number].name,
            processes[number].name, number + 1, processes[number].pid);
    if (processes[number].bytes)
        fprintf(file,
                "{\"kind\":\"alloc\",\"t\":20,\"thread\":1,\"class\":1,\"bytes\":%u,\"node\":0}\n",
                processes[number].bytes);
    fclose(file);
}

static void path_of(const char *folder, size_t number, char path[100])
{
    snprintf(path, 100, "%s/%u.ndjson", folder, processes[number].pid);
}

char *process_logs_make(void)
{
    char *folder = strdup("/tmp/shadowtrace-processes-XXXXXX");
    char path[100];

    assert_non_null(folder);
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < COUNT_OF(processes); i++) {
        path_of(folder, i, path);
        write_log(path, i);
    }
    return folder;
}

void process_logs_remove(char *folder)
{
    char path[100];

    for (size_t i = 0; i < COUNT_OF(processes); i++) {
        path_of(folder, i, path);
        unlink(path);
    }
    rmdir(folder);
    free(folder);
}
