/* The schema as it ships, byte for byte. The compiler runs at the top of the source tree. */
#include "validate/schema.h"

#ifndef SHADOWTRACE_SCHEMA_PATH
#define SHADOWTRACE_SCHEMA_PATH "include/shadowtrace/log_schema.json"
#endif

extern const char report_schema_end[];

__asm__(".pushsection .rodata\n"
        ".globl report_schema_text\n"
        ".globl report_schema_end\n"
        ".hidden report_schema_text\n"
        ".hidden report_schema_end\n"
        "report_schema_text:\n"
        ".incbin \"" SHADOWTRACE_SCHEMA_PATH "\"\n"
        "report_schema_end:\n"
        ".byte 0\n"
        ".popsection\n");

size_t report_schema_size(void)
{
    return (size_t)(report_schema_end - report_schema_text);
}
