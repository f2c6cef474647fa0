/*
 * main() for any fuzz target where there is no fuzzing compiler: replays inputs, and mutates them.
 *
 *   TARGET [OPTIONS] FILE|FOLDER...   every file, and every file in the folders
 *   --mutate N      then N inputs made from them
 *   --seed S        of this series (1); the same seed makes the same inputs
 *   --only I        of those N just number I, from 0
 *   --max-size B    bytes of one input (1 MiB)
 *   --save FILE     write each mutated input there before it runs: after a crash it is the one
 *   --grow          each text of lines, all behind its first line 1, 2, 4, ... times, up to 256 KiB: what it takes then
 *
 * Every input may hold 64 MB and 20 times its size (unpacked, where the target says how large that is). Built for
 * `make fuzz`, which counts branches, there is also a limit on branches, and one for each byte: a time limit that does
 * not depend on the load. An input that goes beyond either aborts.
 *
 * Exit status: 0 all ran, 2 usage or unreadable. What else is a failure the target decides: it aborts, or a sanitizer
 * does.
 */
#include "support/heap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SIZE_LIMIT    ((size_t)1 << 20) /* bytes of one input, unless --max-size */
#define LARGE         8000              /* bytes of an input that is mutated seldom */
#define GROWS         1.2 /* times what a byte took in half of the input; in a quadratic reader 2 */
#define GROWN         ((size_t)256 << 10) /* bytes up to which --grow goes */
#define TOLD          50000               /* inputs between two lines that say how far it is */
#define HELD_ALWAYS   ((size_t)64 << 20)  /* bytes that any input may make the target hold */
#define HELD_PER_BYTE 20
#define WORK_ALWAYS   ((uint64_t)50 << 20) /* branches */
#define WORK_PER_BYTE ((uint64_t)1000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t fuzz_size(const uint8_t *data, size_t size) __attribute__((weak)); /* unpacked */

bool fuzz_mutated; /* for targets that do less with mutated inputs than with the corpus */

static uint64_t work; /* not atomic: what threads beside each other take away from it is little */

/* The compiler calls it at each branch of what is built with -fsanitize-coverage=trace-pc. */
void __sanitizer_cov_trace_pc(void);
__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc(void)
{
    work++;
}

/* For targets that run commands, which complain of each input. A sanitizer writes to the descriptor, and is still heard. */
void fuzz_silence(void);
void fuzz_silence(void)
{
    static FILE *nowhere;

    if (nowhere)
        return;
    nowhere = fopen("/dev/null", "we");
    if (!nowhere) {
        printf("/dev/null cannot be opened\n");
        fflush(stdout);
        _exit(2);
    }
    stderr = nowhere;
}

static double most_held, most_work; /* of all inputs, for each byte, beyond what any may take */

static void run_one(const uint8_t *data, size_t size)
{
    size_t bytes = size + 1, held, unpacked;
    uint64_t took;
    ptrdiff_t before = heap_held;

    heap_begin();
    work = 0;
    LLVMFuzzerTestOneInput(data, size);
    took = work;
    held = heap_peak(before);
    unpacked = fuzz_size ? fuzz_size(data, size) : 0;
    if (unpacked > bytes)
        bytes = unpacked;
    if (held > HELD_ALWAYS + HELD_PER_BYTE * bytes || took > WORK_ALWAYS + WORK_PER_BYTE * bytes) {
        printf("%zu bytes made it hold %zu, and take %" PRIu64 " branches\n", bytes, held, took);
        fflush(stdout);
        abort();
    }
    if (bytes > 1000 && (double)held / (double)bytes > most_held)
        most_held = (double)held / (double)bytes;
    if (bytes > 1000 && (double)took / (double)bytes > most_work)
        most_work = (double)took / (double)bytes;
}

struct input {
    uint8_t *data;
    size_t size;
};

struct corpus {
    struct input *inputs;
    size_t count, capacity;
};

struct options {
    uint64_t mutate, seed, only;
    size_t max_size;
    const char *save;
    bool grow;
};

