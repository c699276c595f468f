// Randomness that can be replayed: what it answers follows from its seed.
#pragma once

#include <array>
#include <cstdint>

namespace weir::server {

// For everything of a server that is left to chance. A simulation hands in its own.
struct Seeds {
  uint64_t choices = 0;              // SPOP, RANDOMKEY, math.random, the run's id
  std::array<uint64_t, 2> ids = {};  // of leases and bookings: they must not be guessed

  // From the system.
  static Seeds fresh();
};

// SplitMix64, as published by Steele, Lea and Flood in 2014. It is no secret to whoever sees some
// of its numbers.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

 private:
  uint64_t state_;
};

}  // namespace weir::server
