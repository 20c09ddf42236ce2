// Tests of the core that need no Python; scripts/core_tests builds and runs them.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
