/* What a deputy may do, and where paths lead it. The races themselves: tests/e2e/test_attach.py. */
#include "unit/record/record_support.h"

#include "command/command.h"
#include "process/deputy.h"
#include "process/status_folder.h"
#include "support/test.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define PATIENCE_S 120
#define OTHER      12345 /* a user that owns nothing */

static struct deputy deputy;

/* The deputy of a process that is like this one, but has the test's folder as its root. */
static int setup(void **state)
{
    if (folder_setup(state) || chmod(test_folder, 0755) || mkdir("tmp", 0777) ||
        chmod("tmp", 01777) || mkdir("inner", 0755) || deputy_open(&deputy, getpid()))
        return -1;
    close(deputy.root);
    deputy.root = open(test_folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return deputy.root < 0;
}

static int teardown(void **state)
{
    deputy_close(&deputy);
    return folder_teardown(state);
}

TEST_EACH(setup, teardown);

/* ---- the child ---- */

static int give_folder(const struct deputy *d, void *path, int *out)
{
    *out = deputy_folder(d, path);
    return *out < 0 ? *out : 0;
}

static int give_count(const struct deputy *d, void *context, int *out)
{
    (void)d;
    (void)out;
    return *(int *)context;
}

TEST(what_it_returns_and_opens_comes_back)
{
    int count = 7, failure = -EBUSY, fd;
    struct stat there, here;

    assert_int_equal(deputy_run(&deputy, PATIENCE_S, give_count, &count, NULL), 7);
    assert_int_equal(deputy_run(&deputy, PATIENCE_S, give_count, &failure, &fd), -EBUSY);
    assert_int_equal(fd, -1);
    assert_int_equal(deputy_run(&deputy, PATIENCE_S, give_folder, "/inner", &fd), 0);
    assert_int_equal(fstat(fd, &there), 0);
    assert_int_equal(stat("inner", &here), 0);
    assert_int_equal(there.st_ino, here.st_ino);
    close(fd);
}

static int wait_for_ever(const struct deputy *d, void *context, int *out)
{
    (void)d;
    (void)context;
    (void)out;
    while (pause()) {
    }
    return 0;
}

static int die(const struct deputy *d, void *context, int *out)
{
    (void)d;
    (void)context;
    (void)out;
    kill(getpid(), SIGKILL);
    return 0;
}

TEST(one_that_is_stopped_or_killed_is_given_up)
{
    assert_int_equal(deputy_run(&deputy, 0, wait_for_ever, NULL, NULL), -ETIMEDOUT);
    assert_int_equal(deputy_run(&deputy, PATIENCE_S, die, NULL, NULL), -ECANCELED);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}

/* Bits of what it has that it must not have. */
static int look_at_rights(const struct deputy *d, void *secret, int *out)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct has[2];
    uid_t real, effective, saved;

    (void)out;
    if (getresuid(&real, &effective, &saved) || real != d->uid || effective != d->uid ||
        saved != d->uid)
        return 1;
    if (syscall(SYS_capget, &header, has) || has[0].effective | has[0].permitted ||
        has[1].effective | has[1].permitted)
        return 2;
    if (getegid() != d->gid || (d->uid == OTHER && getgroups(0, NULL)))
        return 3;
    if (d->uid == OTHER && (open(secret, O_RDONLY) >= 0 || !seteuid(0) || !setgid(0)))
        return 4;
    if (prctl(PR_GET_DUMPABLE) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
        return 5;
    return 0;
}

TEST(it_has_the_ids_of_the_user_and_no_capability)
{
    struct deputy other;

    write_text("secret", "of root", 0600);
    assert_int_equal(deputy_run(&deputy, PATIENCE_S, look_at_rights, "secret", NULL), 0);
    if (geteuid())
        skip(); /* only root has another's rights */
    assert_int_equal(deputy_of_user(&other, OTHER), 0);
    assert_int_equal(deputy_run(&other, PATIENCE_S, look_at_rights, "secret", NULL), 0);
    deputy_close(&other);
    assert_int_equal(geteuid(), 0); /* we keep ours */
}

TEST(a_process_is_not_taken_for_a_later_one_of_its_number)
{
    struct deputy d;
    pid_t child = fork();

    if (!child)
        for (;;)
            pause();
    assert_int_equal(deputy_open(&d, child), 0);
    assert_int_equal(d.uid, geteuid());
    assert_int_equal(d.gid, getegid());
    assert_true(deputy_lives(&d));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_false(deputy_lives(&d));
    deputy_close(&d);
    assert_int_equal(deputy_open(&d, child), -ESRCH);
    assert_int_equal(deputy_run(&d, PATIENCE_S, die, NULL, NULL), -ESRCH);
    deputy_close(&d);
    if (geteuid()) {
        assert_int_equal(deputy_open(&d, 1) == 0, false);
        deputy_close(&d);
    }
}

/* ---- where paths lead ---- */

static int folder_of(const char *path, ino_t *inode)
{
    struct stat st;
    int fd, err = deputy_run(&deputy, PATIENCE_S, give_folder, (void *)(uintptr_t)path, &fd);

    if (err)
        return err;
    assert_int_equal(fstat(fd, &st), 0);
    close(fd);
    *inode = st.st_ino;
    return 0;
}

static ino_t inode_of(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_ino;
}

TEST(links_stay_below_the_root_of_the_process)
{
    ino_t inode;

    assert_int_equal(symlink("/inner", "absolute"), 0);
    assert_int_equal(symlink("../../../..", "above"), 0);
    assert_int_equal(symlink(test_folder, "host"), 0);
    assert_int_equal(folder_of("/absolute", &inode), 0);
    assert_int_equal(inode, inode_of("inner"));
    assert_int_equal(folder_of("/above", &inode), 0);
    assert_int_equal(inode, inode_of("."));
    assert_int_equal(folder_of("/inner/../..", &inode), 0);
    assert_int_equal(inode, inode_of("."));
    assert_int_equal(folder_of("/host", &inode), -ENOENT);
    assert_int_equal(folder_of("/none", &inode), -ENOENT);
}

/* From here on this process, and its deputies, cannot use openat2. */
static void refuse_openat2(unsigned error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {ELEMENTS(code), code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        _exit(77);
}

static int without_openat2(unsigned error)
{
    ino_t inode;

    refuse_openat2(error);
    if (folder_of("/inner", &inode) || inode != inode_of("inner") ||
        folder_of("//inner/", &inode) || inode != inode_of("inner"))
        return 1;
    if (folder_of("/absolute", &inode) != -ENOTDIR || folder_of("/host", &inode) != -ENOTDIR)
        return 2;
    return folder_of("/inner/..", &inode) == -EXDEV ? 0 : 3;
}

TEST(without_openat2_a_path_with_a_link_is_refused)
{
    static const unsigned errors[] = {ENOSYS, EPERM};

    assert_int_equal(symlink("/inner", "absolute"), 0);
    assert_int_equal(symlink(test_folder, "host"), 0);
    for (int i = 0; i < ELEMENTS(errors); i++) {
        pid_t child = fork();
        int status;

        if (!child)
            _exit(without_openat2(errors[i]));
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WEXITSTATUS(status) == 77)
            skip(); /* no seccomp here */
        assert_int_equal(status, 0);
    }
}

/* ---- the status folder ---- */

static struct record_why why;
static char path[PATH_MAX];

static int create(void)
{
    *why.text = '\0';
    return status_folder_create_for(&deputy, 4711, path, &why);
}

TEST(a_folder_is_made_locked_and_removed)
{
    struct stat st, there;
    int second;

    assert_int_equal(create(), CLI_OK);
    assert_int_equal(strncmp(path, "/tmp/shadowtrace-", 17), 0);
    assert_int_equal(stat(path + 1, &there), 0); /* below the test's folder */
    assert_int_equal(fstat(status_folder_held(), &st), 0);
    assert_int_equal(st.st_ino, there.st_ino);
    assert_int_equal(st.st_mode & 07777, 0700);
    second = open(path + 1, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(flock(second, LOCK_EX | LOCK_NB), -1);
    close(second);
    close(openat(status_folder_held(), "4711.json", O_CREAT | O_WRONLY, 0600));
    status_folder_remove_for(&deputy);
    assert_int_equal(access(path + 1, F_OK), -1);
}

TEST(a_missing_or_closed_tmp_is_said_in_one_line)
{
    assert_int_equal(rmdir("tmp"), 0);
    assert_int_equal(create(), CLI_IO);
    assert_says(why.text, "/tmp of process 4711 as its user");
    assert_says(why.text, "No such file or directory");
    assert_int_equal(mkdir("tmp", 0555), 0); /* closed to root, too, without its capabilities */
    assert_int_equal(create(), CLI_IO);
    assert_says(why.text, "Permission denied");
    assert_int_equal(lines_in(why.text), 0);
    assert_int_equal(status_folder_held(), -1);
}

TEST(what_killed_recordings_left_is_removed_and_what_is_locked_or_a_link_is_not)
{
    int locked;

    assert_int_equal(mkdir("tmp/shadowtrace-0-run-abc", 0700), 0); /* as root once named all */
    assert_int_equal(mkdir("tmp/shadowtrace-77-run-def", 0700), 0);
    write_text("tmp/shadowtrace-77-run-def/1.json", "{}", 0600);
    assert_int_equal(mkdir("tmp/shadowtrace-77-run-used", 0700), 0);
    locked = open("tmp/shadowtrace-77-run-used", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(flock(locked, LOCK_EX | LOCK_NB), 0);
    write_text("inner/kept", "kept", 0600);
    assert_int_equal(symlink("/inner", "tmp/shadowtrace-77-run-link"), 0);
    assert_int_equal(symlink("../inner", "tmp/shadowtrace-77-run-near"), 0);
    assert_int_equal(mkdir("tmp/shadowtrace-x-run-y", 0700), 0);
    assert_int_equal(create(), CLI_OK);
    assert_int_equal(access("tmp/shadowtrace-0-run-abc", F_OK), -1);
    assert_int_equal(access("tmp/shadowtrace-77-run-def", F_OK), -1);
    assert_int_equal(access("tmp/shadowtrace-77-run-used", F_OK), 0);
    assert_int_equal(access("tmp/shadowtrace-77-run-near", F_OK), 0);
    assert_int_equal(access("tmp/shadowtrace-x-run-y", F_OK), 0);
    assert_int_equal(access("inner/kept", F_OK), 0);
    close(locked);
    status_folder_remove_for(&deputy);
}
