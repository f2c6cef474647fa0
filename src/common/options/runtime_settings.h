/*
 * options/runtime_settings.h - what the runtime was told about compiling: by the environment, or by
 * the program's runtimeconfig.json.
 */
#ifndef SHADOWTRACE_OPTIONS_RUNTIME_SETTINGS_H
#define SHADOWTRACE_OPTIONS_RUNTIME_SETTINGS_H

#include <stdbool.h>

struct runtime_settings {
    bool tiered;       /* DOTNET_TieredCompilation */
    bool quick;        /* DOTNET_TC_QuickJit */
    bool quick_loops;  /* DOTNET_TC_QuickJitForLoops, and DOTNET_TC_OnStackReplacement with it */
    bool pgo;          /* DOTNET_TieredPGO */
    bool ready_to_run; /* DOTNET_ReadyToRun */
};

/*
 * runtime_settings_read - config: path of the program's runtimeconfig.json; a missing or damaged
 * one says nothing. The environment goes first, as in the runtime: DOTNET_, else COMPlus_, in
 * hexadecimal.
 * Threads: while nobody changes the environment.
 */
void runtime_settings_read(const char *config, struct runtime_settings *out);

#endif
