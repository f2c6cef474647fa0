/* Linked where a test has no main() of its own. */
#include "test.h"

int main(int argc, char **argv)
{
    return test_run(argc > 1 ? argv[1] : NULL);
}
