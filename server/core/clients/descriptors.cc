#include "server/core/clients/descriptors.h"

#include <sys/resource.h>

#include <algorithm>

#include "storage/rocks/rocks_store.h"

namespace weir::server {
namespace {

constexpr int64_t kUnlimited = INT32_MAX;  // far beyond what a process can have open

struct Limit {
  int64_t soft = 0;
  int64_t hard = 0;
};

int64_t to_count(rlim_t limit) {
  return limit == RLIM_INFINITY
             ? kUnlimited
             : static_cast<int64_t>(std::min<rlim_t>(limit, static_cast<rlim_t>(kUnlimited)));
}

Limit read_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return {.soft = 1024, .hard = 1024};
  return {.soft = to_count(limit.rlim_cur), .hard = to_count(limit.rlim_max)};
}

// Raises the soft limit to what is wanted if it can, and answers what it is then. The kernel may
// refuse what the hard limit allows (fs.nr_open).
int64_t raise_limit(int64_t wanted) {
  const Limit limit = read_limit();
  if (limit.soft >= wanted) return limit.soft;
  rlimit raised{};
  if (getrlimit(RLIMIT_NOFILE, &raised) != 0) return limit.soft;
  raised.rlim_cur = static_cast<rlim_t>(std::min(wanted, limit.hard));
  return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? static_cast<int64_t>(raised.rlim_cur)
                                                : limit.soft;
}

}  // namespace

DescriptorShares share_descriptors(int64_t limit, int64_t maxclients, StorageForm storage) {
  DescriptorShares shares{.reserved = kOwnDescriptors};
  if (keeps_files(storage)) {
    shares.reserved += storage::kDescriptorsBesideTables;
    const int64_t left = limit - shares.reserved;
    shares.open_tables_max = std::clamp<int64_t>(std::max(left - maxclients, left / 4),
                                                 storage::kOpenTablesMin, storage::kOpenTablesMax);
    shares.needed_min = shares.reserved + storage::kOpenTablesMin + 1;
    shares.reserved += shares.open_tables_max;
  } else {
    shares.needed_min = shares.reserved + 1;
  }
  shares.clients_max = std::clamp<int64_t>(limit - shares.reserved, 0, maxclients);
  return shares;
}

Descriptors::Descriptors(const Config& config) {
  const int64_t wanted =
      share_descriptors(kUnlimited, config.maxclients, config.storage).reserved + config.maxclients;
  const int64_t limit = raise_limit(wanted);
  shares_ = share_descriptors(limit, config.maxclients, config.storage);
  const std::string may = "the process may open " + std::to_string(limit) + " files (ulimit -n)";
  if (shares_.clients_max == 0) {
    enough_ = may + " and needs at least " + std::to_string(shares_.needed_min) +
              " for itself, its storage and one client";
  } else if (shares_.clients_max < config.maxclients) {
    warning_ = "maxclients is lowered from " + std::to_string(config.maxclients) + " to " +
               std::to_string(shares_.clients_max) + ": " + may + ", " +
               std::to_string(shares_.reserved) +
               " of them are reserved for itself and its storage; " +
               std::to_string(config.maxclients) + " clients need " + std::to_string(wanted);
  }
}

Result<void, int64_t> Descriptors::make_room_for(int64_t maxclients) {
  const int64_t possible = raise_limit(shares_.reserved + maxclients) - shares_.reserved;
  if (possible < maxclients) return possible;
  return {};
}

}  // namespace weir::server
