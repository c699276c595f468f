// What all limiters share: named policies, parsed requests, ids, the heaviest keys, counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "algorithms/gcra.h"
#include "server/config/config.h"
#include "server/limiter/counts/booking_ages.h"
#include "server/limiter/counts/callers.h"
#include "server/limiter/counts/random_ids.h"
#include "server/limiter/counts/takings.h"
#include "server/limiter/counts/top_windows.h"
#include "server/limiter/counts/unique_ids.h"
#include "server/limiter/counts/verdict_counts.h"
#include "server/limiter/policy/descriptor_rules.h"
#include "server/limiter/policy/policies.h"
#include "server/limiter/policy/request_cache.h"
#include "server/limiter/policy/settings_journal.h"
#include "server/os/time_zones.h"

namespace weir::server {

class MetricWriter;
class Waiting;

// The keys with the most denials, the most permits taken, and the most denials with SHADOW.
struct TopBoard {
  explicit TopBoard(size_t capacity) : denied(capacity), taken(capacity), shadow(capacity) {}
  void reset(size_t capacity) {
    for (TopWindows* windows : {&denied, &taken, &shadow}) windows->reset(capacity);
  }

  TopWindows denied;
  TopWindows taken;
  TopWindows shadow;
};

// The limit of the dialects' last request: that of the next one is most often the same, and making
// a limit takes a division or two.
struct LastThrottle {
  algorithms::ThrottleArgs rate;
  algorithms::Limit limit;  // without an algorithm: there was none
};

// In which take/remembered.cc puts together what is hashed, looked up or kept. They stay, so that
// the next time allocates nothing.
struct RememberedBuffers {
  std::string name;   // of a record
  std::string value;  // of one
  std::string words;  // the arguments
};

struct Limiters {
  Limiters(storage::Keyspace* keys, Waiting* waits, WorkMeter* work, const storage::HashSeed& seed,
           size_t top_keys);

  Waiting& waiting;
  TimeZones zones;
  Policies policies;
  std::shared_ptr<const DescriptorRules> descriptor_rules;  // null: no file of policies was read
  RequestCache requests{&zones.given()};
  UniqueIds versions;  // the versions of policies
  SettingsJournal settings;
  RandomIds ids;     // the ids of leases and bookings
  BookingAges ages;  // of bookings that RL.CANCEL has looked for
  TopBoard top;
  VerdictCounts verdicts;
  Callers callers;
  Takings takings;
  RememberedBuffers remembered;
  LastThrottle last_throttle;
  Limiting limiting = Limiting::kOn;
};

void write_metrics(const Limiters& limiters, MetricWriter& out);

}  // namespace weir::server
