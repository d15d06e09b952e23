// The smallest of test libraries.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(what)                                                              \
    do {                                                                         \
        if (!(what)) {                                                           \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
            std::abort();                                                        \
        }                                                                        \
    } while (false)