/* splitmix64: all of its state is one counter, so that each input's number alone leads to it. */
static uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static size_t random_below(uint64_t *state, size_t end)
{
    return end ? (size_t)(random_next(state) % end) : 0;
}

static int corpus_add(struct corpus *corpus, const char *path, size_t max_size)
{
    FILE *file = fopen(path, "rb");
    struct input input = {malloc(max_size + 1), 0};

    if (!file || !input.data) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        free(input.data);
        if (file)
            fclose(file);
        return -1;
    }
    input.size = fread(input.data, 1, max_size, file);
    fclose(file);
    if (corpus->count == corpus->capacity) {
        size_t capacity = corpus->capacity ? 2 * corpus->capacity : 64;
        struct input *grown = realloc(corpus->inputs, capacity * sizeof(*grown));

        if (!grown) {
            free(input.data);
            return -1;
        }
        corpus->inputs = grown;
        corpus->capacity = capacity;
    }
    if (input.size) { /* a small block for a small input; and realloc(p, 0) is nothing to rely on */
        uint8_t *shrunk = realloc(input.data, input.size);

        input.data = shrunk ? shrunk : input.data;
    }
    corpus->inputs[corpus->count++] = input;
    return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* not by locale: the same order everywhere */
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int corpus_load(struct corpus *corpus, const char *path, size_t max_size)
{
    struct dirent **entries;
    struct stat status;
    int count;
    int err = 0;

    if (stat(path, &status)) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    if (!S_ISDIR(status.st_mode))
        return corpus_add(corpus, path, max_size);
    count = scandir(path, &entries, visible, by_name);
    if (count < 0)
        return -1;
    for (int i = 0; i < count; i++) {
        char name[4096];
        int needed = snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);

        if (!err && needed > 0 && (size_t)needed < sizeof(name) && !stat(name, &status) &&
            S_ISREG(status.st_mode))
            err = corpus_add(corpus, name, max_size);
        free(entries[i]);
    }
    free(entries);
    return err;
}

/* Values at which sizes, counts and signs go wrong, in 1, 2, 4 or 8 little-endian bytes. */
static void mutate_integer(struct input *input, uint64_t *state)
{
    static const uint64_t values[] = {0,          1,
                                      2,          7,
                                      8,          15,
                                      16,         31,
                                      32,         63,
                                      64,         127,
                                      128,        129,
                                      191,        192,
                                      224,        254,
                                      255,        256,
                                      511,        512,
                                      1023,       1024,
                                      2047,       2048,
                                      4095,       4096,
                                      0x7FFF,     0x8000,
                                      0xFFFE,     0xFFFF,
                                      0x10000,    0xFEEFEE,
                                      0xFFFFFF,   0x1000000,
                                      0x1FFFFFFF, 0x20000000,
                                      0x7FFFFFFE, 0x7FFFFFFF,
                                      0x80000000, 0xFFFFFFFE,
                                      0xFFFFFFFF, 0x100000000,
                                      INT64_MAX,  (uint64_t)INT64_MIN,
                                      UINT64_MAX};
    size_t width = (size_t)1 << random_below(state, 4);
    uint64_t value = values[random_below(state, sizeof(values) / sizeof(values[0]))];
    size_t at;

    if (input->size < width)
        return;
    at = random_below(state, input->size - width + 1);
    if (random_below(state, 4) == 0) { /* near what is there, or near the input's own size */
        value = random_below(state, 2) ? input->size : 0;
        for (size_t i = 0; i < width && !value; i++)
            value |= (uint64_t)input->data[at + i] << 8 * i;
        value += random_below(state, 17) - (uint64_t)8;
    }
    for (size_t i = 0; i < width; i++)
        input->data[at + i] = (uint8_t)(value >> 8 * i);
}

