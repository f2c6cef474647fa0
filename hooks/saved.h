/*
 * hooks/saved.h - what a stub of the fast hooks puts on the stack before it calls C. For assembly
 * too.
 */
#ifndef SHADOWTRACE_HOOKS_SAVED_H
#define SHADOWTRACE_HOOKS_SAVED_H

#if defined(__x86_64__)
#define HOOK_SAVED_BYTES \
    184 /* x86_64/save.inc: 7 integer registers, 8 vector registers of 16 bytes */
#endif

#endif
