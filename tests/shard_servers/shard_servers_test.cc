// Whole servers of a shard under random faults: whatever happens, nothing that a client was told is
// forgotten, no limit is exceeded, and in the end one server serves and all have the same data.
// Where takes are told before the log has them, the bound holds that users are told (journal.h).
//
// WEIR_SERVER_SEEDS=300 makes it long, WEIR_SEED=n replays one.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/shard_servers/cluster.h"

namespace weir::server {
namespace {

constexpr uint64_t kSeeds = 12;

uint64_t number_of(const char* variable, uint64_t otherwise) {
  const char* given = std::getenv(variable);
  return given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
}

// The modes take turns: strict, the default for limiters, bounded, and bounded in permits.
MemberSettings settings_of(uint64_t seed) {
  MemberSettings settings;
  settings.trims = true;
  const uint64_t mode = seed / 2 % 4;
  if (mode == 0) return settings;
  settings.replies.early_wait_ns = (mode == 1 ? 20 : mode == 2 ? 0 : 5) * kMs;
  settings.replies.early.age_ns_max = (mode == 3 ? 3 : 120) * kSecond;
  if (mode == 2) settings.append_interval_ns = 20 * kMs;
  if (mode == 3) settings.replies.early.permits_max = 4;
  return settings;
}

TEST(ShardServers, KeepWhatTheyHaveSaid) {
  const uint64_t one = number_of("WEIR_SEED", 0);
  const uint64_t first = one != 0 ? one : 1;
  const uint64_t last = one != 0 ? one : number_of("WEIR_SERVER_SEEDS", kSeeds);
  ShardCluster::Metrics sum;
  for (uint64_t seed = first; seed <= last && !HasFailure(); ++seed) {
    SCOPED_TRACE("replay with WEIR_SEED=" + std::to_string(seed));
    ShardCluster cluster(seed, 2 + seed % 2, settings_of(seed));
    cluster.run(60 * kSecond);
    cluster.be_quiet(40 * kSecond);
    if (HasFailure()) return;
    cluster.check();
    sum.acknowledged += cluster.metrics().acknowledged;
    sum.kills += cluster.metrics().kills;
    sum.closed += cluster.metrics().closed;
    sum.rejoins += cluster.metrics().rejoins;
    sum.rewinds += cluster.metrics().rewinds;
    sum.copies += cluster.metrics().copies;
    sum.trimmed += cluster.metrics().trimmed;
    sum.stops += cluster.metrics().stops;
    sum.away += cluster.metrics().away;
    sum.forgotten += cluster.metrics().forgotten;
  }
  std::printf(
      "%llu replies, %llu outcomes unknown, %llu kills, %llu failovers of the engine, %llu "
      "standbys that began anew, %llu that copied another's data, %llu records trimmed, %llu "
      "clean stops, %llu refused while the log was away, %llu "
      "permits forgotten\n",
      static_cast<unsigned long long>(sum.acknowledged),
      static_cast<unsigned long long>(sum.closed), static_cast<unsigned long long>(sum.kills),
      static_cast<unsigned long long>(sum.rewinds), static_cast<unsigned long long>(sum.rejoins),
      static_cast<unsigned long long>(sum.copies), static_cast<unsigned long long>(sum.trimmed),
      static_cast<unsigned long long>(sum.stops), static_cast<unsigned long long>(sum.away),
      static_cast<unsigned long long>(sum.forgotten));
}

}  // namespace
}  // namespace weir::server
