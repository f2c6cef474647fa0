/*
 * The native side of the test programs: calls back, starts threads, forks, dies.
 * Every function returns 0 or a count unless said otherwise; none keeps state between calls.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

typedef int (*callback)(int);
typedef int (*callback_wide)(int, int64_t, double, float, int, int64_t, double, int, int, int64_t);
typedef double (*floats)(double, double, double, double, double, double, double, double);

struct pair {
    int32_t first;
    double second;
};

API int e2e_add(int a, int b);
API int e2e_call(callback call, int argument);
API int e2e_call_times(callback call, int times);
API int e2e_call_deep(callback call, int argument, int depth);
API int e2e_call_wide(callback_wide call);
API int e2e_fail_errno(int error);
API int e2e_fail_hresult(void);
API int e2e_length(const char *text);
API int e2e_length_wide(const uint16_t *text);
API int e2e_sum(const int *values, int count);
API void e2e_fill(char *text, int size);
API struct pair e2e_pair(struct pair p);
API callback e2e_pointer(void);
API void e2e_sort(int *values, int count, int (*compare)(const void *, const void *));
API int e2e_threads(callback call, int threads, int calls, int pause_us);
API int e2e_thread_destructor(callback call, int rounds);
API int e2e_thread_waves(callback call, int waves, int threads);
API int e2e_thread_floats(floats call, int threads);
API int e2e_fork_exec(char *const *arguments);
API int e2e_fork_exit(int status);
API int e2e_vfork_exec(char *const *arguments);
API void e2e_abort(void);
API void e2e_kill_self(int number);
API void e2e_exit_now(int status);
API void e2e_exit(int status);
API void e2e_segfault(void);
API int e2e_detached(callback call, int threads);

int e2e_add(int a, int b)
{
    return a + b;
}

int e2e_call(callback call, int argument)
{
    return call(argument) + 1;
}

int e2e_call_times(callback call, int times)
{
    int sum = 0;

    for (int i = 0; i < times; i++)
        sum += call(i);
    return sum;
}

/* `depth` native frames between the caller and the callback. */
int e2e_call_deep(callback call, int argument, int depth)
{
    volatile char room[64];

    room[0] = (char)depth;
    return (depth > 0 ? e2e_call_deep(call, argument, depth - 1) : call(argument)) +
           (room[0] == (char)depth ? 0 : 1);
}

int e2e_call_wide(callback_wide call)
{
    return call(1, 2, 3.0, 4.0F, 5, 6, 7.0, 8, 9, 10);
}

int e2e_fail_errno(int error)
{
    errno = error;
    return -1;
}

int e2e_fail_hresult(void)
{
    return (int)0x80004005U; /* E_FAIL */
}

int e2e_length(const char *text)
{
    return (int)strlen(text);
}

int e2e_length_wide(const uint16_t *text)
{
    int n = 0;

    while (text[n])
        n++;
    return n;
}

