/*
 * process/status_folder.h - the folder where recorded processes write their status
 * (process/status.h): creates, locks and removes it.
 *
 * A folder is in use while somebody holds its lock. One without is stale: its recording was killed.
 */
#ifndef SHADOWTRACE_PROCESS_STATUS_FOLDER_H
#define SHADOWTRACE_PROCESS_STATUS_FOLDER_H

#include "command/why.h"
#include "process/deputy.h"

/*
 * status_folder_create - makes the folder, 0700, in $XDG_RUNTIME_DIR, $TMPDIR, /dev/shm, /tmp or
 * log_folder, the first of them that will have it, and holds it locked until this process ends.
 * Returns: CLI_OK or CLI_IO.
 */
int status_folder_create(const char *log_folder, char path[PATH_MAX], struct record_why *why);

/* status_folder_held - the folder created by this process, open. -1: none. */
int status_folder_held(void);

/*
 * status_folder_create_for - the same in /tmp of another process, by a deputy with its rights.
 * Removes stale ones there.
 * path: as that process has it.
 */
int status_folder_create_for(const struct deputy *d, long pid, char path[PATH_MAX],
                             struct record_why *why);

/* status_folder_remove - the one made here, with the files in it; _for - by the same deputy. */
void status_folder_remove(const char *path);
void status_folder_remove_for(const struct deputy *d);

/*
 * status_folder_sweep - removes this user's stale folders, also in log_folder (or NULL); for
 * root, those of all users in /tmp, each with that user's rights. Returns: how many.
 */
unsigned status_folder_sweep(const char *log_folder);

#endif