/* Bytes of this or another input in place of, or between, our own. */
static void mutate_splice(struct input *input, const struct corpus *corpus, size_t max_size,
                          uint64_t *state)
{
    const struct input *other = &corpus->inputs[random_below(state, corpus->count)];
    size_t at = random_below(state, input->size + 1);
    size_t from = random_below(state, other->size + 1);
    size_t length = random_below(state, other->size - from + 1);

    if (random_below(state, 4))
        length = length > 64 ? 1 + length % 64 : length; /* mostly short ones */
    if (random_below(state, 2)) {                        /* overwrite */
        if (length > input->size - at)
            length = input->size - at;
    } else { /* insert */
        if (length > max_size - input->size)
            length = max_size - input->size;
        memmove(input->data + at + length, input->data + at, input->size - at);
        input->size += length;
    }
    memcpy(input->data + at, other->data + from, length);
}

static void mutate_move(struct input *input, uint64_t *state)
{
    size_t from = random_below(state, input->size + 1);
    size_t to = random_below(state, input->size + 1);
    size_t most = input->size - (from > to ? from : to);

    memmove(input->data + to, input->data + from, random_below(state, most + 1));
}

static void mutate_once(struct input *input, const struct corpus *corpus, size_t max_size,
                        uint64_t *state)
{
    size_t at = random_below(state, input->size);
    size_t length = random_below(state, input->size - at + 1);

    switch (random_below(state, 10)) {
    case 0:
    case 1:
        if (input->size)
            input->data[at] ^= (uint8_t)(1u << random_below(state, 8));
        break;
    case 2:
        if (input->size)
            input->data[at] = (uint8_t)random_next(state);
        break;
    case 3:
        if (input->size)
            input->data[at] = (uint8_t)(input->data[at] + (random_below(state, 2) ? 1 : -1));
        break;
    case 4:
    case 5:
    case 6:
        mutate_integer(input, state);
        break;
    case 7:
        mutate_splice(input, corpus, max_size, state);
        break;
    case 8:
        mutate_move(input, state);
        break;
    default: /* cut off, cut out */
        if (random_below(state, 2)) {
            input->size = at;
        } else {
            length = length > 64 ? 1 + length % 64 : length;
            memmove(input->data + at, input->data + at + length, input->size - at - length);
            input->size -= length;
        }
    }
}

static int save_input(const char *path, const struct input *input)
{
    FILE *file = fopen(path, "wb");
    bool good = file && fwrite(input->data, 1, input->size, file) == input->size;

    if (file && fclose(file))
        good = false;
    if (!good)
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return good ? 0 : -1;
}

/* Large inputs are there for what they take, and are mutated seldom: most of that is the same again. */
static const struct input *choose(const struct corpus *corpus, uint64_t *state)
{
    const struct input *input;

    do
        input = &corpus->inputs[random_below(state, corpus->count)];
    while (input->size > LARGE && random_below(state, 16));
    return input;
}

