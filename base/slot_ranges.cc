#include "base/slot_ranges.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"

namespace weir {
namespace {

constexpr std::string_view kNoSlots = "none";

std::optional<int> parse_slot(std::string_view text) {
  if (text.empty() || !is_digit(text[0]) || (text.size() > 1 && text[0] == '0'))
    return std::nullopt;
  int slot = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), slot);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || slot >= kHashSlots)
    return std::nullopt;
  return slot;
}

}  // namespace

bool are_in_order(const SlotRanges& ranges) {
  int next = 0;
  for (const SlotRange& range : ranges) {
    if (range.first < next || range.last < range.first || range.last >= kHashSlots) return false;
    next = range.last + 2;
  }
  return true;
}

bool has_slot(const SlotRanges& ranges, int slot) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), slot,
                       [](int wanted, const SlotRange& range) { return wanted < range.first; });
  return after != ranges.begin() && slot <= (after - 1)->last;
}

bool has_all_slots(const SlotRanges& ranges) {
  return ranges.size() == 1 && ranges[0] == SlotRange{0, kHashSlots - 1};
}

std::string slot_ranges_text(const SlotRanges& ranges) {
  std::string text;
  for (const SlotRange& range : ranges) {
    text += text.empty() ? "" : " ";
    text += std::to_string(range.first) + "-" + std::to_string(range.last);
  }
  return text.empty() ? std::string(kNoSlots) : text;
}

std::optional<SlotRange> parse_slot_range(std::string_view text) {
  const size_t dash = text.find('-');
  if (dash == text.npos) return std::nullopt;
  const auto first = parse_slot(text.substr(0, dash));
  const auto last = parse_slot(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return SlotRange{*first, *last};
}

std::optional<SlotRanges> parse_slot_ranges(std::string_view text) {
  SlotRanges ranges;
  for (std::string_view rest = text == kNoSlots ? "" : text; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    const auto range = parse_slot_range(word);
    if (!range) return std::nullopt;
    ranges.push_back(*range);
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  if (!are_in_order(ranges) || slot_ranges_text(ranges) != text) return std::nullopt;
  return ranges;
}

}  // namespace weir
