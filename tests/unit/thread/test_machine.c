/* Which words from the stack the runtime is asked about: it would end the process over some that are no return addresses. */
#include "thread/machine.h"
#include "support/test.h"

#include <shadowtrace/clr/constants.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

static const uint8_t call[] = {0x90, 0x90, 0x90, 0x90, 0x90, 0xe8, 0, 0, 0, 0};
static unsigned asked;
static struct clr_info_vtbl vtbl;
static struct clr_info info = {&vtbl};

static hresult no_function(struct clr_info *self, const uint8_t *ip, uintptr_t *function)
{
    (void)self, (void)ip;
    asked++;
    *function = 0;
    return E_FAIL;
}

static hresult dynamic_function(struct clr_info *self, const uint8_t *ip, uintptr_t *function,
                                uintptr_t *rejit)
{
    (void)self, (void)ip;
    *function = 1;
    *rejit = 0;
    return S_OK;
}

static int setup(void **state)
{
    const struct clr_runtime runtime = {.info = &info, .info_version = 14, .major = 10};

    (void)state;
    vtbl.get_function_from_ip = no_function;
    vtbl.get_function_from_ip3 = dynamic_function;
    machine_start(&runtime, NULL);
    asked = 0;
    return 0;
}

TEST_EACH(setup, NULL);

/* A page of code: a call at its start. fd: -1 for memory of no file. */
static uintptr_t behind_call(int fd)
{
    uint8_t *page;

    if (fd >= 0) {
        assert_int_equal(ftruncate(fd, PAGE), 0);
        assert_int_equal(pwrite(fd, call, sizeof(call), 0), sizeof(call));
    }
    page = mmap(NULL, PAGE, PROT_READ | PROT_EXEC | (fd < 0 ? PROT_WRITE : 0),
                MAP_PRIVATE | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
    assert_ptr_not_equal(page, MAP_FAILED);
    if (fd < 0)
        memcpy(page, call, sizeof(call));
    return (uintptr_t)page + sizeof(call);
}

static void done(uintptr_t behind)
{
    assert_int_equal(munmap((void *)(behind - sizeof(call)), PAGE), 0); /* NOLINT: its page */
}

TEST(jitted_code_behind_a_call_is_asked_about)
{
    uintptr_t place = behind_call(-1);

    assert_true(machine_is_nameless(place));
    assert_int_equal(asked, 1);
    done(place);
}

TEST(so_is_code_that_is_mapped_twice)
{
    int fd = memfd_create("doublemapper", MFD_CLOEXEC);
    uintptr_t place = behind_call(fd);

    assert_true(machine_is_nameless(place));
    assert_int_equal(asked, 1);
    done(place);
    assert_int_equal(close(fd), 0);
}

TEST(a_place_in_an_image_is_not)
{
    char path[] = "/tmp/shadowtrace-machine-XXXXXX";
    int fd = mkstemp(path);
    uintptr_t place = behind_call(fd);

    assert_false(machine_is_nameless(place));
    assert_int_equal(asked, 0);
    done(place);
    assert_int_equal(close(fd), 0);
    assert_int_equal(unlink(path), 0);
}

TEST(nor_are_words_that_no_call_returns_to)
{
    uintptr_t place = behind_call(-1),
              words[] = {
                  0, 5, place - 1, place + 1, (uintptr_t)&asked, UINTPTR_MAX, (uintptr_t)1 << 47};

    for (size_t i = 0; i < COUNT_OF(words); i++)
        assert_false(machine_is_nameless(words[i]));
    done(place);
    assert_false(machine_is_nameless(place)); /* nothing is mapped there */
    assert_int_equal(asked, 0);
}
