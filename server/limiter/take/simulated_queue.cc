#include "server/limiter/take/simulated_queue.h"

#include <algorithm>

#include "base/heap_bytes.h"

namespace weir::server {
namespace {

using algorithms::Limit;

// A denial names a wait after which the next try succeeds, unless several limits deny in turn.
constexpr int kTriesMax = 64;

// Tells how many limits before this one are equal to it.
size_t number_of(std::span<const Limit> limits, size_t index) {
  const auto end = limits.begin() + static_cast<std::ptrdiff_t>(index);
  return static_cast<size_t>(std::count_if(limits.begin(), end, [&](const Limit& other) {
    return algorithms::same_limit(other, limits[index]);
  }));
}

}  // namespace

SimulatedQueue::SimulatedQueue(Call& call, Limiter& limiter)
    : at_ns_(call.now_ns), wall_(&call.wall()) {
  for (const HeldLimit& held : limiter.all()) {
    copies_.push_back({.limit = held.limit, .state = held.state, .list = held.list});
  }
  attach(call);
}

void SimulatedQueue::attach(Call& call) {
  for (Copy& copy : copies_) {
    if (copy.list == 0) continue;
    copy.stored = std::make_unique<StoredEntries>(call, copy.list);
    copy.entries.set_base(copy.stored.get());
  }
}

size_t SimulatedQueue::memory_bytes(size_t limits) {
  constexpr size_t kDequeBytes = block_bytes(64) + block_bytes(512);
  constexpr size_t kChangeBytes = 128;  // what one request changes of a limit's entries
  return block_bytes(sizeof(SimulatedQueue)) + kDequeBytes +
         limits * (sizeof(Copy) + sizeof(algorithms::Guard) + kChangeBytes);
}

bool SimulatedQueue::has_entries() const {
  return std::any_of(copies_.begin(), copies_.end(),
                     [](const Copy& copy) { return copy.limit.algorithm->uses_entries; });
}

SimulatedQueue::Copy& SimulatedQueue::copy_of(const Limit& limit, size_t number) {
  for (Copy& copy : copies_) {
    if (algorithms::same_limit(copy.limit, limit) && number-- == 0) return copy;
  }
  Copy& copy = new_copy();
  copy = {.limit = limit, .state = algorithms::fresh_state(limit, at_ns_)};
  return copy;
}

SimulatedQueue::Copy& SimulatedQueue::new_copy() {
  if (copies_.size() < kCopiesMax) return copies_.emplace_back();
  for (;;) {
    Copy& oldest = copies_[given_up_++ % copies_.size()];
    const auto is_its = [&](const algorithms::Guard& guard) {
      return guard.limit == &oldest.limit;
    };
    if (std::ranges::none_of(guards_, is_its)) return oldest;
  }
}

// Makes a guard of each limit of the request. Most often those of the request before will do.
void SimulatedQueue::name(const DecidingPart& request) {
  const auto& limits = request.limits;
  const bool is_named =
      std::ranges::equal(guards_, limits, [](const algorithms::Guard& guard, const Limit& limit) {
        return algorithms::same_limit(*guard.limit, limit);
      });
  if (!is_named) guards_.assign(limits.size(), {});
  for (size_t i = 0; i < limits.size(); ++i) {
    if (!is_named) {
      Copy& copy = copy_of(limits[i], number_of(limits, i));
      const bool has_entries = copy.limit.algorithm->uses_entries;
      guards_[i] = {.limit = &copy.limit,
                    .state = &copy.state,
                    .entries = has_entries ? &copy.entries : nullptr};
    }
    guards_[i].cost = request.cost(i);
  }
}

size_t SimulatedQueue::join(const DecidingPart& request, int64_t now_ns) {
  at_ns_ = std::max(at_ns_, now_ns);
  name(request);
  return take().looks;
}

// The look is a simulated queue of its own, over this one.
SimulatedQueue::Place SimulatedQueue::look(const DecidingPart& request, int64_t now_ns) const {
  SimulatedQueue over;
  over.at_ns_ = std::max(at_ns_, now_ns);
  over.wall_ = wall_;
  over.next_lease_ = next_lease_;
  for (const Copy& copy : copies_) {
    over.copies_.push_back(
        {.limit = copy.limit, .state = copy.state, .entries = OverlayEntries(&copy.entries)});
  }
  over.name(request);
  std::vector<int64_t> full_at_ns;
  for (const auto& guard : over.guards_) {
    const auto verdict = algorithms::peek(
        *guard.limit, *guard.state,
        {.now_ns = over.at_ns_, .cost = 0, .entries = guard.entries, .wall = wall_});
    full_at_ns.push_back(verdict.reset_after_ns == algorithms::kNever
                             ? algorithms::kNever
                             : over.at_ns_ + verdict.reset_after_ns);
  }
  Place place = over.take();
  place.full_at_ns = full_at_ns[place.index];
  place.looks += full_at_ns.size();
  return place;
}

// Lets the request that was named take as soon as it can.
SimulatedQueue::Place SimulatedQueue::take() {
  Place place;
  size_t looks = 0;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    looks += guards_.size();
    const auto all =
        algorithms::take_all(guards_, {.now_ns = at_ns_, .lease_id = next_lease_, .wall = wall_});
    place = {.at_ns = at_ns_,
             .verdict = guards_[all.deciding].verdict,
             .index = all.deciding,
             .algorithm = guards_[all.deciding].limit->algorithm,
             .looks = looks};
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
