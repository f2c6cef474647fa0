/*
 * views/view_processes.h - who allocated, where several logs are read: those of a folder, of a tree
 * of processes. As a table each stands below the one that started it, where logs say so.
 */
#ifndef SHADOWTRACE_VIEWS_VIEW_PROCESSES_H
#define SHADOWTRACE_VIEWS_VIEW_PROCESSES_H

#include "views/view_rows.h"

/* The process of a row, by its number; NULL: its log has no header. */
const struct report_process *view_process(const struct view *v, uint32_t number);
/* "Spawner (pid 4711)", in b. */
const char *view_process_text(const struct view *v, uint32_t number, struct buffer *b);
/* As members of the object open in w. */
void view_process_json(const struct view *v, uint32_t number, struct json_writer *w);

/* The first `shown` rows, which are of processes, as a table. Returns: 0 or -ENOMEM. */
int view_processes_table(const struct view_rows *r, size_t shown, FILE *out);

#endif
