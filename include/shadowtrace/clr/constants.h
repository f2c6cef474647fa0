/*
 * clr/constants.h - the constants of the profiling and metadata interfaces, under their own names.
 *
 * Source: corprof.idl, corhdr.h and corerror.h of dotnet/runtime, facts only. Holds no state.
 *
 * Masks and tokens are macros of type uint32_t, results of type hresult; plain enumerations are
 * enums, though the ABI passes them as int32_t (CorElementType as uint32_t), never as the enum
 * type.
 */
#ifndef SHADOWTRACE_CLR_CONSTANTS_H
#define SHADOWTRACE_CLR_CONSTANTS_H

#include <shadowtrace/clr/types.h>

/* CorDebugIlToNativeMappingTypes: special IL offsets in clr_debug_il_to_native_map */
#define NO_MAPPING UINT32_C(0xFFFFFFFF) /* -1 in a ULONG32 ilOffset */
#define PROLOG     UINT32_C(0xFFFFFFFE) /* -2 in a ULONG32 ilOffset */
#define EPILOG     UINT32_C(0xFFFFFFFD) /* -3 in a ULONG32 ilOffset */

/* COR_PRF_SNAPSHOT_INFO: info_flags of do_stack_snapshot */
#define COR_PRF_SNAPSHOT_DEFAULT          UINT32_C(0x00000000)
#define COR_PRF_SNAPSHOT_REGISTER_CONTEXT UINT32_C(0x00000001)
#define COR_PRF_SNAPSHOT_X86_OPTIMIZED    UINT32_C(0x00000002)

/* COR_PRF_STATIC_TYPE: get_static_field_info; bits */
enum clr_static_type {
    COR_PRF_FIELD_NOT_A_STATIC = 0x00,
    COR_PRF_FIELD_APP_DOMAIN_STATIC = 0x01,
    COR_PRF_FIELD_THREAD_STATIC = 0x02,
    COR_PRF_FIELD_CONTEXT_STATIC = 0x04,
    COR_PRF_FIELD_RVA_STATIC = 0x08,
};

/* COR_PRF_MONITOR: the event mask, and the low half of set_event_mask2 */
#define COR_PRF_MONITOR_NONE                                 UINT32_C(0x00000000)
#define COR_PRF_MONITOR_FUNCTION_UNLOADS                     UINT32_C(0x00000001)
#define COR_PRF_MONITOR_CLASS_LOADS                          UINT32_C(0x00000002)
#define COR_PRF_MONITOR_MODULE_LOADS                         UINT32_C(0x00000004)
#define COR_PRF_MONITOR_ASSEMBLY_LOADS                       UINT32_C(0x00000008)
#define COR_PRF_MONITOR_APPDOMAIN_LOADS                      UINT32_C(0x00000010)
#define COR_PRF_MONITOR_JIT_COMPILATION                      UINT32_C(0x00000020)
#define COR_PRF_MONITOR_EXCEPTIONS                           UINT32_C(0x00000040)
#define COR_PRF_MONITOR_GC                                   UINT32_C(0x00000080)
#define COR_PRF_MONITOR_OBJECT_ALLOCATED                     UINT32_C(0x00000100)
#define COR_PRF_MONITOR_THREADS                              UINT32_C(0x00000200)
#define COR_PRF_MONITOR_REMOTING                             UINT32_C(0x00000400)
#define COR_PRF_MONITOR_CODE_TRANSITIONS                     UINT32_C(0x00000800)
#define COR_PRF_MONITOR_ENTERLEAVE                           UINT32_C(0x00001000)
#define COR_PRF_MONITOR_CCW                                  UINT32_C(0x00002000)
#define COR_PRF_MONITOR_REMOTING_COOKIE                      UINT32_C(0x00004400)
#define COR_PRF_MONITOR_REMOTING_ASYNC                       UINT32_C(0x00008400)
#define COR_PRF_MONITOR_SUSPENDS                             UINT32_C(0x00010000)
#define COR_PRF_MONITOR_CACHE_SEARCHES                       UINT32_C(0x00020000)
#define COR_PRF_ENABLE_REJIT                                 UINT32_C(0x00040000)
#define COR_PRF_ENABLE_INPROC_DEBUGGING                      UINT32_C(0x00080000)
#define COR_PRF_ENABLE_JIT_MAPS                              UINT32_C(0x00100000)
#define COR_PRF_DISABLE_INLINING                             UINT32_C(0x00200000)
#define COR_PRF_DISABLE_OPTIMIZATIONS                        UINT32_C(0x00400000)
#define COR_PRF_ENABLE_OBJECT_ALLOCATED                      UINT32_C(0x00800000)
#define COR_PRF_MONITOR_CLR_EXCEPTIONS                       UINT32_C(0x01000000)
#define COR_PRF_MONITOR_ALL                                  UINT32_C(0x0107FFFF)
#define COR_PRF_ENABLE_FUNCTION_ARGS                         UINT32_C(0x02000000)
#define COR_PRF_ENABLE_FUNCTION_RETVAL                       UINT32_C(0x04000000)
#define COR_PRF_ENABLE_FRAME_INFO                            UINT32_C(0x08000000)
#define COR_PRF_ENABLE_STACK_SNAPSHOT                        UINT32_C(0x10000000)
#define COR_PRF_USE_PROFILE_IMAGES                           UINT32_C(0x20000000)
#define COR_PRF_DISABLE_TRANSPARENCY_CHECKS_UNDER_FULL_TRUST UINT32_C(0x40000000)
#define COR_PRF_DISABLE_ALL_NGEN_IMAGES                      UINT32_C(0x80000000)
#define COR_PRF_ALL                                          UINT32_C(0x8FFFFFFF)
#define COR_PRF_REQUIRE_PROFILE_IMAGE                        UINT32_C(0x20001800)
#define COR_PRF_ALLOWABLE_AFTER_ATTACH                       UINT32_C(0x100502FE)
#define COR_PRF_ALLOWABLE_NOTIFICATION_PROFILER              UINT32_C(0xB1E32B7F)
#define COR_PRF_MONITOR_IMMUTABLE                            UINT32_C(0xEEF8CC00)

