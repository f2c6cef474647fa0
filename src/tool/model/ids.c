#include "model/tree.h"

typedef unsigned __int128 word128;

/* FNV-1a of 128 bits, which is defined for all time: ids lie in files. */
static const word128 offset =
    (word128)UINT64_C(0x6c62272e07bb0142) << 64 | UINT64_C(0x62b821756295c58d);

static word128 mix(word128 hash, const void *data, size_t size)
{
    const word128 prime = (word128)1 << 88 | 0x13b;
    const unsigned char *at = data;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * prime;
    return hash;
}

/* With the NUL, so that no two lists of texts are alike. */
static word128 mix_text(word128 hash, const char *text)
{
    return mix(hash, text, strlen(text) + 1);
}

/* As little-endian bytes, whatever the machine is. */
static word128 mix_number(word128 hash, uint64_t number, size_t size)
{
    unsigned char bytes[8];

    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(number >> 8 * i);
    return mix(hash, bytes, size);
}

static word128 place_id(const struct report_defs *d, const struct model_place *p)
{
    const struct report_def *def = p->kind == MODEL_PLACE_METHOD ? report_method(d, p->method)
                                   : p->kind == MODEL_PLACE_TYPE ? report_class(d, p->method)
                                                                 : NULL;
    word128 hash = mix_number(offset, (uint64_t)p->kind, 1);

    hash = mix_text(hash, def ? def->name : p->name ? p->name : "");
    hash = mix_text(hash, def ? report_module(d, def->module)->name : "");
    hash = mix_number(hash, p->line, 4);
    hash = mix_number(hash, (uint32_t)p->il, 4);
    return mix_number(hash, p->filter, 1);
}

int model_tree_ids(const struct model_tree *t, uint64_t (**out)[2])
{
    const struct report_defs *d = model_defs(t->model);
    word128 *places = memory_alloc(t->place_count * sizeof(*places));
    uint64_t(*ids)[2] = memory_alloc(t->node_count * sizeof(*ids));

    *out = NULL;
    if (!places || !ids) {
        memory_free_all(places, ids);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < t->place_count; i++)
        places[i] = place_id(d, &t->places[i]);
    for (uint32_t i = 0; i < t->node_count; i++) {
        const struct model_node *n = &t->nodes[i];
        word128 hash = offset, place = places[n->place];

        if (i) {
            hash = mix_number(hash, ids[n->parent][0], 8);
            hash = mix_number(hash, ids[n->parent][1], 8);
        }
        hash = mix_number(hash, (uint64_t)(place >> 64), 8);
        hash = mix_number(hash, (uint64_t)place, 8);
        ids[i][0] = (uint64_t)(hash >> 64);
        ids[i][1] = (uint64_t)hash;
    }
    memory_free(places);
    *out = ids;
    return 0;
}
