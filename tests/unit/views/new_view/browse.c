#include "unit/views/new_view/new_view.h"

#include "../../../../src/tool/browse/browse.c"
