#include "process/dotnet.h"

#include "base/atomics.h"
#include "base/clean.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/process.h"
#include "base/utf8.h"
#include "command/command.h"
#include "options/socket_path.h"
#include "process/deputy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PREFIX        "dotnet-diagnostic-"
#define SUFFIX        "-socket"
#define SECOND        UINT64_C(1000000000)
#define ANSWER_NS     (10 * SECOND)
#define EACH_NS       SECOND       /* of many */
#define ALL_NS        (5 * SECOND) /* of all of them; those after that get LATE_NS */
#define LATE_NS       (SECOND / 20)
#define ATTACH_NS     (60 * SECOND)
#define DEPUTY_MORE_S 5 /* than what it waits for */
#define START_TRIES   400
#define START_WAIT_NS 50000000
#define BEGUN_NS      (2 * SECOND) /* a process that is no older may be a runtime soon */
#define STARTING_NS   (20 * SECOND)
#define MOST_QUESTION 65535u /* the header has two bytes for it */

/* ---- the protocol: docs/design-docs/ipc-protocol.md of dotnet/diagnostics ---- */

#define MAGIC       "DOTNET_IPC_V1" /* with its NUL */
#define HEADER_SIZE 20u

enum { SET_PROFILER = 3, SET_PROCESS = 4, SET_SERVER = 0xff };
enum { PROFILER_ATTACH = 1, PROCESS_INFO_2 = 4 };
enum { SERVER_OK = 0 };

static void put_number(struct buffer *b, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        buffer_char(b, (char)(value >> 8 * i & 0xff));
}

static void put_header(struct buffer *b, size_t payload, uint8_t set, uint8_t command)
{
    buffer_append(b, MAGIC, sizeof(MAGIC));
    put_number(b, HEADER_SIZE + payload, 2);
    put_number(b, set, 1);
    put_number(b, command, 1);
    put_number(b, 0, 2);
}

/* The character at `text`, of `length` bytes, as a number. */
static uint32_t decode(const char *text, size_t length)
{
    static const uint8_t first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t number = (uint8_t)text[0] & first[length];

    for (size_t i = 1; i < length; i++)
        number = number << 6 | ((uint8_t)text[i] & 0x3f);
    return number;
}

/* Its length in units, with the NUL, and the text in UTF-16. */
static void put_text(struct buffer *b, const char *text)
{
    size_t at = b->size, length;
    uint32_t units = 1;

    put_number(b, 0, 4);
    for (; (length = utf8_length(text)); text += length) {
        uint32_t letter = decode(text, length);

        if (letter >= 0x10000) {
            put_number(b, 0xd800 + ((letter - 0x10000) >> 10), 2);
            letter = 0xdc00 + ((letter - 0x10000) & 0x3ff);
            units++;
        }
        put_number(b, letter, 2);
        units++;
    }
    put_number(b, 0, 2);
    for (unsigned i = 0; i < 4 && !b->failed; i++)
        b->data[at + i] = (char)(units >> 8 * i & 0xff);
}

/* {7B6A1F52-3C0E-4E57-9D35-5AD0B3C5E4A1}: three numbers, then bytes as they stand. */
static void put_clsid(struct buffer *b, const char *text)
{
    static const unsigned bytes[] = {4, 2, 2};
    char *at = (char *)(uintptr_t)text + 1;

    for (size_t i = 0; i < COUNT_OF(bytes); i++, at++)
        put_number(b, strtoul(at, &at, 16), bytes[i]);
    for (unsigned i = 0; i < 8; i++) {
        char pair[3] = {at[0], at[1], '\0'};

        put_number(b, strtoul(pair, NULL, 16), 1);
        at += i == 1 ? 3 : 2;
    }
}

/* As one line, cut to fit. Halves of a pair, which no name has, become marks. */
static void take_text(struct cursor *a, char *to, size_t size)
{
    uint64_t units = cursor_little(a, 4);
    size_t used = 0;

    for (; units && !a->failed; units--) {
        uint32_t letter = (uint32_t)cursor_little(a, 2);

        if (letter >= 0xd800 && letter < 0xe000)
            letter = CLEAN_MARK;
        if (letter && used + 3 < size)
            used += utf8_put(letter, to + used);
    }
    if (size)
        to[used] = '\0';
    if (size)
        clean_in_place(to);
}

