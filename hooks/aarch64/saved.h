/*
 * hooks/aarch64/saved.h - what a stub of the fast hooks puts on the stack before it calls C. For
 * assembly too.
 */
#ifndef SHADOWTRACE_HOOKS_SAVED_H
#define SHADOWTRACE_HOOKS_SAVED_H

#define HOOK_SAVED_BYTES 224 /* save.inc: the frame record, x0-x8, padding, q0-q7 */

#endif
