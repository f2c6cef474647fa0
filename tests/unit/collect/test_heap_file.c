/* What the writer of heap dumps writes is what the reader of them reads; and no half file is left behind. */
#include "collect/heap_file.h"

#include "heap/dump.h"
#include "support/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY 70000u /* references of one object: more than a record, more than a chunk holds */

static char folder[64], path[80];
static struct heap_dump dump;
static struct heap_records records;

static void make_folder(void)
{
    strcpy(folder, "/tmp/shadowtrace-heap-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/dump", folder);
}

static unsigned files(void)
{
    DIR *dir = opendir(folder);
    unsigned count = 0;

    for (const struct dirent *entry; (entry = readdir(dir));)
        count += *entry->d_name != '.';
    closedir(dir);
    return count;
}

static void remove_folder(void)
{
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
}

static void next(enum sst_heap_kind kind)
{
    assert_int_equal(heap_dump_next(&dump, HEAP_KIND(kind), &records), 1);
}

TEST(a_dump_is_read_as_it_was_written)
{
    const struct sst_heap_head head = {.pid = 4, .clock = 5, .t = 6, .collection = 7};
    const uintptr_t references[] = {0x20000, 0, 0x8, 0x20000}, words[] = {0x20000, 0x8, 7, 0x20000};
    const uint64_t slots[] = {3, 0, 1,
                              3}; /* the first that is not the header; again, it is the same */
    struct heap_file_counts counts;
    struct heap_root_record root;
    struct heap_site_record site;
    struct heap_name_record name;
    struct heap_counts sums;
    struct heap_object o;
    struct heap_file *f;
    uint64_t pair[2], address;
    struct stat st;

    make_folder();
    assert_int_equal(heap_file_new(path, &f), 0);
    heap_file_head(f, &head);
    heap_file_root(f, 0x10004, SST_HEAP_ROOT_STACK, SST_HEAP_ROOT_INTERIOR, 3);
    heap_file_root(f, 0, SST_HEAP_ROOT_STACK, 0, 0); /* a variable that refers to nothing */
    heap_file_pair(f, 0x10000, 0x20000);
    heap_file_object(f, 0x20000, 2, 20, NULL, 0, NULL);
    heap_file_object(f, 0x10000, 1, 32, references, 4, words);
    heap_file_site(f, 0x10000, 9);
    heap_file_site(f, 0x20000, 8);
    heap_file_site(f, 0x10008, 7); /* descends */
    heap_file_text(f, SST_HEAP_CLASSES, 1, 11, "A.B");
    heap_file_text(f, SST_HEAP_NAMES, 3, 12, "A.M()");
    assert_int_equal(files(), 0); /* it has no name yet */
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(heap_file_end(f, &counts), 0);
    assert_int_equal(files(), 1);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(counts.bytes, st.st_size);

    assert_int_equal(heap_dump_open(path, &dump), 0);
    assert_int_equal(dump.head.pid, 4);
    assert_int_equal(dump.head.collection, 7);
    next(SST_HEAP_ROOTS);
    assert_int_equal(heap_next_root(&records, &root), 1);
    assert_int_equal(root.address, 0x10004);
    assert_int_equal(root.name, 3);
    assert_int_equal(root.flags, SST_HEAP_ROOT_INTERIOR);
    assert_int_equal(heap_next_root(&records, &root), 0);
    next(SST_HEAP_PAIRS);
    assert_int_equal(heap_next_pair(&records, pair), 1);
    assert_int_equal(pair[1], 0x20000);
    next(SST_HEAP_OBJECTS);
    assert_int_equal(heap_next_object(&records, &o), 1);
    assert_int_equal(o.address, 0x20000);
    assert_int_equal(o.units, 3);
    assert_int_equal(heap_next_object(&records, &o), 1);
    assert_int_equal(o.address, 0x10000);
    assert_int_equal(o.class_number, 1);
    for (size_t i = 0; i < 4; i++) {
        if (!references[i])
            continue;
        assert_int_equal(heap_next_reference(&records, &o, &address), 1);
        assert_int_equal(address, references[i]);
        assert_int_equal(o.slot, slots[i]);
    }
    assert_int_equal(heap_next_object(&records, &o), 0);
    next(SST_HEAP_SITES);
    assert_int_equal(heap_next_site(&records, &site), 1);
    assert_int_equal(heap_next_site(&records, &site), 1);
    assert_int_equal(site.address, 0x20000);
    assert_int_equal(site.site, 8);
    next(SST_HEAP_SITES);
    assert_int_equal(heap_next_site(&records, &site), 1);
    assert_int_equal(site.address, 0x10008);
    next(SST_HEAP_CLASSES);
    assert_int_equal(heap_next_name(&records, &name), 1);
    assert_int_equal(name.id, 11);
    assert_memory_equal(name.name, "A.B", name.size);
    next(SST_HEAP_NAMES);
    next(SST_HEAP_END);
    assert_int_equal(heap_next_counts(&records, &sums), 1);
    assert_int_equal(sums.objects, 2);
    assert_int_equal(sums.references, 3);
    assert_int_equal(sums.roots, 1);
    assert_int_equal(sums.pairs, 1);
    assert_int_equal(sums.sites, 3);
    assert_int_equal(heap_dump_next(&dump, HEAP_EVERY, &records), 0);
    heap_dump_close(&dump);
    remove_folder();
}

