/*
 * dump, ctl, list and top beside a process that answers what the test says: this one. A thread of
 * it serves the socket; its replies are those of a recorded process (tests/fuzz/corpus/client).
 */
#include "unit/cli/command_support.h"

#include "options/socket_path.h"
#include "support/test.h"

#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define REPLIES "tests/fuzz/corpus/client/"

static char runtime[64], folder[SOCKET_PATH_SIZE], path[SOCKET_PATH_SIZE], pid[16];
static char asked[4096]; /* the last request */
#define ANSWERS 5

static const char *answers[ANSWERS]; /* one after the other; the last of them again and again */
static unsigned answered;
static int listener;

#define ASK(command, ...) RUN(&cmd_##command, #command, __VA_ARGS__)

static char *text_of(const char *name)
{
    static char text[1 << 16];
    char file_name[100];
    size_t size;
    FILE *file;

    snprintf(file_name, sizeof(file_name), REPLIES "%s.json", name);
    file = fopen(file_name, "r");
    assert_non_null(file);
    size = fread(text, 1, sizeof(text) - 1, file);
    text[size] = '\0';
    text[strcspn(text, "\n")] = '\0';
    fclose(file);
    return text;
}

/* A request is a line. */
static void serve_one(int fd)
{
    size_t size = 0;
    ssize_t got;

    while ((got = recv(fd, asked + size, sizeof(asked) - 1 - size, 0)) > 0) {
        const char *answer = answers[answered];

        size += (size_t)got;
        asked[size] = '\0';
        if (asked[size - 1] != '\n')
            continue;
        size = 0;
        if (answered + 1 < ANSWERS && answers[answered + 1])
            answered++;
        if (send(fd, answer, strlen(answer), MSG_NOSIGNAL) < 0 ||
            send(fd, "\n", 1, MSG_NOSIGNAL) != 1)
            return;
    }
}

static void *serve(void *context)
{
    int fd;

    (void)context;
    while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        serve_one(fd);
        close(fd);
    }
    return NULL;
}

static pthread_t server;

static int begin(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    (void)state;
    snprintf(runtime, sizeof(runtime), "/tmp/shadowtrace-test-XXXXXX");
    assert_non_null(mkdtemp(runtime));
    setenv("XDG_RUNTIME_DIR", runtime, 1);
    assert_true(socket_folder(0, folder) && !mkdir(folder, 0700));
    assert_true(socket_path(folder, getpid(), path));
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    return bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, 8) ||
           pthread_create(&server, NULL, serve, NULL);
}

static int end(void **state)
{
    char lock[SOCKET_PATH_SIZE + 8];

    (void)state;
    shutdown(listener, SHUT_RDWR);
    pthread_join(server, NULL);
    close(listener);
    unlink(path);
    snprintf(lock, sizeof(lock), "%s/.lock", folder);
    unlink(lock);
    rmdir(folder);
    rmdir(runtime);
    return 0;
}

TEST_GROUP(begin, end);

static void answer_with(const char *text)
{
    memset(answers, 0, sizeof(answers));
    answers[0] = text;
    answered = 0;
}

/* What the last request was; whitespace does not count. */
static void expect_asked(const char *expected)
{
    json_t *found = json_loads(asked, 0, NULL), *wanted = json_loads(expected, 0, NULL);

    if (!found || !json_equal(found, wanted))
        fail_msg("asked %s instead of %s", asked, expected);
    json_decref(found);
    json_decref(wanted);
}

static void expect_text(struct ran ran, const char *text)
{
    assert_int_equal(ran.status, CLI_OK);
    if (!strstr(ran.out, text))
        fail_msg("\"%s\" is not in:\n%s", text, ran.out);
    free(ran.out);
}

/* Thread 7 is in a filter of Main; of the nine frames of thread 8 only the oldest is certain. */
TEST(dump_shows_each_stack_and_how_exact_it_is)
{
    struct ran ran;
    json_t *json, *thread;

    answer_with(text_of("dump"));
    expect_ran(ASK(dump, "--no-lines", pid), CLI_OK, FIXTURES "../attach/dump.txt");
    ran = ASK(dump, "--no-lines", "--format=json", pid);
    json = json_loads(ran.out, JSON_REJECT_DUPLICATES, NULL);
    assert_int_equal(json_array_size(json_object_get(json, "threads")), 2);
    thread = json_array_get(json_object_get(json, "threads"), 1);
    assert_true(json_is_false(json_object_get(thread, "exact")));
    assert_int_equal(json_integer_value(json_object_get(thread, "depth")), 9);
    assert_int_equal(json_integer_value(json_object_get(thread, "certain")), 1);
    json_decref(json);
    free(ran.out);
}

