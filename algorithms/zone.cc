#include "algorithms/zone.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"

namespace weir::algorithms {
namespace {

bool can_be_table(const std::vector<Zone::Range>& ranges) {
  const auto falls = [](const Zone::Range& a, const Zone::Range& b) {
    return a.from_s >= b.from_s;
  };
  const auto too_far = [](const Zone::Range& range) {
    return range.offset_s < -kZoneOffsetSMax || range.offset_s > kZoneOffsetSMax;
  };
  return !ranges.empty() && std::ranges::adjacent_find(ranges, falls) == ranges.end() &&
         std::ranges::none_of(ranges, too_far);
}

}  // namespace

bool is_zone_name(std::string_view text) {
  return !text.empty() && text.size() <= kZoneNameBytesMax && std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '+' || c == '-' || c == '/';
  });
}

Zone::Zone(std::string name, std::vector<Range> ranges, int64_t standard_s)
    : name_(std::move(name)), ranges_(std::move(ranges)), standard_s_(standard_s) {
  WEIR_REQUIRE(is_zone_name(name_) && can_be_table(ranges_));
}

Zone::Zone(std::string name) : Zone(std::move(name), {{0, 0}}, 0) { known_ = false; }

std::vector<Zone::Range>::const_iterator Zone::range_at(int64_t at_s) const {
  const auto after = std::upper_bound(
      ranges_.begin(), ranges_.end(), at_s,
      [](int64_t instant_s, const Range& range) { return instant_s < range.from_s; });
  return after == ranges_.begin() ? after : after - 1;
}

int64_t Zone::offset_s(int64_t at_s) const { return range_at(at_s)->offset_s; }

// No offset is larger than kZoneOffsetSMax, so no range before that of the earliest instant shows
// `local_s`. From there on it is a range or two: the search ends at the first that does.
int64_t Zone::first_s(int64_t local_s) const {
  auto range = range_at(local_s - kZoneOffsetSMax);
  while (range + 1 != ranges_.end() && local_s - range->offset_s >= (range + 1)->from_s) ++range;
  const int64_t shown_s = local_s - range->offset_s;
  return range == ranges_.begin() ? shown_s : std::max(range->from_s, shown_s);
}

}  // namespace weir::algorithms