TEST(an_object_of_many_references_has_all_of_them)
{
    uintptr_t *references = calloc(MANY, sizeof(*references));
    struct heap_file_counts counts;
    uint64_t address, sum = 0, wanted = 0;
    struct heap_object o;
    struct heap_file *f;
    uint32_t found = 0;
    int n;

    make_folder();
    assert_int_equal(heap_file_new(path, &f), 0);
    heap_file_head(f, &(struct sst_heap_head){.pid = 1});
    for (size_t i = 0; i < MANY; i++)
        wanted += references[i] = i % 3 ? (i * UINT64_C(0x9e3779b97f4a7c15)) >> 24 << 3 : 0;
    heap_file_object(f, 0x1000, 1, 8 * MANY, references, MANY, NULL);
    heap_file_object(f, 0x900000, 1, 24, references, 1, NULL);
    assert_int_equal(heap_file_end(f, &counts), 0);
    assert_int_equal(counts.objects, 2);
    assert_int_equal(heap_dump_open(path, &dump), 0);
    while ((n = heap_dump_next(&dump, HEAP_KIND(SST_HEAP_OBJECTS), &records)) == 1) {
        while (records.kind == SST_HEAP_OBJECTS && heap_next_object(&records, &o) == 1) {
            assert_true(o.address == 0x1000 ? o.units == MANY : o.address == 0x900000);
            for (; heap_next_reference(&records, &o, &address) == 1; found++)
                sum += address;
        }
    }
    assert_int_equal(n, 0);
    assert_int_equal(found, MANY - (MANY + 2) / 3);
    assert_int_equal(counts.references, found);
    assert_int_equal(sum, wanted);
    heap_dump_close(&dump);
    remove_folder();
    free(references);
}

TEST(a_disk_that_is_full_leaves_nothing)
{
    const struct rlimit small = {100000, RLIM_INFINITY};
    struct heap_file_counts counts;
    struct rlimit before;
    struct heap_file *f;

    make_folder();
    getrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(heap_file_new(path, &f), 0);
    heap_file_head(f, &(struct sst_heap_head){.pid = 1});
    for (uintptr_t i = 1; i < 100000; i++)
        heap_file_object(f, i << 20, 1, 24, &i, 1, NULL);
    assert_int_equal(heap_file_end(f, &counts), -EFBIG);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(files(), 0);
    remove_folder();
    assert_int_equal(heap_file_new("/nowhere/dump", &f), -ENOENT);
}

TEST(a_dump_that_is_dropped_leaves_nothing_and_spares_what_was_there)
{
    struct heap_file_counts counts;
    struct heap_file *f;
    int fd;

    make_folder();
    fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
    assert_int_equal(heap_file_new(path, &f), -EEXIST);
    unlink(path);
    assert_int_equal(heap_file_new(path, &f), 0);
    heap_file_head(f, &(struct sst_heap_head){.pid = 1});
    heap_file_drop(f);
    assert_int_equal(files(), 0);
    assert_int_equal(heap_file_new(path, &f), 0);
    heap_file_head(f, &(struct sst_heap_head){.pid = 1});
    fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600); /* meanwhile */
    close(fd);
    assert_int_equal(heap_file_end(f, &counts), -EEXIST);
    assert_int_equal(files(), 1);
    remove_folder();
}

/* From here on, in this process, as on a file system that has no files without names. */
static void only_named_files(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof(rules) / sizeof(*rules), rules};

    assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

enum end { KILLED, WHOLE, REFUSED };

/* A process that writes a dump. Returns: whether it ended so. */
static bool writes(bool named, enum end end)
{
    pid_t child = fork();
    int status;

    if (!child) {
        struct heap_file_counts counts;
        struct heap_file *f;
        int err;

        if (named)
            only_named_files();
        err = heap_file_new(path, &f);
        if (err)
            _exit(err == -EEXIST ? REFUSED : 100);
        heap_file_head(f, &(struct sst_heap_head){.pid = 1});
        for (uintptr_t i = 1; i < 100000; i++)
            heap_file_object(f, i << 20, 1, 24, &i, 1, NULL);
        if (end == KILLED)
            raise(SIGKILL);
        _exit(heap_file_end(f, &counts) ? 100 : WHOLE);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return end == KILLED ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                         : WIFEXITED(status) && WEXITSTATUS(status) == (int)end;
}

TEST(who_is_killed_within_a_dump_leaves_nothing)
{
    make_folder();
    assert_true(writes(false, KILLED));
    assert_int_equal(files(), 0);
    assert_true(writes(false, WHOLE));
    assert_int_equal(files(), 1);
    assert_true(writes(false, REFUSED));
    remove_folder();
}

TEST(where_files_have_names_what_a_killed_one_left_is_taken_over)
{
    struct stat st;
    char part[96];
    int fd;

    make_folder();
    snprintf(part, sizeof(part), "%s.part", path);
    assert_true(writes(true, KILLED));
    assert_int_equal(stat(part, &st), 0);
    assert_true(st.st_size > 100000);
    assert_int_equal(files(), 1);
    assert_true(writes(true, WHOLE));
    assert_int_equal(files(), 1);
    assert_int_equal(heap_dump_open(path, &dump), 0);
    for (int n; (n = heap_dump_next(&dump, HEAP_EVERY, &records));)
        assert_int_equal(n, 1);
    heap_dump_close(&dump);
    unlink(path);

    fd = open(part, O_CREAT | O_WRONLY | O_CLOEXEC, 0600); /* somebody's own */
    assert_int_equal(write(fd, "not a heap", 10), 10);
    close(fd);
    assert_true(writes(true, REFUSED));
    assert_int_equal(stat(part, &st), 0);
    assert_int_equal(st.st_size, 10);
    unlink(part);
    assert_int_equal(symlink("elsewhere", part), 0);
    assert_true(writes(true, REFUSED));
    unlink(part);
    remove_folder();
}
