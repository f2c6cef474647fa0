/*
 * owner/owner.h - who owns a module: the user (own code), a package, or the framework. Decided once
 * for each module, by the build, not by names:
 *
 *   1. Modules in the shared framework's folder are framework, in any case. So is the SDK if it
 *      runs by itself (`dotnet build`): a compiler that is started directly is the user's program.
 *   2. The main assembly, which is loaded first, is own, except for a test host: its --depsfile
 *      names the program that it runs.
 *   3. deps.json has the type of each library: "project" is own, "runtimepack" framework, all
 *      others packages. The program's is read (the host's --depsfile; in the bundle of a single
 *      file; next to the main assembly), and X.deps.json next to a loaded X.dll that is still
 *      unknown: a plugin, a test project.
 *   4. Without any deps.json: modules in the folder of the main assembly, or below it, are own,
 *      except for names of the framework if the runtime is there, too.
 *   5. A module that no deps.json names is a package, but a file elsewhere with its PDB is own.
 *   6. A module created in memory is own, unless the framework or a mocking library created it.
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
