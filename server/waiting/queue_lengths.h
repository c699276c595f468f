// How long the queues are, so that the longest is known at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weir::server {

class QueueLengths {
 public:
  // A queue's length has changed; one of 0 is no queue. Constant time, but for the fall of the
  // longest one by as much as it has fallen.
  void note(size_t before, size_t now) {
    if (before == now) return;
    if (queues_of_.size() <= now) queues_of_.resize(now + 1);
    if (before != 0) --queues_of_[before];
    if (now != 0) ++queues_of_[now];
    longest_ = std::max(longest_, now);
    while (longest_ != 0 && queues_of_[longest_] == 0) --longest_;
  }
  size_t longest() const { return longest_; }

 private:
  std::vector<size_t> queues_of_;  // by their length
  size_t longest_ = 0;
};

}  // namespace weir::server
