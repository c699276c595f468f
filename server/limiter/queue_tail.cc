#include "server/limiter/queue_tail.h"

#include <algorithm>
#include <tuple>

#include "algorithms/take_all.h"

namespace weir::server {
namespace {

using algorithms::Limit;
using algorithms::LogEntry;

// A denial names a wait after which the next try succeeds, unless several limits deny in turn.
constexpr int kTriesMax = 64;

bool before(const LogEntry& a, const LogEntry& b) {
  return std::tie(a.at_ns, a.id) < std::tie(b.at_ns, b.id);
}

}  // namespace

CopiedEntries::CopiedEntries(const algorithms::Entries& from) {
  sorted_.reserve(from.size());
  for (size_t rank = 0; rank < from.size(); ++rank) {
    sorted_.push_back(from.entry(rank));
    at_.emplace(sorted_.back().id, sorted_.back().at_ns);
  }
}

CopiedEntries::Sorted::const_iterator CopiedEntries::place_of(const LogEntry& entry) const {
  return std::lower_bound(sorted_.begin(), sorted_.end(), entry, before);
}

std::optional<LogEntry> CopiedEntries::find(int64_t id) const {
  const auto found = at_.find(id);
  if (found == at_.end()) return std::nullopt;
  return *place_of({.id = id, .at_ns = found->second});
}

size_t CopiedEntries::lower_bound(int64_t at_ns) const {
  return static_cast<size_t>(place_of({.id = INT64_MIN, .at_ns = at_ns}) - sorted_.begin());
}

void CopiedEntries::put(const LogEntry& entry) {
  erase(entry.id);
  sorted_.insert(place_of(entry), entry);
  at_[entry.id] = entry.at_ns;
}

void CopiedEntries::erase(int64_t id) {
  const auto found = at_.find(id);
  if (found == at_.end()) return;
  sorted_.erase(place_of({.id = id, .at_ns = found->second}));
  at_.erase(found);
}

QueueTail::QueueTail(Limiter& limiter, int64_t now_ns) : at_ns_(now_ns) {
  for (const HeldLimit& held : limiter.all()) {
    const algorithms::Entries* entries = limiter.entries_of(held);
    copies_.push_back(
        {held.limit, held.state, entries == nullptr ? CopiedEntries() : CopiedEntries(*entries)});
  }
}

QueueTail::Copy& QueueTail::copy_of(const Limit& limit, size_t number) {
  for (Copy& copy : copies_) {
    if (algorithms::same_limit(copy.limit, limit) && number-- == 0) return copy;
  }
  return copies_.emplace_back(Copy{limit, algorithms::fresh_state(limit, at_ns_), {}});
}

QueueTail::Place QueueTail::join(const std::vector<Limit>& limits, const LimiterRequest& request,
                                 int64_t now_ns) {
  at_ns_ = std::max(at_ns_, now_ns);
  std::vector<algorithms::Guard> guards(limits.size());
  const auto number_of = [&limits](size_t i) {
    return static_cast<size_t>(std::count_if(
        limits.begin(), limits.begin() + static_cast<std::ptrdiff_t>(i),
        [&](const Limit& other) { return algorithms::same_limit(other, limits[i]); }));
  };
  // All copies are made first, so that none is added once pointers into the vector are taken.
  for (size_t i = 0; i < limits.size(); ++i) copy_of(limits[i], number_of(i));
  for (size_t i = 0; i < limits.size(); ++i) {
    Copy& copy = copy_of(limits[i], number_of(i));
    guards[i] = {.limit = &copy.limit,
                 .state = &copy.state,
                 .entries = copy.limit.algorithm->uses_entries ? &copy.entries : nullptr,
                 .cost = request.cost(i)};
  }
  std::vector<int64_t> full_at_ns;
  for (const auto& guard : guards) {
    const auto verdict = algorithms::peek(*guard.limit, *guard.state, at_ns_, 0, guard.entries);
    full_at_ns.push_back(verdict.reset_after_ns == algorithms::kNever
                             ? algorithms::kNever
                             : at_ns_ + verdict.reset_after_ns);
  }
  Place place;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    const auto all = algorithms::take_all(guards, {.now_ns = at_ns_, .lease_id = next_lease_});
    place = {.at_ns = at_ns_,
             .full_at_ns = full_at_ns[all.deciding],
             .verdict = guards[all.deciding].verdict,
             .index = all.deciding};
    if (all.allowed) {
      ++next_lease_;
      return place;
    }
    if (place.verdict.retry_after_ns == algorithms::kNever) break;
    at_ns_ += place.verdict.retry_after_ns;
  }
  place.at_ns = algorithms::kNever;
  return place;
}

}  // namespace weir::server
