// How much of the memory the data may take where maxmemory does not say it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "server/config/config.h"

namespace weir::server {

// What the program takes, the store's buffers, and what a turn makes, about.
constexpr int64_t kProgramBytes = 64 << 20;

// Answers maxmemory in bytes; where it is 0, half of what is left of `memory_bytes`, which the
// process may have, beside the block cache, the program, and in a shard the log's records in memory
// (a server alone keeps none). The other half is for clients, and for what the allocator cannot
// give back. Of a memory that is too small for that it is an eighth.
inline int64_t maxmemory_bytes(const Config& config, int64_t memory_bytes) {
  if (config.maxmemory > 0) return config.maxmemory;
  const int64_t log_bytes = config.log.empty() ? 0 : config.wal_bytes_max;
  const int64_t beside = config.block_cache_size + log_bytes + kProgramBytes;
  return std::max((memory_bytes - beside) / 2, memory_bytes / 8);
}

}  // namespace weir::server
