// What every algorithm is: a descriptor of pure functions over a limit, a small state and an
// instant. A new algorithm is one file with one descriptor and one row in registry.cc.
//
// Nothing here reads a clock, does I/O or allocates while it decides.
//
//  1. An instant is an argument. It does not run back; if it does, no permit is gained by it.
//  2. A denied request, and one of cost 0, leaves the state as it was (Verdict::changed tells).
//  3. A State is a value: whoever needs all or nothing decides on copies (take_all.h).
//  4. `id` and the bytes of write_state are on disk: DO NOT CHANGE them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "algorithms/bytes.h"
#include "algorithms/limit.h"

namespace weir::algorithms {

// The retry_after_ns of what no waiting helps, and the expiry of what never expires. It compares
// as the longest wait. Never add to it.
inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Durations are exact: the smallest whole number of nanoseconds that is enough. Rounding to
// milliseconds or seconds is the wire's business.
struct Verdict {
  bool allowed = false;
  int64_t limit = 0;           // capacity
  int64_t remaining = 0;       // whole permits that could be taken now
  int64_t retry_after_ns = 0;  // 0 when allowed; kNever
  int64_t reset_after_ns = 0;  // until full
  bool changed = false;        // the state differs from what it was and has to be written

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

// The working form of one limit's state. What the words mean belongs to the algorithm; a double is
// kept by std::bit_cast. Words, because compilers turn a small struct copied through bytes into
// stores and loads of different widths, which costs more than the decision.
struct State {
  int64_t words[4] = {};
};

// One question. Algorithms whose entries are records of their own get them through here too.
struct Request {
  int64_t now_ns = 0;
  int64_t cost = 1;    // >= 0; a negative cost is a bug and aborts
  bool force = false;  // take in any case, into debt if need be
  bool peek = false;   // the verdict alone; the state stays as it is
};

struct Refund {
  int64_t now_ns = 0;
  int64_t permits = 0;  // >= 0; clamped at full
};

// How what is available survives a change of the limit.
enum class CarryOver : uint8_t { kReset, kAsIs, kProportional, kAdditive };

struct Algorithm {
  std::string_view name;     // as on the wire, upper case
  uint8_t id = 0;            // on disk: DO NOT CHANGE; 0 is no algorithm
  uint8_t options_used = 0;  // how many of Limit::options mean something and are stored
  bool can_force = false;    // FORCE is meaningful

  // What is wrong with the options, if anything. May be null.
  std::optional<RangeError> (*check)(const Limit& limit) = nullptr;
  // Whether the two, both of this algorithm, limit alike, so that a state of one is one of the
  // other.
  bool (*same)(const Limit& a, const Limit& b) = nullptr;
  // The state of a limiter never used before.
  State (*fresh)(const Limit& limit, int64_t now_ns) = nullptr;
  Verdict (*decide)(const Limit& limit, State& state, const Request& request) = nullptr;
  // The answer is the verdict of cost 0 after it.
  Verdict (*refund)(const Limit& limit, State& state, const Refund& refund) = nullptr;
  // The state under `to` of what was used under `from` until now. Never called with kReset.
  State (*carry_over)(const Limit& from, const Limit& to, const State& state, CarryOver mode,
                      int64_t now_ns) = nullptr;
  // The first instant at which forgetting the state changes nothing; kNever if there is none.
  int64_t (*expires_at_ns)(const Limit& limit, const State& state) = nullptr;
  // At most kStateBytesMax bytes.
  void (*write_state)(const Limit& limit, const State& state, Writer& out) = nullptr;
  // False, and nothing more, when the bytes cannot be a state of this limit.
  bool (*read_state)(const Limit& limit, Reader& in, State& state) = nullptr;
};

inline constexpr size_t kStateBytesMax = 40;

// By name in any case, or by the id on disk; null if there is none.
const Algorithm* find_algorithm(std::string_view name);
const Algorithm* find_algorithm(uint8_t id);

bool same_limit(const Limit& a, const Limit& b);

// The state under `to` of what was used under `from` until now; with another algorithm, anew.
State carry_over(const Limit& from, const Limit& to, const State& state, CarryOver mode,
                 int64_t now_ns);

inline State fresh_state(const Limit& limit, int64_t now_ns) {
  return limit.algorithm->fresh(limit, now_ns);
}
inline Verdict decide(const Limit& limit, State& state, const Request& request) {
  return limit.algorithm->decide(limit, state, request);
}
inline Verdict refund(const Limit& limit, State& state, const Refund& refund) {
  return limit.algorithm->refund(limit, state, refund);
}
// The verdict decide() would give; `changed` is false.
inline Verdict peek(const Limit& limit, const State& state, int64_t now_ns, int64_t cost) {
  State copy = state;
  return limit.algorithm->decide(limit, copy, {.now_ns = now_ns, .cost = cost, .peek = true});
}
// First millisecond since the epoch at which the state may be forgotten; kNever.
int64_t expires_at_ms(const Limit& limit, const State& state);

}  // namespace weir::algorithms
