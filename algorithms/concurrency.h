// CONCURRENCY: so many permits at once, each lent for a while. The head of concurrency.cc has the
// design.
//
// In its limit count = n and period_ns = the lease; count / period is no rate. A request that takes
// permits carries the id of the lease that it makes.
//
// Its Entries hold leases (id > 0: expiry, permits) and, if there are many leases, sums (id < 0);
// see lease_book.h.
#pragma once

#include "algorithms/algorithm.h"

namespace weir::algorithms {

extern const Algorithm algorithm_concurrency;

inline constexpr int64_t kLeasesMax = 1'000'000;

struct LeaseUse {
  int64_t id = 0;
  int64_t now_ns = 0;
};

// Gives a lease back and answers its permits. 0, and nothing changed, if it is unknown or has
// expired.
int64_t release_lease(State& state, Entries& entries, const LeaseUse& use);

// Makes a lease last a whole period from now, never less than it would have lasted, and answers its
// permits. 0, and nothing changed, if it is unknown or has expired.
int64_t renew_lease(const Limit& limit, State& state, Entries& entries, const LeaseUse& use);

}  // namespace weir::algorithms
