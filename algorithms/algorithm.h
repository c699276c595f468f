// What every algorithm is: a descriptor of pure functions over a limit, a small state and an
// instant. A new algorithm is one file with one descriptor and one row in registry.cc.
//
// Nothing here reads a clock, does I/O or allocates while it decides.
//
// Invariants
//  1. An instant is an argument. It does not run back; if it does, no permit is gained by it.
//  2. A denied request, and one of cost 0, leaves the state as it was (Verdict::changed tells).
//  3. A State is a value: a caller that needs all or nothing decides on copies (take_all.h).
//  4. `id` and the bytes of write_state are on disk: DO NOT CHANGE them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "algorithms/bytes.h"
#include "algorithms/entries.h"
#include "algorithms/limit.h"
#include "base/wall_clock.h"

namespace weir::algorithms {

// The retry_after_ns where waiting never helps, and the expiry of a state that never expires. It
// compares as the longest wait. Never add to it.
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

// Answers the verdict as a denial.
inline Verdict denied(Verdict verdict, int64_t retry_after_ns) {
  verdict.allowed = false;
  verdict.retry_after_ns = retry_after_ns;
  return verdict;
}

// The working form of one limit's state. What the words mean belongs to the algorithm; a double is
// kept by std::bit_cast. Words, because compilers turn a small struct copied through bytes into
// stores and loads of different widths, which costs more than the decision.
struct State {
  int64_t words[5] = {};
};

// What is asked of a limit.
struct Request {
  int64_t now_ns = 0;
  int64_t cost = 1;    // permits asked for, >= 0; a negative cost is a bug and breaks a check
  bool force = false;  // take in any case, into debt if need be; kNever if that is too large
  bool peek = false;   // answers the verdict alone; the state and the entries stay as they are
  Entries* entries = nullptr;  // the state's own, where Algorithm::uses_entries; null is none yet,
                               // which will do for a peek
  int64_t lease_id = 0;        // CONCURRENCY: the lease to make; > 0, never used before
  const WallClock* wall = &kTrueWallClock;  // for limits that follow the calendar
};

struct Refund {
  int64_t now_ns = 0;
  int64_t permits = 0;  // >= 0; clamped at full
  Entries* entries = nullptr;
  const WallClock* wall = &kTrueWallClock;
};

// What was really used of permits that were charged as an estimate (settle.h).
struct Settle {
  int64_t now_ns = 0;
  int64_t charged_at_ns = 0;    // when the estimate was charged,
  int64_t charged = 0;          // how much that was,
  const State* kept = nullptr;  // and what kept_state() answered then; null: that is not known
  int64_t used = 0;             // >= 0
  int64_t low_water = 0;        // the least that Algorithm::used answered since the charge, and now
  bool untouched = false;  // nothing has changed the state since the charge, so it can be undone
  bool peek = false;       // answers whether it can be; the state and entries stay as they are
  Entries* entries = nullptr;
  const WallClock* wall = &kTrueWallClock;
};

// Asks for permits now although they may be there only later.
struct Reserve {
  int64_t now_ns = 0;
  int64_t cost = 1;              // >= 0
  int64_t max_wait_ns = kNever;  // >= 0; a longer wait is refused
};

// The answer to a Reserve. A granted booking has taken its permits, into debt if need be: they may
// be used after wait_ns, the smallest wait after which everything booked until now is covered. A
// refused booking has taken nothing; its wait_ns is what the wait would have been, or kNever if
// there can be none.
struct Booking {
  bool granted = false;
  int64_t wait_ns = 0;
  bool changed = false;

