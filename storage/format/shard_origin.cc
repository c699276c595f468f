#include "storage/format/shard_origin.h"

#include <cinttypes>
#include <cstdio>

namespace weir::storage {

std::string instance_text(const ShardInstance& instance) {
  char text[34];
  std::snprintf(text, sizeof text, "%016" PRIx64 " %016" PRIx64, instance.ms, instance.random);
  return text;
}

}  // namespace weir::storage
