/* support/dotnet.h - files of the .NET that `dotnet` in PATH belongs to. */
#ifndef SHADOWTRACE_TESTS_SUPPORT_DOTNET_H
#define SHADOWTRACE_TESTS_SUPPORT_DOTNET_H

#include <glob.h>

/* dotnet_files - those that match, relative to its folder; out->gl_pathc is 0 if there are none. */
void dotnet_files(const char *pattern, glob_t *out);

#endif
