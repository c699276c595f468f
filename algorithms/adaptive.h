// ADAPTIVE: the count of a limit moves between two bounds, by what callers report of the service
// that the limit protects.
//
//     GCRA 100/1s ADAPTIVE 10..500 SLOW 250ms
//
//     count
//     max  |- - - - - - - - - - - - - - - -      a round in which nothing failed, and in which at
//          |        .-.                          least half of what the count allows was taken:
//          |     .-'  |    .-.    .-.              count := min(max, count + step)
//     c    |- -.'- - -|- .'- |- .'- |- -         a failure:
//          | .'       |.'    |.'    |.'            count := max(min, floor(count * 4 / 5))
//     min  |- - - - - - - - - - - - - - - -
//          +-------------------------------> rounds       c: what the service can do
//
// This is AIMD, additive increase and multiplicative decrease, which converges to what the service
// can do wherever it starts, and shares that fairly among limits that find it out apart (D. Chiu,
// R. Jain: Analysis of the Increase and Decrease Algorithms for Congestion Avoidance, 1989). TCP's
// congestion avoidance is it, and so is AIMDLimit of Netflix' concurrency-limits, from which two
// rules are: a latency above a bound is a failure, and what is not used to the half does not grow.
//
//     a failure   a report of FAIL, or one whose latency is above SLOW. Without SLOW a latency
//                 decides nothing; RL.INFO shows the last.
//     a round     is over with the first report R or later after its begin, R being the limit's
//                 period, but at least 100 ms and at most 10 s. The first begins with the limiter.
//                 One that is over is followed by the next, as is one in which the count is
//                 lowered.
//     lowering    at once, but not within R after the last lowering: one overload fails many
//                 requests that were on their way already. Failures within that time only keep
//                 their round from raising the count.
//     step        max(1, floor((max - min) / 50)), so from min to max it takes 50 rounds.
//     used        2 * taken * period >= count * (now - begin of the round), where `taken` are the
//                 permits taken in the round, less those given back
//
// All is in integers. The capacity is the count where it was not given otherwise, else it stays.
// A change of the count keeps what is available, as far as there is room (CarryOver::kAsIs): with
// kUsed each raise would let a burst of a step through at once, which fails where the service has
// no room for it, and the count would stay far below what the service can do.
//
// A limiter's record holds the limit with the present count, and beside it how it was written. So
// what decides, answers and shows a limit knows nothing of ADAPTIVE, and bookings and holds find
// their limit by a text that no change of the count touches. What is given up is the short path of
// one limit of constant size.
//
// Invariants
//  1. min <= count <= max. Each count between them makes a limit that make_limit() accepts.
//  2. What is used counts in units of 1/period permits at every count (with_whole_rate), so a
//     change rounds nothing. (At capacity 1 it drops what gcra.cc, b., and level.h, 2., have below
//     0: less than a nanosecond's worth, against the client.)
//
// Laws
//  1. In no span of time more is granted than the limit at max grants at most in it.
//  2. Of requests of one permit each, never more have been granted than by the limit at max, and
//     never fewer than by the limit at min, under the same requests. (With larger costs no two
//     sizes of a bucket compare so: one that granted a large request, which the other denied, may
//     lack the permits for the next.)
// Both are about takes; what is forced or given back counts as it does without ADAPTIVE. Bookings
// and departures that were promised before a change of the count stay when they are, so those that
// are promised after it may lie closer to them than the limit at max allows.
//
// It must not know who reports, nor how the limiter is stored.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "algorithms/algorithm.h"

namespace weir::algorithms {

inline constexpr int64_t kRoundNsMin = 100 * kNsPerMs;
inline constexpr int64_t kRoundNsMax = 10 * kNsPerS;
inline constexpr int64_t kLatencyNsMax = kNsPerDay;
// How long a limiter is kept after it was used or told of, so that a report finds it.
inline constexpr int64_t kAdaptiveKeptNs = kNsPerHour;

// What a limit has been told. The present count is in the limit.
struct AdaptiveState {
  int64_t round_ns = 0;       // when the round began
  int64_t taken = 0;          // in the round
  int64_t lowered_ns = 0;     // when the count was last lowered; 0: never
  int64_t touched_ns = 0;     // when the limiter was last written
  int64_t reported_ns = 0;    // the last report; 0: there was none
  int64_t latency_ns = -1;    // that it told; -1: none
  bool has_failures = false;  // the round
  bool last_failed = false;   // the last report
  bool is_shared = false;     // the count is that of the key's policy

  friend bool operator==(const AdaptiveState&, const AdaptiveState&) = default;
};

struct Report {
  int64_t now_ns = 0;
  bool failed = false;
  int64_t latency_ns = -1;  // -1: not told
  bool is_used = false;     // at least half of what the count allows was taken, whatever the state
                            // says was
};

// Makes a limit adaptive. REQUIRES: `limit` is make_limit()'s; of `rule`, its bounds and slow_ns.
Result<Limit, RangeError> make_adaptive(const Limit& limit, const Adaptive& rule);
// Answers the limit at another count within its bounds. REQUIRES: make_adaptive() made it.
Limit at_count(const Limit& limit, int64_t count);
// Answers the limit as it was written; one that is not adaptive is that itself.
Limit as_written(const Limit& limit);
// Algorithm::resized of an algorithm whose options say nothing of its size.
Result<LimitSpec, RangeError> plainly_resized(const Limit& limit, const Size& size);

// Takes a report; answers the count that the limit has from now on.
int64_t count_after(const Limit& limit, AdaptiveState& state, const Report& report);
// Changes a limit and its state to another count.
void change_count(Limit& limit, State& state, int64_t count, int64_t now_ns);
// Answers the permits that are used: those that were taken and have not come back, rounded up.
int64_t used_permits(const Limit& limit, const State& state, int64_t now_ns);
// Adds to what was taken in the round; `permits` may be below 0.
void count_taken(AdaptiveState& state, int64_t permits);

// Tells whether the words begin with ADAPTIVE.
bool begins_adaptive(std::span<const std::string_view> words);
// Reads "ADAPTIVE min..max [SLOW time]" and answers how many words that are. REQUIRES:
// begins_adaptive(words).
Result<size_t, RangeError> parse_adaptive(std::span<const std::string_view> words, Adaptive& rule);
// Writes the same; empty if there is no rule.
std::string format_adaptive(const Adaptive& rule);

// Writes the rule and the state, at most kAdaptiveBytesMax bytes. DO NOT CHANGE: on disk.
inline constexpr size_t kAdaptiveBytesMax = 5 * kVarintBytesMax + 6 * kVarintBytesMax + 1;
void write_adaptive(const Adaptive& rule, const AdaptiveState& state, Writer& out);
// Reads them, and makes the limit adaptive, whose count is the present one. False, and nothing
// more, for bytes that cannot be of this limit.
bool read_adaptive(Reader& in, Limit& limit, AdaptiveState& state);

}  // namespace weir::algorithms
