// The budget of replies that leave before their turn is committed: which of them may, so that the
// bound that users are told holds (docs/failover.md: each key may get its limit at most once more).
//
// A limit gives b permits at once and r per second to a key. The takes that leave early and are
// then lost with the demotion lie on one history of one primary, within `age_ns_max` (M) of one
// another, so they are at most b + r M of a key, and at most `permits_max` (U) of all keys.
// Whether the role allows it at all is Member::may_release_early().
//
// The age is that of the oldest reply that left early and is not committed. A log slower than the
// primary still acknowledges, while its backlog grows older; even then the lost takes lie close
// together.
//
// Counting the age is stricter than the bound needs, as simulations show. With it the bound follows
// without a look at how long the primary's backlog is.
//
// A sealed turn has been given its number and bytes by the primary, and is not yet committed.
// Instants (`..._boot_ns`) are of CLOCK_BOOTTIME.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace weir::storage::replication {

struct EarlyOptions {
  int64_t age_ns_max = 0;    // M; 0: nothing leaves early
  uint64_t permits_max = 0;  // U; 0: no bound
  size_t uncommitted_bytes_max = SIZE_MAX;
};

class EarlyReleases {
 public:
  explicit EarlyReleases(const EarlyOptions& options) : options_(options) {}

  // Whether the reply of a take of so many permits may leave, `uncommitted_bytes` being sealed.
  bool allows(uint64_t permits, size_t uncommitted_bytes, int64_t boot_ns) const;
  // It leaves. REQUIRES: allows(), and turns come in order.
  void released(uint64_t turn, uint64_t permits, int64_t sealed_boot_ns);
  // All turns up to this one are committed.
  void committed(uint64_t turn);
  // A demotion, which loses what was not committed. Answers how many permits that were.
  uint64_t lose();

  uint64_t permits() const { return permits_; }  // that left and are not committed

 private:
  struct Released {
    uint64_t turn = 0;
    uint64_t permits = 0;
    int64_t sealed_boot_ns = 0;
  };

  const EarlyOptions options_;
  std::deque<Released> released_;
  uint64_t permits_ = 0;
};

}  // namespace weir::storage::replication