TEST(names_of_a_dump_do_no_harm_to_a_terminal)
{
    struct ran ran;

    answer_with(text_of("names"));
    ran = ASK(dump, "--no-lines", pid);
    assert_int_equal(ran.status, CLI_OK);
    assert_null(strchr(ran.out, '\033'));
    assert_null(strstr(ran.out, "\u202e"));
    assert_non_null(strstr(ran.out, "A.?[31m?B()"));
    free(ran.out);
}

TEST(ctl_tells_a_heap_that_the_runtime_does_not_tell_from_a_file_that_is_not_written)
{
    struct ran ran;

    answer_with("{\"ok\":false,\"version\":1,\"error\":\"no\",\"unable\":true}");
    ran = ASK(ctl, pid, "heap", "-o", "/tmp/x");
    assert_int_equal(ran.status, CLI_CHECK);
    free(ran.out);
    answer_with("{\"ok\":false,\"version\":1,\"error\":\"no\"}");
    ran = ASK(ctl, pid, "heap", "-o", "/tmp/x");
    assert_int_equal(ran.status, CLI_IO);
    free(ran.out);
}

TEST(ctl_asks_for_what_its_words_say)
{
    static const char set[] = "{\"ok\":true,\"version\":1,\"number\":3,\"paused\":false,"
                              "\"sample\":4096,\"only\":[\"App.*\"]}";

    answer_with(set);
    expect_text(ASK(ctl, pid, "sample", "4K"),
                "recording, one allocation per 4096 bytes, allocations of App.*\n");
    expect_asked("{\"command\":\"set\",\"sample\":4096}");
    expect_text(ASK(ctl, pid, "start"), "recording");
    expect_asked("{\"command\":\"set\",\"paused\":false}");
    expect_text(ASK(ctl, pid, "stop"), "recording"); /* it is said what is, not what was asked */
    expect_asked("{\"command\":\"set\",\"paused\":true}");
    expect_text(ASK(ctl, pid, "only", "A.*", "B.*"), "App.*");
    expect_asked("{\"command\":\"set\",\"only\":[\"A.*\",\"B.*\"]}");
    answer_with("{\"ok\":true,\"version\":1}");
    free(ASK(ctl, pid, "mark", "a \"b\"").out);
    expect_asked("{\"command\":\"mark\",\"text\":\"a \\\"b\\\"\"}");
    answer_with("{\"ok\":true,\"version\":1,\"log\":\"/x/log.4\"}");
    expect_text(ASK(ctl, pid, "rotate"), "/x/log.4");
    expect_asked("{\"command\":\"rotate\"}");
}

TEST(ctl_shows_the_status)
{
    answer_with(text_of("status"));
    expect_ran(ASK(ctl, pid, "status"), CLI_OK, FIXTURES "../attach/status.txt");
}

TEST(list_names_the_process)
{
    answer_with(text_of("status"));
    expect_text(RUN(&cmd_list, "list", "--format=json"), "\"command\":[\"dotnet\",\"a.dll\"]");
}

/* 10 objects of 24 bytes more since the first look, which is not shown. */
TEST(top_shows_what_came_since_the_last_look)
{
#define LOOK(t, allocs, bytes) \
    "{\"ok\":true,\"version\":1,\"t\":" t ",\"since\":0,\"sites\":1,\"other\":{\"allocs\":0," \
    "\"bytes\":0},\"rows\":[{\"allocs\":" allocs ",\"bytes\":" bytes ",\"node\":1," \
    "\"type\":\"Shop.Item\",\"il\":0,\"stack\":[\"Shop.Pick()\"]}]}"
    const char *row;
    struct ran ran;

    answer_with(LOOK("1000000000", "5", "120"));
    answers[1] = "{\"ok\":false,\"version\":1,\"error\":\"without --live\"}"; /* not asked again */
    answers[2] = answers[4] =
        "{\"ok\":true,\"version\":1,\"pid\":7,\"name\":\"shop\",\"runtime\":\"10.0.1\","
        "\"hooks\":\"none\",\"written\":15}";
    answers[3] = LOOK("2000000000", "15", "360");
    ran = ASK(top, "--plain", "--count=1", "--interval=10ms", pid);
    assert_int_equal(ran.status, CLI_OK);
    assert_non_null(strstr(ran.out, "shop (pid 7, .NET 10.0.1)"));
    row = strstr(ran.out, "        360  Shop.Item  Shop.Pick\n");
    assert_non_null(row);
    while (row[-1] != '\n')
        row--;
    assert_true(strtod(row, NULL) > 0);
    free(ran.out);
}

TEST(what_the_process_refuses_is_one_line)
{
    answer_with(text_of("no"));
    expect_complaint(ASK(ctl, pid, "start"), CLI_IO, "not now ?[31m");
    answer_with("{\"ok\":true,\"version\":2}");
    expect_complaint(ASK(dump, pid), CLI_IO, "use the version that recorded it");
    answer_with("HTTP/1.1 400 Bad Request");
    expect_complaint(ASK(top, "--once", pid), CLI_IO, "use the version that recorded it");
}