/* COR_PRF_HIGH_MONITOR: the high half of set_event_mask2 */
#define COR_PRF_HIGH_MONITOR_NONE                     UINT32_C(0x00000000)
#define COR_PRF_HIGH_ADD_ASSEMBLY_REFERENCES          UINT32_C(0x00000001)
#define COR_PRF_HIGH_IN_MEMORY_SYMBOLS_UPDATED        UINT32_C(0x00000002)
#define COR_PRF_HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS UINT32_C(0x00000004)
#define COR_PRF_HIGH_DISABLE_TIERED_COMPILATION       UINT32_C(0x00000008)
#define COR_PRF_HIGH_BASIC_GC                         UINT32_C(0x00000010)
#define COR_PRF_HIGH_MONITOR_GC_MOVED_OBJECTS         UINT32_C(0x00000020)
#define COR_PRF_HIGH_REQUIRE_PROFILE_IMAGE            UINT32_C(0x00000000)
#define COR_PRF_HIGH_MONITOR_LARGEOBJECT_ALLOCATED    UINT32_C(0x00000040)
#define COR_PRF_HIGH_MONITOR_EVENT_PIPE               UINT32_C(0x00000080)
#define COR_PRF_HIGH_MONITOR_PINNEDOBJECT_ALLOCATED   UINT32_C(0x00000100)
#define COR_PRF_HIGH_ALLOWABLE_AFTER_ATTACH           UINT32_C(0x000000F6)
#define COR_PRF_HIGH_ALLOWABLE_NOTIFICATION_PROFILER  UINT32_C(0x000000FE)
#define COR_PRF_HIGH_MONITOR_IMMUTABLE                UINT32_C(0x00000008)

/* COR_PRF_MISC: special ids */
#define PROFILER_PARENT_UNKNOWN UINT32_C(0xFFFFFFFD) /* as a 64-bit id: zero-extended */
#define PROFILER_GLOBAL_CLASS   UINT32_C(0xFFFFFFFE) /* as a 64-bit id: zero-extended */
#define PROFILER_GLOBAL_MODULE  UINT32_C(0xFFFFFFFF) /* as a 64-bit id: zero-extended */

/* COR_PRF_JIT_CACHE */
enum clr_jit_cache {
    COR_PRF_CACHED_FUNCTION_FOUND = 0,
    COR_PRF_CACHED_FUNCTION_NOT_FOUND = 1,
};

/* COR_PRF_TRANSITION_REASON */
enum clr_transition_reason {
    COR_PRF_TRANSITION_CALL = 0,
    COR_PRF_TRANSITION_RETURN = 1,
};

/* COR_PRF_SUSPEND_REASON */
enum clr_suspend_reason {
    COR_PRF_SUSPEND_OTHER = 0,
    COR_PRF_SUSPEND_FOR_GC = 1,
    COR_PRF_SUSPEND_FOR_APPDOMAIN_SHUTDOWN = 2,
    COR_PRF_SUSPEND_FOR_CODE_PITCHING = 3,
    COR_PRF_SUSPEND_FOR_SHUTDOWN = 4,
    COR_PRF_SUSPEND_FOR_INPROC_DEBUGGER = 6,
    COR_PRF_SUSPEND_FOR_GC_PREP = 7,
    COR_PRF_SUSPEND_FOR_REJIT = 8,
    COR_PRF_SUSPEND_FOR_PROFILER = 9,
};

/* COR_PRF_RUNTIME_TYPE */
enum clr_runtime_type {
    COR_PRF_DESKTOP_CLR = 1,
    COR_PRF_CORE_CLR = 2,
};

/* COR_PRF_REJIT_FLAGS: request_rejit_with_inliners */
#define COR_PRF_REJIT_BLOCK_INLINING     UINT32_C(0x00000001)
#define COR_PRF_REJIT_INLINING_CALLBACKS UINT32_C(0x00000002)

/* COR_PRF_EVENTPIPE_PARAM_TYPE */
enum clr_event_pipe_param_type {
    COR_PRF_EVENTPIPE_OBJECT = 1,
    COR_PRF_EVENTPIPE_BOOLEAN = 3,
    COR_PRF_EVENTPIPE_CHAR = 4,
    COR_PRF_EVENTPIPE_SBYTE = 5,
    COR_PRF_EVENTPIPE_BYTE = 6,
    COR_PRF_EVENTPIPE_INT16 = 7,
    COR_PRF_EVENTPIPE_UINT16 = 8,
    COR_PRF_EVENTPIPE_INT32 = 9,
    COR_PRF_EVENTPIPE_UINT32 = 10,
    COR_PRF_EVENTPIPE_INT64 = 11,
    COR_PRF_EVENTPIPE_UINT64 = 12,
    COR_PRF_EVENTPIPE_SINGLE = 13,
    COR_PRF_EVENTPIPE_DOUBLE = 14,
    COR_PRF_EVENTPIPE_DECIMAL = 15,
    COR_PRF_EVENTPIPE_DATETIME = 16,
    COR_PRF_EVENTPIPE_GUID = 17,
    COR_PRF_EVENTPIPE_STRING = 18,
    COR_PRF_EVENTPIPE_ARRAY = 19,
};

/* COR_PRF_EVENTPIPE_LEVEL */
enum clr_event_pipe_level {
    COR_PRF_EVENTPIPE_LOGALWAYS = 0,
    COR_PRF_EVENTPIPE_CRITICAL = 1,
    COR_PRF_EVENTPIPE_ERROR = 2,
    COR_PRF_EVENTPIPE_WARNING = 3,
    COR_PRF_EVENTPIPE_INFORMATIONAL = 4,
    COR_PRF_EVENTPIPE_VERBOSE = 5,
};

