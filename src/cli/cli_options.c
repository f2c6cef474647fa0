#include "cli/cli_options.h"

#include "base/atomics.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "options/options_fields.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OPTION_PROGRESS = 256,
    OPTION_FORMAT,
    OPTION_ATTACH, /* not an option of ours: many will try it */
    OPTION_FIELD,  /* and above, of struct options: the key is the name with underscores */
};

#define TABLE_SIZE 64

#define VALUE(name) \
    { \
        name, required_argument, NULL, OPTION_FIELD \
    }
#define FLAG(name) \
    { \
        name, no_argument, NULL, OPTION_FIELD \
    }
/* What other tools call attaching. The names are known only in order to answer. */
#define ATTACH \
    {"pid", optional_argument, NULL, OPTION_ATTACH}, \
    { \
        "attach", optional_argument, NULL, OPTION_ATTACH \
    }
#define COMMON \
    {"help", no_argument, NULL, 'h'}, {"output", required_argument, NULL, 'o'}, VALUE("hooks"), \
        VALUE("capture"), VALUE("check"), VALUE("sample"), VALUE("only"), VALUE("exclude"), \
        VALUE("types"), VALUE("process"), VALUE("min-size"), VALUE("stacks"), VALUE("log"), \
        VALUE("full"), VALUE("max-log"), VALUE("max-nodes"), VALUE("check-calls"), \
        VALUE("check-threads"), FLAG("native"), VALUE("events"), VALUE("calls"), \
        VALUE("max-depth"), VALUE("min-duration"), VALUE("call-buffer"), FLAG("compress"), \
        FLAG("paused"), FLAG("no-inline"), FLAG("no-lines"), FLAG("optimized"), \
        FLAG("no-control"), VALUE("profile"), FLAG("profile-snapshot"), VALUE("args"), \
        VALUE("returns"), VALUE("value-length"), VALUE("value-items"), FLAG("exact-generics")

static const struct option record_options[] = {
    COMMON,
    {"quiet", no_argument, NULL, 'q'},
    {"progress", no_argument, NULL, OPTION_PROGRESS},
    ATTACH,
    {NULL, 0, NULL, 0},
};

static_assert(COUNT_OF(record_options) <= TABLE_SIZE, "every row has its place");

static const struct option env_options[] = {
    COMMON,
    {"format", required_argument, NULL, OPTION_FORMAT},
    VALUE("status"),
    {NULL, 0, NULL, 0},
};

static_assert(COUNT_OF(env_options) <= TABLE_SIZE, "every row has its place");

static const char *const format_words[] = {"shell", "json", "docker", "systemd", NULL};

int cli_parse_bytes(const char *text, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;
    unsigned shift = 0;

    if (*text < '0' || *text > '9')
        return -EINVAL;
    for (; *text >= '0' && *text <= '9'; text++) {
        if (value > (UINT64_MAX - 9) / 10)
            return -ERANGE;
        value = value * 10 + (uint64_t)(*text - '0');
    }
    if (*text && strchr("KkMmGg", *text)) {
        shift = *text == 'K' || *text == 'k' ? 10 : *text == 'M' || *text == 'm' ? 20 : 30;
        text++;
    }
    if (*text)
        return -EINVAL;
    if (value > max >> shift)
        return -ERANGE;
    *out = value << shift;
    return 0;
}

