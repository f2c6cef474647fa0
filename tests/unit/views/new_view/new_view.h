/* unit/views/new_view/new_view.h - one more row in the table of views: what files that hold parts of that table are compiled with. */
#ifndef SHADOWTRACE_TESTS_NEW_VIEW_H
#define SHADOWTRACE_TESTS_NEW_VIEW_H

#define VIEWS_MORE(X) X(KINDS, "kinds", "kind", "kind", NONE, TYPE, type, 'K', ": a view of a test")

#endif
