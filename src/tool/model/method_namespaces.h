/*
 * model/method_namespaces.h - the namespaces of methods, told by their names: of
 * "App.Shop.Cart.Add()" it is App, not App.Shop, if App.Shop is a type that has methods, too.
 */
#ifndef SHADOWTRACE_MODEL_METHOD_NAMESPACES_H
#define SHADOWTRACE_MODEL_METHOD_NAMESPACES_H

#include "readers/defs.h"

struct namespaces {
    const struct log_defs *defs;
    struct namespace_text *texts; /* of all types and namespaces, each once */
    size_t count, capacity;
    struct index index;
    uint32_t *of_method; /* number + 1; 0: nobody asked */
};

int namespaces_init(struct namespaces *n, const struct log_defs *defs); /* 0 or -ENOMEM */
void namespaces_fini(struct namespaces *n);                             /* also of all 0 */

/* namespaces_of - Returns: its number; NAMESPACES_NONE without memory. "" is one, too. */
#define NAMESPACES_NONE UINT32_MAX
uint32_t namespaces_of(struct namespaces *n, uint32_t method);
const char *namespaces_text(const struct namespaces *n, uint32_t number);

#endif
