#include "command/operands.h"

#include "base/array.h"
#include "base/memory.h"

#include <errno.h>

struct words {
    char **word;
    size_t count, capacity;
};

static int add(struct words *w, char *word)
{
    if (!array_reserve(&w->word, &w->capacity, w->count + 1))
        return -ENOMEM;
    w->word[w->count++] = word;
    return 0;
}

/* The logs of a folder from `first` on, or the word itself. */
static int add_word(struct words *w, struct log_parts_folder *logs, char *word)
{
    size_t first = logs->count;
    int err = log_parts_folder_read(word, logs);

    if (err == -ENOMEM)
        return err;
    if (logs->count == first)
        return add(w, word);
    for (err = 0; !err && first < logs->count; first++)
        err = add(w, logs->logs[first].path);
    return err;
}

int operands_expand(struct args *args, size_t first, struct operands *out)
{
    struct words words = {NULL, 0, 0};
    size_t apart = args->apart;
    int err = 0;

    *out = (struct operands){.words = NULL};
    for (size_t i = 0; !err && i < args->count; i++) {
        apart = i == args->apart ? words.count : apart;
        err = i < first ? add(&words, args->word[i]) : add_word(&words, &out->logs, args->word[i]);
    }
    if (!err)
        err = add(&words, NULL);
    if (err || !out->logs.count) { /* as they were */
        memory_free(words.word);
        return err;
    }
    args->apart = args->apart == args->count ? words.count - 1 : apart;
    args->count = words.count - 1;
    args->word = out->words = words.word;
    return 0;
}

void operands_free(struct operands *o)
{
    memory_free(o->words);
    log_parts_folder_fini(&o->logs);
}
