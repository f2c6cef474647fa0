#include "symbols/error.h"
#include "symbols/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PATH_SHOWN 600 /* bytes of a path that a message shows */

int symbols_fail(struct symbols_error *error, enum symbols_reason reason, const char *format, ...)
{
    static const int errors[] = {[SYMBOLS_NO_ASSEMBLY] = -ENOENT,  [SYMBOLS_NOT_MANAGED] = -ENOEXEC,
                                 [SYMBOLS_NONE] = -ENODATA,        [SYMBOLS_MISSING] = -ENOENT,
                                 [SYMBOLS_OTHER_BUILD] = -ESTALE,  [SYMBOLS_WINDOWS] = -ENOTSUP,
                                 [SYMBOLS_UNSUPPORTED] = -ENOTSUP, [SYMBOLS_TRUNCATED] = -EBADMSG,
                                 [SYMBOLS_DAMAGED] = -EBADMSG,     [SYMBOLS_FORGED] = -EBADMSG,
                                 [SYMBOLS_TOO_LARGE] = -EFBIG,     [SYMBOLS_UNREADABLE] = -EIO,
                                 [SYMBOLS_MEMORY] = -ENOMEM};
    static const char *const prefixes[] = {[SYMBOLS_TRUNCATED] = "truncated: ",
                                           [SYMBOLS_DAMAGED] = "damaged: ",
                                           [SYMBOLS_MEMORY] = NULL}; /* the last one */
    const char *prefix = prefixes[reason] ? prefixes[reason] : "";
    size_t used = (size_t)snprintf(error->text, sizeof(error->text), "%s", prefix);
    va_list arguments;

    error->reason = reason;
    va_start(arguments, format);
    (void)vsnprintf(error->text + used, sizeof(error->text) - used, format, arguments);
    va_end(arguments);
    return errors[reason];
}

void symbols_fail_at(struct symbols_error *error, const char *path)
{
    char line[sizeof(error->text)];
    size_t length = strlen(path);
    bool cut = length > PATH_SHOWN;

    (void)snprintf(line, sizeof(line), "%s%s: %.*s", cut ? "..." : "",
                   cut ? path + length - PATH_SHOWN : path, (int)(sizeof(line) - PATH_SHOWN - 8),
                   error->text);
    symbols_text_line(error->text, sizeof(error->text), line);
}
