/*
 * hooks/x86_64/saved.h - what a stub of the fast hooks puts on the stack before it calls C. For
 * assembly too.
 */
#ifndef SHADOWTRACE_HOOKS_SAVED_H
#define SHADOWTRACE_HOOKS_SAVED_H

#define HOOK_SAVED_BYTES 184 /* save.inc: 7 integer registers, 8 vector registers of 16 bytes */

#endif
