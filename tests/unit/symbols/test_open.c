/* symbols_open on real files: where it looks, what it takes, what it says when it takes nothing. */
#include "symbols/symbols.h"

#include "base/memory.h"

#include "fixture.h"
#include "support/test.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static struct fixture fixture;
static struct bytes assembly;
static struct symbols *symbols;
static struct symbols_error error;
static char folder[64];

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

/* A new empty working folder, and the fixture's parts. */
static int setup(void **state)
{
    (void)state;
    symbols = NULL;
    fixture_init(&fixture);
    strcpy(folder, "/tmp/symbols-test-XXXXXX");
    return !mkdtemp(folder) || chdir(folder);
}

static int teardown(void **state)
{
    (void)state;
    symbols_free(symbols);
    return chdir("/") || nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

TEST_EACH(setup, teardown);

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* App.dll, built with a portable PDB called pdb_path. */
static void write_assembly(const char *pdb_path)
{
    assembly_put(&assembly,
                 &(struct assembly){.pdb_path = pdb_path, .minor = 0x504D, .methods = 6});
    write_file("App.dll", assembly.data, assembly.size);
}

static void write_pdb(const char *path)
{
    write_file(path, fixture.pdb.data, fixture.pdb.size);
}

static void opens(const char *path, const char *expected)
{
    const char *dirs[] = {"none", "dir"};

    if (symbols_open(path, dirs, 2, NULL, &symbols, &error))
        fail_msg("%s", error.text);
    assert_int_equal(error.reason, SYMBOLS_OK);
    assert_string_equal(symbols_path(symbols), expected);
    symbols_free(symbols);
    symbols = NULL;
}

static void refuses(const char *path, int err, enum symbols_reason reason, const char *text)
{
    const char *dirs[] = {"none", "dir"};

    symbols = (struct symbols *)&fixture; /* must become NULL */
    assert_int_equal(symbols_open(path, dirs, 2, NULL, &symbols, &error), err);
    assert_null(symbols);
    assert_int_equal(error.reason, reason);
    assert_string_equal(error.text, text);
    assert_int_equal(symbols_open(path, NULL, 0, NULL, &symbols, NULL) < 0,
                     1); /* error is optional */
}

TEST(pdb_beside_the_assembly_is_found)
{
    struct symbols_line line;
    char path[PATH_MAX];

    write_assembly("/home/me/obj/App.pdb");
    write_pdb("App.pdb");
    opens("App.dll", "App.pdb");
    opens("./App.dll", "./App.pdb");
    snprintf(path, sizeof(path), "%s/App.dll", folder);
    assert_int_equal(symbols_open(path, NULL, 0, fixture_mvid, &symbols, &error), 0);
    assert_false(symbols_embedded(symbols));
    assert_false(symbols_verified(symbols)); /* no checksum in this one */
    assert_int_equal(symbols_line(symbols, 0x06000001, 9, &line), 0);
    assert_string_equal(line.file, "/src/A.cs");
    assert_int_equal(line.line, 8);
}

TEST(pdb_under_the_name_the_assembly_gives_is_found)
{
    write_assembly("C:\\build\\Other.pdb");
    write_pdb("Other.pdb");
    opens("App.dll", "Other.pdb");
    write_assembly("/build/..");
    refuses("App.dll", -ENOENT, SYMBOLS_MISSING,
            "App.dll: its PDB App.pdb is neither next to it nor in the given directories");
}

TEST(folders_are_searched_plain_and_as_symbol_stores)
{
    static const char *const places[][3] = {
        {"dir/App.pdb",
         "dir/App.pdb/04030201060508070"
         "90a0b0c0d0e0f10FFFFFFFF",
         "dir/App.pdb"},
        {"dir/app.pdb",
         "dir/app.pdb/04030201060508070"
         "90a0b0c0d0e0f10FFFFFFFF",
         "dir/app.pdb"},
        {"dir/App.pdb",
         "dir/App.pdb/04030201060508070"
         "90A0B0C0D0E0F10FFFFFFFF",
         "dir/App.pdb"},
    };
    char path[PATH_MAX];

    write_assembly("App.pdb");
    assert_int_equal(mkdir("dir", 0700), 0);
    write_pdb("dir/App.pdb");
    opens("App.dll", "dir/App.pdb");
    assert_int_equal(remove("dir/App.pdb"), 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(mkdir(places[i][0], 0700), 0);
        assert_int_equal(mkdir(places[i][1], 0700), 0);
        snprintf(path, sizeof(path), "%s/%s", places[i][1], strrchr(places[i][0], '/') + 1);
        write_pdb(path);
        opens("App.dll", path);
        assert_int_equal(remove(path), 0);
        assert_int_equal(remove(places[i][1]), 0);
        assert_int_equal(remove(places[i][0]), 0);
    }
}

TEST(embedded_pdb_is_taken_first)
{
    uint8_t digest[SYMBOLS_SHA256_SIZE];
    struct assembly described = {.pdb_path = "App.pdb",
                                 .minor = 0x504D,
                                 .methods = 6,
                                 .embedded = &fixture.pdb,
                                 .checksum = digest};

    fixture_checksum(&fixture, digest);
    assembly_put(&assembly, &described);
    write_file("App.dll", assembly.data, assembly.size);
    write_file("App.pdb", "nonsense", 8);
    opens("App.dll", "App.dll");
    assert_int_equal(symbols_open("App.dll", NULL, 0, NULL, &symbols, &error), 0);
    assert_true(symbols_embedded(symbols));
    assert_true(symbols_verified(symbols));
    symbols_free(symbols);
    symbols = NULL;

    described.pdb_path = NULL; /* embedded, and nothing that names an id */
    assembly_put(&assembly, &described);
    write_file("App.dll", assembly.data, assembly.size);
    opens("App.dll", "App.dll");
}

TEST(damaged_embedded_pdb_is_refused_and_another_one_used_instead)
{
    struct assembly described = {
        .pdb_path = "App.pdb", .minor = 0x504D, .methods = 6, .embedded = &fixture.pdb};
    const uint32_t claims[] = {(uint32_t)fixture.pdb.size - 1, (uint32_t)fixture.pdb.size + 1,
                               0x3FFFFFFF, 0x7FFFFFFF};

    for (size_t i = 0; i < 4;
         i++) { /* also sizes that nobody could unpack to: refused without allocating them */
        described.embedded_size = claims[i];
        assembly_put(&assembly, &described);
        write_file("App.dll", assembly.data, assembly.size);
        assert_true(symbols_open("App.dll", NULL, 0, NULL, &symbols, &error) < 0);
        assert_int_equal(error.reason, i == 3 ? SYMBOLS_TOO_LARGE : SYMBOLS_DAMAGED);
    }
    write_pdb("App.pdb");
    opens("App.dll", "App.pdb");
}

TEST(what_is_missing_is_said)
{
    refuses("App.dll", -ENOENT, SYMBOLS_NO_ASSEMBLY, "App.dll: there is no such file");
    write_assembly("/obj/Name.pdb");
    refuses("App.dll", -ENOENT, SYMBOLS_MISSING,
            "App.dll: its PDB Name.pdb is neither next to it nor in the given directories");
    assert_int_equal(symbols_open("App.dll", NULL, 0, NULL, &symbols, &error), -ENOENT);
    assert_string_equal(error.text, "App.dll: its PDB Name.pdb is not next to it");
    write_assembly(NULL);
    refuses("App.dll", -ENODATA, SYMBOLS_NONE, "App.dll: built without symbols");
}

TEST(another_build_is_said)
{
    uint8_t mvid[SYMBOLS_MVID_SIZE];

    write_assembly("App.pdb");
    write_pdb("App.pdb");
    memcpy(mvid, fixture_mvid, sizeof(mvid));
    mvid[15] ^= 1;
    assert_int_equal(symbols_open("App.dll", NULL, 0, mvid, &symbols, &error), -ESTALE);
    assert_int_equal(error.reason, SYMBOLS_OTHER_BUILD);
    assert_string_equal(error.text, "App.dll: another build than the one that was traced");
    fixture.pdb.data[fixture.id] ^= 1;
    write_pdb("App.pdb");
    assert_int_equal(symbols_open("App.dll", NULL, 0, NULL, &symbols, &error), -ESTALE);
    assert_non_null(strstr(error.text, "App.pdb: belongs to another build: its id is 04030200-"));
    fixture.pdb.data[fixture.id] ^= 1;
    assert_int_equal(mkdir("dir", 0700), 0);
    write_pdb("dir/App.pdb"); /* the right one elsewhere */
    opens("App.dll", "dir/App.pdb");
}

TEST(windows_pdbs_are_named)
{
    static const char msf[] = "Microsoft C/C++ MSF 7.00\r\n\x1a"
                              "DS\0\0\0";

    write_assembly("App.pdb");
    write_file("App.pdb", msf, sizeof(msf));
    refuses("App.dll", -ENOTSUP, SYMBOLS_WINDOWS,
            "App.pdb: a Windows PDB, which is not supported: build with DebugType portable");
    assert_int_equal(remove("App.pdb"), 0);
    assembly_put(&assembly, &(struct assembly){.pdb_path = "App.pdb", .minor = 0, .methods = 6});
    write_file("App.dll", assembly.data, assembly.size);
    refuses("App.dll", -ENOTSUP, SYMBOLS_WINDOWS,
            "App.dll: built with a Windows PDB (App.pdb), which is not supported: build with "
            "DebugType portable");
}

TEST(truncated_and_forged_pdbs_are_refused)
{
    uint8_t digest[SYMBOLS_SHA256_SIZE];

    fixture_checksum(&fixture, digest);
    assembly_put(&assembly,
                 &(struct assembly){
                     .pdb_path = "App.pdb", .minor = 0x504D, .methods = 6, .checksum = digest});
    write_file("App.dll", assembly.data, assembly.size);
    write_file("App.pdb", fixture.pdb.data, fixture.pdb.size - 1);
    assert_int_equal(symbols_open("App.dll", NULL, 0, NULL, &symbols, &error), -EBADMSG);
    assert_int_equal(error.reason, SYMBOLS_TRUNCATED);
    write_file("App.pdb", "", 0);
    refuses("App.dll", -EBADMSG, SYMBOLS_TRUNCATED, "App.pdb: truncated: it has 0 bytes");
    fixture.pdb.data[fixture.blob + fixture.points[1] +
                     5]++; /* line 11 instead of 10, all else in order */
    write_pdb("App.pdb");
    refuses("App.dll", -EBADMSG, SYMBOLS_FORGED,
            "App.pdb: altered since the build: the assembly records another checksum of it");
}

TEST(what_is_no_assembly_is_refused)
{
    write_file("App.dll", "\177ELF and so on", 14);
    refuses("App.dll", -ENOEXEC, SYMBOLS_NOT_MANAGED, "App.dll: not a .NET assembly");
    assert_int_equal(mkdir("Folder.dll", 0700), 0);
    refuses("Folder.dll", -EIO, SYMBOLS_UNREADABLE, "Folder.dll: not a regular file");
    assert_int_equal(mkfifo("Pipe.dll", 0600), 0); /* must not wait for a writer */
    refuses("Pipe.dll", -EIO, SYMBOLS_UNREADABLE, "Pipe.dll: not a regular file");
    assert_int_equal(symlink("Loop.dll", "Loop.dll"), 0);
    refuses("Loop.dll", -ELOOP, SYMBOLS_UNREADABLE,
            "Loop.dll: cannot be opened: Too many levels of symbolic links");
    write_file("Huge.dll", "MZ", 2);
    assert_int_equal(truncate("Huge.dll", (off_t)2 << 30), 0);
    refuses("Huge.dll", -EFBIG, SYMBOLS_TOO_LARGE, "Huge.dll: larger than 1 GiB");
}

TEST(every_beginning_of_an_assembly_is_refused)
{
    struct assembly described = {
        .pdb_path = "App.pdb", .minor = 0x504D, .methods = 6, .embedded = &fixture.pdb};

    assembly_put(&assembly, &described);
    for (size_t size = 2; size < assembly.size; size++) {
        struct symbols_image image;
        uint8_t *copy = malloc(size);

        assert_non_null(copy);
        memcpy(copy, assembly.data, size);
        assert_true(symbols_image_parse((struct symbols_span){copy, size}, &image, &error) < 0);
        assert_int_equal(error.reason, SYMBOLS_TRUNCATED);
        free(copy);
    }
}

TEST(messages_are_one_printable_line)
{
    refuses("a\nb\x1b[31m\xFF.dll", -ENOENT, SYMBOLS_NO_ASSEMBLY,
            "a?b?[31m?.dll: there is no such file");
    write_assembly("/obj/\x1b]0;owned\x07.pdb");
    refuses("App.dll", -ENOENT, SYMBOLS_MISSING,
            "App.dll: its PDB ?]0;owned?.pdb is neither next to it nor in the given directories");
}

TEST(running_out_of_memory_is_an_error_at_every_allocation)
{
    int err = -ENOMEM;
    long n;

    assembly_put(&assembly, &(struct assembly){.pdb_path = "App.pdb",
                                               .minor = 0x504D,
                                               .methods = 6,
                                               .embedded = &fixture.pdb});
    write_file("App.dll", assembly.data, assembly.size);
    for (n = 0; err == -ENOMEM && n < 100; n++) {
        memory_fail_after(n);
        err = symbols_open("App.dll", NULL, 0, NULL, &symbols, &error);
        memory_fail_after(-1);
        assert_int_equal(error.reason, err ? SYMBOLS_MEMORY : SYMBOLS_OK);
        assert_true(!err == (symbols != NULL));
    }
    assert_int_equal(err, 0);
    assert_true(n > 5);
}
