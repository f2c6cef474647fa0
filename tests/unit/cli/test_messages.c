/*
 * What the command says: every help page, and every refusal that needs no live process, held against
 * tests/fixtures/messages/, so that wording is seen in review. SHADOWTRACE_UPDATE=1 writes them anew.
 */
#include "unit/cli/command_support.h"

#include "base/atomics.h"
#include "base/buffer.h"
#include "support/test.h"

#include <sys/stat.h>

#define MESSAGES  "tests/fixtures/messages/"
#define LOG       FIXTURES "small.ndjson"
#define MAX_WORDS 12

/* Words are separated by blanks; '' is an empty one. */
static const char *const refused[] = {
    "",
    "--nonsense",
    "-x",
    "reprot " LOG,
    "nonsense",
    "help reprot",
    "help nonsense",
    "help report env",
    "help --nonsense",

    "record",
    "record --",
    "record --nonsense -- true",
    "record --outptu x -- true",
    "record -z -- true",
    "record -qz -- true",
    "record --only",
    "record --only '' -- true",
    "record -o",
    "record -o - -- true",
    "record -o /nowhere/log -- true",
    "record -o /etc/passwd -- true",
    "record --quiet=yes -- true",
    "record --attach 1234",
    "record -p 1234",
    "record --pid=1234",
    "record 1",
    "record -- no-such-command",
    "record -- ./no-such-file",
    "record -- /tmp",
    "record -- /etc/passwd",
    "record ''",
    "record --min-size 1x -- true",
    "record --min-size=-1 -- true",
    "record --sample 99999999999999999999 -- true",
    "record --max-depth 0x10 -- true",
    "record --max-depth 99999999999 -- true",
    "record --min-duration 5m -- true",
    "record --check-threads 1us -- true",
    "record --profile 2000 -- true",
    "record --profile often -- true",
    "record --events -- true",
    "record --events alloc,frees -- true",
    "record --events '' -- true",
    "record --hooks elt4 -- true",
    "record --capture all -- true",
    "record --log lines -- true",
    "record --stacks deep -- true",
    "record --full never -- true",
    "record --capture both --check 2 -- true",
    "record --capture snapshot --check 1 -- true",
    "record --capture snapshot --only A.B -- true",
    "record --own --only A.B -- true",
    "record --own=yes -- true",
    "record --own-code",
    "record --native --check 0 -- true",
    "record --log sites --stacks inline -- true",
    "record --calls A.* -- true",
    "record --events calls --capture snapshot -- true",
    "record --hooks elt3 --args A.B -- true",
    "record --capture snapshot --args A.B -- true",
    "record --profile-snapshot -- true",
    "record --profile 10 --capture snapshot -- true",
    "record --live --types A.B -- true",
    "record --live --events gc -- true",
    "record --live --stacks inline -- true",
    "record --live-grows 3 -- true",
    "env --check-live 1",

    "env report",
    "env --format yaml",
    "env --status relative",
    "env --nonsense",
    "env -o -",

    "list now",
    "list --format folded",
    "dump",
    "dump here",
    "dump 0",
    "dump 1 2",
    "dump --thread 0 1",
    "dump --frames 0 1",
    "dump 999999999",
    "top",
    "top here",
    "top --view heap 1",
    "top --interval 1ms 1",
    "top --interval 2h 1",
    "top --rows 0 1",
    "top --count none 1",
    "top --once=yes 1",
    "top 999999999",
    "ctl",
    "ctl 1",
    "ctl here start",
    "ctl 1 strat",
    "ctl 1 begin",
    "ctl 1 start now",
    "ctl 1 mark",
    "ctl 1 only",
    "ctl 1 sample often",
    "ctl --nonsense 1 start",
    "ctl 999999999 start",
    "serve --lisen :1",
    "serve --top 0",
    "serve --top 1000",
    "serve --keep 2days",
    "serve --listen",
    "ship",
    "ship --too x .",
    "ship --every 2days .",
    "ship --max-memory 1 .",
    "ship --to",

    "report",
    "report --nonsense " LOG,
    "report --tpo 3 " LOG,
    "report -z " LOG,
    "report " LOG " --by",
    "report --by colour " LOG,
    "report --top many " LOG,
    "report --top -1 " LOG,
    "report --top 99999999999999999999 " LOG,
    "report --min-bytes 1KB " LOG,
    "report --thread 0 " LOG,
    "report --format xml " LOG,
    "report --links yes " LOG,
    "report --wide=yes " LOG,
    "report --jobs 65 " LOG,
    "report --jobs 0 " LOG,
    "report --type '' " LOG,
    "report --format folded --by type " LOG,
    "report --inline-stacks " LOG,
    "report --format json --depth 3 " LOG,
    "report --from nonsense " FIXTURES "marks.ndjson",
    "report --from wram " FIXTURES "marks.ndjson",
    "report --from=warm --to Warm " FIXTURES "marks.ndjson",
    "report --from=warm " FIXTURES "nowhere.ndjson",
    "report --view typs " LOG,
    "report --view colour " LOG,
    "report --by modul " LOG,
    "report --view callers " LOG,
    "report --view callers Strin " LOG,
    "report --view callers Baskt.Add " LOG,
    "report --view callers nothing-like-it " LOG,
    "report --view callees String " LOG,
    "report --view callees Program.Mian " LOG,
    "report --view types --type Strin " LOG,
    "report --view types --method *Conct* " LOG,
    "report --exclude Lst<string> " LOG,
    "report --below Main " LOG,
    "report --own-code shp " LOG,
    "report --view lines " LOG,
    "report --view lines " FIXTURES "inline.ndjson",
    "report --view modules " FIXTURES "inline.ndjson",
    "report --view time " FIXTURES "sites.ndjson",
    "report --view lines --no-lines " LOG,
    "report --view time --sort bytes " LOG,
    "report --view types --sort total " LOG,
    "report --by type --sort total " LOG,
    "report --view types --urls " LOG,
    "report --view types --by type " LOG,
    "report nowhere.ndjson",
    "report include",
    "report Makefile",
    "report " FIXTURES "version2.ndjson",

    "export",
    "export --format perf " LOG,
    "export --format folded " LOG,
    "export --min-share much " LOG,
    "export --min-share 101 " LOG,
    "export --min-share -1 " LOG,
    "export --min-share 1% --names long " LOG,
    "export -o " LOG " " LOG,
    "export -o /nowhere/x " LOG,
    "export -o /tmp " LOG,
    "export --each -o - " LOG,
    "export --each --format nettrace -o - " FIXTURES "sites.ndjson",
    "export -",
    "export -o - --type System.Strin " LOG,
    "export -o - --method Nonsense.* " LOG,
    "export -o - --own-code Nonsense " LOG,
    "export -o - --from nonsense " FIXTURES "marks.ndjson",
    "export -o - --thread 0 " LOG,
    "export -o - nowhere.ndjson",
    "export -o - Makefile",

    "events",
    "events " LOG,
    "events gcs " LOG,
    "events nonsense " LOG,
    "events gc " LOG " " LOG,
    "events gc --by type " LOG,
    "events gc --format folded " LOG,
    "events gc nowhere.ndjson",
    "report --gc --by type " LOG,
    "report --gc nowhere.ndjson",
    "profile",
    "profile " LOG,
    "profile --source shadow " LOG,
    "profile --depth 3 " LOG,
    "profile --format folded --top 3 " LOG,
    "report --profile " LOG,

    "annotate " LOG,
    "annotate " LOG " Program.cs extra",
    "annotate " LOG " Nowhere.cs",
    "annotate --context 3x " LOG " Program.cs",
    "annotate nowhere.ndjson Program.cs",
    "diff " LOG,
    "diff " LOG " " LOG " " LOG,
    "diff - -",
    "diff --by colour " LOG " " LOG,
    "diff --min-bytes few " LOG " " LOG,
    "diff " LOG " nowhere.ndjson",
    "replay",
    "replay " LOG " extra",
    "replay --from 1h " FIXTURES "marks.ndjson",
    "replay --limit many " LOG,
    "replay nowhere.ndjson",
    "compare",
    "compare " LOG " " LOG " extra",
    "compare --jobs 65 " LOG,
    "compare nowhere.ndjson",
    "validate",
    "validate nowhere.ndjson",
    "validate --schema nowhere.json " LOG,
    "validate --schema Makefile " LOG,
    "validate --format folded " LOG,
};

