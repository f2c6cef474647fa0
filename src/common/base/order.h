/*
 * base/order.h - what a comparison for qsort returns.
 */
#ifndef SHADOWTRACE_BASE_ORDER_H
#define SHADOWTRACE_BASE_ORDER_H

/* Below 0, 0 or above it: two numbers, the lesser first. Both are evaluated twice. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

#endif
