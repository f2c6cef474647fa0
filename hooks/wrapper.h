/* hooks/wrapper.h - the runtime's wrapper of ELT2, of this CPU. */
#if defined(__x86_64__)
#include "hooks/x86_64/wrapper.h"
#elif defined(__aarch64__)
#include "hooks/aarch64/wrapper.h"
#endif