/* COR_PRF_HANDLE_TYPE */
enum clr_handle_type {
    COR_PRF_HANDLE_TYPE_WEAK = 1,
    COR_PRF_HANDLE_TYPE_STRONG = 2,
    COR_PRF_HANDLE_TYPE_PINNED = 3,
};

/* COR_PRF_GC_ROOT_KIND */
enum clr_gc_root_kind {
    COR_PRF_GC_ROOT_STACK = 1,
    COR_PRF_GC_ROOT_FINALIZER = 2,
    COR_PRF_GC_ROOT_HANDLE = 3,
    COR_PRF_GC_ROOT_OTHER = 0,
};

/* COR_PRF_GC_ROOT_FLAGS: bits in root_references2 */
#define COR_PRF_GC_ROOT_PINNING    UINT32_C(0x00000001)
#define COR_PRF_GC_ROOT_WEAKREF    UINT32_C(0x00000002)
#define COR_PRF_GC_ROOT_INTERIOR   UINT32_C(0x00000004)
#define COR_PRF_GC_ROOT_REFCOUNTED UINT32_C(0x00000008)

/* COR_PRF_FINALIZER_FLAGS: finalizeable_object_queued */
#define COR_PRF_FINALIZER_CRITICAL UINT32_C(0x00000001)

/* COR_PRF_GC_GENERATION */
enum clr_gc_generation {
    COR_PRF_GC_GEN_0 = 0,
    COR_PRF_GC_GEN_1 = 1,
    COR_PRF_GC_GEN_2 = 2,
    COR_PRF_GC_LARGE_OBJECT_HEAP = 3,
    COR_PRF_GC_PINNED_OBJECT_HEAP = 4,
};

/* COR_PRF_CLAUSE_TYPE */
enum clr_clause_type {
    COR_PRF_CLAUSE_NONE = 0,
    COR_PRF_CLAUSE_FILTER = 1,
    COR_PRF_CLAUSE_CATCH = 2,
    COR_PRF_CLAUSE_FINALLY = 3,
};

/* COR_PRF_GC_REASON */
enum clr_gc_reason {
    COR_PRF_GC_INDUCED = 1,
    COR_PRF_GC_OTHER = 0,
};

/* COR_PRF_MODULE_FLAGS: get_module_info2 */
#define COR_PRF_MODULE_DISK            UINT32_C(0x00000001)
#define COR_PRF_MODULE_NGEN            UINT32_C(0x00000002)
#define COR_PRF_MODULE_DYNAMIC         UINT32_C(0x00000004)
#define COR_PRF_MODULE_COLLECTIBLE     UINT32_C(0x00000008)
#define COR_PRF_MODULE_RESOURCE        UINT32_C(0x00000010)
#define COR_PRF_MODULE_FLAT_LAYOUT     UINT32_C(0x00000020)
#define COR_PRF_MODULE_WINDOWS_RUNTIME UINT32_C(0x00000040)

/* COR_PRF_CODEGEN_FLAGS: set_codegen_flags */
#define COR_PRF_CODEGEN_DISABLE_INLINING          UINT32_C(0x00000001)
#define COR_PRF_CODEGEN_DISABLE_ALL_OPTIMIZATIONS UINT32_C(0x00000002)
#define COR_PRF_CODEGEN_DEBUG_INFO                UINT32_C(0x00000003)

/* CorElementType: element types in signatures */
enum clr_element_type {
    ELEMENT_TYPE_END = 0x00,
    ELEMENT_TYPE_VOID = 0x01,
    ELEMENT_TYPE_BOOLEAN = 0x02,
    ELEMENT_TYPE_CHAR = 0x03,
    ELEMENT_TYPE_I1 = 0x04,
    ELEMENT_TYPE_U1 = 0x05,
    ELEMENT_TYPE_I2 = 0x06,
    ELEMENT_TYPE_U2 = 0x07,
    ELEMENT_TYPE_I4 = 0x08,
    ELEMENT_TYPE_U4 = 0x09,
    ELEMENT_TYPE_I8 = 0x0A,
    ELEMENT_TYPE_U8 = 0x0B,
    ELEMENT_TYPE_R4 = 0x0C,
    ELEMENT_TYPE_R8 = 0x0D,
    ELEMENT_TYPE_STRING = 0x0E,
    ELEMENT_TYPE_PTR = 0x0F,
    ELEMENT_TYPE_BYREF = 0x10,
    ELEMENT_TYPE_VALUETYPE = 0x11,
    ELEMENT_TYPE_CLASS = 0x12,
    ELEMENT_TYPE_VAR = 0x13,
    ELEMENT_TYPE_ARRAY = 0x14,
    ELEMENT_TYPE_GENERICINST = 0x15,
    ELEMENT_TYPE_TYPEDBYREF = 0x16,
    ELEMENT_TYPE_I = 0x18,
    ELEMENT_TYPE_U = 0x19,
    ELEMENT_TYPE_FNPTR = 0x1B,
    ELEMENT_TYPE_OBJECT = 0x1C,
    ELEMENT_TYPE_SZARRAY = 0x1D,
    ELEMENT_TYPE_MVAR = 0x1E,
    ELEMENT_TYPE_CMOD_REQD = 0x1F,
    ELEMENT_TYPE_CMOD_OPT = 0x20,
    ELEMENT_TYPE_INTERNAL = 0x21,
    ELEMENT_TYPE_MAX = 0x22,
    ELEMENT_TYPE_MODIFIER = 0x40,
    ELEMENT_TYPE_SENTINEL = 0x41,
    ELEMENT_TYPE_PINNED = 0x45,
    /* only in signatures the runtime makes itself; where it exists ELEMENT_TYPE_MAX is 0x23 */
    ELEMENT_TYPE_CMOD_INTERNAL = 0x22,
};

/* CorTypeAttr: get_type_def_props */
#define tdVisibilityMask     UINT32_C(0x00000007)
#define tdNotPublic          UINT32_C(0x00000000)
#define tdPublic             UINT32_C(0x00000001)
#define tdNestedPublic       UINT32_C(0x00000002)
#define tdNestedPrivate      UINT32_C(0x00000003)
#define tdNestedFamily       UINT32_C(0x00000004)
#define tdNestedAssembly     UINT32_C(0x00000005)
#define tdNestedFamANDAssem  UINT32_C(0x00000006)
#define tdNestedFamORAssem   UINT32_C(0x00000007)
#define tdLayoutMask         UINT32_C(0x00000018)
#define tdAutoLayout         UINT32_C(0x00000000)
#define tdSequentialLayout   UINT32_C(0x00000008)
#define tdExplicitLayout     UINT32_C(0x00000010)
#define tdClassSemanticsMask UINT32_C(0x00000020)
#define tdClass              UINT32_C(0x00000000)
#define tdInterface          UINT32_C(0x00000020)
#define tdAbstract           UINT32_C(0x00000080)
#define tdSealed             UINT32_C(0x00000100)
#define tdSpecialName        UINT32_C(0x00000400)
#define tdImport             UINT32_C(0x00001000)
#define tdSerializable       UINT32_C(0x00002000)
#define tdWindowsRuntime     UINT32_C(0x00004000)
#define tdStringFormatMask   UINT32_C(0x00030000)
#define tdAnsiClass          UINT32_C(0x00000000)
#define tdUnicodeClass       UINT32_C(0x00010000)
#define tdAutoClass          UINT32_C(0x00020000)
#define tdCustomFormatClass  UINT32_C(0x00030000)
#define tdCustomFormatMask   UINT32_C(0x00C00000)
#define tdBeforeFieldInit    UINT32_C(0x00100000)
#define tdForwarder          UINT32_C(0x00200000)
#define tdReservedMask       UINT32_C(0x00040800)
#define tdRTSpecialName      UINT32_C(0x00000800)
#define tdHasSecurity        UINT32_C(0x00040000)

/* CorMethodAttr: attr of get_method_props */
#define mdMemberAccessMask      UINT32_C(0x00000007)
#define mdPrivateScope          UINT32_C(0x00000000)
#define mdPrivate               UINT32_C(0x00000001)
#define mdFamANDAssem           UINT32_C(0x00000002)
#define mdAssem                 UINT32_C(0x00000003)
#define mdFamily                UINT32_C(0x00000004)
#define mdFamORAssem            UINT32_C(0x00000005)
#define mdPublic                UINT32_C(0x00000006)
#define mdStatic                UINT32_C(0x00000010)
#define mdFinal                 UINT32_C(0x00000020)
#define mdVirtual               UINT32_C(0x00000040)
#define mdHideBySig             UINT32_C(0x00000080)
#define mdVtableLayoutMask      UINT32_C(0x00000100)
#define mdReuseSlot             UINT32_C(0x00000000)
#define mdNewSlot               UINT32_C(0x00000100)
#define mdCheckAccessOnOverride UINT32_C(0x00000200)
#define mdAbstract              UINT32_C(0x00000400)
#define mdSpecialName           UINT32_C(0x00000800)
#define mdPinvokeImpl           UINT32_C(0x00002000)
#define mdUnmanagedExport       UINT32_C(0x00000008)
#define mdReservedMask          UINT32_C(0x0000D000)
#define mdRTSpecialName         UINT32_C(0x00001000)
#define mdHasSecurity           UINT32_C(0x00004000)
#define mdRequireSecObject      UINT32_C(0x00008000)

/* CorMethodImpl: impl_flags of get_method_props */
#define miCodeTypeMask           UINT32_C(0x00000003)
#define miIL                     UINT32_C(0x00000000)
#define miNative                 UINT32_C(0x00000001)
#define miOPTIL                  UINT32_C(0x00000002)
#define miRuntime                UINT32_C(0x00000003)
#define miManagedMask            UINT32_C(0x00000004)
#define miUnmanaged              UINT32_C(0x00000004)
#define miManaged                UINT32_C(0x00000000)
#define miForwardRef             UINT32_C(0x00000010)
#define miPreserveSig            UINT32_C(0x00000080)
#define miInternalCall           UINT32_C(0x00001000)
#define miSynchronized           UINT32_C(0x00000020)
#define miNoInlining             UINT32_C(0x00000008)
#define miAggressiveInlining     UINT32_C(0x00000100)
#define miNoOptimization         UINT32_C(0x00000040)
#define miAggressiveOptimization UINT32_C(0x00000200)
#define miUserMask               UINT32_C(0x000013FC)
#define miMaxMethodImplVal       UINT32_C(0x0000FFFF)
/* bit is MethodImplOptions.Async in .NET 10; native name not checked */
#define miAsync UINT32_C(0x00002000)

/* CorFieldAttr: get_field_props */
#define fdFieldAccessMask UINT32_C(0x00000007)
#define fdPrivateScope    UINT32_C(0x00000000)
#define fdPrivate         UINT32_C(0x00000001)
#define fdFamANDAssem     UINT32_C(0x00000002)
#define fdAssembly        UINT32_C(0x00000003)
#define fdFamily          UINT32_C(0x00000004)
#define fdFamORAssem      UINT32_C(0x00000005)
#define fdPublic          UINT32_C(0x00000006)
#define fdStatic          UINT32_C(0x00000010)
#define fdInitOnly        UINT32_C(0x00000020)
#define fdLiteral         UINT32_C(0x00000040)
#define fdNotSerialized   UINT32_C(0x00000080)
#define fdSpecialName     UINT32_C(0x00000200)
#define fdPinvokeImpl     UINT32_C(0x00002000)
#define fdReservedMask    UINT32_C(0x00009500)
#define fdRTSpecialName   UINT32_C(0x00000400)
#define fdHasFieldMarshal UINT32_C(0x00001000)
#define fdHasDefault      UINT32_C(0x00008000)
#define fdHasFieldRVA     UINT32_C(0x00000100)

/* CorParamAttr: get_param_props */
#define pdIn              UINT32_C(0x00000001)
#define pdOut             UINT32_C(0x00000002)
#define pdOptional        UINT32_C(0x00000010)
#define pdReservedMask    UINT32_C(0x0000F000)
#define pdHasDefault      UINT32_C(0x00001000)
#define pdHasFieldMarshal UINT32_C(0x00002000)
#define pdUnused          UINT32_C(0x0000CFE0)

/* CorPropertyAttr: get_property_props */
#define prSpecialName   UINT32_C(0x00000200)
#define prReservedMask  UINT32_C(0x0000F400)
#define prRTSpecialName UINT32_C(0x00000400)
#define prHasDefault    UINT32_C(0x00001000)
#define prUnused        UINT32_C(0x0000E9FF)

/* CorEventAttr: get_event_props */
#define evSpecialName   UINT32_C(0x00000200)
#define evReservedMask  UINT32_C(0x00000400)
#define evRTSpecialName UINT32_C(0x00000400)

/* CorMethodSemanticsAttr: get_method_semantics */
#define msSetter   UINT32_C(0x00000001)
#define msGetter   UINT32_C(0x00000002)
#define msOther    UINT32_C(0x00000004)
#define msAddOn    UINT32_C(0x00000008)
#define msRemoveOn UINT32_C(0x00000010)
#define msFire     UINT32_C(0x00000020)

/* CorPinvokeMap: get_pinvoke_map */
#define pmNoMangle                      UINT32_C(0x00000001)
#define pmCharSetMask                   UINT32_C(0x00000006)
#define pmCharSetNotSpec                UINT32_C(0x00000000)
#define pmCharSetAnsi                   UINT32_C(0x00000002)
#define pmCharSetUnicode                UINT32_C(0x00000004)
#define pmCharSetAuto                   UINT32_C(0x00000006)
#define pmBestFitUseAssem               UINT32_C(0x00000000)
#define pmBestFitEnabled                UINT32_C(0x00000010)
#define pmBestFitDisabled               UINT32_C(0x00000020)
#define pmBestFitMask                   UINT32_C(0x00000030)
#define pmThrowOnUnmappableCharUseAssem UINT32_C(0x00000000)
#define pmThrowOnUnmappableCharEnabled  UINT32_C(0x00001000)
#define pmThrowOnUnmappableCharDisabled UINT32_C(0x00002000)
#define pmThrowOnUnmappableCharMask     UINT32_C(0x00003000)
#define pmSupportsLastError             UINT32_C(0x00000040)
#define pmCallConvMask                  UINT32_C(0x00000700)
#define pmCallConvWinapi                UINT32_C(0x00000100)
#define pmCallConvCdecl                 UINT32_C(0x00000200)
#define pmCallConvStdcall               UINT32_C(0x00000300)
#define pmCallConvThiscall              UINT32_C(0x00000400)
#define pmCallConvFastcall              UINT32_C(0x00000500)
#define pmMaxValue                      UINT32_C(0x0000FFFF)

/* CorGenericParamAttr: get_generic_param_props */
#define gpVarianceMask                   UINT32_C(0x00000003)
#define gpNonVariant                     UINT32_C(0x00000000)
#define gpCovariant                      UINT32_C(0x00000001)
#define gpContravariant                  UINT32_C(0x00000002)
#define gpSpecialConstraintMask          UINT32_C(0x0000003C)
#define gpNoSpecialConstraint            UINT32_C(0x00000000)
#define gpReferenceTypeConstraint        UINT32_C(0x00000004)
#define gpNotNullableValueTypeConstraint UINT32_C(0x00000008)
#define gpDefaultConstructorConstraint   UINT32_C(0x00000010)
#define gpAllowByRefLike                 UINT32_C(0x00000020)

/* CorAssemblyFlags: get_assembly_props */
#define afPublicKey                  UINT32_C(0x00000001)
#define afPA_None                    UINT32_C(0x00000000)
#define afPA_MSIL                    UINT32_C(0x00000010)
#define afPA_x86                     UINT32_C(0x00000020)
#define afPA_IA64                    UINT32_C(0x00000030)
#define afPA_AMD64                   UINT32_C(0x00000040)
#define afPA_ARM                     UINT32_C(0x00000050)
#define afPA_ARM64                   UINT32_C(0x00000060)
#define afPA_NoPlatform              UINT32_C(0x00000070)
#define afPA_Specified               UINT32_C(0x00000080)
#define afPA_Mask                    UINT32_C(0x00000070)
#define afPA_FullMask                UINT32_C(0x000000F0)
#define afPA_Shift                   UINT32_C(0x00000004)
#define afEnableJITcompileTracking   UINT32_C(0x00008000)
#define afDisableJITcompileOptimizer UINT32_C(0x00004000)
#define afDebuggableAttributeMask    UINT32_C(0x0000C000)
#define afRetargetable               UINT32_C(0x00000100)
#define afContentType_Default        UINT32_C(0x00000000)
#define afContentType_WindowsRuntime UINT32_C(0x00000200)
#define afContentType_Mask           UINT32_C(0x00000E00)