int e2e_sum(const int *values, int count)
{
    int sum = 0;

    for (int i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

void e2e_fill(char *text, int size)
{
    memset(text, 'f', (size_t)size - 1);
    text[size - 1] = 0;
}

struct pair e2e_pair(struct pair p)
{
    return (struct pair){.first = p.first + 1, .second = p.second * 2};
}

static int twice(int n)
{
    return 2 * n;
}

callback e2e_pointer(void)
{
    return twice;
}

void e2e_sort(int *values, int count, int (*compare)(const void *, const void *))
{
    qsort(values, (size_t)count, sizeof *values, compare);
}

struct job {
    pthread_t thread;
    callback call;
    int calls, pause_us, sum, done;
};

/* Calls in, leaves (the thread then is in native code only), enters again. */
static void *enter_and_leave(void *argument)
{
    struct job *job = argument;

    for (int i = 0; i < job->calls; i++) {
        job->sum += job->call(i);
        if (job->pause_us > 0)
            usleep((useconds_t)job->pause_us);
    }
    return NULL;
}

int e2e_threads(callback call, int threads, int calls, int pause_us)
{
    struct job *jobs = calloc((size_t)threads, sizeof *jobs);
    int sum = 0, started = 0;

    if (!jobs)
        return -1;
    for (; started < threads; started++) {
        jobs[started] = (struct job){.call = call, .calls = calls, .pause_us = pause_us};
        if (pthread_create(&jobs[started].thread, NULL, enter_and_leave, &jobs[started]))
            break;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(jobs[i].thread, NULL);
        sum += jobs[i].sum;
    }
    free(jobs);
    return started == threads ? sum : -1;
}

/* The first call of each thread has floating-point arguments. Returns: how many results were wrong. */
static void *call_floats(void *argument)
{
    floats call = (floats)(uintptr_t)argument;

    return call(1, 2, 4, 8, 16, 32, 64, 128) == 255 ? NULL : argument;
}

int e2e_thread_floats(floats call, int threads)
{
    int wrong = 0;

    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        void *result;

        if (pthread_create(&thread, NULL, call_floats, (void *)(uintptr_t)call))
            return -1;
        pthread_join(thread, &result);
        wrong += result != NULL;
    }
    return wrong;
}

int e2e_thread_waves(callback call, int waves, int threads)
{
    int sum = 0;

    for (int i = 0; i < waves; i++)
        sum += e2e_threads(call, threads, 1, 0);
    return sum;
}

/* Threads that nothing waits for: they may still be calling when the process ends. */
static void *forever(void *argument)
{
    callback call = (callback)(uintptr_t)argument;

    for (int i = 0;; i++)
        call(i);
    return NULL;
}

int e2e_detached(callback call, int threads)
{
    for (int i = 0; i < threads; i++) {
        pthread_t thread;

        if (pthread_create(&thread, NULL, forever, (void *)(uintptr_t)call))
            return -1;
        pthread_detach(thread);
    }
    return 0;
}

/* A thread that enters again while its thread-specific data are destroyed, after the runtime let go of it. */
static pthread_key_t destructor_key;
static pthread_once_t destructor_once = PTHREAD_ONCE_INIT;
static _Atomic int destructor_sum;

struct late {
    callback call;
    int rounds;
};

static void enter_late(void *argument)
{
    struct late *late = argument;

    destructor_sum += late->call(late->rounds);
    if (--late->rounds > 0)
        pthread_setspecific(destructor_key, late);
}

static void make_key(void)
{
    (void)pthread_key_create(&destructor_key, enter_late);
}

static void *late_body(void *argument)
{
    struct late *late = argument;

    pthread_once(&destructor_once, make_key);
    pthread_setspecific(destructor_key, late);
    late->call(0);
    return NULL;
}

int e2e_thread_destructor(callback call, int rounds)
{
    struct late late = {.call = call, .rounds = rounds};
    pthread_t thread;

    destructor_sum = 0;
    if (pthread_create(&thread, NULL, late_body, &late))
        return -1;
    pthread_join(thread, NULL);
    return destructor_sum;
}

static int reap(pid_t child)
{
    int status = 0;

    if (child < 0)
        return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int e2e_fork_exec(char *const *arguments)
{
    pid_t child = fork();

    if (child == 0) {
        execvp(arguments[0], arguments);
        _exit(127);
    }
    return reap(child);
}

int e2e_vfork_exec(char *const *arguments)
{
    pid_t child = vfork(); /* NOLINT: what a runtime may do */

    if (child == 0) {
        execvp(arguments[0], arguments);
        _exit(127);
    }
    return reap(child);
}

/* The child runs exit handlers of everything loaded, as a careless library would. */
int e2e_fork_exit(int status)
{
    pid_t child = fork();

    if (child == 0)
        _exit(status);
    return reap(child);
}

void e2e_abort(void)
{
    abort();
}

void e2e_kill_self(int number)
{
    kill(getpid(), number);
    for (;;)
        pause();
}

void e2e_exit_now(int status)
{
    _exit(status);
}

void e2e_exit(int status)
{
    exit(status);
}

void e2e_segfault(void)
{
    *(volatile int *)(uintptr_t)0x10 = 1;
}
