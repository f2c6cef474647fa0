#include "browse/search.h"

#include "base/name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void search_set(struct search *s, const char *text)
{
    snprintf(s->text, sizeof(s->text), "%s", text);
    s->parameters = strchr(text, '(') != NULL;
    s->number++;
    s->caseless = true;
    for (const char *at = text; *at; at++)
        s->caseless = s->caseless && !isupper((unsigned char)*at);
}

static const char *find(const struct search *s, const char *text)
{
    return s->caseless ? strcasestr(text, s->text) : strstr(text, s->text);
}

bool search_hits(const struct search *s, const char *text)
{
    return *s->text && text && find(s, text);
}

bool search_hits_name(const struct search *s, const char *name)
{
    const char *at = *s->text && name ? find(s, name) : NULL;

    return at && (s->parameters || at + strlen(s->text) <= name_parameters(name));
}
