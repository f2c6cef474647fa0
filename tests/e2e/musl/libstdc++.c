/*
 * What the machine's libstdc++.so.6, libgcc_s.so.1, libssl.so.3 and libcrypto.so.3, built for glibc, use of glibc that musl does not have, or has in another
 * form. Loaded in a musl process under the name libstdc++.so.6; it needs the real one as libstdc++-gnu.so. For tests only: the
 * only locale is C. Compiled with glibc's headers, linked with no C library.
 */
#include <ctype.h>
#include <langinfo.h>
#include <link.h>
#include <locale.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <wchar.h>
#include <wctype.h>

char __libc_single_threaded; /* 0: libstdc++ uses atomics */

/* libgcc_s exports these under an old symbol version only, and musl ignores versions. */
struct {
    unsigned vendor, type, subtype, features[1];
} __cpu_model;

int __cpu_indicator_init(void)
{
    return 0;
}

uint32_t arc4random(void)
{
    uint32_t word = 0;

    if (getrandom(&word, sizeof(word), 0) < 0)
        word = (uint32_t)(uintptr_t)&word;
    return word;
}

/* ---- Destructors of thread_local objects. */

struct ender {
    void (*run)(void *);
    void *object;
    struct ender *next;
};

static pthread_key_t enders_key;
static pthread_once_t enders_once = PTHREAD_ONCE_INIT;

static void run_enders(void *list)
{
    for (struct ender *e = list, *next; e; e = next) {
        pthread_setspecific(enders_key, e->next);
        e->run(e->object);
        next = pthread_getspecific(enders_key);
        free(e);
    }
}

static void make_key(void)
{
    pthread_key_create(&enders_key, run_enders);
}

int __cxa_thread_atexit_impl(void (*run)(void *), void *object, void *library)
{
    struct ender *e = malloc(sizeof(*e));

    (void)library;
    pthread_once(&enders_once, make_key);
    if (!e)
        return -1;
    *e = (struct ender){run, object, pthread_getspecific(enders_key)};
    return pthread_setspecific(enders_key, e);
}

/* ---- Where libgcc's unwinder finds .eh_frame_hdr. The layout is that of glibc's struct dl_find_object on x86-64. */

struct found_object {
    unsigned long long flags;
    uintptr_t start, end;
    void *map, *eh_frame;
    unsigned long long reserved[7];
};

struct search {
    uintptr_t pc;
    struct found_object *out;
};

static int match_object(struct dl_phdr_info *info, size_t size, void *context)
{
    struct search *s = context;
    struct found_object found = {.start = UINTPTR_MAX};
    int holds_pc = 0;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;

        if (p->p_type == PT_GNU_EH_FRAME)
            found.eh_frame = (void *)at;
        if (p->p_type != PT_LOAD)
            continue;
        found.start = at < found.start ? at : found.start;
        found.end = at + p->p_memsz > found.end ? at + p->p_memsz : found.end;
        holds_pc |= s->pc - at < p->p_memsz;
    }
    if (!holds_pc || !found.eh_frame)
        return 0;
    *s->out = found;
    return 1;
}

int find_object(void *pc, struct found_object *out) __asm__("_dl_find_object");
int find_object(void *pc, struct found_object *out)
{
    struct search s = {(uintptr_t)pc, out};

    return dl_iterate_phdr(match_object, &s) ? 0 : -1;
}

/* ---- Locales: libstdc++ reads the members of glibc's locale_t itself. */

static struct __locale_struct c_locale;
static __thread locale_t thread_locale;

static locale_t get_locale(void)
{
    if (!c_locale.__ctype_b) {
        for (size_t i = 0; i < sizeof(c_locale.__names) / sizeof(*c_locale.__names); i++)
            c_locale.__names[i] = "C";
        c_locale.__ctype_tolower = *__ctype_tolower_loc();
        c_locale.__ctype_toupper = *__ctype_toupper_loc();
        c_locale.__ctype_b = *__ctype_b_loc();
    }
    return &c_locale;
}

locale_t __newlocale(int mask, const char *name, locale_t base)
{
    (void)mask;
    (void)base;
    return !strcmp(name, "C") || !strcmp(name, "POSIX") || !*name ? get_locale() : NULL;
}

