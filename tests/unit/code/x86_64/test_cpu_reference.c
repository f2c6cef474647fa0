/*
 * Lengths of instructions, as Zydis reads them: of random bytes, and of all code of the C library. The headers of Zydis
 * (libzydis-dev) may be missing: then there is nothing to compare with.
 */
#include "code/cpu_code.h"

#include "base/atomics.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#if __has_include(<Zydis/Zydis.h>)
#include <Zydis/Zydis.h>
#include <link.h>

enum { LONGEST = 15, RANDOM = 2000000 };

/* Zydis' length of the instruction at code[0]; 0: it is none. */
static size_t reference_length(const ZydisDecoder *decoder, const uint8_t *code, size_t size)
{
    ZydisDecodedInstruction instruction;

    return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, NULL, code, size, &instruction))
               ? instruction.length
               : 0;
}

/* What no compiler makes and the decoder leaves out: XOP and 3DNow!, which are gone, and branches of Knights Corner. */
static bool is_left_out(const ZydisDecoder *decoder, const uint8_t *code, size_t size)
{
    ZydisDecodedInstruction in;

    return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder, NULL, code, size, &in)) &&
           (in.encoding == ZYDIS_INSTRUCTION_ENCODING_XOP ||
            in.encoding == ZYDIS_INSTRUCTION_ENCODING_3DNOW || in.mnemonic == ZYDIS_MNEMONIC_JKZD ||
            in.mnemonic == ZYDIS_MNEMONIC_JKNZD);
}

/* Fails with the bytes, where the two differ. Returns: the length, 0 for an invalid instruction. */
static size_t same_length(const ZydisDecoder *decoder, const uint8_t *code, size_t size)
{
    size_t wanted = reference_length(decoder, code, size), length;

    if (!wanted || is_left_out(decoder, code, size))
        return wanted;
    length = cpu_length(code, size);
    if (length != wanted) {
        for (size_t i = 0; i < wanted; i++)
            print_message("%02x ", code[i]);
        print_message(": %zu bytes, read as %zu\n", wanted, length);
        fail();
    }
    assert_int_equal(cpu_length(code, wanted - 1), 0);
    return wanted;
}

static void decoder_init(ZydisDecoder *decoder)
{
    assert_true(
        ZYAN_SUCCESS(ZydisDecoderInit(decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)));
}

TEST(random_bytes_are_as_long_as_the_reference_says)
{
    static const uint8_t first[] = {0x0F, 0x48, 0x62, 0x66, 0xC4, 0xC5, 0xF3, 0xFF};
    const char *seed = getenv("SEED");
    uint64_t random = seed ? strtoull(seed, NULL, 0) : 1;
    uint8_t code[LONGEST + 1];
    size_t instructions = 0;
    ZydisDecoder decoder;

    decoder_init(&decoder);
    for (size_t n = 0; n < RANDOM; n++) {
        for (size_t i = 0; i < sizeof(code); i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            code[i] = (uint8_t)(random >> 56);
        }
        if (n % 2) /* what opens the larger part of the table */
            code[0] = first[n / 2 % COUNT_OF(first)];
        instructions += same_length(&decoder, code, sizeof(code)) > 0;
    }
    assert_true(instructions > RANDOM / 4);
}

struct code {
    const uint8_t *start;
    size_t size;
};

static int find_code(struct dl_phdr_info *info, size_t size, void *context)
{
    struct code *out = context;

    (void)size;
    for (size_t i = 0; strstr(info->dlpi_name, "libc.so") && i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
            *out = (struct code){(const uint8_t *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
                                 info->dlpi_phdr[i].p_memsz};
    return out->size != 0;
}

TEST(code_of_the_c_library_is_as_long_as_the_reference_says)
{
    struct code libc = {NULL, 0};
    size_t instructions = 0, length;
    ZydisDecoder decoder;

    decoder_init(&decoder);
    dl_iterate_phdr(find_code, &libc);
    if (!libc.size)
        skip(); /* linked in */
    for (size_t at = 0; at < libc.size; at += length ? length : 1) {
        length = same_length(&decoder, libc.start + at, libc.size - at);
        instructions += length > 0;
    }
    assert_true(instructions > libc.size / 16);
}

#else

TEST(lengths_are_compared_with_those_of_zydis_if_libzydis_dev_is_installed)
{
    print_message("libzydis-dev is not installed\n");
    skip();
}

#endif
