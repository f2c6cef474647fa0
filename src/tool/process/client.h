/*
 * process/client.h - the control socket of a traced process, from outside: list, dump, ctl and top
 * talk through this. Requests and replies: include/shadowtrace/control_schema.json.
 */
#ifndef SHADOWTRACE_PROCESS_CLIENT_H
#define SHADOWTRACE_PROCESS_CLIENT_H

#include "command/command.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLIENT_WHY_SIZE 400

struct client {
    long pid;
    int fd;                    /* -1: none */
    bool unable;               /* the last reply: the runtime does not tell what it takes */
    char why[CLIENT_WHY_SIZE]; /* after a failure: one line, what and what to do */
};

/* client_pid - a process id as an argument. Returns: whether it is one. */
bool client_pid(const char *text, long *pid);

/*
 * client_open - connect. Returns: 0; else -errno and client->why: no such process, of another user,
 * not traced, its folder not to be trusted. Root also reaches processes of other users, and of
 * another root (containers). client_close - NULL-safe for a client that never opened (fd -1).
 */
int client_open(struct client *client, long pid);
void client_close(struct client *client);

/*
 * client_ask - send a request (the reference is taken; NULL: out of memory) and wait for its reply,
 * at most 10 s, or 70 s for what needs a collection.
 * Returns: 0 and *reply, the caller's; else -errno and client->why, also for a reply that says no.
 */
int client_ask(struct client *client, json_t *request, json_t **reply);

/* client_ask_once - the same on a separate connection. */
int client_ask_once(struct client *client, long pid, json_t *request, json_t **reply);

/* A member of a reply; "?" and 0 if it is missing. */
const char *client_text(const json_t *reply, const char *key);
uint64_t client_number(const json_t *reply, const char *key);

/* client_sweep - removes this user's sockets that nobody serves any more. Returns: how many. */
unsigned client_sweep(void);

/* One traced process, or a socket that was left behind. */
typedef void client_found(void *context, long pid, const char *socket);

/*
 * client_each - every socket in this user's folders. Returns: 0, or -errno with a line in why (a
 * folder that is there and not to be trusted); then the other folders were still looked at.
 */
int client_each(client_found *found, void *context, char why[CLIENT_WHY_SIZE]);

#endif
