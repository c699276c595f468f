#include "server/limiter/counts/top_summary.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace weir::server {
namespace {

bool is_heavier(const TopKey& a, const TopKey& b) {
  return std::tie(b.count, a.database, a.key) < std::tie(a.count, b.database, b.key);
}

}  // namespace

void TopSummary::merge(const TopSummary& other, size_t capacity) {
  if (other.empty()) return;  // as of most of the time in which nobody asks
  std::unordered_map<uint64_t, size_t> places;
  places.reserve(keys_.size());
  for (size_t i = 0; i < keys_.size(); ++i) places.emplace(keys_[i].hash, i);
  const auto known = static_cast<int64_t>(keys_.size());
  std::vector<bool> is_common(keys_.size());
  for (const TopKey& key : other.keys_) {
    const auto place = places.find(key.hash);
    if (place == places.end()) {
      keys_.push_back(key);
      keys_.back().count = saturated_sum(key.count, floor_);
      keys_.back().error = saturated_sum(key.error, floor_);
      continue;
    }
    TopKey& common = keys_[place->second];
    common.count = saturated_sum(common.count, key.count);
    common.error = saturated_sum(common.error, key.error);
    is_common[place->second] = true;
  }
  for (int64_t i = 0; i < known; ++i) {
    TopKey& key = keys_[static_cast<size_t>(i)];
    if (is_common[static_cast<size_t>(i)]) continue;
    key.count = saturated_sum(key.count, other.floor_);
    key.error = saturated_sum(key.error, other.floor_);
  }
  floor_ = saturated_sum(floor_, other.floor_);
  if (keys_.size() <= capacity) return;
  const auto heaviest_dropped = keys_.begin() + static_cast<std::ptrdiff_t>(capacity);
  std::nth_element(keys_.begin(), heaviest_dropped, keys_.end(), is_heavier);
  floor_ = std::max(floor_, heaviest_dropped->count);
  keys_.resize(capacity);
}

void TopSummary::sort() { std::sort(keys_.begin(), keys_.end(), is_heavier); }

}  // namespace weir::server
