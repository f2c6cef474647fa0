/* Where the library is looked for, and what is said of one that does not load. */
#include "unit/record/record_support.h"

#include "command/command.h"
#include "record/library.h"
#include "support/test.h"

#include <elf.h>
#include <signal.h>

static char path[PATH_MAX];
static struct record_why why;

static int find(const char *override)
{
    char self[2 * PATH_MAX];

    why.text[0] = '\0';
    snprintf(self, sizeof(self), "%s/bin/shadowtrace", test_folder);
    return record_library_find(self, override, path, &why);
}

static void assert_found(const char *name)
{
    char expected[2 * PATH_MAX];

    snprintf(expected, sizeof(expected), "%s/%s", test_folder, name);
    assert_string_equal(path, expected);
}

TEST_GROUP(folder_setup, folder_teardown);

TEST(the_build_tree_comes_before_the_installed_places)
{
    assert_int_equal(mkdir("bin", 0700) || mkdir("lib", 0700) || mkdir("lib/shadowtrace", 0700), 0);
    assert_int_equal(find(NULL), CLI_IO);
    assert_says(why.text, "cannot find libshadowtrace.so in ");
    assert_says(why.text, "SHADOWTRACE_LIBRARY");
    write_text("lib/shadowtrace/libshadowtrace.so", "", 0600);
    assert_int_equal(find(NULL), CLI_OK);
    assert_found("lib/shadowtrace/libshadowtrace.so");
    write_text("lib/libshadowtrace.so", "", 0600);
    assert_int_equal(find(""), CLI_OK);
    assert_found("lib/libshadowtrace.so");
    write_text("bin/libshadowtrace.so", "", 0600);
    assert_int_equal(find(NULL), CLI_OK);
    assert_found("bin/libshadowtrace.so");
}

TEST(an_override_wins)
{
    write_text("mine.so", "", 0600);
    assert_int_equal(find("mine.so"), CLI_OK);
    assert_found("mine.so");
    assert_int_equal(find("/on/another/machine.so"), CLI_OK);
    assert_string_equal(path, "/on/another/machine.so");
    assert_int_equal(find("no.so"), CLI_IO);
    assert_says(why.text, "cannot use no.so, which SHADOWTRACE_LIBRARY names: No such file");
}

static int check(const char *name)
{
    snprintf(path, sizeof(path), "%.3000s/%s", test_folder, name);
    why.text[0] = '\0';
    return record_library_check(path, &why);
}

TEST(what_the_dynamic_linker_says_is_passed_on)
{
    assert_int_equal(check("absent.so"), CLI_IO);
    assert_says(why.text, "absent.so: No such file or directory");
    write_text("text.so",
               "this is not a library, and long enough to look like a file header of 64 bytes",
               0600);
    assert_int_equal(check("text.so"), CLI_IO);
    assert_says(why.text, "text.so: invalid ELF header");
    assert_null(strchr(why.text, '\n'));
}

static bool compile(const char *name, const char *code)
{
    char command[2 * PATH_MAX];

    snprintf(command, sizeof(command), "%s.c", name);
    write_text(command, code, 0600);
    snprintf(command, sizeof(command), "cc -shared -fPIC -o %s %s.c 2>/dev/null", name, name);
    return system(command) == 0;
}

TEST(a_library_is_loaded_before_the_command_starts)
{
    struct sigaction action;

    if (!compile("good.so", "int DllGetClassObject(void) { return 0; }")) {
        print_message("no C compiler here\n");
        skip();
    }
    assert_int_equal(check("good.so"), CLI_OK);
    assert_string_equal(why.text, "");
    assert_true(compile("other.so", "int something;"));
    assert_int_equal(check("other.so"), CLI_IO);
    assert_says(why.text, "other.so: it has no DllGetClassObject");
    assert_true(compile(
        "lacks.so",
        "int no_such_function(void); int DllGetClassObject(void) { return no_such_function(); }"));
    assert_int_equal(check("lacks.so"), CLI_IO);
    assert_says(why.text, "undefined symbol: no_such_function");
    assert_true(compile("crash.so",
                        "#include <signal.h>\n"
                        "__attribute__((constructor)) static void c(void) { raise(SIGBUS); }"));
    signal(SIGBUS, SIG_DFL);
    assert_int_equal(check("crash.so"), CLI_IO);
    assert_says(why.text, "crash.so: Bus error");
    assert_int_equal(sigaction(SIGBUS, NULL, &action), 0);
    assert_true(action.sa_handler == SIG_DFL); /* as before */
}

/* As the library has it, in the text of an answer. */
#define SAYING(text) \
    "const char says[] = \"" text "\"; int DllGetClassObject(void) { return says[0]; }"
#define VERSION(version) ",\\\"tracer\\\":\\\"" version "\\\",\\\"t\\\":1"

TEST(a_library_of_another_version_is_refused)
{
    if (!compile("same.so", SAYING(VERSION(SHADOWTRACE_VERSION)))) {
        print_message("no C compiler here\n");
        skip();
    }
    assert_int_equal(check("same.so"), CLI_OK);
    assert_true(compile("older.so", SAYING(VERSION("0.0.9-rc.1"))));
    assert_int_equal(check("older.so"), CLI_IO);
    assert_says(
        why.text,
        "older.so is of version 0.0.9-rc.1, and this command of version " SHADOWTRACE_VERSION
        "; both must be of one installation");
    assert_null(strchr(why.text, '\n'));
    assert_true(compile("longer.so", SAYING(VERSION(SHADOWTRACE_VERSION ".1"))));
    assert_int_equal(check("longer.so"), CLI_IO);
    assert_true(compile("format.so", SAYING(VERSION("%s") VERSION(SHADOWTRACE_VERSION))));
    assert_int_equal(check("format.so"), CLI_OK);
    assert_true(compile("cut.so", SAYING(",\\\"tracer\\\":\\\"0.9")));
    assert_int_equal(check("cut.so"), CLI_OK); /* says none */
}