/* "a, b or c" */
static void list_words(struct buffer *b, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        buffer_format(b, "%s%s", i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
}

static int wrong_word(const struct cli_command *command, const char *name, const char *text,
                      const char *const *words)
{
    struct buffer b = BUFFER_INIT;
    int status;

    list_words(&b, words);
    status = cli_usage_error(command, "--%s is %s, not \"%s\"", name,
                             b.failed ? "something else" : b.data, text);
    buffer_free(&b);
    return status;
}

static int out_of_memory(const struct cli_command *command)
{
    cli_complain(command, "out of memory");
    return CLI_IO;
}

static int set_number(const struct cli_command *command, struct options *o,
                      const struct options_field *f, const char *name, const char *text)
{
    uint64_t value = 0;
    int err = cli_parse_bytes(text, f->max, &value);

    /* A count is no size: 4M calls would be 4,000,000 to most and 4,194,304 to us. */
    if (f->kind == OPTIONS_KIND_COUNT && text[strspn(text, "0123456789")])
        err = -EINVAL;
    if (err == -EINVAL && f->kind == OPTIONS_KIND_COUNT)
        return cli_usage_error(command, "--%s takes a whole number, not \"%s\"", name, text);
    if (err == -EINVAL)
        return cli_usage_error(
            command, "--%s takes a number of bytes, such as 65536, 64K, 1M or 1G, not \"%s\"", name,
            text);
    if (err)
        return cli_usage_error(command, "--%s takes a number from 0 to %llu, not %s", name,
                               (unsigned long long)f->max, text);
    options_field_set(o, f, value);
    return CLI_OK;
}

static int set_words(const struct cli_command *command, struct options *o,
                     const struct options_field *f, const char *name, const char *text)
{
    struct buffer b = BUFFER_INIT;
    const char *wrong;
    size_t length;
    int status;

    if (!options_field_set_words(o, f, text, &wrong, &length))
        return CLI_OK;
    list_words(&b, f->words);
    status = cli_usage_error(command, "--%s has \"%.*s\"; it takes all, or some of %s, with commas",
                             name, (int)length, wrong, b.failed ? "its words" : b.data);
    buffer_free(&b);
    return status;
}

static int set_text(const struct cli_command *command, struct options *o,
                    const struct options_field *f, const char *name, const char *text)
{
    int err = options_field_text(o, f, text);

    if (err == -ENOMEM)
        return out_of_memory(command);
    if (err && f->kind == OPTIONS_KIND_PATH && *text != '/')
        return cli_usage_error(command, "--%s takes an absolute path, not \"%s\"", name, text);
    if (err)
        return cli_usage_error(command, "--%s takes a text, and \"%s\" is %s", name, text,
                               *text ? "not UTF-8" : "empty");
    return CLI_OK;
}

static const struct options_field *field_of(const char *name)
{
    char key[32];
    size_t i = 0;

    for (; name[i] && i < sizeof(key) - 1; i++)
        key[i] = name[i] == '-' ? '_' : name[i];
    key[i] = '\0';
    return options_field_find(key);
}

static int set_field(const struct cli_command *command, struct options *o, const char *name,
                     const char *text)
{
    const struct options_field *f = field_of(name);
    int index;

    switch (f->kind) {
    case OPTIONS_KIND_FLAG:
        options_field_set(o, f, 1);
        return CLI_OK;
    case OPTIONS_KIND_WORD:
        index = options_field_word(f, text);
        if (index < 0)
            return wrong_word(command, name, text, f->words);
        options_field_set(o, f, (uint64_t)index);
        return CLI_OK;
    case OPTIONS_KIND_COUNT:
    case OPTIONS_KIND_BYTES:
        return set_number(command, o, f, name, text);
    case OPTIONS_KIND_SET:
        return set_words(command, o, f, name, text);
    case OPTIONS_KIND_LIST:
    case OPTIONS_KIND_PATH:
        break;
    }
    return set_text(command, o, f, name, text);
}

static int set_format(const struct cli_command *command, struct cli_recording *r, const char *text)
{
    for (int i = 0; format_words[i]; i++) {
        if (!strcmp(format_words[i], text)) {
            r->format = (enum cli_env_format)i;
            return CLI_OK;
        }
    }
    return wrong_word(command, "format", text, format_words);
}

static int unknown_option(const struct cli_command *command, const struct option *table,
                          const char *argument)
{
    const char *names[TABLE_SIZE] = {NULL};
    size_t length = strcspn(argument, "=");
    char name[48] = "";
    const char *near = NULL;

    for (size_t i = 0, n = 0; table[i].name && n < COUNT_OF(names) - 1; i++)
        if (table[i].val != OPTION_ATTACH)
            names[n++] = table[i].name;
    if (length >= 2 && length - 2 < sizeof(name)) {
        memcpy(name, argument + 2, length - 2);
        near = options_near(name, names);
    }
    if (near)
        return cli_usage_error(command, "unknown option %.*s; did you mean --%s?", (int)length,
                               argument, near);
    return cli_usage_error(command, "unknown option %.*s", (int)length, argument);
}

/* getopt_long's '?' and ':', with the name that was probably meant. */
static int wrong_option(const struct cli_command *command, const struct option *table, char **argv,
                        int result)
{
    const char *argument = argv[optind - 1];

    if (result == ':')
        return cli_usage_error(command, "%s needs a value", argument);
    if (optopt && !strncmp(argument, "--", 2))
        return cli_usage_error(command, "%.*s takes no value", (int)strcspn(argument, "="),
                               argument);
    if (optopt)
        return cli_usage_error(command, "unknown option -%c", optopt);
    return unknown_option(command, table, argument);
}

static bool is_directory(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* `text` from here if it is not absolute. NULL: no memory, or no current directory. */
static char *absolute(const char *text)
{
    struct buffer b = BUFFER_INIT;
    char *here;

    if (*text != '/') {
        here = getcwd(NULL, 0);
        if (!here)
            return NULL;
        buffer_text(&b, here);
        free(here);
        while (text[0] == '.' && text[1] == '/')
            for (text += 2; *text == '/';)
                text++;
        if (*text && strcmp(text, ".") != 0)
            buffer_char(&b, '/');
        else
            text = "";
    }
    buffer_text(&b, text);
    return buffer_take(&b);
}

/* Where the log goes: a file, or a folder for the default names. */
static int set_output(const struct cli_command *command, struct options *o, const char *text)
{
    const char *key = "output";
    char *path;
    size_t length;
    int err;

    if (text && !strcmp(text, "-"))
        return cli_usage_error(
            command, "the log cannot go to standard output, which is COMMAND's; give -o a file");
    if (text && !*text)
        return cli_usage_error(command, "-o takes a file, not an empty name");
    path = absolute(text ? text : ".");
    if (!path) {
        cli_complain(command, "no current directory: %s", strerror(errno));
        return CLI_IO;
    }
    length = strlen(path);
    if (!text || path[length - 1] == '/' || is_directory(path))
        key = "directory";
    while (length > 1 && path[length - 1] == '/')
        path[--length] = '\0';
    err = options_field_text(o, options_field_find(key), path);
    if (err == -EINVAL)
        cli_complain(command,
                     "the path %s is not UTF-8, which a log cannot name; choose another with -o",
                     path);
    memory_free(path);
    if (err == -ENOMEM)
        return out_of_memory(command);
    return err ? CLI_USAGE : CLI_OK;
}

/* getopt_long takes a name cut short, and for two names with the same value the first: so each gets its own. */
static void make_table(const struct option *from, struct option to[TABLE_SIZE])
{
    size_t i = 0;

    for (; from[i].name && i < TABLE_SIZE - 1; i++) {
        to[i] = from[i];
        if (to[i].val == OPTION_FIELD)
            to[i].val += (int)i;
    }
    memset(&to[i], 0, sizeof(to[i]));
}

int cli_options_parse(const struct cli_command *command, int argc, char **argv,
                      struct cli_recording *out)
{
    bool is_env = !strcmp(command->name, "env"), check_given = false;
    struct option table[TABLE_SIZE];
    const char *output = NULL;
    char why[OPTIONS_WHY_SIZE];
    int result, index = 0, status = CLI_OK;

    memset(out, 0, sizeof(*out));
    options_init(&out->options);
    make_table(is_env ? env_options : record_options, table);
    optind = 0; /* glibc: begin anew */
    opterr = 0;
    /* '+': the first word that is no option begins COMMAND; its own options are not ours. */
    while (status == CLI_OK &&
           (result = getopt_long(argc, argv, is_env ? "+:ho:" : "+:qho:p::", table, &index)) !=
               -1) {
        switch (result) {
        case 'h':
            out->help = true;
            return CLI_OK;
        case 'o':
            output = optarg;
            break;
        case 'p':
        case OPTION_ATTACH:
            status =
                cli_usage_error(command, "hooks cannot be had by attaching to a process that runs; "
                                         "start the program anew under \"shadowtrace record\"");
            break;
        case 'q':
            out->quiet = true;
            break;
        case OPTION_PROGRESS:
            out->progress = true;
            break;
        case OPTION_FORMAT:
            status = set_format(command, out, optarg);
            break;
        case ':':
        case '?':
            status = wrong_option(command, table, argv, result);
            break;
        default:
            check_given |= !strcmp(table[index].name, "check");
            status = set_field(command, &out->options, table[index].name, optarg);
        }
    }
    out->command = optind;
    if (status == CLI_OK)
        status = set_output(command, &out->options, output);
    if (status == CLI_OK && options_settle(&out->options, check_given, why, sizeof(why)))
        status = cli_usage_error(command, "%s", why);
    return status;
}

void cli_options_fini(struct cli_recording *r)
{
    options_fini(&r->options);
}

/* Permission bits do not tell all (read-only file systems, full ones, /proc): a file is made and taken away again. */
static int can_create_in(const char *directory)
{
    char probe[PATH_MAX];
    int fd;

    if (snprintf(probe, sizeof(probe), "%s/.shadowtrace-XXXXXX", directory) >= (int)sizeof(probe))
        return -ENAMETOOLONG;
    fd = mkostemp(probe, O_CLOEXEC);
    if (fd < 0)
        return -errno;
    unlink(probe);
    close(fd);
    return 0;
}

int cli_options_check_output(const struct options *o, struct record_why *why)
{
    char folder[PATH_MAX];
    const char *slash;
    struct stat st;
    int err;

    if (o->output) {
        if (!lstat(o->output, &st))
            return record_refuse(
                why, CLI_IO, "%s exists and will not be overwritten; choose another name with -o",
                o->output);
        slash = strrchr(o->output, '/');
        if ((size_t)(slash - o->output) >= sizeof(folder))
            return record_refuse(why, CLI_IO, "the name of the log is too long");
        memcpy(folder, o->output, (size_t)(slash - o->output));
        folder[slash - o->output] = '\0';
    } else {
        snprintf(folder, sizeof(folder), "%s", o->directory);
    }
    err = can_create_in(folder);
    if (err)
        return record_refuse(why, CLI_IO,
                             "cannot write a log in %s: %s; choose another place with -o",
                             *folder ? folder : "/", strerror(-err));
    return CLI_OK;
}
