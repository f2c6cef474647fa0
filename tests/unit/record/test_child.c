/*
 * COMMAND's files, signals and exit status pass through. The command of these tests is mostly this program itself: with
 * "--count N" it writes "ready", counts signal N for as long as they come, and writes how many there were.
 */
#include "unit/record/record_support.h"

#include "base/clock.h"
#include "command/command.h"
#include "record/child.h"
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static volatile sig_atomic_t seen;

static void count_one(int number)
{
    (void)number;
    seen++;
}

static void sleep_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    while (nanosleep(&t, &t) && errno == EINTR)
        ;
}

static int count_signals(int number)
{
    struct sigaction action = {.sa_handler = count_one};
    int waited = 0;

    sigaction(number, &action, NULL);
    printf("ready\n");
    fflush(stdout);
    for (; !seen && waited < 12000; waited++)
        sleep_ms(10);
    sleep_ms(200);
    printf("%d\n", (int)seen);
    return 5;
}

static struct record_environment environment;
static struct record_why why;
static int unused_status;

static int run(int *status, const char *path, char **argv)
{
    struct record_child c = {.path = path, .argv = argv, .environment = &environment};

    why.text[0] = '\0';
    return record_child_run(&c, status, &why);
}

static int run_shell(int *status, const char *script)
{
    char shell[] = "sh", option[] = "-c", text[512], *argv[] = {shell, option, text, NULL};

    snprintf(text, sizeof(text), "%s", script);
    return run(status, "/bin/sh", argv);
}

static int setup(void **state)
{
    struct options o;

    options_init(&o);
    return folder_setup(state) || record_environment_make(&environment, "/x.so", &o, &why);
}

static int teardown(void **state)
{
    record_environment_fini(&environment);
    return folder_teardown(state);
}

TEST_GROUP(setup, teardown);

TEST(the_exit_status_is_the_commands)
{
    int status = -1;

    assert_int_equal(run_shell(&status, "exit 0"), 0);
    assert_int_equal(status, 0);
    assert_int_equal(run_shell(&status, "exit 200"), 0);
    assert_int_equal(status, 200);
    assert_int_equal(run_shell(&status, "kill -9 $$"), 0);
    assert_int_equal(status, 128 + SIGKILL);
    assert_int_equal(run_shell(&status, "kill -TERM $$"), 0);
    assert_int_equal(status, 128 + SIGTERM);
}

TEST(the_command_gets_the_environment)
{
    int status = -1;

    setenv("CORECLR_PROFILER_PATH_64", "/other", 1);
    assert_int_equal(run_shell(&status, "test \"$CORECLR_PROFILER_PATH\" = /x.so && "
                                        "test -z \"${CORECLR_PROFILER_PATH_64+set}\" && exit 3"),
                     0);
    assert_int_equal(status, 3);
    assert_string_equal(getenv("CORECLR_PROFILER_PATH_64"), "/other"); /* ours is as it was */
    assert_null(getenv("CORECLR_PROFILER_PATH"));
    unsetenv("CORECLR_PROFILER_PATH_64");
}

TEST(a_command_that_cannot_be_executed_is_named)
{
    char name[] = "x", *argv[] = {name, NULL}, elf[128];

    write_text("no-interpreter", "#!/no/such/interpreter\n", 0700);
    assert_int_equal(run(&unused_status, "./no-interpreter", argv), RECORD_NOT_FOUND);
    assert_says(why.text, "interpreter is missing");
    write_text("forbidden", "", 0600);
    assert_int_equal(run(&unused_status, "./forbidden", argv), RECORD_NOT_EXECUTABLE);
    assert_says(why.text, "Permission denied");
    memset(elf, 0, sizeof(elf));
    memcpy(elf, "\177ELF\2\1\1", 7);
    write_file("bad-elf", elf, sizeof(elf), 0700);
    assert_int_equal(run(&unused_status, "./bad-elf", argv), RECORD_NOT_EXECUTABLE);
    assert_says(why.text, "Exec format error");
}

TEST(a_script_without_its_first_line_goes_to_the_shell)
{
    char name[] = "x", *argv[] = {name, NULL};
    int status = -1;

    write_text("script", "exit 9\n", 0700);
    assert_int_equal(run(&status, "./script", argv), 0);
    assert_int_equal(status, 9);
}

/* The masks and dispositions of a command that runs under us, and of one that runs by itself. */
static void read_signals(const char *file, char *text, size_t size)
{
    int fd = open(file, O_RDONLY);
    ssize_t got = read(fd, text, size - 1);

    close(fd);
    text[got < 0 ? 0 : got] = '\0';
    assert_non_null(strstr(text, "SigCgt"));
}

