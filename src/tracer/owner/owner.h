/*
 * owner/owner.h - whose code a module is: the user's own, a package's, or the framework's. Decided
 * once for each module, by what was built, not by names:
 *
 *   1. What lies in the shared framework's folder is framework, whatever else is said of it. So
 *      is the SDK, as long as it runs by itself (`dotnet build`): a compiler that somebody starts
 *      is that user's program.
 *   2. The main assembly, which is loaded first, is own, but for a host of tests: it is told by
 *      --depsfile whose program it runs.
 *   3. deps.json says of each library what it is: "project" is own, "runtimepack" framework, all
 *      else a package's. Read are the program's (the host's --depsfile; in the bundle of a single
 *      file; beside the main assembly), and X.deps.json beside a loaded X.dll of which nothing is
 *      known yet: a plugin, a test project.
 *   4. Without any deps.json: what lies in the folder of the main assembly, or below it, is own,
 *      but for names of the framework where the runtime lies there, too.
 *   5. What no deps.json names is a package's, but a file elsewhere with its PDB beside it is own.
 *   6. What was made in memory is own, if neither the framework nor a library for mocks made it.
 *
 * A deps.json that is damaged, too large or no file is as none. Where memory ran out the answer is
 * "not known". --own-code replaces "own" by what it names.
 */
#ifndef SHADOWTRACE_OWNER_OWNER_H
#define SHADOWTRACE_OWNER_OWNER_H

#include "options/options.h"

#include <shadowtrace/log_reader.h>

struct owners;

struct owners_config {
    const char *executable; /* the process's image */
    uint64_t bundle;        /* where in it the header of its bundle is; 0: it is none */
    const char *main;       /* the main assembly, or the image; "" not known */
    const char *deps;       /* what the host was given as --depsfile; NULL: nothing */
    bool sdk;               /* the SDK at work: what belongs to it is framework */
    const struct options_patterns *own_code; /* borrowed */
};

/* owners_new - reads the program's deps.json. Returns: 0 or -ENOMEM. */
int owners_new(const struct owners_config *config, struct owners **out);
void owners_free(struct owners *o); /* NULL is fine */

/*
 * owners_loaded - a module was loaded: its file's path, "" if it has none.
 * Threads: any. May run: in ModuleLoadFinished; may read a file.
 */
void owners_loaded(struct owners *o, const char *path);

/*
 * owners_ask - whose a module is that was loaded: its path, and its assembly's name.
 * Threads: any. May run: in callbacks; reads no file. o NULL: SST_OWNER_UNKNOWN.
 */
enum sst_owner owners_ask(struct owners *o, const char *path, const char *name);

/* "own" and the like; "" for SST_OWNER_UNKNOWN. */
const char *owner_word(enum sst_owner owner);

#endif