static struct ran run_line(const char *line)
{
    static char copy[1000];
    const char *words[MAX_WORDS + 2] = {"shadowtrace"};
    size_t count = 1;

    snprintf(copy, sizeof(copy), "%s", line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) {
        assert_true(count <= MAX_WORDS);
        words[count++] = strcmp(word, "''") != 0 ? word : "";
    }
    return run_command(NULL, words);
}

static void expect_messages(struct buffer *b, const char *path)
{
    assert_false(b->failed);
    mkdir(MESSAGES, 0777);
    expect_file(b->data, path);
    buffer_free(b);
}

TEST(every_refusal_is_as_it_was_reviewed)
{
    struct buffer b = BUFFER_INIT;

    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct ran ran = run_line(refused[i]);
        size_t length = strlen(ran.err);

        buffer_format(&b, "$ shadowtrace %s\n%s[exit status %d]\n\n", refused[i], ran.err,
                      ran.status);
        if (!ran.status || *ran.out || !length ||
            (ran.status == CLI_USAGE && strchr(ran.err, '\n') != ran.err + length - 1))
            fail_msg("\"%s\" gave status %d, \"%s\" and: %s", refused[i], ran.status, ran.out,
                     ran.err);
        free(ran.out);
    }
    assert_true(COUNT_OF(refused) >= 80);
    expect_messages(&b, MESSAGES "refusals.txt");
}

