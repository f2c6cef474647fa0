#include "command/manual.h"

#include <stddef.h>

const struct manual_term manual_status[] = {
    {"0", "success"},    {"1", "a check failed, or the runtime cannot answer"},
    MANUAL_STATUS_USAGE, MANUAL_STATUS_IO,
    MANUAL_END,
};

const struct manual_term manual_of_terminal[] = {MANUAL_NO_COLOR, MANUAL_TERM, MANUAL_END};
const struct manual_term manual_of_sockets[] = {MANUAL_RUNTIME_DIR, MANUAL_NO_COLOR, MANUAL_TERM,
                                                MANUAL_END};
const struct manual_term manual_sockets[] = {MANUAL_SOCKET, MANUAL_END};
