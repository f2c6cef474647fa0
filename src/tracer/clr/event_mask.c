#include "clr/event_mask.h"

#include <shadowtrace/clr/constants.h>

#include <pthread.h>

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* from reading the words to writing them */

hresult clr_event_mask_change(struct clr_info *info, uint32_t clear, uint32_t set)
{
    uint32_t low, high;
    hresult result;

    pthread_mutex_lock(&lock);
    result = info->vtbl->get_event_mask2(info, &low, &high);
    if (result == S_OK)
        result = info->vtbl->set_event_mask2(info, (low & ~clear) | set, high);
    pthread_mutex_unlock(&lock);
    return result;
}
