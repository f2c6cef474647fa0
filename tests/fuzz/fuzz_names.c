/*
 * fuzz_names - lines as names of one log: "m" and a method's, "c" and a type's. Their short names are there, differ as the full
 * ones do, and fit whatever width.
 */
#include "must.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "base/name.h"
#include "model/names.h"
#include "report/demangle.h"
#include "terminal/fit.h"
#include "terminal/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 400

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct shown {
    const char *text;
    char *full;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct shown *)a)->text, ((const struct shown *)b)->text);
}

/* Of one method: as written, and what a compiler made of it, which has no parameters. */
static bool is_one(const char *a, const char *b)
{
    const char *end_a = name_parameters(a), *end_b = name_parameters(b);

    return strcmp(a, b) == 0 || ((!*end_a || !*end_b) && end_a - a == end_b - b &&
                                 memcmp(a, b, (size_t)(end_a - a)) == 0);
}

static void differ(struct names *names, const char *const *texts, size_t count, bool methods)
{
    struct shown shown[LINES];
    struct buffer b = BUFFER_INIT;

    for (size_t i = 0; i < count; i++) {
        shown[i].text =
            methods ? names_method(names, (uint32_t)i) : names_class(names, (uint32_t)i);
        shown[i].full = memory_strdup(methods ? report_demangle(&b, texts[i]) : texts[i]);
        MUST(shown[i].full);
        for (size_t width = 0; width < 60; width += 7)
            MUST(text_columns(fit_name(&b, shown[i].text, width)) <= width);
    }
    qsort(shown, count, sizeof(*shown), by_text);
    for (size_t i = 0; i + 1 < count; i++)
        MUST(strcmp(shown[i].text, shown[i + 1].text) != 0 ||
             (methods ? is_one(shown[i].full, shown[i + 1].full)
                      : !strcmp(shown[i].full, shown[i + 1].full)));
    for (size_t i = 0; i < count; i++)
        memory_free(shown[i].full);
    buffer_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *methods[LINES], *classes[LINES];
    struct names_texts texts = {methods, classes, 0, 0};
    char *text = memory_alloc(size + 1), *at, *next;
    struct names *names;

    MUST(text);
    memcpy(text, data, size);
    text[size] = '\0';
    for (at = text; at < text + size; at = next) {
        next = at + strcspn(at, "\n") + 1;
        next[-1] = '\0';
        if (*at == 'm' && texts.method_count < LINES)
            methods[texts.method_count++] = at + 1;
        else if (*at == 'c' && texts.class_count < LINES)
            classes[texts.class_count++] = at + 1;
    }
    MUST(names_of_texts(&texts, NAMES_SHORT, &names) == 0);
    differ(names, methods, texts.method_count, true);
    differ(names, classes, texts.class_count, false);
    names_free(names);
    memory_free(text);
    return 0;
}
