#include "server/limiter/take/limiters.h"

#include <algorithm>

#include "algorithms/algorithm.h"
#include "base/check.h"

namespace weir::server {

Limiters::Limiters(storage::Keyspace* keys, Waiting* waits, WorkMeter* work,
                   const storage::HashSeed& seed, size_t top_keys)
    : waiting(*waits), policies(keys, work, &zones), versions(keys), ids(seed), top(top_keys) {
  WEIR_CHECK(std::ranges::all_of(algorithms::all_algorithms(), [](const auto* algorithm) {
    return algorithm->id < VerdictCounts::kAlgorithmIdsMax;
  }));
}

}  // namespace weir::server
