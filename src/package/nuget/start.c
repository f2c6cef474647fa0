/* What glibc.c is, of the command alone: how it starts, and the words for an errno. */
#include "base/cpu.h"

#include <stddef.h>
#include <string.h>

#define HIDDEN __attribute__((visibility("hidden")))

typedef int main_function(int count, char **arguments, char **environment);
typedef void array_function(int count, char **arguments, char **environment);

/* The bounds of .init_array, from the linker. */
extern array_function *const __init_array_start[] HIDDEN;
extern array_function *const __init_array_end[] HIDDEN;

int glibc_start_main(main_function *program, int count, char **arguments,
                     array_function *constructors, void (*destructors)(void),
                     void (*loader_ends)(void), void *stack_end);
__asm__(".symver glibc_start_main, __libc_start_main@" CPU_GLIBC_FIRST);

int __libc_start_main(main_function *program, int count, char **arguments,
                      array_function *constructors, void (*destructors)(void),
                      void (*loader_ends)(void), void *stack_end) HIDDEN;

static void run_constructors(int count, char **arguments, char **environment)
{
    size_t functions = (size_t)(__init_array_end - __init_array_start);

    for (size_t i = 0; i < functions; i++)
        __init_array_start[i](count, arguments, environment);
}

/*
 * _start, from this machine's crt1.o, gives no function that runs constructors: since 2.34 glibc
 * runs them itself, where it is called by that version. By the old version's name it runs what it
 * is given, in old and new ones. The dynamic linker runs .fini_array, as it does for libraries.
 */
int __libc_start_main(main_function *program, int count, char **arguments,
                      array_function *constructors, void (*destructors)(void),
                      void (*loader_ends)(void), void *stack_end)
{
    return glibc_start_main(program, count, arguments,
                            constructors ? constructors : run_constructors, destructors,
                            loader_ends, stack_end);
}

/* Since 2.32. Unlike that it has words, too, for a number that is no error. */
HIDDEN const char *strerrordesc_np(int error)
{
    static __thread char unknown[32];

    return strerror_r(error, unknown, sizeof(unknown));
}
