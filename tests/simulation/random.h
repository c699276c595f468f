// The one source of chance in a simulation: all of a run follows from its seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace weir::simulation {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  // Below `bound`, which is not 0.
  uint64_t below(uint64_t bound) { return next() % bound; }
  int64_t between(int64_t first, int64_t last) {
    return first + static_cast<int64_t>(below(static_cast<uint64_t>(last - first) + 1));
  }
  bool one_in(uint64_t many) { return below(many) == 0; }
  template <typename T>
  T any_of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }

 private:
  uint64_t state_;
};

}  // namespace weir::simulation
