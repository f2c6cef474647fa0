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

/* The first `shown` rows, each below the process that started it; head: with the view's head.
 * Returns: 0 or -ENOMEM. */
int view_processes_text(const struct view_rows *r, size_t shown, bool head, FILE *out);

#endif