/* The first bytes of a program or library of another CPU, and what tells that it starts .NET. */
static void write_elf_for(const char *name, unsigned class, unsigned order, unsigned machine)
{
    struct {
        Elf64_Ehdr header;
        char text[64];
    } file = {.text = "libhostfxr.so"};

    memcpy(file.header.e_ident, ELFMAG, SELFMAG);
    file.header.e_ident[EI_CLASS] = (unsigned char)class;
    file.header.e_ident[EI_DATA] = (unsigned char)order;
    file.header.e_ident[EI_VERSION] = EV_CURRENT;
    file.header.e_machine = (Elf64_Half)machine;
    write_file(name, &file, sizeof(file), 0700);
}

static void expect_fit(const char *library, const char *program, const char *says)
{
    char file[2 * PATH_MAX];

    snprintf(file, sizeof(file), "%s/%s", test_folder, library);
    why.text[0] = '\0';
    assert_int_equal(record_library_fits(file, program, "app", &why), *says ? CLI_IO : CLI_OK);
    if (*says)
        assert_says(why.text, says);
    else
        assert_string_equal(why.text, "");
    assert_null(strchr(why.text, '\n'));
}

#define LAUNCHER "const char host[] = \"libhostfxr.so\"; void _start(void) {}"

static bool link_as(const char *name, const char *code, const char *flags)
{
    char command[2 * PATH_MAX];

    snprintf(command, sizeof(command), "%s.c", name);
    write_text(command, code, 0600);
    snprintf(command, sizeof(command), "cc -nostdlib -fPIC -o %s %s.c %s 2>/dev/null", name, name,
             flags);
    return system(command) == 0;
}

TEST(a_library_or_program_of_another_cpu_is_refused_in_one_line)
{
    const unsigned own = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

    write_elf_for("arm.so", ELFCLASS64, own, EM_AARCH64);
    write_elf_for("x86.so", ELFCLASS64, own, EM_X86_64);
    write_elf_for("arm32.so", ELFCLASS32, own, EM_ARM);
    write_elf_for("big.so", ELFCLASS64, ELFDATA2MSB, EM_AARCH64);
    write_elf_for("unknown.so", ELFCLASS64, own, EM_S390);
    expect_fit("arm.so", "arm.so", "");
    expect_fit("x86.so", "x86.so", "");
    expect_fit("arm.so", "x86.so", "app is a program for x86-64, and ");
    expect_fit("arm.so", "x86.so", "arm.so is for AArch64; use the shadowtrace of that CPU");
    expect_fit("x86.so", "arm.so", "app is a program for AArch64, and ");
    expect_fit("x86.so", "arm32.so", "app is a program for a 32-bit CPU, and ");
    expect_fit("x86.so", "big.so", "app is a program for a big-endian CPU, and ");
    expect_fit("x86.so", "unknown.so", "app is a program for an unknown CPU, and ");
    assert_int_equal(check("arm32.so"), CLI_IO);
    assert_says(why.text, "it is for a 32-bit CPU, and this command for ");
}

TEST(a_library_of_another_c_library_is_refused_by_the_programs_elf_header)
{
    if (!link_as("musl", LAUNCHER, "-pie -Wl,-dynamic-linker,/lib/ld-musl-x86_64.so.1")) {
        print_message("no C compiler here\n");
        skip();
    }
    assert_true(link_as("gnu", LAUNCHER, "-pie -Wl,-dynamic-linker,/lib64/ld-linux-x86-64.so.2"));
    assert_true(link_as("wrapper", "void _start(void) {}",
                        "-pie -Wl,-dynamic-linker,/lib/ld-musl-x86_64.so.1"));
    assert_true(link_as("libc.musl-x86_64.so.1", "int of_musl;",
                        "-shared -Wl,-soname,libc.musl-x86_64.so.1"));
    assert_true(link_as("liburcu-memb.so.8", "int of_urcu;", "-shared -Wl,-soname,liburcu-memb.so.8"));
    mkdir("packed", 0700);
    assert_true(compile("both.so", "int DllGetClassObject(void) { return 0; }"));
    assert_true(link_as("needs.so", "extern int of_urcu; int *get(void) { return &of_urcu; }",
                        "-shared ./liburcu-memb.so.8"));
    assert_true(link_as("alpine.so", "extern int of_musl; int *get(void) { return &of_musl; }",
                        "-shared ./libc.musl-x86_64.so.1"));
    expect_fit("both.so", "musl", ""); /* needs libc.so.6, which musl takes for itself */
    expect_fit("both.so", "gnu", "");
    expect_fit("needs.so", "gnu", "");
    expect_fit("needs.so", "musl", ""); /* liburcu is beside it */
    assert_int_equal(rename("needs.so", "packed/needs.so"), 0);
    expect_fit("packed/needs.so", "musl", "app is a program for musl, and ");
    expect_fit("packed/needs.so", "musl", "needs.so is for glibc: it needs liburcu-memb.so.8");
    expect_fit("packed/needs.so", "wrapper", ""); /* what it starts is not known */
    expect_fit("packed/needs.so", "absent", "");
    expect_fit("alpine.so", "musl", "");
    expect_fit("alpine.so", "gnu", "app is a program for glibc, and ");
    expect_fit("alpine.so", "gnu", "alpine.so is for musl (libc.musl-x86_64.so.1)");
}
