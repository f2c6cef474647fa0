/*
 * hooks/x86_64/near.c - chooses the form of the ELT3 hooks: where a thread's words lie is known
 * only when the library is loaded.
 *
 * The library accesses its thread-local data by TLS descriptors. The dynamic linker resolves each
 * descriptor in one of two ways:
 * - Static TLS: the data is at the same distance from the thread pointer in every thread, and the
 *   descriptor holds that distance. glibc does this while its surplus lasts
 *   (glibc.rtld.optional_static_tls, 512 bytes). The near form has the distance as a constant; the
 *   far form loads it.
 * - Dynamic TLS: each thread has a separate block. musl does this for every library that is
 *   loaded later. It allocates the blocks of all threads at once, and a thread's DTV holds their
 *   addresses. glibc allocates a block when a thread first asks for it, and before 2.40 that
 *   changes vector registers, which hold a method's arguments. So hooks are unsafe there.
 * Source: the x86-64 ABI's TLS supplement; "Thread-Local Storage Descriptors for IA32 and AMD64";
 * glibc bug 31372; musl's src/internal/pthread_impl.h (the first members of struct pthread are ABI:
 * self, dtv), ldso/dynlink.c (install_new_tls), src/ldso/x86_64/tlsdesc.s.
 */
#include "hooks/elt.h"

#include "stack/stack_hot.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* From each note to its place in the code (elt3.S). */
extern const int32_t hook_places[], hook_places_end[];

static const struct elt3_hooks far = {hook_enter3_far, hook_leave3_far, elt3_pair_far},
                               near = {hook_enter3_near, hook_leave3_near, elt3_pair_near},
                               dtv = {hook_enter3_dtv, hook_leave3_dtv, elt3_pair_dtv};

intptr_t hook_words_distance;
uintptr_t hook_words_slot;

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
    int32_t distance = (int32_t)hook_words_distance;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), low = UINTPTR_MAX, high = 0;

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

static intptr_t words_distance(void)
{
    intptr_t words = (intptr_t)&stack_words;

    __asm__("" : "+r"(words)); /* no relocation expresses this difference */
    return words - (intptr_t)__builtin_thread_pointer();
}

/*
 * A linker that knows the distance replaces the address of the descriptor by the distance. Else the
 * second word of the descriptor is the distance, or a pointer in dynamic TLS.
 */
static bool words_are_static(intptr_t distance)
{
    intptr_t descriptor;

    __asm__("leaq stack_words@tlsdesc(%%rip), %%rax" : "=a"(descriptor));
    return descriptor == distance || ((const intptr_t *)descriptor)[1] == distance;
}

/* The number of this library's block, as the dynamic linker counts. */
static int module_match(struct dl_phdr_info *info, size_t size, void *slot)
{
    uintptr_t here = (uintptr_t)&far;

    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD &&
            here - (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) < info->dlpi_phdr[i].p_memsz) {
            *(uintptr_t *)slot = info->dlpi_tls_modid * sizeof(void *);
            return 1;
        }
    return 0;
}

/* Does the element of this thread's DTV at `slot` point to the block that has the words? */
static bool vector_has_words(uintptr_t slot)
{
    const uintptr_t *vector;
    uintptr_t place;

    __asm__("movq %%fs:8, %0" : "=r"(vector));
    __asm__("movq $stack_words@dtpoff, %0" : "=r"(place)); /* within the block */
    return slot && vector[slot / sizeof(*vector)] + place == (uintptr_t)&stack_words;
}

bool hooks_safe(void)
{
    if (words_are_static(words_distance()))
        return true;
    if (dlsym(RTLD_DEFAULT, "gnu_get_libc_version"))
        return false;
    dl_iterate_phdr(module_match, &hook_words_slot);
    return vector_has_words(hook_words_slot);
}

const struct elt3_hooks *hooks_elt3(void)
{
    static const struct elt3_hooks *chosen;

    if (chosen)
        return chosen;
    hook_words_distance = words_distance();
    if (!words_are_static(hook_words_distance))
        chosen = &dtv;
    else
        chosen = write_places() ? &near : &far;
    return chosen;
}
