#include "readers/problems.h"

#include "base/buffer.h"
#include "base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void log_problems_init(struct log_problems *p)
{
    memset(p, 0, sizeof(*p));
}

void log_problems_fini(struct log_problems *p)
{
    memory_free(p->kept);
    log_problems_init(p);
}

/*
 * One line of whole letters: what a log holds may end up in a problem, and a text may have been cut
 * within a letter.
 */
static void make_printable(char *text, size_t room)
{
    struct buffer utf8 = BUFFER_INIT;
    size_t size;

    buffer_utf8(&utf8, text);
    size = utf8.size < room ? utf8.size : room - 1;
    if (utf8.failed)
        size = 0;
    while (size > 0 && size < utf8.size && ((unsigned char)utf8.data[size] & 0xC0) == 0x80)
        size--;
    if (size)
        memcpy(text, utf8.data, size);
    text[size] = '\0';
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7F)
            *text = '?';
    buffer_free(&utf8);
}

void log_problem(struct log_problems *p, struct log_place at, const char *format, ...)
{
    struct log_problem *problem;
    va_list args;

    p->count++;
    if (p->kept_count == LOG_PROBLEMS)
        return;
    if (!p->kept && !(p->kept = memory_zalloc(LOG_PROBLEMS, sizeof(*p->kept))))
        return;
    problem = &p->kept[p->kept_count++];
    problem->place = at;
    problem->file = p->file;
    va_start(args, format);
    vsnprintf(problem->text, sizeof(problem->text), format, args);
    va_end(args);
    make_printable(problem->text, sizeof(problem->text));
}
