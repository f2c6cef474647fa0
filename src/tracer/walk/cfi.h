/*
 * walk/cfi.h - how native code is unwound, from DWARF's call frame information (.eh_frame).
 *
 * Only what a walk needs, on x86-64: where the canonical frame address (CFA) is, where rbp is saved
 * and where the return address is. Anything else is refused, as are bytes outside of the section.
 * Source: Linux Standard Base 5.0, 10.6 and 10.7; DWARF 5, 6.4.
 */
#ifndef SHADOWTRACE_WALK_CFI_H
#define SHADOWTRACE_WALK_CFI_H

#include <stdbool.h>
#include <stdint.h>

/* A table of a loaded image: .eh_frame_hdr, and the readable bytes that it may refer to. */
struct cfi_table {
    const uint8_t *header, *low, *high;
};

struct cfi_rule {
    bool ends;       /* there is no return address: this is the thread's oldest frame */
    bool by_fp;      /* the CFA is at a distance from rbp, else from rsp */
    bool keeps_fp;   /* rbp is the caller's */
    int32_t cfa;     /* from that register */
    int32_t fp, ret; /* where the caller's rbp and the return address are, from the CFA */
};

/*
 * cfi_find - the rule at `ip`. Returns: false if it is missing or unsupported.
 * Threads: any. May run: anywhere, while the image stays loaded.
 */
bool cfi_find(const struct cfi_table *table, uintptr_t ip, struct cfi_rule *out);

#endif
