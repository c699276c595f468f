// Seeded randomness for the properties. WEIR_SEED in the environment replays a run.
//
// Every failure prints the seed: open a Seeded at the top of a property.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <random>
#include <string>

namespace weir::algorithms::testing {

// Fixed for the whole run, so that one number replays all of it.
inline uint64_t run_seed() {
  static const uint64_t seed = [] {
    const char* given = std::getenv("WEIR_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  }();
  return seed;
}

class Rng {
 public:
  explicit Rng(uint64_t seed) : engine_(seed) {}

  // Both ends included.
  int64_t between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  bool one_in(int64_t n) { return between(1, n) == 1; }
  // Every order of magnitude is equally likely. REQUIRES: 0 <= low <= high.
  int64_t any_magnitude(int64_t low, int64_t high) {
    const double from = std::log2(static_cast<double>(low) + 1);
    const double to = std::log2(static_cast<double>(high) + 1);
    const double drawn = std::exp2(std::uniform_real_distribution<double>(from, to)(engine_)) - 1;
    if (drawn >= static_cast<double>(high)) return high;
    return std::max(low, static_cast<int64_t>(drawn));
  }
  template <class Container>
  auto pick(const Container& from) {
    return from[static_cast<size_t>(between(0, static_cast<int64_t>(std::size(from)) - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

struct Seeded {
  Rng rng{run_seed()};
  ::testing::ScopedTrace trace{__FILE__, __LINE__,
                               "replay with WEIR_SEED=" + std::to_string(run_seed())};
};

}  // namespace weir::algorithms::testing
