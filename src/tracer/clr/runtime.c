#include "clr/runtime.h"

#include "clr/com.h"

#include <shadowtrace/clr/constants.h>

#include <errno.h>
#include <stdio.h>

#define INFO_VERSION_OLDEST 5 /* SetEventMask2 */

int clr_runtime_read(struct clr_runtime *r, void *unknown, char *why, size_t size)
{
    uint16_t major = 0, minor = 0, build = 0, fix = 0;
    hresult result;

    if (clr_info_query(unknown, &r->info, &r->info_version) ||
        r->info_version < INFO_VERSION_OLDEST) {
        snprintf(why, size, "this runtime has no profiling interface of the needed version (%s)",
                 "ICorProfilerInfo5");
        return -ENOTSUP;
    }
    result = r->info->vtbl->get_runtime_information(r->info, NULL, NULL, &major, &minor, &build,
                                                    &fix, 0, NULL, NULL);
    if (result != S_OK) {
        snprintf(why, size, "the runtime does not report its version (0x%08x)", (unsigned)result);
        return -ENOTSUP;
    }
    r->major = major;
    snprintf(r->text, sizeof(r->text), "%u.%u.%u", major, minor, fix ? fix : build);
    if (major >= CLR_MAJOR_OLDEST)
        return 0;
    snprintf(why, size, ".NET %s is not supported; run the program on .NET %d to %d", r->text,
             CLR_MAJOR_OLDEST, CLR_MAJOR_NEWEST);
    return -ENOTSUP;
}
