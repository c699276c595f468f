// Aborts on a bug, in release builds too: going on with broken state would put it on disk.
#pragma once

#include <cstdio>
#include <cstdlib>

#define WEIR_CHECK(condition)                                                                 \
  do {                                                                                        \
    if (!(condition)) [[unlikely]] {                                                          \
      std::fprintf(stderr, "%s:%d: bug: %s does not hold\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                           \
    }                                                                                         \
  } while (false)
