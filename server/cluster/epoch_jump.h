// How far the epoch of a topology's file may rise at once. No lower one is taken afterwards, so a
// slip of the hand would use up all epochs below it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace weir::server {

// From one end of a year to the other end of the next, where an epoch is a date as a number.
inline constexpr int64_t kEpochStepMax = 20'000;

// Tells whether the words of a line are "epoch N jump": however far it is, it is meant.
bool is_jump(const std::vector<std::string_view>& words);
// Tells whether a line of the file is so. REQUIRES: Topology::parse() has taken it.
bool says_jump(std::string_view text);

}  // namespace weir::server