int dotnet_answer(const uint8_t *data, size_t size, struct dotnet_process *out)
{
    struct cursor a = {data, size, false};

    cursor_little(&a, 8); /* its number, in its own namespace */
    for (unsigned i = 0; i < 2; i++)
        cursor_little(&a, 8); /* a number of this run */
    take_text(&a, NULL, 0);   /* its command line */
    take_text(&a, NULL, 0);   /* its operating system */
    take_text(&a, out->machine, sizeof(out->machine));
    take_text(&a, out->name, sizeof(out->name));
    take_text(&a, out->runtime, sizeof(out->runtime));
    if (a.failed)
        return -EPROTO;
    out->runtime[strcspn(out->runtime, "+- ")] = '\0'; /* "10.0.12+1a2b...", of a build */
    out->major = (unsigned)strtoul(out->runtime, NULL, 10);
    return 0;
}

/* Until the descriptor is ready, or it is too late. Returns: 0; -ETIMEDOUT; -errno. */
static int await(int fd, short events, uint64_t until_ns)
{
    struct pollfd p = {.fd = fd, .events = events};
    int ready;

    do {
        uint64_t now_ns = clock_ns();

        if (now_ns >= until_ns)
            return -ETIMEDOUT;
        ready = poll(&p, 1, (int)((until_ns - now_ns) / 1000000) + 1);
    } while (ready == 0 || (ready < 0 && errno == EINTR));
    return ready < 0 ? -errno : 0;
}

static int send_all(int fd, const struct buffer *b, uint64_t until_ns)
{
    int err = 0;

    for (size_t sent = 0; !err && sent < b->size;) {
        ssize_t n = send(fd, b->data + sent, b->size - sent, MSG_NOSIGNAL);

        if (n < 0 && errno == EAGAIN)
            err = await(fd, POLLOUT, until_ns);
        else if (n < 0 && errno != EINTR)
            err = -errno;
        sent += n > 0 ? (size_t)n : 0;
    }
    return err;
}

static int receive_all(int fd, void *to, size_t size, uint64_t until_ns)
{
    int err = 0;

    for (size_t got = 0; !err && got < size;) {
        ssize_t n = recv(fd, (char *)to + got, size - got, 0);

        if (n == 0)
            err = -ECONNRESET;
        else if (n < 0 && errno == EAGAIN)
            err = await(fd, POLLIN, until_ns);
        else if (n < 0 && errno != EINTR)
            err = -errno;
        got += n > 0 ? (size_t)n : 0;
    }
    return err;
}

/*
 * One question, one answer. Returns: 0 and the answer's payload; -EREMOTEIO: it is an error, whose
 * number is the payload; -errno. Owns: the fd is closed.
 */
static int ask(int fd, const struct buffer *question, struct buffer *payload, uint64_t until_ns)
{
    uint8_t header[HEADER_SIZE];
    int err = question->failed ? -ENOMEM : send_all(fd, question, until_ns);
    size_t size = 0;
    char *to = NULL;

    if (!err)
        err = receive_all(fd, header, sizeof(header), until_ns);
    if (!err) {
        size = (size_t)header[14] | (size_t)header[15] << 8;
        err = memcmp(header, MAGIC, sizeof(MAGIC)) != 0 || size < HEADER_SIZE ||
                      header[16] != SET_SERVER
                  ? -EPROTO
                  : 0;
    }
    if (!err) {
        to = buffer_reserve(payload, size - HEADER_SIZE + 1);
        err = to ? receive_all(fd, to, size - HEADER_SIZE, until_ns) : -ENOMEM;
    }
    if (!err)
        payload->size += size - HEADER_SIZE;
    if (!err && header[17] != SERVER_OK)
        err = -EREMOTEIO;
    close(fd);
    return err;
}

/* ---- the socket ---- */

bool dotnet_serves(const struct dotnet_process *p, int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.pid == (pid_t)p->pid &&
           peer.uid == p->uid;
}

/* A backlog that is full is waited for, too: its owner may be about to take from it. */
static int connect_until(int fd, const struct sockaddr_un *address, uint64_t until_ns)
{
    static const struct timespec step = {0, 10000000};

    while (connect(fd, (const struct sockaddr *)address, sizeof(*address))) {
        if (errno != EAGAIN && errno != EINTR)
            return -errno;
        if (clock_ns() >= until_ns)
            return -ETIMEDOUT;
        nanosleep(&step, NULL);
    }
    return 0;
}

