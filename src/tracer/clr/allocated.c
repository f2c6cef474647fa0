#include "clr/allocated.h"

#include <shadowtrace/clr/constants.h>

#include <link.h>
#include <string.h>

/*
 * Source: dotnet/runtime src/coreclr/vm/qcallentrypoints.cpp (a name, its function) and ecalllist.h
 * (flags, a function, its name); comutilnative.cpp. Tried on .NET 8 to 11.
 */
enum { EXACT, THREAD, HANDED, NAMES };
struct wanted {
    const char *name;
    size_t size;
    ptrdiff_t function; /* where it is, in words from the name */
    uintptr_t found;
    unsigned count;
};

struct search {
    uintptr_t address; /* in the wanted image */
    const struct dl_phdr_info *image;
    struct wanted wanted[NAMES];
};

/* Does [address, address + size) lie in a segment with and without these flags? */
static bool lies_in(const struct dl_phdr_info *image, uintptr_t address, size_t size, uint32_t with,
                    uint32_t without)
{
    for (int i = 0; i < image->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &image->dlpi_phdr[i];
        uintptr_t from = image->dlpi_addr + segment->p_vaddr;

        if (segment->p_type == PT_LOAD && (segment->p_flags & with) == with &&
            !(segment->p_flags & without) && address >= from &&
            address - from + size <= segment->p_filesz)
            return true;
    }
    return false;
}

/* Is it called so, and has it a function? */
static void look(struct search *s, const uintptr_t *word)
{
    for (int i = 0; i < NAMES; i++) {
        struct wanted *w = &s->wanted[i];

        if (!lies_in(s->image, *word, w->size, PF_R, PF_W) ||
            memcmp((const void *)*word, w->name, w->size) != 0 || /* NOLINT */
            !lies_in(s->image, word[w->function], 1, PF_X, PF_W))
            continue;
        w->found = word[w->function];
        w->count++;
    }
}

/* Tables of addresses are constant once they are relocated. All wanted names begin with G. */
static void search_words(struct search *s, const uintptr_t *word, size_t count)
{
    for (size_t i = 1; i + 1 < count; i++)
        if (lies_in(s->image, word[i], 1, PF_R, PF_W) && *(const char *)word[i] == 'G') /* NOLINT */
            look(s, &word[i]);
}

static bool is_image(const struct dl_phdr_info *info, uintptr_t address)
{
    return lies_in(info, address, 1, PF_R, 0);
}

static int match(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *s = context;

    (void)size;
    if (!is_image(info, s->address))
        return 0;
    s->image = info;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t from = (info->dlpi_addr + segment->p_vaddr + sizeof(from) - 1) &
                         ~(uintptr_t)(sizeof(from) - 1);
        uintptr_t to = info->dlpi_addr + segment->p_vaddr + segment->p_memsz;

        if (segment->p_type == PT_GNU_RELRO && to > from)
            search_words(s, (const uintptr_t *)from, (to - from) / sizeof(from)); /* NOLINT */
    }
    return 1;
}

/* NULL if none, or several, are found. */
static void set(void *function, size_t size, const struct wanted *w)
{
    if (w->count == 1)
        memcpy(function, &w->found, size);
}

void clr_allocated_find(const struct clr_runtime *runtime, struct clr_allocated *out)
{
    static const char exact[] = "GCInterface_GetTotalAllocatedBytesPrecise",
                      thread[] = "GetAllocatedBytesForCurrentThread",
                      handed[] = "GetTotalAllocatedBytesApproximate",
                      handed_8[] = "GetTotalAllocatedBytes"; /* exactly, if its argument says so */
    struct search search = {.address = runtime->low,
                            .wanted = {[EXACT] = {exact, sizeof(exact), 1, 0, 0},
                                       [THREAD] = {thread, sizeof(thread), -1, 0, 0},
                                       [HANDED] = {handed, sizeof(handed), -1, 0, 0}}};

    *out = (struct clr_allocated){.info = runtime->info};
    if (clr_runtime_unverified(runtime))
        return;
    if (runtime->major < 9)
        search.wanted[HANDED] = (struct wanted){handed_8, sizeof(handed_8), -1, 0, 0};
    dl_iterate_phdr(match, &search);
    set(&out->exact, sizeof(out->exact), &search.wanted[EXACT]);
    set(&out->thread, sizeof(out->thread), &search.wanted[THREAD]);
    set(&out->handed, sizeof(out->handed), &search.wanted[HANDED]);
}

static uint64_t bytes_of(int64_t answer)
{
    return answer < 0 ? CLR_ALLOCATED_UNKNOWN : (uint64_t)answer;
}

uint64_t clr_allocated_exact(const struct clr_allocated *a)
{
    uintptr_t thread = 0;

    if (!a->exact || a->info->vtbl->get_current_thread_id(a->info, &thread) != S_OK || !thread)
        return CLR_ALLOCATED_UNKNOWN;
    return bytes_of(a->exact());
}

uint64_t clr_allocated_thread(const struct clr_allocated *a)
{
    return a->thread ? bytes_of(a->thread()) : CLR_ALLOCATED_UNKNOWN;
}

uint64_t clr_allocated_most(const struct clr_allocated *a)
{
    return a->handed ? bytes_of(a->handed(0)) : CLR_ALLOCATED_UNKNOWN;
}
