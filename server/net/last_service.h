// How long a process that is to end serves on.
#pragma once

#include <utility>

#include "server/core/shard/membership.h"

namespace weir::server {

class LastService {
 public:
  // Tells the member that its process is to end, once, and answers whether it serves until a
  // standby follows. `member` is null for a server alone, which does not.
  bool goes_on(Membership* member) {
    if (member == nullptr) return false;
    if (!std::exchange(is_told_, true)) member->begin_to_leave();
    return member->serves() && !member->has_left();
  }

 private:
  bool is_told_ = false;
};

}  // namespace weir::server
