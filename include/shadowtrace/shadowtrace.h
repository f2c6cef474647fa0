/*
 * shadowtrace/shadowtrace.h - the tracer from inside the traced program: marks, scopes, pause,
 * resume, dump.
 *
 * libshadowtrace.so exports these for P/Invoke and dlsym; a program need not be linked with it.
 * When the process is not traced the library is not loaded: DllNotFoundException, or
 * dlopen("libshadowtrace.so") without a result. examples/api shows it from C#.
 *
 * Threads: any, at the same time. They may wait for a moment (a grace period), never for the log or
 * the network; but for sst_scope_end, which does wait for the log.
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

/*
 * A scope is a part of the log between two marks that are like no other: "NAME #7 begin" and "NAME
 * #7 end". What one thread allocated in it:
 *
 *     shadowtrace report --from "NAME #7 begin" --to "NAME #7 end" --thread THREAD LOG
 *
 * sst_scope_begin - name: UTF-8, 1 to 4000 bytes. Returns: the scope's number, above 0.
 * sst_scope_end   - the same name. Returns once all that came before it stands in the log; it may
 *                   be read then, while it is still written. -ETIMEDOUT (110): not within 2 s.
 * sst_thread      - Returns: the calling thread's id in the log, above 0.
 * sst_log         - the log's path. Returns and takes what sst_dump does.
 */
long sst_scope_begin(const char *name);
int sst_scope_end(long scope, const char *name);
long sst_thread(void);
long sst_log(char *buffer, size_t size);

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