locale_t __duplocale(locale_t l)
{
    (void)l;
    return get_locale();
}

void __freelocale(locale_t l)
{
    (void)l;
}

locale_t __uselocale(locale_t l)
{
    locale_t was = thread_locale ? thread_locale : get_locale();

    if (l)
        thread_locale = l;
    return was;
}

#define WITHOUT_LOCALE(type, name, parameters, call) \
    type name parameters; \
    type name parameters \
    { \
        (void)l; \
        return call; \
    }

WITHOUT_LOCALE(wctype_t, __wctype_l, (const char *s, locale_t l), wctype(s))
WITHOUT_LOCALE(int, __iswctype_l, (wint_t c, wctype_t t, locale_t l), iswctype(c, t))
WITHOUT_LOCALE(wint_t, __towupper_l, (wint_t c, locale_t l), towupper(c))
WITHOUT_LOCALE(wint_t, __towlower_l, (wint_t c, locale_t l), towlower(c))
WITHOUT_LOCALE(int, __strcoll_l, (const char *a, const char *b, locale_t l), strcmp(a, b))
WITHOUT_LOCALE(size_t, __strxfrm_l, (char *d, const char *s, size_t n, locale_t l), strxfrm(d, s, n))
WITHOUT_LOCALE(int, __wcscoll_l, (const wchar_t *a, const wchar_t *b, locale_t l), wcscmp(a, b))
WITHOUT_LOCALE(size_t, __wcsxfrm_l, (wchar_t * d, const wchar_t *s, size_t n, locale_t l), wcsxfrm(d, s, n))
WITHOUT_LOCALE(size_t, __strftime_l, (char *s, size_t n, const char *f, const struct tm *t, locale_t l), strftime(s, n, f, t))
WITHOUT_LOCALE(size_t, __wcsftime_l, (wchar_t * s, size_t n, const wchar_t *f, const struct tm *t, locale_t l), wcsftime(s, n, f, t))
WITHOUT_LOCALE(char *, __nl_langinfo_l, (nl_item i, locale_t l), nl_langinfo(i))
WITHOUT_LOCALE(double, __strtod_l, (const char *s, char **e, locale_t l), strtod(s, e))
WITHOUT_LOCALE(float, __strtof_l, (const char *s, char **e, locale_t l), strtof(s, e))
WITHOUT_LOCALE(long double, __strtold_l, (const char *s, char **e, locale_t l), strtold(s, e))
WITHOUT_LOCALE(long double, strtold_l, (const char *s, char **e, locale_t l), strtold(s, e))

/* ---- What the machine's libssl and libcrypto need: the forms of functions that check sizes, and contexts, which nobody uses. */

void *__memcpy_chk(void *to, const void *from, size_t count, size_t room)
{
    return count <= room ? memcpy(to, from, count) : (abort(), to);
}

void *__memset_chk(void *to, int byte, size_t count, size_t room)
{
    return count <= room ? memset(to, byte, count) : (abort(), to);
}

char *__strcat_chk(char *to, const char *from, size_t room)
{
    return strlen(to) + strlen(from) < room ? strcat(to, from) : (abort(), to);
}

int __vfprintf_chk(FILE *file, int flag, const char *format, va_list arguments)
{
    (void)flag;
    return vfprintf(file, format, arguments);
}

int __fprintf_chk(FILE *file, int flag, const char *format, ...)
{
    va_list arguments;
    int count;

    (void)flag;
    va_start(arguments, format);
    count = vfprintf(file, format, arguments);
    va_end(arguments);
    return count;
}

int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...)
{
    va_list arguments;
    int count;

    (void)flag;
    va_start(arguments, format);
    count = vsnprintf(to, room, format, arguments);
    va_end(arguments);
    return count;
}

void __syslog_chk(int priority, int flag, const char *format, ...)
{
    (void)priority, (void)flag, (void)format;
}

long __fdelt_chk(long descriptor)
{
    return descriptor / (8 * (long)sizeof(long));
}

int getcontext(void *context)
{
    (void)context;
    return -1;
}

int setcontext(const void *context)
{
    (void)context;
    return -1;
}

void makecontext(void *context, void (*run)(void), int count, ...)
{
    (void)context, (void)run, (void)count;
}
