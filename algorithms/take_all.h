// All or nothing: one request guarded by several limits, of one key or of several.
//
// It must not leave one limit charged and another not: states change only when all allow.
#pragma once

#include <span>

#include "algorithms/algorithm.h"

namespace weir::algorithms {

// `verdict` is filled in. When the whole is denied it is the limit's own uncharged verdict.
struct Guard {
  const Limit* limit = nullptr;
  State* state = nullptr;  // no two guards share one
  int64_t cost = 1;
  Verdict verdict{};
};

struct AllVerdict {
  bool allowed = false;
  // Denied: the longest wait, ties to the first. Allowed: the least remaining, ties to the first.
  size_t deciding = 0;
};

// REQUIRES: guards is not empty.
AllVerdict take_all(std::span<Guard> guards, int64_t now_ns);

}  // namespace weir::algorithms
