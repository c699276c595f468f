// What targets have in common that run a whole server: bytes that decide, and a clock that is
// moved.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/string_hash.h"
#include "base/time_units.h"
#include "server/os/clock.h"
#include "server/os/log.h"

namespace weir::fuzz {

inline void check(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "line %d: the check fails\n", line);
  std::abort();
}

// Makes a server in this process quiet, and the same each time.
inline void prepare() {
  server::set_log_level(server::LogLevel::kNothing);
  process_hash_key = {};
}

// With WEIR_FUZZ_TRACE=1 a target says what it does: to replay one input.
inline void trace(const std::string& line) {
  static const bool wanted = std::getenv("WEIR_FUZZ_TRACE") != nullptr;
  if (wanted) std::fprintf(stderr, "%s\n", line.c_str());
}

// An input, read from its front. At its end every byte is 0.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : bytes_(reinterpret_cast<const char*>(data), size) {}
  bool empty() const { return bytes_.empty(); }
  uint8_t byte() {
    const std::string_view taken = take(1);
    return taken.empty() ? 0 : static_cast<uint8_t>(taken[0]);
  }
  std::string_view take(size_t size) {
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  // One of the choices, by one byte.
  template <typename Choices>
  const auto& choose(const Choices& choices) {
    return choices[byte() % std::size(choices)];
  }

 private:
  std::string_view bytes_;
};

class FuzzClock : public server::Clock {
 public:
  int64_t wall_ns() override { return wall_ns_; }
  int64_t steady_ns() override { return steady_ns_; }
  void sleep_ns(int64_t duration_ns) override { pass(duration_ns); }
  // Bounded, so that no instant overflows.
  void pass(int64_t duration_ns) {
    duration_ns = std::min(duration_ns, 86'400 * kNsPerS);
    steady_ns_ += duration_ns;
    step(duration_ns);
  }
  void step(int64_t width_ns) {
    wall_ns_ = std::clamp<int64_t>(wall_ns_ + width_ns, 0, 4'000'000'000 * kNsPerS);
  }

 private:
  int64_t wall_ns_ = 1'700'000'000 * kNsPerS;
  int64_t steady_ns_ = 1000 * kNsPerS;
};

}  // namespace weir::fuzz
