// BAN: a limit that denies too often bans its key for a while.
//
//     BAN 10m AFTER 3 WITHIN 1m
//
//     denied      x        x   x                    n denials later than t - w, the one at t among
//     ------------+--------+---+===================> them: banned from t to t + d, which is over
//                 |<-- w --|-->| t         t + d    at t + d
//
// A ban forgets the denials that led to it: after its end it takes n new ones. The instants of the
// last denials are kept, so the window slides exactly; that is why n is small.
//
// It must not know what a denial is, nor when it counts: the caller tells.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/limit.h"

namespace weir::algorithms {

inline constexpr int64_t kBanAfterMax = 64;

struct BanState {
  int64_t until_ns = 0;               // a ban runs before this instant
  std::vector<int64_t> denials = {};  // instants, rising; fewer than Ban::after

  bool empty() const { return until_ns == 0 && denials.empty(); }
  friend bool operator==(const BanState&, const BanState&) = default;
};

// Answers how long the ban still runs; 0: there is none.
int64_t ban_rest(const BanState& state, int64_t now_ns);
// Counts a denial; tells whether it begins a ban. REQUIRES: ban.is_set(), and no ban runs.
bool count_denial(const Ban& ban, BanState& state, int64_t now_ns);
// Answers the first instant at which forgetting the state changes nothing.
int64_t ban_expires_at_ns(const Ban& ban, const BanState& state);
// Forgets what does not count under the rule of now: denials if there is none, or more than it
// counts. A ban that runs goes on.
void follow_ban(const Ban& ban, BanState& state, int64_t now_ns);

// Tells whether the words begin with BAN.
bool begins_ban(std::span<const std::string_view> words);
// Reads "BAN d AFTER n WITHIN w", kBanWords words. REQUIRES: begins_ban(words).
inline constexpr size_t kBanWords = 6;
Result<Ban, RangeError> parse_ban(std::span<const std::string_view> words);
// Writes the same; empty if there is no rule.
std::string format_ban(const Ban& ban);

}  // namespace weir::algorithms
