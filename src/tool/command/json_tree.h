/* command/json_tree.h - a value of jansson's within what base/json_writer.h writes. */
#ifndef SHADOWTRACE_COMMAND_JSON_TREE_H
#define SHADOWTRACE_COMMAND_JSON_TREE_H

#include "base/json_writer.h"

#include <jansson.h>

void jw_tree(struct json_writer *w, const char *key, const json_t *json); /* NULL: as jw_fail */

#endif
