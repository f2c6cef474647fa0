/* What COMMAND is: found or not, and what kind of program. */
#include "unit/record/record_support.h"

#include "command/command.h"
#include "record/elf.h"
#include "record/summary.h"
#include "record/target.h"
#include "support/test.h"

#include <elf.h>

static char path[PATH_MAX];
static struct record_why why;

static int find(const char *command)
{
    char search[PATH_MAX + 32];

    why.text[0] = '\0';
    snprintf(search, sizeof(search), "/nowhere:%s/bin:/usr/bin:/bin", test_folder);
    return record_target_find(command, search, path, &why);
}

TEST_GROUP(folder_setup, folder_teardown);

TEST(a_command_is_found_as_a_shell_would)
{
    char expected[2 * PATH_MAX];

    assert_int_equal(mkdir("bin", 0700), 0);
    write_text("bin/tool", "#!/bin/sh\n", 0700);
    write_text("bin/ls", "not executable, so the next one is taken", 0600);
    assert_int_equal(find("tool"), CLI_OK);
    snprintf(expected, sizeof(expected), "%s/bin/tool", test_folder);
    assert_string_equal(path, expected);
    assert_int_equal(find("bin/tool"), CLI_OK);
    assert_string_equal(path, "bin/tool");
    assert_int_equal(find("ls"), CLI_OK);
    assert_non_null(strstr(path, "/bin/ls"));
    assert_null(strstr(path, test_folder));
    assert_int_equal(chdir("bin"), 0);
    assert_int_equal(record_target_find("tool", "/nowhere::/bin", path, &why), CLI_OK);
    assert_string_equal(path, "./tool"); /* an empty entry is the current directory */
    assert_int_equal(chdir(".."), 0);
    assert_int_equal(record_target_find("tool", NULL, path, &why), RECORD_NOT_FOUND);
}

TEST(a_missing_command_is_127)
{
    assert_int_equal(find("no-such-tool"), RECORD_NOT_FOUND);
    assert_says(why.text, "no-such-tool: no such command");
    assert_int_equal(find("./no-such-tool"), RECORD_NOT_FOUND);
    assert_int_equal(find(""), RECORD_NOT_FOUND);
    write_text("here", "#!/bin/sh\n", 0700);
    assert_int_equal(find("here"), RECORD_NOT_FOUND);
    assert_says(why.text, "./here");
    assert_int_equal(find("here/x"), RECORD_NOT_FOUND);
}

TEST(a_file_that_cannot_be_executed_is_126)
{
    write_text("plain", "text", 0600);
    assert_int_equal(find("./plain"), RECORD_NOT_EXECUTABLE);
    assert_says(why.text, "./plain cannot be executed: Permission denied");
    assert_int_equal(find("/"), RECORD_NOT_EXECUTABLE);
    assert_says(why.text, "is a folder");
    assert_int_equal(find("/dev/null"), RECORD_NOT_EXECUTABLE);
}

TEST(an_assembly_needs_dotnet)
{
    write_text("app.DLL", "MZ", 0755);
    assert_int_equal(find("app.DLL"), RECORD_NOT_EXECUTABLE);
    assert_says(why.text, "shadowtrace record -- dotnet app.DLL");
    assert_int_equal(find("./app.DLL"), RECORD_NOT_EXECUTABLE);
    assert_int_equal(find("other.dll"), RECORD_NOT_FOUND);
}

TEST(a_number_that_is_a_process_is_for_another_command)
{
    char pid[32];

    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    assert_int_equal(find(pid), CLI_USAGE);
    assert_says(why.text, "shadowtrace attach");
    assert_int_equal(find("4194305"), RECORD_NOT_FOUND); /* above what Linux gives out */
    assert_int_equal(find("99999999999999999999"), RECORD_NOT_FOUND);
    snprintf(path, sizeof(path), "bin/%s", pid);
    write_text(path, "#!/bin/sh\n", 0700); /* a command that is named so is a command */
    assert_int_equal(find(pid), CLI_OK);
}

/* An ELF of two sections: nothing, and these strings. */
static void write_elf(const char *name, unsigned machine, const char *strings, size_t size)
{
    struct {
        Elf64_Ehdr header;
        Elf64_Shdr section[2];
        char strings[512];
    } file;

    memset(&file, 0, sizeof(file));
    memcpy(file.header.e_ident, ELFMAG, SELFMAG);
    file.header.e_ident[EI_CLASS] = ELFCLASS64;
    file.header.e_ident[EI_DATA] = ELFDATA2LSB;
    file.header.e_ident[EI_VERSION] = EV_CURRENT;
    file.header.e_machine = (Elf64_Half)machine;
    file.header.e_shoff = offsetof(__typeof__(file), section);
    file.header.e_shentsize = sizeof(Elf64_Shdr);
    file.header.e_shnum = 2;
    file.section[1].sh_type = SHT_STRTAB;
    file.section[1].sh_offset = offsetof(__typeof__(file), strings);
    file.section[1].sh_size = size;
    memcpy(file.strings, strings, size);
    write_file(name, &file, sizeof(file), 0700);
}

