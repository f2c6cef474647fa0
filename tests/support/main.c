/* Linked to tests without a main(). */
#include "test.h"

int main(int argc, char **argv)
{
    return test_run(argc > 1 ? argv[1] : NULL);
}
