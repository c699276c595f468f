// What all limiters share: named policies, parsed requests, ids, the heaviest keys, counts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/limiter/booking_ages.h"
#include "server/limiter/policies.h"
#include "server/limiter/random_ids.h"
#include "server/limiter/request_cache.h"
#include "server/limiter/top_keys.h"
#include "server/limiter/unique_ids.h"

namespace weir::server {

class FigureWriter;
class Waiting;

struct Limiters {
  Limiters(storage::Keyspace* keys, Waiting* waits, WorkMeter* work, const storage::HashSeed& seed,
           size_t top_keys)
      : waiting(*waits),
        policies(keys, work),
        versions(keys),
        ids(seed),
        top_denied(top_keys),
        top_taken(top_keys) {}

  Waiting& waiting;
  Policies policies;
  RequestCache requests;
  UniqueIds versions;  // the versions of policies
  RandomIds ids;       // the ids of leases and bookings
  BookingAges ages;    // of bookings that RL.CANCEL has looked for
  TopKeys top_denied;
  TopKeys top_taken;
  uint64_t allowed = 0;  // verdicts since the statistics were reset
  uint64_t denied = 0;
};

void write_figures(const Limiters& limiters, FigureWriter& out);

}  // namespace weir::server
