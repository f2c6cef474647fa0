/*
 * report/demangle.h - names of methods as they were written. Compilers move code into methods of
 * their own making: an async method or an iterator into the MoveNext of a state machine, a lambda
 * or a local function into a method beside its home or into a closure class.
 *
 *     Ns.Foo.<BarAsync>d__3.MoveNext()            Ns.Foo.BarAsync
 *     Ns.Foo.<>c.<Bar>b__0_1(System.Int32)        Ns.Foo.Bar+lambda_0_1(System.Int32)
 *     Ns.Foo.<Bar>g__Local|2_0(System.Int32)      Ns.Foo.Bar+Local(System.Int32)
 *     Ns.Foo.bar@12-1.Invoke(System.Int32)        Ns.Foo.bar+lambda@12-1(System.Int32)       (F#)
 */
#ifndef SHADOWTRACE_REPORT_DEMANGLE_H
#define SHADOWTRACE_REPORT_DEMANGLE_H

#include "base/buffer.h"

#include <stdbool.h>

/*
 * report_demangle - Returns: the name as written, in b (cleared first), or `name` itself if it is
 * one already, cannot be taken apart, or memory is short.
 */
const char *report_demangle(struct buffer *b, const char *name);

/* Whether it is a state machine's MoveNext, which is demangled to a name without parameters. */
bool report_demangle_is_machine(const char *name);

#endif
