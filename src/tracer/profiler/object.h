/* profiler/object.h - what the runtime calls first: the one symbol exported for it. */
#ifndef SHADOWTRACE_PROFILER_OBJECT_H
#define SHADOWTRACE_PROFILER_OBJECT_H

#include <shadowtrace/clr/types.h>

hresult DllGetClassObject(const struct clr_guid *clsid, const struct clr_guid *iid, void **out);

#endif
