/*
 * unit/readers/process_logs.h - a folder with a log of each of five processes: Test (pid 10, made
 * nothing) started Host (12, 240 bytes) through a shell named "s\\033h", Host started Build (14, 480
 * bytes); Old (13, 72 bytes) is of an earlier version, and Alone (15, 24 bytes) of a parent that has
 * the number of Host and is another one.
 */
#ifndef SHADOWTRACE_TESTS_UNIT_READERS_PROCESS_LOGS_H
#define SHADOWTRACE_TESTS_UNIT_READERS_PROCESS_LOGS_H

char *process_logs_make(void); /* its path, to be handed to: */
void process_logs_remove(char *folder);

#endif
