/* Code as the runtimes compile it around the Leave and Tailcall hooks. */
#include "check/leaving.h"
#include "stack/stack.h"
#include "support/test.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#define ID UINT64_C(0x00007faeb404d2e8)

/* mov rdi, ID; lea rsi, [rbp + 16]; call [rip + ...]; mov rdi, rax; mov rsi, rbx */
static const uint8_t left[] = {0x48, 0xbf, 0xe8, 0xd2, 0x04, 0xb4, 0xae, 0x7f, 0x00,
                               0x00, 0x48, 0x8d, 0x75, 0x10, 0xff, 0x15, 0x14, 0x05,
                               0x6f, 0x7a, 0x48, 0x8b, 0xf8, 0x48, 0x8b, 0xf3};
#define CALL_END 20

TEST(behind_the_call_it_is_proven)
{
    for (unsigned size = CALL_END; size <= sizeof(left); size++)
        assert_true(leaving_code_behind_hook(left, size, ID));
}

TEST(before_the_call_it_is_not)
{
    for (unsigned size = 0; size < CALL_END; size++)
        assert_false(leaving_code_behind_hook(left, size, ID));
}

TEST(another_method_is_no_proof)
{
    assert_false(leaving_code_behind_hook(left, sizeof(left), ID + 8));
}

/* Enter hands its id in r14: mov r14, ID; lea r15, [rbp + 16]; call */
TEST(the_enter_hook_is_no_proof)
{
    uint8_t entered[sizeof(left)];

    memcpy(entered, left, sizeof(left));
    entered[0] = 0x49;
    entered[1] = 0xbe;
    assert_false(leaving_code_behind_hook(entered, sizeof(entered), ID));
}

TEST(code_at_the_beginning_of_a_mapping_is_read)
{
    uint8_t *pages = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + 4096, 4096, PROT_READ | PROT_WRITE), 0);
    memcpy(pages + 4096, left, sizeof(left));
    assert_true(leaving_behind_hook((uintptr_t)pages + 4096 + sizeof(left), ID, 1));
    assert_true(leaving_behind_hook((uintptr_t)pages + 4096 + sizeof(left), 1, ID));
    assert_false(leaving_behind_hook((uintptr_t)pages + 2 * 4096 + 64, ID, 1)); /* not mapped */
    munmap(pages, 3 * 4096);
}

TEST(an_id_with_tags_is_the_methods)
{
    uint8_t code[600] = {0}, *end = code + sizeof(code);

    memcpy(end - sizeof(left), left, sizeof(left));
    end[2 - (int)sizeof(left)] |= STACK_RESUMABLE | STACK_CALL_IF_NONE;
    assert_true(leaving_behind_hook((uintptr_t)end, ID, 1));
    assert_false(leaving_behind_hook((uintptr_t)end, ID + 8, 1));
    assert_false(leaving_behind_hook((uintptr_t)end, 8, ID)); /* a FunctionID has none */
}
