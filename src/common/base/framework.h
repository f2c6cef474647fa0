/* base/framework.h - assemblies that are the framework's, as far as names can tell. */
#ifndef SHADOWTRACE_BASE_FRAMEWORK_H
#define SHADOWTRACE_BASE_FRAMEWORK_H

#include <stdbool.h>

#define FRAMEWORK_CORELIB "System.Private.CoreLib"

/* Is an assembly that lies in the folder of CoreLib, as in a program that brings its runtime along,
 * of the framework? */
bool framework_named(const char *assembly);

/* Is an assembly that was made in memory made by the framework, or by a library for mocks? */
bool framework_made(const char *assembly);

#endif
