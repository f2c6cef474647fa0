/*
 * shadowtrace/shadowtrace.h - the tracer from inside the traced program: mark, pause, resume, dump.
 *
 * libshadowtrace.so exports these for P/Invoke and dlsym; a program need not be linked with it.
 * When the process is not traced the library is not loaded: DllNotFoundException, or
 * dlopen("libshadowtrace.so") without a result. examples/api shows it from C#.
 *
 * Threads: any, at the same time. They may wait for a moment (a grace period), never for the log or
 * the network.
 */
#ifndef SHADOWTRACE_SHADOWTRACE_H
#define SHADOWTRACE_SHADOWTRACE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * All return 0, or below 0: -ENODEV (19): this process is not being recorded; -EINVAL; -ENOMEM;
 * -EBUSY (16), of sst_pause: it is recorded with --live, and no allocation may be left out.
 */

/* sst_mark - a line {"kind":"mark","t":…,"text":…} in the log. text: UTF-8, 1 to 4096 bytes. */
int sst_mark(const char *text);

/* Stop and go on recording allocations, for the whole process. Stacks stay exact. */
int sst_pause(void);
int sst_resume(void);

/*
 * sst_dump - the calling thread's stack, as {"os":…,"name":…,"depth":…,"stack":["Leaf(…)", …]} in
 * UTF-8.
 * Returns: its length in bytes without the final NUL; of that as much as fits is in buffer, always
 *          with a NUL unless size is 0. Call it with size 0 to learn the length.
 * Names only: the runtime tells IL offsets to threads of the tracer, not to the program's. The
 * control socket answers from such a thread: `shadowtrace dump PID` has IL offsets and lines.
 */
long sst_dump(char *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif
