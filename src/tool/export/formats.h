/*
 * export/formats.h - the formats of other tools, each in a separate file. All write as they go:
 * their memory grows with the profile's frames and its deepest stack, not with the output.
 *
 * Each returns: 0; -ENOMEM; -errno of writing; -EOVERFLOW: more than the format can hold.
 */
#ifndef SHADOWTRACE_EXPORT_FORMATS_H
#define SHADOWTRACE_EXPORT_FORMATS_H

#include "export/profile.h"

#include <stdio.h>

/*
 * pprof (profile.proto of github.com/google/pprof, gzip): sample types alloc_objects and
 * alloc_space; of what is not known to be dead at the end inuse_objects and inuse_space, if the log
 * says so (record --live). Labels of a sample: `type`, `bytes` (of one object, on average), `own`
 * (the nearest frame of own code).
 */
int export_pprof(const struct export_profile *p, FILE *out);

/*
 * OTLP profiles, as they stand (v1development of github.com/open-telemetry/opentelemetry-proto, of
 * August 2026; it may still change): a message ProfilesData, which a collector is sent, too.
 * A profile each of alloc_space and alloc_objects; of inuse_space and inuse_objects, too, as with
 * pprof. What is to be known of it stands in the attribute shadowtrace.remarks.
 */
int export_otlp(const struct export_profile *p, FILE *out);

/*
 * speedscope's own JSON: a profile of bytes and one of objects. _each: and one for each thread, the
 * 32 with most bytes, in the order of its allocations; events may be NULL.
 */
struct export_events;
int export_speedscope(const struct export_profile *p, FILE *out);
int export_speedscope_each(const struct export_profile *p, struct export_events *events, FILE *out);

/*
 * .nettrace, version 4, as PerfView and Visual Studio read it: GCAllocationTick events, one for
 * each sample; methods at addresses that are invented, in which each IL offset has four bytes.
 * _each: one for each allocation, with its thread and time.
 */
int export_nettrace(const struct export_profile *p, FILE *out);
int export_nettrace_each(const struct export_profile *p, struct export_events *events, FILE *out);

/* .perfView.xml.zip: metrics are bytes. PerfView reads them as floats: whole up to 16,777,216. */
int export_perfview(const struct export_profile *p, FILE *out);

/*
 * heaptrack's interpreted data, gzip, as heaptrack_print and heaptrack_gui read it: allocations and
 * deallocations, collection by collection. What died at its first collection is freed at once:
 * temporary; what is not known to be dead at the end is never freed: leaked. nodes: of the profile,
 * by node of the tree, whose model keeps changes of live objects.
 */
struct model_tree;
int export_heaptrack(const struct export_profile *p, const struct model_tree *tree,
                     const uint32_t *nodes, FILE *out);

/* Collapsed (folded) stacks, as flamegraph.pl has them: "root;...;leaf;[type] bytes". */
int export_collapsed(const struct export_profile *p, FILE *out);

#endif
