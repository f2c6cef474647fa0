/*
 * clr/com.h - COM in C: references, QueryInterface, and the class object that hands out our one
 * callback object.
 *
 * src/tracer/clr/ is all of the project that knows COM: the ABI itself is <shadowtrace/clr/...>,
 * error.h words an HRESULT, utf16.h turns the runtime's UTF-16 into UTF-8. An object is passed as
 * void * wherever any interface will do: its first word is the vtable, whose first three slots are
 * IUnknown's.
 */
#ifndef SHADOWTRACE_CLR_COM_H
#define SHADOWTRACE_CLR_COM_H

#include <shadowtrace/clr/info.h>
#include <shadowtrace/clr/types.h>
#include <shadowtrace/clr/unknown.h>

#include <stdatomic.h>

/*
 * Gives back one reference; object may be NULL. Threads and callbacks: those the object's own
 * release allows.
 */
void clr_release(void *object);

/*
 * clr_query - QueryInterface.
 * Returns: S_OK, or the object's own failure, E_NOINTERFACE as a rule; then *out is NULL, whatever
 *          the object wrote.
 * Owns:    on success *out carries a reference that the caller releases.
 * Threads: any.
 * May run: where the object's query_interface may.
 */
hresult clr_query(void *object, const struct clr_guid *iid, void **out);

/*
 * clr_info_query - the newest ICorProfilerInfo the runtime has, from the IUnknown given to
 * initialize().
 * Returns: 0, or -ENOTSUP when not even version 3 is there; *version is then 0 and *info NULL.
 *          Slots of *info past that version do not exist: compare *version before calling one.
 * Owns:    *info carries a reference that the caller releases.
 * Threads: any.
 * May run: as clr_query.
 */
int clr_info_query(void *unknown, struct clr_info **info, int *version);

/*
 * The version of ICorProfilerCallback that iid names: 1 to 11, 0 for IUnknown, -1 for any other
 * interface.
 */
int clr_callback_version(const struct clr_guid *iid);

/*
 * IClassFactory of one object that exists already. The runtime asks DllGetClassObject for it, calls
 * create_instance once and releases it; both objects live as long as the library, so the count is
 * kept but frees nothing.
 */
struct clr_factory {
    struct clr_class_factory base; /* what the runtime holds */
    struct clr_unknown *object;    /* what create_instance queries; borrowed */
    _Atomic(uint32_t) references;
};

/* object is borrowed and outlives the factory. Threads: before the factory is handed out. */
void clr_factory_init(struct clr_factory *factory, void *object);

/*
 * clr_factory_get - the body of DllGetClassObject, once the class id was accepted.
 * Returns: S_OK, E_POINTER for a NULL iid or out, or E_NOINTERFACE for an iid other than IUnknown
 *          and IClassFactory.
 * Owns:    *out carries a reference; the factory's memory stays the caller's.
 * Threads: any.
 * May run: anywhere; does not block or allocate.
 */
hresult clr_factory_get(struct clr_factory *factory, const struct clr_guid *iid, void **out);

#endif
