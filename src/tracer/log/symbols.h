/*
 * log/symbols.h - the portable PDB of an own module, as a line of the log: a recording then keeps
 * its lines when the program is built again.
 */
#ifndef SHADOWTRACE_LOG_SYMBOLS_H
#define SHADOWTRACE_LOG_SYMBOLS_H

struct log;
struct metadata_module;

/*
 * log_put_symbols - after the module's own line; nothing if it is not own code, has no PDB of that
 * very build beside it or in it, or a large one.
 * Threads: the writer. May run: there; it reads a file, and never calls the runtime.
 */
void log_put_symbols(struct log *log, const struct metadata_module *module);

#endif
