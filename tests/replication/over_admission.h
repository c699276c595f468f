// Invariant I4: what owners granted stays within the bound that users are told.
//
// A limit gives b permits at once and r per second to a key. In any window of T seconds
//     granted <= b + r T + F (b + r M)
// where F is the number of offices that had let takes out early (M: for how long) which were never
// committed; and with U set, each such office lost at most U permits of all keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/replication/chain.h"
#include "tests/replication/limits.h"

namespace weir::storage::replication {

class OverAdmission {
 public:
  struct Result {
    uint64_t takes = 0;
    uint64_t early = 0;      // of them left early
    uint64_t lost = 0;       // ... and were never committed
    uint64_t keys_over = 0;  // that got more than b + r T in some window
    uint64_t windows = 0;    // that were looked at
  };

  // The reply of a turn that took permits left an owner, once.
  void granted(uint64_t office, uint64_t turn, const std::string& bytes, bool early);
  // Throws a Violation. `chain` is what was committed in the end.
  Result check(const Chain& chain, int64_t age_ns_max, uint64_t permits_max) const;

 private:
  struct Grant {
    uint64_t office = 0;
    uint64_t turn = 0;
    uint64_t content = 0;  // checksum
    Take take;
    int64_t instant_ns = 0;
    bool early = false;
    bool lost = false;
  };

  static void check_key(const std::vector<Grant>& grants, int64_t age_ns_max, Result* result);

  std::vector<Grant> grants_;
};

}  // namespace weir::storage::replication
