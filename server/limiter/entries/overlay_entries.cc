#include "server/limiter/entries/overlay_entries.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace weir::server {
namespace {

using algorithms::LogEntry;

bool before(const LogEntry& a, const LogEntry& b) {
  return std::tie(a.at_ns, a.id) < std::tie(b.at_ns, b.id);
}

// The first index in [low, high) of which `is_reached` is true; high if there is none. REQUIRES: it
// stays true from there on.
template <typename Predicate>
size_t first_index(size_t low, size_t high, Predicate is_reached) {
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (is_reached(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace

OverlayEntries::Changes::const_iterator OverlayEntries::place_in(const Changes& changes,
                                                                 const LogEntry& entry) {
  return std::lower_bound(
      changes.begin(), changes.end(), entry,
      [](const Change& change, const LogEntry& of) { return before(change.entry, of); });
}

void OverlayEntries::insert(Changes* changes, const Change& change) {
  changes->insert(place_in(*changes, change.entry), change);
}

size_t OverlayEntries::base_rank_of(const LogEntry& entry) const {
  if (base_ == nullptr) return 0;
  const bool is_last = entry.at_ns == std::numeric_limits<int64_t>::max();
  return first_index(base_->lower_bound(entry.at_ns),
                     is_last ? base_->size() : base_->lower_bound(entry.at_ns + 1),
                     [&](size_t rank) { return !before(base_->entry(rank), entry); });
}

bool OverlayEntries::is_hidden(const LogEntry& entry) const {
  const auto place = place_in(hidden_, entry);
  return place != hidden_.end() && place->entry.id == entry.id;
}

size_t OverlayEntries::size() const {
  const size_t below = base_ == nullptr ? 0 : base_->size();
  return below - std::min(below, hidden_.size()) + added_.size();
}

size_t OverlayEntries::rank_of_added(size_t index) const {
  const auto hidden = place_in(hidden_, added_[index].entry) - hidden_.begin();
  return index + added_[index].base_rank - static_cast<size_t>(hidden);
}

// Answers the base's entry before which there are `number` that are not hidden.
LogEntry OverlayEntries::visible_entry_of_base(size_t number) const {
  const size_t hidden = first_index(
      0, hidden_.size(), [&](size_t index) { return hidden_[index].base_rank - index > number; });
  const size_t rank = number + hidden;
  return base_ != nullptr && rank < base_->size() ? base_->entry(rank) : LogEntry();
}

LogEntry OverlayEntries::entry(size_t rank) const {
  const size_t added =
      first_index(0, added_.size(), [&](size_t index) { return rank_of_added(index) >= rank; });
  if (added < added_.size() && rank_of_added(added) == rank) return added_[added].entry;
  return visible_entry_of_base(rank - added);
}

std::optional<LogEntry> OverlayEntries::find(int64_t id) const {
  if (const auto found = added_at_.find(id); found != added_at_.end()) {
    return place_in(added_, {.id = id, .at_ns = found->second})->entry;
  }
  const auto below = base_ == nullptr ? std::nullopt : base_->find(id);
  return below && !is_hidden(*below) ? below : std::nullopt;
}

size_t OverlayEntries::lower_bound(int64_t at_ns) const {
  const LogEntry first{.id = std::numeric_limits<int64_t>::min(), .at_ns = at_ns};
  const size_t below = base_ == nullptr ? 0 : base_->lower_bound(at_ns);
  const auto hidden = static_cast<size_t>(place_in(hidden_, first) - hidden_.begin());
  const auto added = static_cast<size_t>(place_in(added_, first) - added_.begin());
  return below - std::min(below, hidden) + added;
}

void OverlayEntries::put(const LogEntry& entry) {
  erase(entry.id);
  insert(&added_, {.entry = entry, .base_rank = base_rank_of(entry)});
  added_at_[entry.id] = entry.at_ns;
}

void OverlayEntries::erase(int64_t id) {
  if (const auto found = added_at_.find(id); found != added_at_.end()) {
    added_.erase(place_in(added_, {.id = id, .at_ns = found->second}));
    added_at_.erase(found);
    return;
  }
  const auto below = base_ == nullptr ? std::nullopt : base_->find(id);
  if (!below || is_hidden(*below)) return;
  insert(&hidden_, {.entry = *below, .base_rank = base_rank_of(*below)});
}

}  // namespace weir::server
