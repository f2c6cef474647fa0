#include "unit/views/new_view/new_view.h"

#include "../../../../src/tool/views/cmd_report.c"
