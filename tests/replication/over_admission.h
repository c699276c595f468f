// Invariant I4: what primaries granted stays within the bound that users are told.
//
// A limit gives b permits at once and r per second to a key. In any window of T seconds
//     granted <= b + r T + F (b + r M)
// where F is the number of promotions that had let takes out early (M: for how long) which were
// never committed; and with U set, each such promotion lost at most U permits of all keys. T is
// looked at twice: as it really passed between the decisions, and by their instants.
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

  struct Origin {
    uint64_t promotion = 0;
    uint64_t turn = 0;
    int64_t decided_ns = 0;  // really
    bool early = false;
  };

  // The reply of a turn that took permits left a primary, once.
  void granted(const Origin& origin, const std::string& bytes);
  // Instants go on at some wall clock, which may be ahead: all limits may be full then.
  void claimed_cold() { ++cold_claims_; }
  // Throws a Violation. `chain` is what was committed in the end.
  Result check(const Chain& chain, int64_t age_ns_max, uint64_t permits_max) const;

 private:
  struct Grant {
    Origin origin;
    uint64_t content = 0;  // checksum
    Take take;
    int64_t at_ns = 0;  // on the axis that is looked at
    int64_t instant_ns = 0;
    bool lost = false;
  };

  // `more_ns` is what a key may get more in any window, in the time that gives it.
  static void check_key(std::vector<Grant> grants, int64_t lost_max_ns, int64_t more_ns,
                        Result* result);

  std::vector<Grant> grants_;
  int64_t cold_claims_ = 0;
};

}  // namespace weir::storage::replication