  friend bool operator==(const Booking&, const Booking&) = default;
};

// What survives a change of the limit. kUsed: what was used, also what is more than the new
// capacity, which is then owed; so going to and fro between two limits grants no more than the
// larger of them alone. kAsIs: what is left, as far as there is room. kProportional: the share that
// is left. kAdditive: what is left and what the capacity has gained. Windows, logs and leases keep
// what was used, whatever is said but kReset. DO NOT CHANGE the numbers: policies have them on
// disk.
enum class CarryOver : uint8_t { kReset, kAsIs, kProportional, kAdditive, kUsed };

// When a limit changes, and how.
struct Change {
  CarryOver mode = CarryOver::kAsIs;
  int64_t now_ns = 0;
  const WallClock* wall = &kTrueWallClock;
};

struct Grammar;

// How large a limit is.
struct Size {
  int64_t count = 0;
  int64_t capacity = 0;
};

struct Algorithm {
  std::string_view name;             // as on the wire, upper case
  uint8_t id = 0;                    // on disk: DO NOT CHANGE; 0 is no algorithm
  const Grammar* grammar = nullptr;  // how its limits are written
  uint8_t options_used = 0;          // how many of Limit::options mean something and are stored
  bool any_cost = false;  // a cost above capacity is allowed too, and paid for afterwards
  bool queues = false;    // requests it lets in leave later, one after another: RL.ACQUIRE waits
  bool makes_leases = false;  // a granted request holds its permits until it gives them back
  bool uses_entries = false;  // the state is not all: requests and refunds carry Entries
  bool has_rate = true;       // count / period is a rate; else see Limit, and `check` has to check
                              // count and period

