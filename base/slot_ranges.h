// Ranges of hash slots, as texts and records name them.
//
// Several are in order when each begins after the one before has ended with a slot in between, so
// that one set of slots has one form.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

inline constexpr int kHashSlots = 16384;

struct SlotRange {
  int first = 0;
  int last = 0;  // included
  bool operator==(const SlotRange&) const = default;
};
using SlotRanges = std::vector<SlotRange>;

inline SlotRanges all_slots() { return {{0, kHashSlots - 1}}; }

// Tells whether all are ranges of hash slots, and in order. No range is in order too.
bool are_in_order(const SlotRanges& ranges);
// REQUIRES: are_in_order(ranges).
bool has_slot(const SlotRanges& ranges, int slot);
bool has_all_slots(const SlotRanges& ranges);

// "0-99 200-200", or "none".
std::string slot_ranges_text(const SlotRanges& ranges);
// Reads "first-last": whole numbers without a sign or zeros before them, within 0 and 16383.
std::optional<SlotRange> parse_slot_range(std::string_view text);
// Reads exactly what slot_ranges_text() writes of ranges in order.
std::optional<SlotRanges> parse_slot_ranges(std::string_view text);

}  // namespace weir