/* CorUnmanagedCallingConvention */
enum clr_unmanaged_calling_convention {
    IMAGE_CEE_UNMANAGED_CALLCONV_C = 1,
    IMAGE_CEE_UNMANAGED_CALLCONV_STDCALL = 2,
    IMAGE_CEE_UNMANAGED_CALLCONV_THISCALL = 3,
    IMAGE_CEE_UNMANAGED_CALLCONV_FASTCALL = 4,
};

/* CorCallingConvention: first byte of a signature */
#define IMAGE_CEE_CS_CALLCONV_DEFAULT      UINT32_C(0x00000000)
#define IMAGE_CEE_CS_CALLCONV_C            UINT32_C(0x00000001)
#define IMAGE_CEE_CS_CALLCONV_STDCALL      UINT32_C(0x00000002)
#define IMAGE_CEE_CS_CALLCONV_THISCALL     UINT32_C(0x00000003)
#define IMAGE_CEE_CS_CALLCONV_FASTCALL     UINT32_C(0x00000004)
#define IMAGE_CEE_CS_CALLCONV_VARARG       UINT32_C(0x00000005)
#define IMAGE_CEE_CS_CALLCONV_FIELD        UINT32_C(0x00000006)
#define IMAGE_CEE_CS_CALLCONV_LOCAL_SIG    UINT32_C(0x00000007)
#define IMAGE_CEE_CS_CALLCONV_PROPERTY     UINT32_C(0x00000008)
#define IMAGE_CEE_CS_CALLCONV_UNMANAGED    UINT32_C(0x00000009)
#define IMAGE_CEE_CS_CALLCONV_GENERICINST  UINT32_C(0x0000000A)
#define IMAGE_CEE_CS_CALLCONV_NATIVEVARARG UINT32_C(0x0000000B)
#define IMAGE_CEE_CS_CALLCONV_MAX          UINT32_C(0x0000000C)
#define IMAGE_CEE_CS_CALLCONV_MASK         UINT32_C(0x0000000F)
#define IMAGE_CEE_CS_CALLCONV_HASTHIS      UINT32_C(0x00000020)
#define IMAGE_CEE_CS_CALLCONV_EXPLICITTHIS UINT32_C(0x00000040)
#define IMAGE_CEE_CS_CALLCONV_GENERIC      UINT32_C(0x00000010)

/* CorTokenType: the top byte of a metadata token */
#define mdtModule                 UINT32_C(0x00000000)
#define mdtTypeRef                UINT32_C(0x01000000)
#define mdtTypeDef                UINT32_C(0x02000000)
#define mdtFieldDef               UINT32_C(0x04000000)
#define mdtMethodDef              UINT32_C(0x06000000)
#define mdtParamDef               UINT32_C(0x08000000)
#define mdtInterfaceImpl          UINT32_C(0x09000000)
#define mdtMemberRef              UINT32_C(0x0A000000)
#define mdtCustomAttribute        UINT32_C(0x0C000000)
#define mdtPermission             UINT32_C(0x0E000000)
#define mdtSignature              UINT32_C(0x11000000)
#define mdtEvent                  UINT32_C(0x14000000)
#define mdtProperty               UINT32_C(0x17000000)
#define mdtMethodImpl             UINT32_C(0x19000000)
#define mdtModuleRef              UINT32_C(0x1A000000)
#define mdtTypeSpec               UINT32_C(0x1B000000)
#define mdtAssembly               UINT32_C(0x20000000)
#define mdtAssemblyRef            UINT32_C(0x23000000)
#define mdtFile                   UINT32_C(0x26000000)
#define mdtExportedType           UINT32_C(0x27000000)
#define mdtManifestResource       UINT32_C(0x28000000)
#define mdtNestedClass            UINT32_C(0x29000000)
#define mdtGenericParam           UINT32_C(0x2A000000)
#define mdtMethodSpec             UINT32_C(0x2B000000)
#define mdtGenericParamConstraint UINT32_C(0x2C000000)
#define mdtString                 UINT32_C(0x70000000)
#define mdtName                   UINT32_C(0x71000000)
#define mdtBaseType               UINT32_C(0x72000000)

/* A token of no type and row; the nil of a typed token is its mdt* value. */
#define mdTokenNil UINT32_C(0x00000000)

static inline uint32_t clr_token_row(uint32_t token)
{
    return token & UINT32_C(0x00FFFFFF);
}

/* One of the mdt* values. */
static inline uint32_t clr_token_type(uint32_t token)
{
    return token & UINT32_C(0xFF000000);
}

/* CorOpenFlags: get_module_metadata */
#define ofRead          UINT32_C(0x00000000)
#define ofWrite         UINT32_C(0x00000001)
#define ofReadWriteMask UINT32_C(0x00000001)
#define ofCopyMemory    UINT32_C(0x00000002)
#define ofReadOnly      UINT32_C(0x00000010)
#define ofTakeOwnership UINT32_C(0x00000020)
#define ofNoTypeLib     UINT32_C(0x00000080)
#define ofNoTransform   UINT32_C(0x00001000)
#define ofReserved1     UINT32_C(0x00000100)
#define ofReserved2     UINT32_C(0x00000200)
#define ofReserved3     UINT32_C(0x00000400)
#define ofReserved      UINT32_C(0xFFFFEF40)

/* CorILMethodFlags: first byte of an IL method header */
#define CorILMethod_InitLocals   UINT32_C(0x00000010)
#define CorILMethod_MoreSects    UINT32_C(0x00000008)
#define CorILMethod_CompressedIL UINT32_C(0x00000040)
#define CorILMethod_FormatShift  UINT32_C(0x00000003)
#define CorILMethod_FormatMask   UINT32_C(0x00000007)
#define CorILMethod_TinyFormat   UINT32_C(0x00000002)
#define CorILMethod_SmallFormat  UINT32_C(0x00000000)
#define CorILMethod_FatFormat    UINT32_C(0x00000003)
#define CorILMethod_TinyFormat1  UINT32_C(0x00000006)