/* Returns: a descriptor that does not block; or -errno. */
static int connect_to(int folder, const char *name, const struct dotnet_process *p,
                      uint64_t until_ns)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;
    struct sockaddr_un address;

    if (fd < 0)
        return -errno;
    socket_at(folder, name, &address);
    err = connect_until(fd, &address, until_ns);
    if (!err && !dotnet_serves(p, fd))
        err = -EPERM;
    if (!err)
        return fd;
    close(fd);
    return err;
}

static int open_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return fd < 0 ? -errno : fd;
}

/* Whose socket a name is: "dotnet-diagnostic-PID-START-socket". */
static bool is_socket(const char *name, long *pid)
{
    size_t length = strlen(name), prefix = strlen(PREFIX), suffix = strlen(SUFFIX);
    char *end;

    if (length <= prefix + suffix || strncmp(name, PREFIX, prefix) != 0 ||
        strcmp(name + length - suffix, SUFFIX) != 0)
        return false;
    *pid = strtol(name + prefix, &end, 10);
    return *end == '-' && *pid > 0;
}

/* Anybody may make a socket of that name in /tmp, and let others wait on it. */
static bool is_users_socket(int folder, const char *name, uid_t uid)
{
    struct stat st;

    return !fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISSOCK(st.st_mode) &&
           st.st_uid == uid;
}

/* One that answers, among those of its number: earlier processes leave theirs when killed. */
static int open_in(int folder, const struct dotnet_process *p, uint64_t until_ns)
{
    DIR *dir = fdopendir(folder);
    const struct dirent *entry;
    int fd = -ENOENT, found;
    long pid;

    if (!dir) {
        fd = -errno;
        close(folder);
        return fd;
    }
    while (fd < 0 && (entry = readdir(dir)))
        if (is_socket(entry->d_name, &pid) && pid == p->inside &&
            is_users_socket(dirfd(dir), entry->d_name, p->uid)) {
            found = connect_to(dirfd(dir), entry->d_name, p, until_ns);
            if (found >= 0 || fd == -ENOENT)
                fd = found;
        }
    closedir(dir);
    return fd;
}

/* Text that the process chose: never run, only opened by a deputy, cleaned where it is printed. */
void dotnet_environment(long pid, struct buffer *text, struct profiling_environment *e)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%ld/environ", pid);
    if (buffer_file(text, path))
        buffer_clear(text);
    *e = (struct profiling_environment){text->data ? text->data : "", text->size};
}

char *dotnet_variable(long pid, const char *name)
{
    struct buffer text = BUFFER_INIT;
    struct profiling_environment e;
    const char *value;
    char *copy;

    dotnet_environment(pid, &text, &e);
    value = profiling_variable(&e, name);
    copy = value ? memory_strdup(value) : NULL;
    buffer_free(&text);
    return copy;
}

bool dotnet_is_foreign(const struct dotnet_process *p)
{
    return *p->root || p->uid != geteuid();
}

struct opening {
    const struct dotnet_process *process;
    const char *folder;
    uint64_t until_ns;
};

/* In a deputy: a socket, or a link to one, may lie there that only root could connect to. */
static int open_there(const struct deputy *d, void *context, int *out)
{
    const struct opening *o = context;
    int folder = deputy_folder(d, o->folder);

    *out = folder < 0 ? folder : open_in(folder, o->process, o->until_ns);
    return *out < 0 ? *out : 0;
}

static int open_foreign(struct opening *o)
{
    uint64_t now_ns = clock_ns();
    unsigned seconds = o->until_ns > now_ns ? (unsigned)((o->until_ns - now_ns) / SECOND) : 0;
    struct deputy d;
    int fd = -1, err = deputy_open(&d, o->process->pid);

    if (!err)
        err = deputy_run(&d, seconds + DEPUTY_MORE_S, open_there, o, &fd);
    deputy_close(&d);
    return err ? err : fd;
}

static int socket_open(const struct dotnet_process *p, uint64_t until_ns)
{
    char *temporary = dotnet_variable(p->pid, "TMPDIR");
    struct opening o = {p, temporary && *temporary == '/' ? temporary : "/tmp", until_ns};
    int fd = dotnet_is_foreign(p) ? open_foreign(&o) : open_folder(o.folder);

    if (fd >= 0 && !dotnet_is_foreign(p))
        fd = open_in(fd, p, until_ns);
    memory_free(temporary);
    return fd;
}

