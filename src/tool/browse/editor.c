#include "browse/editor.h"

#include "base/path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* How the editors want it that do not take "+LINE FILE", as vi, nano, emacs and most others do. */
enum form { PLUS, GOTO, COLON, LINE, NONE };

static const struct {
    const char *name;
    enum form form;
} known[] = {
    {"code", GOTO},     {"code-insiders", GOTO}, {"codium", GOTO}, {"vscodium", GOTO},
    {"cursor", GOTO},   {"windsurf", GOTO},      {"subl", COLON},  {"sublime_text", COLON},
    {"zed", COLON},     {"zeditor", COLON},      {"hx", COLON},    {"helix", COLON},
    {"lapce", COLON},   {"idea", LINE},          {"rider", LINE},  {"rider.sh", LINE},
    {"idea.sh", LINE},  {"kate", LINE},          {"kwrite", LINE}, {"ed", NONE},
    {"xdg-open", NONE}, {"open", NONE},          {"cat", NONE},
};

static enum form form_of(const char *program)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (!strcmp(path_base_name(program), known[i].name))
            return known[i].form;
    return PLUS;
}

/* What begins like an option or a network address is made a path. */
static int take_file(struct editor *e, const char *file)
{
    int size = snprintf(e->file, sizeof(e->file), "%s%s", *file == '/' ? "" : "./", file);

    return size < (int)sizeof(e->file) ? 0 : -ENAMETOOLONG;
}

static void take_line(struct editor *e, size_t at, enum form form, uint32_t line)
{
    if (form == PLUS || form == LINE)
        snprintf(e->place, sizeof(e->place), form == PLUS ? "+%u" : "%u", line);
    else
        snprintf(e->place, sizeof(e->place), "%s:%u", e->file, line);
    if (form == GOTO)
        e->argv[at++] = (char *)(uintptr_t) "--goto";
    if (form == LINE)
        e->argv[at++] = (char *)(uintptr_t) "--line";
    e->argv[at++] = e->place;
    if (form == PLUS || form == LINE)
        e->argv[at++] = e->file;
    e->argv[at] = NULL;
}

int editor_command(struct editor *e, const char *visual, const char *editor, const char *file,
                   uint32_t line)
{
    const char *command = visual && *visual ? visual : editor;
    enum form form;

    if (!command || !*command)
        return -ENOENT;
    if (words_split(command, &e->command) || !e->command.count || !*e->command.word[0])
        return -EINVAL;
    if (take_file(e, file))
        return -ENAMETOOLONG;
    memcpy(e->argv, e->command.word, e->command.count * sizeof(*e->argv));
    form = form_of(e->command.word[0]);
    if (line && form != NONE) {
        take_line(e, e->command.count, form, line);
    } else {
        e->argv[e->command.count] = e->file;
        e->argv[e->command.count + 1] = NULL;
    }
    return 0;
}
