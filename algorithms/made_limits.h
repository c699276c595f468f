// Limits that were made lately, found by what they are made from: to make a limit takes some
// divisions, to find it a comparison. The memory is fixed: one place per hash, where the newest
// limit wins. Limits with a zone are not kept.
#pragma once

#include <array>
#include <cstddef>

#include "algorithms/algorithm.h"

namespace weir::algorithms {

class MadeLimits {
 public:
  // Answers what make_limit() does, which is valid until the next call; null where it fails.
  // REQUIRES: spec.algorithm is not null.
  const Limit* make(const LimitSpec& spec);

 private:
  static constexpr size_t kPlaces = 64;

  std::array<Limit, kPlaces> places_ = {};  // without an algorithm: there is none
  Limit zoned_ = {};
};

}  // namespace weir::algorithms
