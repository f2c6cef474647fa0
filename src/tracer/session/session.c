#include "session/session.h"

#include <shadowtrace/clr/constants.h>

bool session_subscribe(struct session *s, const struct session_subscriber *subscriber)
{
    if (s->count == SESSION_SUBSCRIBERS)
        return false;
    s->subscriber[s->count++] = *subscriber;
    return true;
}

static hresult start(struct clr_info *info, int info_version, uint64_t keywords, uint32_t level,
                     uint64_t *id)
{
    /* "Microsoft-Windows-DotNETRuntime" */
    static const clr_wchar name[] = {'M', 'i', 'c', 'r', 'o', 's', 'o', 'f', 't', '-', 'W',
                                     'i', 'n', 'd', 'o', 'w', 's', '-', 'D', 'o', 't', 'N',
                                     'E', 'T', 'R', 'u', 'n', 't', 'i', 'm', 'e', 0};
    const struct clr_event_pipe_provider_config config = {
        .provider_name = name, .keywords = keywords, .logging_level = level};

    if (info_version < 12)
        return E_NOINTERFACE;
    return info->vtbl->event_pipe_start_session(info, 1, &config, 0, id);
}

hresult session_start(struct session *s, struct clr_info *info, int info_version)
{
    uint64_t keywords = 0;
    uint32_t level = 0;
    hresult result;

    if (!s->count || atomic_exchange(&s->asked, true))
        return S_FALSE;
    for (size_t i = 0; i < s->count; i++) {
        keywords |= s->subscriber[i].keywords;
        if (s->subscriber[i].level > level)
            level = s->subscriber[i].level;
    }
    result = start(info, info_version, keywords, level, &s->id);
    store_release(&s->running, result == S_OK);
    return result;
}

void session_stop(struct session *s, struct clr_info *info)
{
    if (atomic_exchange(&s->running, false))
        info->vtbl->event_pipe_stop_session(info, s->id);
}

hresult session_open(struct session *s, struct clr_info *info, int info_version,
                     const struct session_subscriber *subscriber)
{
    hresult result;

    store_release(&s->guest, subscriber);
    result = start(info, info_version, subscriber->keywords, subscriber->level, &s->guest_id);
    if (result != S_OK)
        store_release(&s->guest, NULL);
    return result;
}

void session_close(struct session *s, struct clr_info *info)
{
    info->vtbl->event_pipe_stop_session(info, s->guest_id);
    store_release(&s->guest, NULL);
}

static void tell(const struct session_subscriber *subscriber, const struct session_event *event)
{
    for (const uint32_t *id = subscriber->ids; *id; id++)
        if (*id == event->id)
            subscriber->told(subscriber->context, event);
}

void session_delivered(const struct session *s, const struct session_event *event)
{
    const struct session_subscriber *guest = load_acquire(&s->guest);

    for (size_t i = 0; i < s->count; i++)
        tell(&s->subscriber[i], event);
    if (guest)
        tell(guest, event);
}
