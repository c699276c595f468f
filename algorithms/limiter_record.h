// A limiter as bytes: one or more limits, each with its parameters and its state.
//
//     record := varint(limits + 32 * flags) [varint(named)] [varint(policy_version)]
//               [varint(changes)] [varint(policy)...] limit... [bans] [low water...]
//               1 to 16 limits; flag 1: `named` follows, 2: `policy_version` follows, 4: bookings,
//               8: holds, 16: bans follow the last limit, 32: `changes` follows, and the low water
//               of each limit at the end; beside bookings and holds always, save in records of
//               versions that did not count changes; 64: `policy` follows for each limit
//     policy := the tag of the policy whose limit it is, 0: of none, or not known
//     limit  := byte(algorithm id) varint(count) period varint(capacity) option... state
//             | byte(algorithm id + 128) varint(count) period varint(capacity) option... adaptive
//               state         count and capacity are the present ones
//     period := varint(value * 4 + unit)      unit 0 ns, 1 us, 2 ms, 3 s; the largest that is whole
//     option := varint(zigzag)                as many as the algorithm uses; after FIXED's, if they
//               say so (fixed_grammar.h): varint(bytes) name of a time zone
//     state  := the algorithm's own (GCRA: fixed64(tat_ns), varint(remainder) if count > 1 after
//               reduction to lowest terms)
//               TOKENBUCKET, LEAKY: fixed64(at_ns) zigzag(permits) [varint(remainder)]: permits
//               left, or in the funnel; the remainder counts 1/period permits, with the period
//               reduced, and is left out if that is 1 ns
//               TOKENBUCKET with INTERVAL: fixed64(last refill ns) zigzag(permits)
//               BURSTY: fixed64(next_free_ns) zigzag(permits) [varint(remainder)]
//               FIXED: varint(used) fixed64(start of the window, by the wall clock unless ALIGN
//               FIRST, and by the zone's local time if it has one); where instants had a lead over
//               the wall clock: fixed64(start xor 2^63) zigzag(lead)
//
//               WARMUP: fixed64(next_free_ns) fixed64(bits of a double, the permits stored)
//
//     adaptive := varint(start) varint(min) varint(max) varint(capacity as given, 0: the count)
//               varint(slow ns) varint(begin of the round ns) varint(taken in it)
//               varint(last lowered ns) varint(last written ns) varint(last report ns)
//               varint(its latency in ns + 1, 0: none) byte(1: the round has failures, 2: the last
//               report was one, 4: the count is the policy's)                       adaptive.h
//     bans   := varint(n) n x { varint(index of the limit, rising) rule varint(until_ns)
//               varint(denials) [varint(first denial ns) varint(ns from the one before)...] }
//     rule   := varint(0)  |  varint(after) varint(for_ns) varint(within_ns)
//     low water := varint(n) n x { varint(change) varint(permits) }, n <= 8      low_water.h
//
// CL.THROTTLE key 15 30 60 on a new key at 1700000000 s is 14 bytes:
//     01 | 01  1e  f3 01  10 | 00 94 5f ad fe 9c 97 17
//     one limit; GCRA, 30, 60 s, capacity 16; full again two seconds later
//
// It must not hold the key, its expiry or a format version: the storage envelope has those.
// DO NOT CHANGE what is written; it is on disk. Bytes that cannot be a record are an error value.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "algorithms/adaptive.h"
#include "algorithms/algorithm.h"
#include "algorithms/ban.h"
#include "algorithms/low_water.h"
#include "algorithms/zone.h"

namespace weir::algorithms {

inline constexpr size_t kLimitsMax = 16;
// More changes than any key lives to see: what claims more is forged.
inline constexpr uint64_t kChangesMax = uint64_t{1} << 60;
// The most bytes that a record of one limit takes.
inline constexpr size_t kLimiterRecordBytesMax =
    1 + 1 + 5 * 10 + (1 + kZoneNameBytesMax) + kStateBytesMax;

// A policy's tag, a hash of its name, is above 0 and below this.
inline constexpr uint32_t kPolicyTags = 1 << 21;

struct LimitState {
  Limit limit;
  State state;
  BanState ban = {};
  AdaptiveState adaptive = {};
  LowWater low_water = {};
  uint32_t policy = 0;  // the tag of that whose limit it is; 0: of none, or not known
};

// The fields of a record before its limits.
struct RecordHead {
  size_t limits = 0;
  size_t named = 0;             // how many, from the front, the last request named; the
                                // others are kept until they are full
  uint64_t policy_version = 0;  // the newest version of a policy that it has followed; 0: none
  bool bookings = false;        // the limiter has a list of bookings beside its entries
  bool holds = false;           // and one of holds
  // How often it has changed since it has bookings or holds; nothing: that was not counted.
  std::optional<uint64_t> changes = std::nullopt;

  friend bool operator==(const RecordHead&, const RecordHead&) = default;
};

enum class RecordError : uint8_t {
  kTruncated,
  kTooManyLimits,  // none, more than kLimitsMax, or more than the caller has room for
  kBadHead,        // unknown flags, or no or too many named limits
  kUnknownAlgorithm,
  kBadLimit,  // parameters outside the ranges
  kUnknownZone,
  kBadState,
  kBadBans,
  kBadAdaptive,
  kBadLowWater,
  kTrailingBytes,
};
std::string_view describe(RecordError error);

// Appends a record to `out`; head.limits is limits.size(). REQUIRES: 1 <= head.named <=
// limits.size() <= kLimitsMax.
void append_record(const RecordHead& head, std::span<const LimitState> limits, std::string& out);
// Writes over `out` a record of limits that are all named, and nothing else.
void write_record(std::span<const LimitState> limits, std::string& out);

// Answers of how many limits a record tells, at most kLimitsMax: so many places read_record()
// needs.
size_t limits_in_record(std::string_view record);
// Reads a record and fills `out` from its front. `out` is unspecified on error. Without `zones`
// none is known.
Result<RecordHead, RecordError> read_record(std::string_view record, std::span<LimitState> out,
                                            const Zones* zones = nullptr);

// The hot case: writes one limit without allocating, at most kLimiterRecordBytesMax bytes; answers
// how many.
size_t write_single(const Limit& limit, const State& state, char* out);
// True if the record is one limit written with exactly these parameters; then `state` is its state.
// False says nothing about the record: ask read_record().
bool read_single(std::string_view record, const Limit& limit, State& state);

// The same for a few limits that are all named, with what the record says of them beside their
// states. `policies`: their tags, as LimitState has them.
inline constexpr size_t kFewLimitsMax = 4;
struct FewLimits {
  std::span<const Limit> limits = {};  // at least one, at most kFewLimitsMax
  std::array<uint32_t, kFewLimitsMax> policies = {};
  uint64_t policy_version = 0;
};
inline constexpr size_t kFewRecordBytesMax = kFewLimitsMax * (kLimiterRecordBytesMax + 10);
// Writes one state for each limit.
size_t write_few(const FewLimits& few, std::span<const State> states, char* out);
bool read_few(std::string_view record, const FewLimits& few, std::span<State> states);

// Answers the first millisecond since the epoch at which the whole limiter may be forgotten; kNever
// if none.
int64_t expires_at_ms(std::span<const LimitState> limits);

}  // namespace weir::algorithms