#define STRINGS(text) text, sizeof(text)

TEST(programs_are_told_apart)
{
    write_text("script", "#!/bin/sh\n", 0700);
    write_text("short", "#", 0700);
    write_text("empty", "", 0700);
    write_elf("aot", EM_X86_64, STRINGS("\0main\0DotNetRuntimeDebugHeader\0x"));
    write_elf("aot2", EM_X86_64, STRINGS("\0RhpNewFast"));
    write_elf("single", EM_X86_64, STRINGS("\0DotNetRuntimeInfo\0"));
    write_elf("launcher", EM_X86_64, STRINGS("\0main\0 cannot find libhostfxr.so in"));
    write_elf("native", EM_X86_64, STRINGS("\0main\0xRhpNewFast\0DotNetRuntimeInfox\0"));
    write_elf("arm", EM_AARCH64, STRINGS("\0RhpNewFast"));
    assert_int_equal(record_target_kind("script"), RECORD_TARGET_SCRIPT);
    assert_int_equal(record_target_kind("short"), RECORD_TARGET_UNKNOWN);
    assert_int_equal(record_target_kind("empty"), RECORD_TARGET_UNKNOWN);
    assert_int_equal(record_target_kind("nothing"), RECORD_TARGET_UNKNOWN);
    assert_int_equal(record_target_kind("."), RECORD_TARGET_UNKNOWN);
    assert_int_equal(record_target_kind("aot"), RECORD_TARGET_NATIVE_AOT);
    assert_int_equal(record_target_kind("aot2"), RECORD_TARGET_NATIVE_AOT);
    assert_int_equal(record_target_kind("single"), RECORD_TARGET_SINGLE_FILE);
    assert_int_equal(record_target_kind("launcher"), RECORD_TARGET_LAUNCHER);
    assert_int_equal(record_target_kind("native"), RECORD_TARGET_NATIVE);
    assert_int_equal(record_target_kind("arm"), RECORD_TARGET_FOREIGN);
    assert_int_equal(record_target_kind("/bin/sh"), RECORD_TARGET_NATIVE);
}

/* Any byte of the headers may hold anything: no answer is right, none may harm. */
TEST(a_damaged_executable_does_no_harm)
{
    unsigned char file[sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Shdr) + 512];
    int fd;

    write_elf("whole", EM_X86_64, STRINGS("\0main\0"));
    fd = open("whole", O_RDONLY);
    assert_int_equal(read(fd, file, sizeof(file)), sizeof(file));
    close(fd);
    for (size_t i = 0; i < sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Shdr); i++) {
        unsigned char kept = file[i];

        file[i] = 0xff;
        write_file("damaged", file, sizeof(file), 0700);
        (void)record_target_kind("damaged");
        file[i] = kept;
    }
    for (size_t cut = 0; cut < sizeof(file); cut += 7) {
        write_file("damaged", file, cut, 0700);
        (void)record_target_kind("damaged");
    }
}

/* What lies across the border of two windows of the search is found, too. */
TEST(a_large_executable_is_searched_whole)
{
    static const size_t places[] = {256 * 1024 - 5, 256 * 1024 - 64, 511 * 1024, 900 * 1024};
    struct record_elf elf;
    char *file = calloc(1024, 1024);

    memcpy(file, ELFMAG, SELFMAG);
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        memcpy(file + places[i], "libhostfxr.so", 13);
        write_file("large", file, 1024 * 1024, 0600);
        memset(file + places[i], 0, 13);
        elf.fd = open("large", O_RDONLY);
        assert_int_equal(record_elf_open(&elf, elf.fd), 0);
        assert_true(record_elf_holds(&elf, "libhostfxr.so"));
        assert_false(record_elf_holds(&elf, "libhostfxr.so.1"));
        record_elf_close(&elf);
    }
    free(file);
}

TEST(why_nothing_was_recorded_is_one_line_for_every_kind)
{
    for (int kind = RECORD_TARGET_UNKNOWN; kind <= RECORD_TARGET_FOREIGN; kind++) {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);

        record_summary_why_none(out, "/x/app", (enum record_target)kind, false);
        fclose(out);
        assert_says(text, "shadowtrace: nothing was recorded, no process reported in: /x/app ");
        assert_int_equal(lines_in(text), 1);
        if (kind == RECORD_TARGET_NATIVE_AOT)
            assert_says(text, "NativeAOT");
        free(text);
    }
}

TEST(processes_that_were_not_asked_for_are_the_likely_reason)
{
    char text[512] = "";
    FILE *out = fmemopen(text, sizeof(text) - 1, "w");

    record_summary_why_none(out, "/x/app", RECORD_TARGET_LAUNCHER, true);
    fclose(out);
    assert_says(text, "--process");
    assert_int_equal(lines_in(text), 1);
}