TEST(the_command_sees_the_signals_it_would_see_without_us)
{
    char with[1024], without[1024];
    int status = -1;
    pid_t child;

    for (int round = 0; round < 2; round++) {
        signal(SIGHUP, round ? SIG_IGN : SIG_DFL); /* as under nohup */
        signal(SIGCHLD, round ? SIG_IGN : SIG_DFL);
        child = fork();
        if (child == 0) {
            execl("/bin/sh", "sh", "-c", "exec grep ^Sig... /proc/self/status > without",
                  (char *)NULL);
            _exit(1);
        }
        waitpid(child, NULL, 0);
        assert_int_equal(run_shell(&status, "exec grep ^Sig... /proc/self/status > with"), 0);
        assert_int_equal(status, 0);
        read_signals("with", with, sizeof(with));
        read_signals("without", without, sizeof(without));
        assert_string_equal(strstr(with, "SigPnd"), strstr(without, "SigPnd"));
    }
    signal(SIGHUP, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
}

TEST(our_own_signals_are_as_before)
{
    struct sigaction action;
    sigset_t mask;

    assert_int_equal(run_shell(&unused_status, "kill -USR1 $PPID"),
                     0); /* dropped: it is COMMAND's own */
    sigprocmask(SIG_BLOCK, NULL, &mask);
    for (int number = 1; number < 32; number++)
        assert_int_equal(sigismember(&mask, number), 0);
    assert_int_equal(sigaction(SIGCHLD, NULL, &action), 0);
    assert_true(action.sa_handler == SIG_DFL);
}

/* A process that runs record_child_run over "--count number", and what that writes. */
struct recorder {
    pid_t pid;
    int output;
};

static void run_counter(int number)
{
    char name[] = "count", option[] = "--count", digits[16], *argv[] = {name, option, digits, NULL};
    int status = 0;

    snprintf(digits, sizeof(digits), "%d", number);
    if (run(&status, "/proc/self/exe", argv))
        _exit(99);
    _exit(status);
}

static void start_counter(struct recorder *r, int number)
{
    int fds[2];

    assert_int_equal(pipe(fds), 0);
    r->pid = fork();
    if (r->pid == 0) {
        setpgid(0, 0);
        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        close(fds[1]);
        run_counter(number);
    }
    close(fds[1]);
    r->output = fds[0];
}

/* Reads until `words` came. */
static void expect(int fd, const char *words)
{
    char text[1024];
    size_t used = 0;
    struct pollfd wait = {fd, POLLIN, 0};

    for (;;) {
        ssize_t got;

        if (poll(&wait, 1, 120000) <= 0)
            fail_msg("no \"%s\" came", words);
        got = read(fd, text + used, sizeof(text) - 1 - used);
        if (got <= 0)
            fail_msg("\"%.*s\" ended without \"%s\"", (int)used, text, words);
        used += (size_t)got;
        text[used] = '\0';
        if (strstr(text, words))
            return;
    }
}

TEST(a_signal_sent_to_us_reaches_the_command_once)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        struct recorder r;
        int status;

        start_counter(&r, numbers[i]);
        expect(r.output, "ready\n");
        kill(r.pid, numbers[i]);
        expect(r.output, "1\n");
        assert_int_equal(waitpid(r.pid, &status, 0), r.pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 5);
        close(r.output);
    }
}

/* Typed at the terminal: the kernel sends it to both. */
TEST(a_signal_from_the_terminal_reaches_the_command_once)
{
    static const struct {
        int number;
        char key;
    } rows[] = {{SIGINT, 3}, {SIGQUIT, 28}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        int terminal, status;
        pid_t pid = forkpty(&terminal, NULL, NULL, NULL);

        if (pid == 0)
            run_counter(rows[i].number);
        expect(terminal, "ready\r\n");
        assert_int_equal(write(terminal, &rows[i].key, 1), 1);
        expect(terminal, "1\r\n");
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(WEXITSTATUS(status), 5);
        close(terminal);
    }
}

/* We lead the session: the kernel tells us alone, so that the command would never know. */
TEST(a_hang_up_reaches_the_command)
{
    int terminal, status, fds[2];
    pid_t pid;

    assert_int_equal(pipe(fds), 0);
    pid = forkpty(&terminal, NULL, NULL, NULL);
    if (pid == 0) {
        dup2(fds[1], STDOUT_FILENO);
        close(fds[0]);
        close(fds[1]);
        run_counter(SIGHUP);
    }
    close(fds[1]);
    expect(fds[0], "ready\n");
    close(terminal);
    expect(fds[0], "1\n");
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 5);
    close(fds[0]);
}

TEST(a_stop_stops_both_and_both_go_on)
{
    struct recorder r;
    int status;

    start_counter(&r, SIGCONT);
    expect(r.output, "ready\n");
    kill(r.pid, SIGTSTP);
    assert_int_equal(waitpid(r.pid, &status, WUNTRACED), r.pid);
    assert_true(WIFSTOPPED(status));
    kill(r.pid, SIGCONT);
    expect(r.output, "1\n"); /* it can only write when it runs again */
    assert_int_equal(waitpid(r.pid, &status, 0), r.pid);
    assert_int_equal(WEXITSTATUS(status), 5);
    close(r.output);
}

/* Ends the command at the second tick. */
static void tick(void *context)
{
    static int ticks;
    int *gate = context;

    if (*gate >= 0 && ++ticks == 2) {
        close(*gate);
        *gate = -1;
    }
}

TEST(time_passes_while_it_runs)
{
    char shell[] = "sh", option[] = "-c", text[64], *argv[] = {shell, option, text, NULL};
    uint64_t from = clock_ns();
    int gate[2];
    struct record_child c = {.path = "/bin/sh",
                             .argv = argv,
                             .environment = &environment,
                             .tick = tick,
                             .context = &gate[1]};

    assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
    assert_int_equal(fcntl(gate[0], F_SETFD, 0), 0);
    snprintf(text, sizeof(text), "read end <&%d; true", gate[0]);
    assert_int_equal(record_child_run(&c, &unused_status, &why), 0);
    assert_int_equal(gate[1], -1);
    assert_true(clock_ns() - from >= 2 * UINT64_C(1000000000)); /* one each second */
    close(gate[0]);
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "--count"))
        return count_signals((int)strtol(argv[2], NULL, 10));
    return test_run(NULL);
}
