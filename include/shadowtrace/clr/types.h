/*
 * clr/types.h - the scalar types of the CLR profiling ABI on 64-bit Linux.
 *
 * Source: corprof.idl and the PAL headers of dotnet/runtime, facts only. Holds no state.
 *
 * Calls in both directions follow the platform's C convention (System V on x86-64):
 * STDMETHODCALLTYPE and __stdcall are empty there, and an interface's object pointer is the first
 * argument.
 *
 *   in the IDL                                                          here
 *   ULONG, ULONG32, DWORD, UINT, UINT32, every md* token,
 *   CorElementType                                                      uint32_t
 *   BOOL, LONG32, int, every other enum                                 int32_t
 *   HRESULT                                                             hresult
 *   ThreadID, ObjectID, ClassID, FunctionID, ModuleID, AssemblyID,
 *   AppDomainID, ProcessID, ContextID, GCHandleID, ReJITID,
 *   COR_PRF_FRAME_INFO, COR_PRF_ELT_INFO, EVENTPIPE_PROVIDER,
 *   EVENTPIPE_EVENT, UINT_PTR, FunctionIDOrClientID                     uintptr_t
 *   SIZE_T                                                              size_t
 *   EVENTPIPE_SESSION, UINT64, DWORD64                                  uint64_t
 *   USHORT, WORD                                                        uint16_t
 *   WCHAR; LPWSTR; LPCWSTR                                              clr_wchar; pointers to it
 *   BYTE, UINT8; LPCBYTE, PCCOR_SIGNATURE                               uint8_t; const uint8_t *
 *   HANDLE, PVOID, HCORENUM; UVCP_CONSTANT                              void *; const void *
 *   MDUTF8CSTR; ObjectHandleID                                          const char *; void **
 *   REFIID, REFGUID, REFCLSID, LPCGUID                                  const struct clr_guid *
 *
 * Parameter names drop the IDL's Hungarian prefixes: for a buffer `name`, `name_max` is its
 * capacity and `name_length` the length reported, both in UTF-16 units (a length the runtime
 * reports mostly counts the terminating zero), `x_size` a size in bytes, `x_count` a number of
 * elements; in an enumeration `max` is the capacity of the array.
 */
#ifndef SHADOWTRACE_CLR_TYPES_H
#define SHADOWTRACE_CLR_TYPES_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* Less than 0 is a failure; 0 (S_OK) and above are successes. */
typedef int32_t hresult;

/* One UTF-16 code unit; never wchar_t, which has 32 bits on Linux. */
typedef uint16_t clr_wchar;

struct clr_guid {
    uint32_t data1;
    uint16_t data2;
    uint16_t data3;
    uint8_t data4[8];
};

static_assert(sizeof(void *) == 8, "the tables behind these headers are for LP64");

/* IUnknown, which every vtable begins with: slots 0 to 2. */
#define CLR_UNKNOWN_SLOTS(object) \
    hresult (*query_interface)(struct object * self, const struct clr_guid *riid, void **out); \
    uint32_t (*add_ref)(struct object * self); \
    uint32_t (*release)(struct object * self)

#endif
