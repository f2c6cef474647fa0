#include <shadowtrace/shadowtrace.h>

#include "control/internal.h"

#include "base/utf8.h"

#include "config/config.h"
#include "options/options_fields.h"

#include <errno.h>
#include <string.h>

#define EXPORTED  __attribute__((visibility("default")))
#define MOST_TEXT 4096

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

static bool is_text(const char *text)
{
    return text && *text && strnlen(text, MOST_TEXT + 1) <= MOST_TEXT && utf8_valid(text);
}

EXPORTED int sst_mark(const char *text)
{
    const struct control_config *config = config_of();

    if (!config)
        return -ENODEV;
    return is_text(text) ? config->mark(config->context, text) : -EINVAL;
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
    length = err ? err : (long)text.size;
    if (!err && size) {
        size_t fits = text.size < size - 1 ? text.size : size - 1;

        memcpy(buffer, text.data, fits);
        buffer[fits] = '\0';
    }
    buffer_free(&text);
    return length;
}
