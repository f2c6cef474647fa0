/*
 * base/cpu.h - what differs between CPUs and must be known where it is used. The rest of a CPU is
 * in the folders of its name.
 */
#ifndef SHADOWTRACE_BASE_CPU_H
#define SHADOWTRACE_BASE_CPU_H

#if defined(__x86_64__)
#include "base/x86_64/cpu.h"
#elif defined(__aarch64__)
#include "base/aarch64/cpu.h"
#else
#error "unsupported CPU: shadowtrace runs on x86-64 and AArch64"
#endif

#endif
