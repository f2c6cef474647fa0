/*
 * profiler/process.h - what this process is: its command line, the main assembly's name, the image
 * of the runtime.
 */
#ifndef SHADOWTRACE_PROFILER_PROCESS_H
#define SHADOWTRACE_PROFILER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct process {
    char *executable; /* path of the image; "": unknown */
    char **command;   /* arguments, NULL-terminated */
    char *name;       /* main assembly: "csc" for `dotnet csc.dll`; no folder, no extension */
    /* runtimeconfig.json of the main assembly, as the host finds it; it need not be there. */
    char *config;
    const char *main; /* the main assembly as the host finds it, or the image */
    const char *deps; /* what `dotnet` was given as --depsfile; NULL: nothing */
    bool sdk;         /* the SDK at work: `dotnet build`, or what that starts */
    char *arguments;  /* what command[] points into */
};

/* process_read - from /proc/self. Returns: 0, or -ENOMEM and *p empty. Owns: *p is never freed. */
int process_read(struct process *p);

/*
 * process_bundle - where in the image's file the header of its bundle is, if it was published as a
 * single file; else 0.
 */
uint64_t process_bundle(void);

/* process_image - the loaded image that holds `address`: [*low, *high). Returns: 0, or -ENOENT. */
int process_image(const void *address, uintptr_t *low, uintptr_t *high);

#endif