/* CorILMethodSect: sections after an IL body */
#define CorILMethod_Sect_Reserved   UINT32_C(0x00000000)
#define CorILMethod_Sect_EHTable    UINT32_C(0x00000001)
#define CorILMethod_Sect_OptILTable UINT32_C(0x00000002)
#define CorILMethod_Sect_KindMask   UINT32_C(0x0000003F)
#define CorILMethod_Sect_FatFormat  UINT32_C(0x00000040)
#define CorILMethod_Sect_MoreSects  UINT32_C(0x00000080)

/* CorExceptionFlag: exception clauses of an IL body */
#define COR_ILEXCEPTION_CLAUSE_NONE       UINT32_C(0x00000000)
#define COR_ILEXCEPTION_CLAUSE_OFFSETLEN  UINT32_C(0x00000000)
#define COR_ILEXCEPTION_CLAUSE_DEPRECATED UINT32_C(0x00000000)
#define COR_ILEXCEPTION_CLAUSE_FILTER     UINT32_C(0x00000001)
#define COR_ILEXCEPTION_CLAUSE_FINALLY    UINT32_C(0x00000002)
#define COR_ILEXCEPTION_CLAUSE_FAULT      UINT32_C(0x00000004)
#define COR_ILEXCEPTION_CLAUSE_DUPLICATED UINT32_C(0x00000008)

/* Longest names, in UTF-16 units */
#define MAX_CLASS_NAME   UINT32_C(0x00000400)
#define MAX_PACKAGE_NAME UINT32_C(0x00000400)

/* Results, as X(name, number). */
#define CLR_RESULTS(X) \
    /* Results of metadata calls */ \
    /* name did not fit the buffer; success code */ \
    X(CLDB_S_TRUNCATION, 0x00131106) \
    X(CLDB_E_INDEX_NOTFOUND, 0x80131124)      /* no such index */ \
    X(CLDB_E_RECORD_NOTFOUND, 0x80131130)     /* lookup found nothing */ \
    X(META_E_BAD_INPUT_PARAMETER, 0x80131193) /* bad argument to a metadata call */ \
    /* Results of the profiling interfaces (CORPROF_E_*; there is no CORPROF_S_*) */ \
    /* no native code for the function yet */ \
    X(CORPROF_E_FUNCTION_NOT_COMPILED, 0x80131350) \
    /* the id is known but its data is not complete yet */ \
    X(CORPROF_E_DATAINCOMPLETE, 0x80131351) \
    /* method has no IL body */ \
    X(CORPROF_E_FUNCTION_NOT_IL, 0x80131354) \
    /* thread has never run managed code */ \
    X(CORPROF_E_NOT_MANAGED_THREAD, 0x80131355) \
    /* allowed only inside Initialize */ \
    X(CORPROF_E_CALL_ONLY_FROM_INIT, 0x80131356) \
    /* the information does not exist yet */ \
    X(CORPROF_E_NOT_YET_AVAILABLE, 0x8013135B) \
    /* generic type given to a call that cannot take one */ \
    X(CORPROF_E_TYPE_IS_PARAMETERIZED, 0x8013135C) \
    /* generic function given to a call that cannot take one */ \
    X(CORPROF_E_FUNCTION_IS_PARAMETERIZED, 0x8013135D) \
    /* target thread cannot be walked */ \
    X(CORPROF_E_STACKSNAPSHOT_INVALID_TGT_THREAD, 0x8013135E) \
    /* seed context or thread is in unmanaged code */ \
    X(CORPROF_E_STACKSNAPSHOT_UNMANAGED_CTX, 0x8013135F) \
    /* walking now could deadlock or corrupt */ \
    X(CORPROF_E_STACKSNAPSHOT_UNSAFE, 0x80131360) \
    /* the snapshot callback stopped the walk (did not return S_OK) */ \
    X(CORPROF_E_STACKSNAPSHOT_ABORTED, 0x80131361) \
    /* literal static has no address */ \
    X(CORPROF_E_LITERALS_HAVE_NO_ADDRESS, 0x80131362) \
    /* call not allowed at this point (asynchronous, GC-unsafe or lock order) */ \
    X(CORPROF_E_UNSUPPORTED_CALL_SEQUENCE, 0x80131363) \
    /* asynchronous call legal in general but unsafe at this moment */ \
    X(CORPROF_E_ASYNCHRONOUS_UNSAFE, 0x80131364) \
    /* class id is an array type */ \
    X(CORPROF_E_CLASSID_IS_ARRAY, 0x80131365) \
    /* class id is composite but no array (such as a by-ref) */ \
    X(CORPROF_E_CLASSID_IS_COMPOSITE, 0x80131366) \
    /* refused: the profiler is being detached */ \
    X(CORPROF_E_PROFILER_DETACHING, 0x80131367) \
    /* the profiler cannot be attached to a running process */ \
    X(CORPROF_E_PROFILER_NOT_ATTACHABLE, 0x80131368) \
    /* attach message not understood */ \
    X(CORPROF_E_UNRECOGNIZED_PIPE_MSG_FORMAT, 0x80131369) \
    /* another profiler is loaded */ \
    X(CORPROF_E_PROFILER_ALREADY_ACTIVE, 0x8013136A) \
    /* runtime version of the target does not fit the attacher */ \
    X(CORPROF_E_PROFILEE_INCOMPATIBLE_WITH_TRIGGER, 0x8013136B) \
    /* attach channel failed */ \
    X(CORPROF_E_IPC_FAILED, 0x8013136C) \
    /* no process with that id */ \
    X(CORPROF_E_PROFILEE_PROCESS_NOT_FOUND, 0x8013136D) \
    /* needs ICorProfilerCallback3 */ \
    X(CORPROF_E_CALLBACK3_REQUIRED, 0x8013136E) \
    /* only for profilers loaded at startup */ \
    X(CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER, 0x8013136F) \
    /* cannot detach: IL or enter/leave instrumentation in place */ \
    X(CORPROF_E_IRREVERSIBLE_INSTRUMENTATION_PRESENT, 0x80131370) \
    /* the runtime has not finished starting */ \
    X(CORPROF_E_RUNTIME_UNINITIALIZED, 0x80131371) \
    /* cannot detach: immutable event flags set */ \
    X(CORPROF_E_IMMUTABLE_FLAGS_SET, 0x80131372) \
    /* the profiler has not finished initializing */ \
    X(CORPROF_E_PROFILER_NOT_YET_INITIALIZED, 0x80131373) \
    /* event mask lacks (or has) a flag this call depends on */ \
    X(CORPROF_E_INCONSISTENT_WITH_FLAGS, 0x80131374) \
    /* return from Initialize to decline loading quietly */ \
    X(CORPROF_E_PROFILER_CANCEL_ACTIVATION, 0x80131375) \
    /* concurrent GC excludes COR_PRF_MONITOR_GC */ \
    X(CORPROF_E_CONCURRENT_GC_NOT_PROFILABLE, 0x80131376) \
    /* needs runtime debugging support enabled */ \
    X(CORPROF_E_DEBUGGING_DISABLED, 0x80131378) \
    /* concurrent GC did not end in time during attach */ \
    X(CORPROF_E_TIMEOUT_WAITING_FOR_CONCURRENT_GC, 0x80131379) \
    /* module made at run time is not supported */ \
    X(CORPROF_E_MODULE_IS_DYNAMIC, 0x8013137A) \
    /* needs ICorProfilerCallback4 */ \
    X(CORPROF_E_CALLBACK4_REQUIRED, 0x8013137B) \
    /* needs COR_PRF_ENABLE_REJIT set at startup */ \
    X(CORPROF_E_REJIT_NOT_ENABLED, 0x8013137C) \
    /* function in a collectible assembly is not supported */ \
    X(CORPROF_E_FUNCTION_IS_COLLECTIBLE, 0x8013137E) \
    /* needs ICorProfilerCallback6 */ \
    X(CORPROF_E_CALLBACK6_REQUIRED, 0x80131380) \
    /* needs ICorProfilerCallback7 */ \
    X(CORPROF_E_CALLBACK7_REQUIRED, 0x80131382) \
    /* inliner tracking for ReJIT is off */ \
    X(CORPROF_E_REJIT_INLINING_DISABLED, 0x80131383) \
    /* runtime is already being suspended */ \
    X(CORPROF_E_SUSPENSION_IN_PROGRESS, 0x80131388) \
    /* object lies outside the GC heap */ \
    X(CORPROF_E_NOT_GC_OBJECT, 0x80131389) \
    /* module is edit-and-continue enabled */ \
    X(CORPROF_E_MODULE_IS_ENC, 0x8013138A) \
    /* Results common to all COM calls */ \
    X(S_OK, 0x00000000) \
    X(S_FALSE, 0x00000001) \
    X(E_NOTIMPL, 0x80004001) \
    X(E_NOINTERFACE, 0x80004002) \
    X(E_POINTER, 0x80004003) \
    X(E_ABORT, 0x80004004) \
    X(E_FAIL, 0x80004005) \
    X(E_UNEXPECTED, 0x8000FFFF) \
    X(E_ACCESSDENIED, 0x80070005) \
    X(E_HANDLE, 0x80070006) \
    X(E_OUTOFMEMORY, 0x8007000E) \
    X(E_INVALIDARG, 0x80070057) \
    X(CLASS_E_NOAGGREGATION, 0x80040110) \
    X(CLASS_E_CLASSNOTAVAILABLE, 0x80040111)

