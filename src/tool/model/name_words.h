/*
 * model/name_words.h - what an object of a type is called in plain words. For names.c.
 *
 *     int (an object of it)                           boxed int
 *     List<int>.Enumerator (an object of it)          boxed enumerator of List<int>
 *     SZGenericArrayEnumerator<int>                   enumerator of int[]
 *     Basket.<>c__DisplayClass1_0                     closure of Basket.Add
 *     Basket.<>c                                      lambdas of Basket
 *     Basket.<Items>d__3                              iterator of Basket.Items
 *     AsyncStateMachineBox<Basket.<AddAsync>d__4>     async state of Basket.AddAsync
 *     <>f__AnonymousType0<int, string>                anonymous type of int, string
 */
#ifndef SHADOWTRACE_MODEL_NAME_WORDS_H
#define SHADOWTRACE_MODEL_NAME_WORDS_H

#include "base/buffer.h"
#include "readers/defs.h"

struct names; /* model/names.h */

/* What name_words_all asks for: the tables of a log, and short names by number. */
struct name_words_log {
    const struct log_table *classes, *methods;
    const char *(*type)(struct names *n, uint32_t class_number);
    const char *(*method)(struct names *n, uint32_t method);
    struct names *names;
};

/*
 * name_words_all - the words for the classes of a log, by number; NULL: the short name says it all.
 * No two are alike.
 * Returns: 0 or -ENOMEM; texts and array are to be freed with memory_free, even then.
 */
int name_words_all(const struct name_words_log *log, char ***out);

#endif
