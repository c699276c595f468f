// The tail of a queue: what a limiter will be like when all in its queue have been served, and when
// that will be. It is a simulation on copies, from which a newcomer learns its place without
// walking the queue.
//
// It must not change the key. An event out of turn (a refund, a client that leaves the middle of
// the queue) makes it stale; the code that notices such an event throws it away.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "server/limiter/limiter.h"
#include "server/limiter/request.h"

namespace weir::server {

class CopiedEntries : public algorithms::Entries {
 public:
  CopiedEntries() = default;
  explicit CopiedEntries(const algorithms::Entries& from);

  size_t size() const override { return sorted_.size(); }
  algorithms::LogEntry entry(size_t rank) const override { return sorted_[rank]; }
  std::optional<algorithms::LogEntry> find(int64_t id) const override;
  size_t lower_bound(int64_t at_ns) const override;
  void put(const algorithms::LogEntry& entry) override;
  void erase(int64_t id) override;

 private:
  using Sorted = std::vector<algorithms::LogEntry>;
  Sorted::const_iterator place_of(const algorithms::LogEntry& entry) const;

  Sorted sorted_;
  std::unordered_map<int64_t, int64_t> at_;  // by id
};

class QueueTail {
 public:
  // Begins with the limiter as it is now, and an empty queue.
  QueueTail(Limiter& limiter, int64_t now_ns);

  struct Place {
    int64_t at_ns = 0;       // when the request will have been served; kNever
    int64_t full_at_ns = 0;  // when the deciding limit would be full without it; kNever
    algorithms::Verdict verdict;
    size_t index = 0;
  };
  // Adds one more request, with these limits.
  Place join(const std::vector<algorithms::Limit>& limits, const LimiterRequest& request,
             int64_t now_ns);

 private:
  struct Copy {
    algorithms::Limit limit;
    algorithms::State state;
    CopiedEntries entries;
  };
  // The copy of a limit; `number` tells equal limits apart.
  Copy& copy_of(const algorithms::Limit& limit, size_t number);

  std::vector<Copy> copies_;
  int64_t at_ns_;
  int64_t next_lease_ = INT64_MAX / 2;
};

}  // namespace weir::server