/* ---- the process ---- */

/* The last of "NSpid: 4711 12": its number where it lives. */
static long number_inside(long pid)
{
    char path[64], text[4096];
    char *line, *last;

    snprintf(path, sizeof(path), "/proc/%ld/status", pid);
    file_read_text(path, text, sizeof(text));
    line = strstr(text, "\nNSpid:");
    if (!line)
        return pid;
    line[1 + strcspn(line + 1, "\n")] = '\0';
    last = strrchr(line, '\t');
    return last ? strtol(last, NULL, 10) : pid;
}

/* By lines of "0 1000 1": what it calls them, what we call them, how many. */
static uid_t uid_inside(long pid, uid_t uid)
{
    char path[64], text[4096];
    unsigned inside, outside, count;

    snprintf(path, sizeof(path), "/proc/%ld/uid_map", pid);
    file_read_text(path, text, sizeof(text));
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line != '\0')
        if (sscanf(line, "%u %u %u", &inside, &outside, &count) == 3 && uid >= outside &&
            uid - outside < count)
            return inside + (uid - outside);
    return uid;
}

static bool differs(const char *its, const char *ours)
{
    struct stat a, b;

    return !stat(its, &a) && !stat(ours, &b) && (a.st_ino != b.st_ino || a.st_dev != b.st_dev);
}

/* Of other mounts a path may lead elsewhere, even where the root is the same. */
static bool has_other_root(long pid)
{
    char root[64], mounts[64];

    snprintf(root, sizeof(root), "/proc/%ld/root/", pid);
    snprintf(mounts, sizeof(mounts), "/proc/%ld/ns/mnt", pid);
    return differs(mounts, "/proc/self/ns/mnt") || differs(root, "/");
}

int dotnet_look(long pid, struct dotnet_process *out)
{
    char path[64];
    struct stat st;

    *out = (struct dotnet_process){.pid = pid, .inside = pid};
    snprintf(path, sizeof(path), "/proc/%ld", pid);
    if (stat(path, &st))
        return -ESRCH;
    out->uid = st.st_uid;
    out->gid = st.st_gid;
    if (st.st_uid != geteuid() && geteuid())
        return -EPERM;
    out->inside = number_inside(pid);
    out->uid_inside = uid_inside(pid, out->uid);
    if (has_other_root(pid))
        snprintf(out->root, sizeof(out->root), "/proc/%ld/root", pid);
    return 0;
}

static int refuse_user(const struct dotnet_process *p, struct record_why *why)
{
    const struct passwd *user = getpwuid(p->uid);

    return record_refuse(why, CLI_IO,
                         "process %ld belongs to %s%.60s; only that user, or root, can attach to "
                         "it",
                         p->pid, user ? "" : "another user", user ? user->pw_name : "");
}

bool dotnet_refused(const struct dotnet_process *p,
                    const char *(*find)(const struct profiling_environment *), const char *what,
                    struct record_why *why)
{
    struct buffer text = BUFFER_INIT;
    struct profiling_environment e;
    const char *name;

    dotnet_environment(p->pid, &text, &e);
    name = find(&e);
    if (name)
        record_refuse(why, CLI_IO,
                      "process %ld has %s=%s in its environment, which %s; start it without",
                      p->pid, name, profiling_variable(&e, name), what);
    buffer_free(&text);
    return name;
}

static bool refuses_diagnostics(const struct dotnet_process *p, struct record_why *why)
{
    return dotnet_refused(p, profiling_no_diagnostics, "closes it to diagnostics", why);
}

/* Why it has no socket that answers. */
static int refuse_socket(const struct dotnet_process *p, int err, struct record_why *why)
{
    if (refuses_diagnostics(p, why))
        return CLI_IO;
    if (err == -ETIMEDOUT)
        record_refuse(why, CLI_IO, "process %ld does not answer; is it stopped?", p->pid);
    else if (err == -EPERM)
        record_refuse(why, CLI_IO,
                      "the diagnostics socket of process %ld is served by another process; remove "
                      "it",
                      p->pid);
    else if (dotnet_mapped(p->pid, "libcoreclr.so"))
        record_refuse(why, CLI_IO,
                      "process %ld has no diagnostics socket that it listens on; was the socket "
                      "removed, or TMPDIR changed?",
                      p->pid);
    else
        record_refuse(why, CLI_IO, "process %ld is not a .NET process", p->pid);
    return CLI_IO;
}

