/* The budget's schema as it ships. The compiler runs at the top of the source tree. */
#include "gate/budget.h"

extern const char budget_schema_end[];

__asm__(".pushsection .rodata\n"
        ".globl budget_schema_text\n"
        ".globl budget_schema_end\n"
        ".hidden budget_schema_text\n"
        ".hidden budget_schema_end\n"
        "budget_schema_text:\n"
        ".incbin \"include/shadowtrace/budget_schema.json\"\n"
        "budget_schema_end:\n"
        ".byte 0\n"
        ".popsection\n");

size_t budget_schema_size(void)
{
    return (size_t)(budget_schema_end - budget_schema_text);
}
