#include "server/limiter/take/limiters.h"

#include <algorithm>

#include "algorithms/algorithm.h"
#include "base/check.h"
#include "server/report/metrics.h"

namespace weir::server {

Limiters::Limiters(storage::Keyspace* keys, Waiting* waits, WorkMeter* work,
                   const storage::HashSeed& seed, size_t top_keys)
    : waiting(*waits),
      policies(keys, work, &zones),
      versions(keys),
      settings(keys, &versions),
      ids(seed),
      top(top_keys) {
  WEIR_CHECK(std::ranges::all_of(algorithms::all_algorithms(), [](const auto* algorithm) {
    return algorithm->id < VerdictCounts::kAlgorithmIdsMax;
  }));
}

void write_metrics(const Limiters& limiters, MetricWriter& out) {
  const VerdictCounts& verdicts = limiters.verdicts;
  const uint64_t allowed = verdicts.of(Outcome::kAllowed);
  const uint64_t denied = verdicts.of(Outcome::kDenied);
  out.counter({"verdicts", "Verdicts of limits, without those of SHADOW."}, allowed + denied);
  out.counter({"allowed", "Verdicts that allowed."}, allowed);
  out.counter({"denied", "Verdicts that denied."}, denied);
  out.counter({"banned", "Those of the denied that were answered with a ban."},
              verdicts.of(Outcome::kBanned));
  out.counter({"shadow_allowed", "Verdicts with SHADOW that would have allowed anyway."},
              verdicts.of(Outcome::kShadowAllowed));
  out.counter({"shadow_denied", "Verdicts with SHADOW that would have denied."},
              verdicts.of(Outcome::kShadowDenied));
  out.counter({"repeated_ids", "Requests that came again with their ID, and charged nothing."},
              verdicts.repeated());
  out.counter({"bans", "Bans of keys that have begun."}, verdicts.bans());
  out.text({"limiting", "Whether limiters deny."}, limiting_name(limiters.limiting));
}

}  // namespace weir::server
