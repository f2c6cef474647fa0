#include <shadowtrace/shadowtrace.h>

#include "control/internal.h"

#include "base/utf8.h"

#include "config/config.h"
#include "options/options_fields.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define EXPORTED  __attribute__((visibility("default")))
#define MOST_TEXT 4096
#define MOST_NAME 4000 /* of a scope: its marks have a number, too */

static _Atomic(struct control *) served;

void api_serve(struct control *control)
{
    store_release(&served, control);
}

/* Never freed: it may be used even when it stops meanwhile. NULL: nothing is recorded any more. */
static const struct control_config *config_of(void)
{
    struct control *control = load_acquire(&served);

    return control && load_acquire(&control->running) ? &control->config : NULL;
}

static bool is_text(const char *text, size_t most)
{
    return text && *text && strnlen(text, most + 1) <= most && utf8_valid(text);
}

EXPORTED int sst_mark(const char *text)
{
    const struct control_config *config = config_of();

    if (!config)
        return -ENODEV;
    return is_text(text, MOST_TEXT) ? config->mark(config->context, text) : -EINVAL;
}

static void scope_text(char out[MOST_TEXT + 1], const char *name, long scope, const char *what)
{
    (void)snprintf(out, MOST_TEXT + 1, "%s #%ld %s", name, scope, what);
}

EXPORTED long sst_scope_begin(const char *name)
{
    static _Atomic(long) scopes;
    const struct control_config *config = config_of();
    char text[MOST_TEXT + 1];
    long scope;
    int err;

    if (!config)
        return -ENODEV;
    if (!is_text(name, MOST_NAME))
        return -EINVAL;
    scope = atomic_fetch_add(&scopes, 1) + 1;
    scope_text(text, name, scope, "begin");
    err = config->mark(config->context, text);
    return err ? err : scope;
}

EXPORTED int sst_scope_end(long scope, const char *name)
{
    const struct control_config *config = config_of();
    char text[MOST_TEXT + 1];

    if (!config)
        return -ENODEV;
    if (scope <= 0 || !is_text(name, MOST_NAME))
        return -EINVAL;
    scope_text(text, name, scope, "end");
    return config->mark_behind(config->context, text);
}

EXPORTED long sst_thread(void)
{
    const struct control_config *config = config_of();

    return config ? config->thread(config->context) : -ENODEV;
}

/* As much as fits, with a NUL. Returns: the whole length, or -EINVAL. */
static long give_text(const char *text, size_t length, char *buffer, size_t size)
{
    size_t fits = length < size ? length : size ? size - 1 : 0;

    if (!buffer && size)
        return -EINVAL;
    if (size) {
        memcpy(buffer, text, fits);
        buffer[fits] = '\0';
    }
    return (long)length;
}

EXPORTED long sst_log(char *buffer, size_t size)
{
    const struct control_config *config = config_of();
    const char *path = config ? config->log(config->context) : NULL;

    return path ? give_text(path, strlen(path), buffer, size) : -ENODEV;
}

static int set_paused(bool paused)
{
    struct config_change change = {.has_paused = true, .paused = paused};
    uint32_t number;

    if (config_of() && config_of()->live && paused)
        return -EBUSY;
    return config_of() ? config_change(&change, &number) : -ENODEV;
}

EXPORTED int sst_pause(void)
{
    return set_paused(true);
}

EXPORTED int sst_resume(void)
{
    return set_paused(false);
}

EXPORTED long sst_dump(char *buffer, size_t size)
{
    const struct control_config *config = config_of();
    struct buffer text = BUFFER_INIT;
    long length;
    int err;

    if (!config)
        return -ENODEV;
    if (!buffer && size)
        return -EINVAL;
    err = dump_self(config, &text);
    length = err ? err : give_text(text.data, text.size, buffer, size);
    buffer_free(&text);
    return length;
}
