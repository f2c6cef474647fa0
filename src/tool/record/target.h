/* record/target.h - COMMAND: can it be started, and what kind of program is it. */
#ifndef SHADOWTRACE_RECORD_TARGET_H
#define SHADOWTRACE_RECORD_TARGET_H

#include "command/why.h"

enum record_target {
    RECORD_TARGET_UNKNOWN,  /* cannot be read, or nothing that is known here */
    RECORD_TARGET_SCRIPT,   /* begins with #! */
    RECORD_TARGET_LAUNCHER, /* `dotnet`, or the executable beside an app's .dll: loads a runtime */
    RECORD_TARGET_SINGLE_FILE, /* has CoreCLR in it */
    RECORD_TARGET_NATIVE_AOT,  /* .NET compiled to native code: no runtime that loads profilers */
    RECORD_TARGET_NATIVE,      /* an executable without .NET */
    RECORD_TARGET_FOREIGN,     /* an executable for another CPU */
};

/*
 * record_target_find - the file that COMMAND is, as a shell would find it along search_path
 * ($PATH).
 * Returns: CLI_OK; RECORD_NOT_FOUND; RECORD_NOT_EXECUTABLE, also for a .dll (the line says how to
 *          start it); CLI_USAGE for the number of a process.
 */
int record_target_find(const char *command, const char *search_path, char path[PATH_MAX],
                       struct record_why *why);

/* record_target_kind - what the file itself tells by names and strings; does not start it. */
enum record_target record_target_kind(const char *path);

/*
 * record_target_cpu - the CPU of an executable, as messages say it, if that is this command's or
 * the executable starts .NET. Returns: NULL: it is a script, or native for another CPU.
 */
const char *record_target_cpu(const char *path);

#endif
