/*
 * hooks/shorten.c - the ELT3 stubs without the load that tells them where a thread's stack hangs.
 *
 * The distance of a thread-local variable from the thread pointer is the same in every thread, but
 * known only when the library is loaded. The stubs are linked to load it; once it is known they can
 * have it as a constant. Source: the x86-64 ABI's TLS supplement, initial exec and local exec.
 */
#include "hooks/elt.h"

#include "stack/stack_hot.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* movq stack_self@gottpoff(%rip), reg; movq %fs:(reg), reg */
#define LOAD_BYTES   7
#define PLACE_BYTES  11
#define PLACE_OFFSET 7 /* of the distance, in what is written */

/* From each note to its place in the code (elt3.S). */
extern const int32_t hook_places[], hook_places_end[];

static uint8_t *place_of(const int32_t *note)
{
    return (uint8_t *)((uintptr_t)note + (uintptr_t)(intptr_t)*note);
}

/*
 * Per register: what the linker left there, without the address; and what takes its place, movq
 * %fs:distance, reg. Two prefixes that mean nothing to it make it as long.
 */
static const struct form {
    uint8_t load[3], use[PLACE_BYTES - LOAD_BYTES], shorter[PLACE_OFFSET];
} forms[] = {
    {{0x48, 0x8b, 0x05},
     {0x64, 0x48, 0x8b, 0x00},
     {0x66, 0x66, 0x64, 0x48, 0x8b, 0x04, 0x25}}, /* rax */
    {{0x4c, 0x8b, 0x0d},
     {0x64, 0x4d, 0x8b, 0x09},
     {0x66, 0x66, 0x64, 0x4c, 0x8b, 0x0c, 0x25}}, /* r9 */
};

static const struct form *form_of(const uint8_t *place)
{
    for (const struct form *form = forms; form < forms + COUNT_OF(forms); form++)
        if (memcmp(place, form->load, sizeof(form->load)) == 0 &&
            memcmp(place + LOAD_BYTES, form->use, sizeof(form->use)) == 0)
            return form;
    return NULL; /* in a program the linker knew the distance */
}

static void write_place(uint8_t *place, const struct form *form, int32_t distance)
{
    memcpy(place, form->shorter, sizeof(form->shorter));
    memcpy(place + PLACE_OFFSET, &distance, sizeof(distance));
}

unsigned hooks_shorten(void)
{
    int32_t distance = (int32_t)((intptr_t)&stack_self - (intptr_t)__builtin_thread_pointer());
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), low = UINTPTR_MAX, high = 0;
    unsigned written = 0;

    for (const int32_t *note = hook_places; note < hook_places_end; note++) {
        uintptr_t place = (uintptr_t)place_of(note);

        low = place < low ? place : low;
        high = place + PLACE_BYTES > high ? place + PLACE_BYTES : high;
    }
    low &= -page;
    if (low >= high || mprotect((void *)low, high - low, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return 0;
    for (const int32_t *note = hook_places; note < hook_places_end; note++) {
        uint8_t *place = place_of(note);
        const struct form *form = form_of(place);

        if (form) {
            write_place(place, form, distance);
            written++;
        }
    }
    mprotect((void *)low, high - low, PROT_READ | PROT_EXEC);
    return written;
}
