#include "base/library.h"
#include "support/test.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

TEST(its_functions_are_found)
{
    double (*root)(double) = NULL;
    const struct library_symbol symbols[] = {{"cbrt", &root}};

    assert_non_null(library_load("libm.so.6", symbols, 1));
    assert_true(root(27) > 2.999 && root(27) < 3.001);
}

TEST(one_that_lacks_anything_is_none)
{
    void *first = NULL, *second = NULL;
    const struct library_symbol symbols[] = {{"cbrt", &first}, {"no_such_function", &second}};

    assert_null(library_load("libm.so.6", symbols, 2));
    assert_null(library_load("libno-such-library.so.1", symbols, 1));
    assert_null(second);
}
