#include "report/report.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void report_problems_init(struct report_problems *p)
{
    memset(p, 0, sizeof(*p));
}

void report_problems_fini(struct report_problems *p)
{
    memory_free(p->kept);
    report_problems_init(p);
}

/* What a log holds may end up in a problem: control characters would break the one line, a cut could halve a letter. */
static void make_printable(char *text)
{
    size_t end = strlen(text);

    for (size_t i = 0; i < end; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F)
            text[i] = '?';
    if (end < sizeof(((struct report_problem *)0)->text) - 1)
        return;
    while (end > 0 && ((unsigned char)text[end - 1] & 0xC0) == 0x80)
        end--;
    if (end > 0 && (unsigned char)text[end - 1] >= 0xC0)
        end--;
    text[end] = '\0';
}

void report_problem(struct report_problems *p, struct report_place at, const char *format, ...)
{
    struct report_problem *problem;
    va_list args;

    p->count++;
    if (p->kept_count == REPORT_PROBLEMS)
        return;
    if (!p->kept && !(p->kept = memory_zalloc(REPORT_PROBLEMS, sizeof(*p->kept))))
        return;
    problem = &p->kept[p->kept_count++];
    problem->place = at;
    problem->file = p->file;
    va_start(args, format);
    vsnprintf(problem->text, sizeof(problem->text), format, args);
    va_end(args);
    make_printable(problem->text);
}
