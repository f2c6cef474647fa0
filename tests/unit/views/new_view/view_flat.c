#include "unit/views/new_view/new_view.h"

#include "../../../../src/tool/views/view_flat.c"