static int run_mutated(const struct corpus *corpus, const struct options *options)
{
    struct input input = {malloc(options->max_size + 1), 0};
    struct timespec start;
    struct timespec now;
    int err = 0;

    if (!input.data)
        return -1;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (uint64_t i = 0; i < options->mutate && !err; i++) {
        uint64_t state = (options->seed << 40) ^ (i * 0xD1342543DE82EF95u);
        const struct input *base = choose(corpus, &state);
        size_t steps = (size_t)1 << random_below(&state, 5);

        if (options->only != UINT64_MAX && i != options->only)
            continue;
        input.size = base->size;
        memcpy(input.data, base->data, base->size);
        for (steps = 1 + random_below(&state, steps); steps; steps--)
            mutate_once(&input, corpus, options->max_size, &state);
        if (options->save)
            err = save_input(options->save, &input);
        run_one(input.data, input.size);
        if ((i + 1) % TOLD == 0 && printf("%" PRIu64 " so far\n", i + 1) > 0)
            fflush(stdout);
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("%" PRIu64 " mutated inputs, seed %" PRIu64 ", %.0f s\n", options->mutate, options->seed,
           (double)(now.tv_sec - start.tv_sec) + 1e-9 * (double)(now.tv_nsec - start.tv_nsec));
    free(input.data);
    return err;
}

/* Returns how many arguments were taken: 2 for an option, 0 for a path, -1 for what is neither. */
static int parse_option(struct options *options, char **argv)
{
    static const char *const names[] = {"--mutate", "--seed", "--only", "--max-size"};
    uint64_t *const numbers[] = {&options->mutate, &options->seed, &options->only, NULL};
    char *end;

    if (strncmp(argv[0], "--", 2) != 0)
        return 0;
    if (!strcmp(argv[0], "--grow")) {
        options->grow = true;
        return 1;
    }
    if (!argv[1])
        return -1;
    if (!strcmp(argv[0], "--save")) {
        options->save = argv[1];
        return 2;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        unsigned long long value;

        if (strcmp(argv[0], names[i]) != 0)
            continue;
        errno = 0;
        value = strtoull(argv[1], &end, 10);
        if (errno || *end || end == argv[1])
            return -1;
        if (numbers[i])
            *numbers[i] = value;
        else
            options->max_size = value ? (size_t)value : 1;
        return 2;
    }
    return -1;
}

/*
 * An input that is twice as long may cost twice as much, plus a constant. So the cost per byte may not grow with the
 * length for ever; it may for a while, until tables have the size from which they double.
 */
static int grow_one(const struct input *input, size_t number, size_t max_size)
{
    const uint8_t *end = input->size ? memchr(input->data, '\n', input->size) : NULL;
    size_t head = end ? (size_t)(end + 1 - input->data) : 0, body = input->size - head;
    uint8_t *data = malloc(max_size);
    double before = 0, took = 0, most = 0;

    if (!data || !end || !body) {
        free(data);
        return data ? 0 : -1;
    }
    memcpy(data, input->data, head);
    printf("input %zu:", number);
    for (size_t size = head, times = 1; head + times * body <= max_size; times *= 2) {
        for (; size < head + times * body; size += body)
            memcpy(data + size, input->data + head, body);
        before = took;
        run_one(data, size);
        took = (double)work / (double)size;
        if (took > most)
            most = took;
        printf(" %zu bytes %.0f,", size, took);
    }
    printf(" branches a byte\n");
    free(data);
    if (took <= GROWS * before || took < 0.9 * most)
        return 0;
    printf("it takes more for each byte the longer it is\n");
    fflush(stdout);
    abort();
}

static int run(struct corpus *corpus, const struct options *options)
{
    for (size_t i = 0; options->grow && i < corpus->count; i++)
        if (grow_one(&corpus->inputs[i], i, GROWN))
            return -1;
    for (size_t i = 0; i < corpus->count; i++)
        run_one(corpus->inputs[i].data, corpus->inputs[i].size);
    printf(
        "%zu inputs replayed; held up to %.0f times an input's size, with %.0f branches a byte\n",
        corpus->count, most_held, most_work);
    fuzz_mutated = true;
    return options->mutate ? run_mutated(corpus, options) : 0;
}

int main(int argc, char **argv)
{
    struct options options = {.seed = 1, .only = UINT64_MAX, .max_size = SIZE_LIMIT};
    struct corpus corpus = {NULL, 0, 0};
    int err = 0;

    for (int i = 1;
         i < argc && !err;) { /* options first, so that --max-size holds for every path */
        int taken = parse_option(&options, argv + i);

        err = taken < 0;
        i += taken ? taken : 1;
    }
    for (int i = 1; i < argc && !err; i++) {
        if (!strcmp(argv[i], "--grow"))
            continue;
        if (!strncmp(argv[i], "--", 2))
            i++;
        else
            err = corpus_load(&corpus, argv[i], options.max_size);
    }
    if (!err && corpus.count)
        err = run(&corpus, &options);
    else if (!err || !corpus.count)
        fprintf(stderr,
                "usage: %s [--grow] [--mutate N] [--seed S] [--only I] [--max-size BYTES] [--save "
                "FILE] "
                "FILE|FOLDER...\n",
                argv[0]);
    if (!corpus.count)
        err = 1;
    for (size_t i = 0; i < corpus.count; i++)
        free(corpus.inputs[i].data);
    free(corpus.inputs);
    return err || fflush(stdout) ? 2 : 0;
}
