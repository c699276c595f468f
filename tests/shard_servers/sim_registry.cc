#include "tests/shard_servers/sim_registry.h"

#include "base/time_units.h"

namespace weir::server {

using storage::replication::RegistryEntry;

namespace {

constexpr int64_t kLateNs = 2 * kNsPerS;

}  // namespace

void SimRegistry::put(std::string name, std::string bytes) {
  if (random_.one_in(8)) return;  // lost
  std::deque<Put>& puts = puts_[std::move(name)];
  puts.push_back({.bytes = std::move(bytes), .at_ns = agenda_.now_ns()});
  if (puts.size() > 2) puts.pop_front();
}

// What was put last comes two seconds later.
std::vector<RegistryEntry> SimRegistry::snapshot() const {
  std::vector<RegistryEntry> entries;
  for (const auto& [name, puts] : puts_) {
    for (const Put& put : puts) {
      const int64_t age_ns = agenda_.now_ns() - put.at_ns;
      if (age_ns < kLateNs) continue;
      if (!entries.empty() && entries.back().name == name) entries.pop_back();
      entries.push_back({.name = name, .bytes = put.bytes, .age_ns = age_ns});
    }
  }
  return entries;
}

}  // namespace weir::server
