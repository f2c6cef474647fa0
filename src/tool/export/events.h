/*
 * export/events.h - each allocation in the log's order, for formats that have a place for time and
 * threads: kept in a file without a name while logs are read, 40 bytes each, and read again once
 * it is known at which node of a profile each stands.
 */
#ifndef SHADOWTRACE_EXPORT_EVENTS_H
#define SHADOWTRACE_EXPORT_EVENTS_H

#include "export/profile.h"
#include "model/tree.h"

struct export_events;

int export_events_new(struct export_events **out); /* 0; -ENOMEM; -errno of making the file */
void export_events_free(struct export_events *e);  /* NULL is fine */

int export_events_add(void *events,
                      const struct report_cell_event *event); /* struct model_options */

/* Whether some stand for all of a site: then there are no single allocations. */
bool export_events_sites(const struct export_events *e);

/*
 * export_events_place - once all logs are read: which of them are in the tree, and where each
 * stands. nodes: by node of the tree, of the profile. Returns: 0 or -ENOMEM.
 */
int export_events_place(struct export_events *e, const struct model_tree *tree,
                        const uint32_t *nodes);

/*
 * export_events_again, then export_events_next until it is 0: those that are in the tree, in order.
 * Their bytes are whole numbers that add up to the whole. Returns: 1; 0: there are no more; -errno
 * of reading.
 */
void export_events_again(struct export_events *e);
int export_events_next(struct export_events *e, struct export_allocation *out);

#endif