  // Tells whether a limit with these options has a zone, whose name follows them on disk. Null:
  // none has.
  bool (*has_zone)(const std::array<int64_t, 2>& options) = nullptr;
  // Tells what is wrong with the options, if anything. May be null.
  Result<void, RangeError> (*check)(const Limit& limit) = nullptr;
  // Fills in `capacity` and `shape` of a limit that was checked. If this is not null, the capacity
  // of a LimitSpec is ignored.
  void (*derive)(Limit& limit) = nullptr;
  // Answers what a limit is built from at another size (adaptive.h); an error: its options forbid
  // ADAPTIVE. Null: so does the algorithm.
  Result<LimitSpec, RangeError> (*resized)(const Limit& limit, const Size& size) = nullptr;
  // Tells whether two limits of this algorithm limit alike, so that a state of one is a state of
  // the other.
  bool (*same)(const Limit& a, const Limit& b) = nullptr;
  // The state of a limiter never used before.
  State (*fresh)(const Limit& limit, int64_t now_ns) = nullptr;
  Verdict (*decide)(const Limit& limit, State& state, const Request& request) = nullptr;
  // Answers the permits taken beyond what there was, rounded up: 0 while a permit remains, or none
  // is owed. The request's cost means nothing; its instant is clamped already.
  int64_t (*owed)(const Limit& limit, const State& state, const Request& request) = nullptr;
  // Gives permits back. The answer is the verdict of cost 0 after it.
  Verdict (*refund)(const Limit& limit, State& state, const Refund& refund) = nullptr;
  // Changes a charge into what was used, in the window to which it was charged. Null: it takes no
  // window to tell how (settle.h), or charges are leases. A denial is kNever, and changes nothing.
  Verdict (*settle)(const Limit& limit, State& state, const Settle& settle) = nullptr;
  // Answers how many whole permits refund() could give back now, rounded down: 0 is full. Null
  // where `settle` is not, and where charges are leases. The instant is clamped already.
  int64_t (*used)(const Limit& limit, const State& state, int64_t now_ns) = nullptr;
  // Books permits. Null if the algorithm has no bookings; can_reserve() tells for a limit.
  Booking (*reserve)(const Limit& limit, State& state, const Reserve& reserve) = nullptr;
  // Tells whether bookings make sense with these options; null means that they always do.
  bool (*reserves)(const Limit& limit) = nullptr;
  // Answers the state under `to` of what was used under `from` until now. Never called with kReset.
  State (*carry_over)(const Limit& from, const Limit& to, const State& state,
                      const Change& change) = nullptr;
  // Called in place of carry_over where uses_entries: the entries stay as they are.
  State (*carry_over_entries)(const Limit& from, const Limit& to, const State& state,
                              const Entries& entries, int64_t now_ns) = nullptr;
  // Answers the first instant at which the state may be forgotten: forgetting it changes nothing
  // then, or, where a new limiter is not full (kFullKeptNs), grants no more; kNever if there is
  // none.
  int64_t (*expires_at_ns)(const Limit& limit, const State& state) = nullptr;
  // Writes at most kStateBytesMax bytes.
  void (*write_state)(const Limit& limit, const State& state, Writer& out) = nullptr;
  // Reads a state. False, and nothing more, when the bytes cannot be a state of this limit.
  bool (*read_state)(const Limit& limit, Reader& in, State& state) = nullptr;
};

inline constexpr size_t kStateBytesMax = 50;

// Tells whether an entry of this algorithm can have this at_ns: the adding and subtracting of
// durations stays within 64 bits then. What comes from outside (RESTORE) has to be asked.
bool can_be_entry(const Algorithm& algorithm, int64_t at_ns);

// Finds an algorithm by its name, in any case, or by its id on disk; null if there is none.
const Algorithm* find_algorithm(std::string_view name);
const Algorithm* find_algorithm(uint8_t id);
std::span<const Algorithm* const> all_algorithms();

// Checks the ranges common to all algorithms, then the algorithm's own.
// REQUIRES: spec.algorithm is not null.
Result<Limit, RangeError> make_limit(const LimitSpec& spec);

// Answers the limit with its rate as given, in place of lowest terms: what is used then counts in
// the same units at every count. REQUIRES: the algorithm's count / period is a rate.
Limit with_whole_rate(const Limit& limit);

// Tells whether two limits limit alike, so that a state of one is a state of the other. With
// ADAPTIVE: whether they were written alike; their present counts may differ.
bool same_limit(const Limit& a, const Limit& b);

// Answers the state under `to` of what was used under `from` until now. With another algorithm it
// is a fresh state, and its entries, if there are any, have to be dropped. Null entries mean none.
State carry_over(const Limit& from, const Limit& to, const State& state, const Change& change,
                 const Entries* entries = nullptr);

inline State carry_over(const Limit& from, const Limit& to, const State& state, CarryOver mode,
                        int64_t now_ns, const Entries* entries = nullptr) {
  return carry_over(from, to, state, {.mode = mode, .now_ns = now_ns}, entries);
}

inline State fresh_state(const Limit& limit, int64_t now_ns) {
  return limit.algorithm->fresh(limit, now_ns);
}
inline Verdict decide(const Limit& limit, State& state, const Request& request) {
  return limit.algorithm->decide(limit, state, request);
}
inline Verdict refund(const Limit& limit, State& state, const Refund& refund) {
  return limit.algorithm->refund(limit, state, refund);
}
// Answers the debt: the permits taken beyond what there was, rounded up. The request's cost means
// nothing.
int64_t owed(const Limit& limit, const State& state, Request request);
// Makes what is owed a `remaining` below 0.
void show_debt(const Limit& limit, const State& state, const Request& request, Verdict& verdict);
// Answers how many whole permits could be given back now; 0 where that is a matter of windows or
// leases.
int64_t used(const Limit& limit, const State& state, int64_t now_ns);
// Tells whether permits of this limit can be booked.
inline bool can_reserve(const Limit& limit) {
  const Algorithm& algorithm = *limit.algorithm;
  return algorithm.reserve != nullptr &&
         (algorithm.reserves == nullptr || algorithm.reserves(limit));
}
// Books permits. A booking that is not due yet is given back by refund(). REQUIRES:
// can_reserve(limit).
inline Booking reserve(const Limit& limit, State& state, const Reserve& reserve) {
  return limit.algorithm->reserve(limit, state, reserve);
}
// Answers the verdict that decide() would give; its `changed` is false.
inline Verdict peek(const Limit& limit, const State& state, Request request) {
  State copy = state;
  request.peek = true;
  return limit.algorithm->decide(limit, copy, request);
}
inline Verdict peek(const Limit& limit, const State& state, int64_t now_ns, int64_t cost,
                    Entries* entries = nullptr) {
  return peek(limit, state, {.now_ns = now_ns, .cost = cost, .entries = entries});
}
// Answers how long no more than what the verdict, of now, leaves is to be had; 0: all there can be
// is there. kNever: nobody knows.
inline int64_t more_after_ns(const Limit& limit, const State& state, const Verdict& verdict,
                             Request request) {
  if (verdict.remaining >= verdict.limit) return verdict.reset_after_ns;
  request.cost = std::max<int64_t>(verdict.remaining, 0) + 1;
  return peek(limit, state, request).retry_after_ns;
}
// Answers the first millisecond since the epoch at which the state may be forgotten; kNever if
// none.
int64_t expires_at_ms(const Limit& limit, const State& state);

// Answers how many whole units cover a duration or an instant >= 0; kNever stays kNever.
constexpr int64_t units_up(int64_t ns, int64_t unit_ns) {
  return ns == kNever ? kNever : ns / unit_ns + (ns % unit_ns > 0);
}

}  // namespace weir::algorithms