#define CLR_RESULT(name, number) name = (hresult)(number),
enum { CLR_RESULTS(CLR_RESULT) };
#undef CLR_RESULT

/* ContextFlags of a CONTEXT (structs.h), per CPU */
#if defined(__x86_64__)
#define CONTEXT_AMD64           UINT32_C(0x00100000)
#define CONTEXT_CONTROL         UINT32_C(0x00100001)
#define CONTEXT_INTEGER         UINT32_C(0x00100002)
#define CONTEXT_SEGMENTS        UINT32_C(0x00100004)
#define CONTEXT_FLOATING_POINT  UINT32_C(0x00100008)
#define CONTEXT_DEBUG_REGISTERS UINT32_C(0x00100010)
#define CONTEXT_XSTATE          UINT32_C(0x00100040)
#define CONTEXT_FULL            UINT32_C(0x0010000B) /* control, integer, floating point */
#define CONTEXT_ALL             UINT32_C(0x0010001F) /* full, segments, debug registers */
#elif defined(__aarch64__)
#define CONTEXT_ARM64           UINT32_C(0x00400000)
#define CONTEXT_CONTROL         UINT32_C(0x00400001)
#define CONTEXT_INTEGER         UINT32_C(0x00400002)
#define CONTEXT_FLOATING_POINT  UINT32_C(0x00400004)
#define CONTEXT_DEBUG_REGISTERS UINT32_C(0x00400008)
#define CONTEXT_ARM64_XSTATE    UINT32_C(0x00400020)
#define CONTEXT_FULL            UINT32_C(0x00400007)
#define CONTEXT_ALL             UINT32_C(0x0040000F)
#endif

#define CONTEXT_UNWOUND_TO_CALL     UINT32_C(0x20000000)
#define CONTEXT_EXCEPTION_ACTIVE    UINT32_C(0x08000000)
#define CONTEXT_SERVICE_ACTIVE      UINT32_C(0x10000000)
#define CONTEXT_EXCEPTION_REQUEST   UINT32_C(0x40000000)
#define CONTEXT_EXCEPTION_REPORTING UINT32_C(0x80000000)

#endif
