/* symbols/mvid.h - the id of a module's build, between text and the bytes of an assembly. */
#ifndef SHADOWTRACE_SYMBOLS_MVID_H
#define SHADOWTRACE_SYMBOLS_MVID_H

#include "symbols/symbols.h"

/*
 * symbols_mvid_parse - "03020100-0504-...": in the bytes the first three numbers stand backwards.
 * Returns: false, out undefined, if it is none; text may be NULL.
 */
bool symbols_mvid_parse(const char *text, uint8_t out[SYMBOLS_MVID_SIZE]);

#endif
