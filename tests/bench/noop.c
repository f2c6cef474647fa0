/*
 * bench/noop.c - a profiler that does nothing: the floor that every tracer stands on, and a small example of a profiler
 * in C by the headers in include/shadowtrace/clr/.
 *
 *   cc -std=c11 -O2 -fPIC -shared -fvisibility=hidden -Iinclude -o libnoop.so tests/bench/noop.c
 *   CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER={C5A4B0E2-6A0B-4E0A-9C0F-3B6D6E1F0001}
 *   CORECLR_PROFILER_PATH=$PWD/libnoop.so NOOP=elt3,alloc dotnet program.dll
 *
 * NOOP is any of, with commas: `alloc` (ObjectAllocated), `elt2` or `elt3` (hooks for every call; they also make the
 * runtime reject precompiled code). Empty or `none`: loaded, and asked for nothing.
 */
#include <shadowtrace/clr/callback.h>
#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/guids.h>
#include <shadowtrace/clr/hooks.h>
#include <shadowtrace/clr/info.h>
#include <shadowtrace/clr/unknown.h>

#include <stdlib.h>
#include <string.h>

static const struct clr_guid class_id = {
    0xC5A4B0E2, 0x6A0B, 0x4E0A, {0x9C, 0x0F, 0x3B, 0x6D, 0x6E, 0x1F, 0x00, 0x01}};

/* ---- Hooks. The fast form of ELT3 has a different register contract; a bare `ret` keeps every contract. */

#ifndef NOOP_ENTER3 /* placement.c has others */
#define NOOP_ENTER3 noop_hook3
#define NOOP_LEAVE3 noop_hook3
void noop_hook3(uintptr_t id);
__asm__(".text\n"
        ".globl noop_hook3\n"
        ".hidden noop_hook3\n"
        ".type noop_hook3, @function\n"
        ".p2align 4\n"
        "noop_hook3:\n"
        "  ret\n"
        ".size noop_hook3, .-noop_hook3\n");
#endif

static void noop_enter2(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info,
                        const struct clr_function_argument_info *arguments)
{
    (void)function_id, (void)client_data, (void)frame_info, (void)arguments;
}

static void noop_leave2(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info,
                        const struct clr_function_argument_range *result)
{
    (void)function_id, (void)client_data, (void)frame_info, (void)result;
}

static void noop_tailcall2(uintptr_t function_id, uintptr_t client_data, uintptr_t frame_info)
{
    (void)function_id, (void)client_data, (void)frame_info;
}

/* ---- The callback object. */

static int wants(const char *what)
{
    const char *modes = getenv("NOOP"), *found = modes ? strstr(modes, what) : NULL;

    return found != NULL;
}

static hresult on_initialize(struct clr_callback *self, struct clr_unknown *unknown)
{
    struct clr_info *info;
    uint32_t events = 0;
    hresult result = unknown->vtbl->query_interface(unknown, &clr_iid_info5, (void **)&info);

    (void)self;
    if (result != S_OK)
        return CORPROF_E_PROFILER_CANCEL_ACTIVATION;
    if (wants("alloc"))
        events |= COR_PRF_ENABLE_OBJECT_ALLOCATED | COR_PRF_MONITOR_OBJECT_ALLOCATED;
    if (wants("elt"))
        events |= COR_PRF_MONITOR_ENTERLEAVE;
    result = info->vtbl->set_event_mask2(info, events, 0);
    if (result == S_OK && wants("elt2"))
        result = info->vtbl->set_enter_leave_function_hooks2(info, noop_enter2, noop_leave2,
                                                             noop_tailcall2);
    else if (result == S_OK && wants("elt3"))
        result = info->vtbl->set_enter_leave_function_hooks3(info, NOOP_ENTER3, NOOP_LEAVE3,
                                                             NOOP_LEAVE3);
    info->vtbl->release(info);
    return result;
}

static hresult on_query_interface(struct clr_callback *self, const struct clr_guid *iid,
                                  void **object)
{
    *object = self; /* every version up to 11: the table below has all slots */
    return clr_guid_equal(iid, &clr_iid_class_factory) ? E_NOINTERFACE : S_OK;
}

/* The object is static: nobody counts. */
static uint32_t on_reference(struct clr_callback *self)
{
    (void)self;
    return 1;
}

static hresult on_object_allocated(struct clr_callback *self, uintptr_t object, uintptr_t class)
{
    (void)self, (void)object, (void)class;
    return S_OK;
}

/* Slots nobody needs. System V: a callee that looks at no argument may be called with any. */
static hresult on_anything(void)
{
    return S_OK;
}

static union {
    struct clr_callback_vtbl named;
    hresult (*slot[CLR_CALLBACK_SLOTS])(void);
} table;
static struct clr_callback callback = {&table.named};

static hresult factory_query_interface(struct clr_class_factory *self, const struct clr_guid *iid,
                                       void **object)
{
    (void)iid;
    *object = self;
    return S_OK;
}

static uint32_t factory_reference(struct clr_class_factory *self)
{
    (void)self;
    return 1;
}

static hresult factory_create_instance(struct clr_class_factory *self, struct clr_unknown *outer,
                                       const struct clr_guid *iid, void **object)
{
    (void)self, (void)outer, (void)iid;
    for (unsigned i = 0; i < CLR_CALLBACK_SLOTS; i++)
        table.slot[i] = on_anything;
    table.named.query_interface = on_query_interface;
    table.named.add_ref = on_reference;
    table.named.release = on_reference;
    table.named.initialize = on_initialize;
    table.named.object_allocated = on_object_allocated;
    *object = &callback;
    return S_OK;
}

static hresult factory_lock_server(struct clr_class_factory *self, int32_t lock)
{
    (void)self, (void)lock;
    return S_OK;
}

static const struct clr_class_factory_vtbl factory_table = {
    factory_query_interface, factory_reference, factory_reference, factory_create_instance,
    factory_lock_server};
static struct clr_class_factory factory = {&factory_table};

/* The one function the runtime looks for. */
__attribute__((visibility("default"))) hresult
DllGetClassObject(const struct clr_guid *clsid, const struct clr_guid *iid, void **object);

hresult DllGetClassObject(const struct clr_guid *clsid, const struct clr_guid *iid, void **object)
{
    (void)iid;
    *object = NULL;
    if (!clr_guid_equal(clsid, &class_id))
        return CLASS_E_CLASSNOTAVAILABLE;
    *object = &factory;
    return S_OK;
}