static int ask_state(const struct dotnet_process *p, uint64_t until_ns, struct dotnet_process *out)
{
    struct buffer question = BUFFER_INIT, payload = BUFFER_INIT;
    int fd = socket_open(p, until_ns), err = fd;

    put_header(&question, 0, SET_PROCESS, PROCESS_INFO_2);
    if (fd >= 0)
        err = ask(fd, &question, &payload, until_ns);
    if (!err)
        err = dotnet_answer((const uint8_t *)payload.data, payload.size, out);
    buffer_free(&question);
    buffer_free(&payload);
    return err;
}

/* How old the process is; UINT64_MAX: nobody knows. */
static uint64_t age_ns(long pid)
{
    struct process_stat stat;
    struct timespec now;
    uint64_t now_ns, began_ns;
    char which[32];

    snprintf(which, sizeof(which), "%ld", pid);
    if (!process_stat_read(which, &stat) || clock_gettime(CLOCK_BOOTTIME, &now))
        return UINT64_MAX;
    now_ns = (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
    began_ns = stat.born * (SECOND / (uint64_t)sysconf(_SC_CLK_TCK));
    return now_ns > began_ns ? now_ns - began_ns : 0;
}

/* May its socket answer soon? A runtime makes it some time after the start, and listens later. */
static bool may_answer_soon(const struct dotnet_process *p, int err)
{
    uint64_t age = err == -ENOENT || err == -ECONNREFUSED ? age_ns(p->pid) : UINT64_MAX;

    return age < BEGUN_NS || (age < STARTING_NS && dotnet_mapped(p->pid, "libcoreclr.so"));
}

int dotnet_find(long pid, struct dotnet_process *out, struct record_why *why)
{
    int err = dotnet_look(pid, out);

    if (err == -ESRCH)
        return record_refuse(why, CLI_IO, "process %ld does not exist", pid);
    if (err)
        return refuse_user(out, why);
    err = ask_state(out, clock_ns() + ANSWER_NS, out);
    while (may_answer_soon(out, err) && !refuses_diagnostics(out, why)) {
        nanosleep(&(struct timespec){0, START_WAIT_NS}, NULL);
        err = ask_state(out, clock_ns() + ANSWER_NS, out);
    }
    if (err == -EREMOTEIO || err == -EPROTO) /* before .NET 6, or something else that listens */
        return record_refuse(why, CLI_IO,
                             "process %ld does not say which version of .NET it runs on; %d or "
                             "later can be attached to",
                             pid, DOTNET_MAJOR_OLDEST);
    if (err == -ENOMEM)
        return record_refuse(why, CLI_IO, "out of memory");
    return err ? refuse_socket(out, err, why) : CLI_OK;
}

/* What the runtime answers, as far as somebody can do something about it. */
static int refuse_result(const struct dotnet_process *p, uint32_t result, struct record_why *why)
{
    static const struct {
        uint32_t result;
        const char *says;
    } known[] = {
        {0x8013136A, "another profiler is loaded in it; a process can have only one"},
        {0x80131361, "its runtime is still starting; try again"},
        {0x8013135B, "its runtime is still starting; try again"},
        {0x80131372, "a profiler before this one is not detached yet; try again"},
        {0x8007000e, "it has no memory for it"},
        {0x8007007e, "it cannot load the library, or one that this needs (liburcu, jansson)"},
        {0x80004005, "it cannot load the library, or one that this needs (liburcu, jansson)"},
    };

    for (size_t i = 0; i < COUNT_OF(known); i++)
        if (known[i].result == result)
            return record_refuse(why, CLI_IO, "cannot attach to process %ld: %s", p->pid,
                                 known[i].says);
    return record_refuse(why, CLI_IO, "cannot attach to process %ld: its runtime refused (0x%08x)",
                         p->pid, (unsigned)result);
}

/* Asks once. *result: what the runtime said. Returns: 0 or -errno: it said nothing. */
static int ask_attach(const struct dotnet_process *p, const struct buffer *question,
                      uint32_t *result)
{
    struct buffer reply = BUFFER_INIT;
    uint64_t until_ns = clock_ns() + ATTACH_NS;
    int fd = question->size > MOST_QUESTION ? -EMSGSIZE : socket_open(p, until_ns);
    int err = fd < 0 ? fd : ask(fd, question, &reply, until_ns);
    struct cursor answer = {(const uint8_t *)reply.data, reply.size, false};

    if (err == -EREMOTEIO || !err) {
        *result = (uint32_t)cursor_little(&answer, 4);
        err = 0;
    }
    buffer_free(&reply);
    return err;
}

/*
 * Its socket answers some milliseconds before it can be attached to; and the profiler before this
 * one may be on its way out.
 */
static bool is_transient(uint32_t result)
{
    return result == 0x8013135B || result == 0x80131361 || /* not yet available; uninitialized */
           result == 0x80131372;                           /* being detached */
}

int dotnet_attach(const struct dotnet_process *p, const char *library, const char *clsid,
                  const char *options, struct record_why *why)
{
    struct buffer payload = BUFFER_INIT, question = BUFFER_INIT;
    uint32_t result = 0;
    int err;

    put_number(&payload, ATTACH_NS / 1000000, 4); /* ms; the runtime itself waits for nothing */
    put_clsid(&payload, clsid);
    put_text(&payload, library);
    put_number(&payload, strlen(options), 4);
    buffer_text(&payload, options);
    put_header(&question, payload.size, SET_PROFILER, PROFILER_ATTACH);
    buffer_append(&question, payload.data, payload.size);
    question.failed |= payload.failed;
    err = ask_attach(p, &question, &result);
    for (unsigned i = 0; !err && is_transient(result) && i < START_TRIES; i++) {
        nanosleep(&(struct timespec){0, START_WAIT_NS}, NULL);
        err = ask_attach(p, &question, &result);
    }
    if (err)
        record_refuse(why, CLI_IO, "cannot attach to process %ld: %s", p->pid,
                      err == -ECONNRESET ? "it has ended" : strerror(-err));
    else if (result)
        refuse_result(p, result, why);
    buffer_free(&payload);
    buffer_free(&question);
    return *why->text ? CLI_IO : CLI_OK;
}

/* The process of a socket in this user's folder. Returns: whether it is this user's. */
static bool look_at(int folder, const char *name, struct dotnet_process *process)
{
    long pid;

    return is_socket(name, &pid) && is_users_socket(folder, name, geteuid()) &&
           !dotnet_look(pid, process) && process->uid == geteuid() && process->inside == pid;
}

void dotnet_each(dotnet_found *found, void *context)
{
    const char *temporary = getenv("TMPDIR");
    int folder = open_folder(temporary && *temporary == '/' ? temporary : "/tmp");
    DIR *dir = folder >= 0 ? fdopendir(folder) : NULL;
    uint64_t all_ns = clock_ns() + ALL_NS;
    struct dotnet_process process, says;
    const struct dirent *entry;

    while (dir && (entry = readdir(dir))) {
        uint64_t now_ns = clock_ns();

        if (!look_at(dirfd(dir), entry->d_name, &process))
            continue;
        says = process;
        if (!ask_state(&process, now_ns + (now_ns < all_ns ? EACH_NS : LATE_NS), &says))
            found(context, &says);
    }
    if (dir)
        closedir(dir);
}

/* ---- what it has mapped ---- */

/* By /proc/PID/maps, which the kernel writes. The names are not opened here. */
bool dotnet_each_file(long pid, dotnet_file *found, void *context)
{
    char path[64], last[PATH_MAX] = "", *line = NULL;
    size_t capacity = 0;
    bool over = false;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%ld/maps", pid);
    maps = fopen(path, "re");
    while (maps && !over && getline(&line, &capacity, maps) > 0) {
        const char *file = strchr(line, '/');

        line[strcspn(line, "\n")] = '\0';
        if (!file || !strcmp(file, last))
            continue;
        snprintf(last, sizeof(last), "%s", file);
        over = found(context, file);
    }
    free(line);
    if (maps)
        fclose(maps);
    return over;
}

static bool is_called(void *context, const char *path)
{
    const char *name = context, *base = path_base_name(path);
    size_t length = strlen(name);

    /* followed by " (deleted)": the file has been replaced */
    return !strncmp(base, name, length) && (!base[length] || base[length] == ' ');
}

bool dotnet_mapped(long pid, const char *name)
{
    return dotnet_each_file(pid, is_called, (void *)(uintptr_t)name);
}