static void add_page(struct buffer *b, const char *name, const char *all)
{
    struct ran ran = RUN(NULL, "shadowtrace", "help", name, all);

    assert_int_equal(ran.status, CLI_OK);
    assert_string_equal(ran.err, "");
    buffer_format(b, "$ shadowtrace help%s%s%s%s\n%s\n", name ? " " : "", name ? name : "",
                  all ? " " : "", all ? all : "", ran.out);
    for (char *line = strtok(ran.out, "\n"); line; line = strtok(NULL, "\n"))
        if (strlen(line) > 80)
            fail_msg("help %s has %zu columns: %s", name ? name : "", strlen(line), line);
    free(ran.out);
}

TEST(every_help_page_keeps_to_80_columns_and_is_as_it_was_reviewed)
{
    const struct cli_command *command;
    struct buffer b = BUFFER_INIT;
    const char *group;

    add_page(&b, NULL, NULL);
    for (size_t i = 0; (command = cli_at(i, &group)); i++) {
        add_page(&b, command->name, NULL);
        if (command->syntax.usual)
            add_page(&b, command->name, "--all");
    }
    expect_messages(&b, MESSAGES "help.txt");
}

TEST(each_usual_option_is_one_of_its_command)
{
    const struct cli_command *command;
    const char *group;
    size_t lists = 0;

    for (size_t i = 0; (command = cli_at(i, &group)); i++) {
        const char *const *usual = command->syntax.usual;

        for (lists += usual != NULL; usual && *usual; usual++) {
            const struct args_option *row = args_row(command->syntax.options);

            while (row && strcmp(row->name, *usual) != 0)
                row = args_row(row + 1);
            if (!row)
                fail_msg("%s has no option --%s", command->name, *usual);
        }
    }
    assert_int_equal(lists, 2);
}
