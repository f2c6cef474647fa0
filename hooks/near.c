/*
 * hooks/near.c - the ELT3 hooks without the load that tells them where a thread's words lie.
 *
 * The distance of a thread-local variable from the thread pointer is the same in every thread, but
 * known only when the library is loaded. One form of the hooks is linked to load it; the other has
 * it as a constant, once that is known. Source: the x86-64 ABI's TLS supplement, initial exec and
 * local exec.
 */
#include "hooks/elt.h"

#include "stack/stack_hot.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* From each note to its place in the code (elt3.S). */
extern const int32_t hook_places[], hook_places_end[];

static const struct elt3_hooks far = {hook_enter3_far, hook_leave3_far, elt3_pair_far},
                               near = {hook_enter3_near, hook_leave3_near, elt3_pair_near};

static uint8_t *place_of(const int32_t *note)
{
    return (uint8_t *)((uintptr_t)note + (uintptr_t)(intptr_t)*note);
}

/* What is there is the distance of a word within struct stack_words. */
static void write_place(uint8_t *place, int32_t distance)
{
    int32_t word;

    memcpy(&word, place, sizeof(word));
    word += distance;
    memcpy(place, &word, sizeof(word));
}

static bool write_places(void)
{
    intptr_t words = (intptr_t)&stack_words;
    int32_t distance;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), low = UINTPTR_MAX, high = 0;

    __asm__("" : "+r"(words)); /* a difference of 32 bits is none that linkers know */
    distance = (int32_t)(words - (intptr_t)__builtin_thread_pointer());
    for (const int32_t *note = hook_places; note < hook_places_end; note++) {
        uintptr_t place = (uintptr_t)place_of(note);

        low = place < low ? place : low;
        high = place + sizeof(distance) > high ? place + sizeof(distance) : high;
    }
    low &= -page;
    if (low >= high || mprotect((void *)low, high - low, PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return false;
    for (const int32_t *note = hook_places; note < hook_places_end; note++)
        write_place(place_of(note), distance);
    mprotect((void *)low, high - low, PROT_READ | PROT_EXEC);
    return true;
}

const struct elt3_hooks *hooks_elt3(void)
{
    static const struct elt3_hooks *chosen;

    if (!chosen)
        chosen = write_places() ? &near : &far;
    return chosen;
}
