// The shard that a data directory belongs to, as its WEIR says, and what an opening makes of that.
//
// A directory of a shard holds turns that a log of several machines has ordered: opened alone it
// would go on with turns of its own, and nobody could put the two together again. So it is opened
// only by who names its shard, and a directory of no shard only by who names none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/format/shard_origin.h"
#include "storage/format/status.h"

namespace weir::storage {

struct ShardIdentity {
  std::string cluster;  // 32 hexadecimal digits, drawn or computed when the shard was made
  std::string name;     // see is_shard_name()
  uint64_t databases = 0;
  ShardOrigin origin = {};

  bool operator==(const ShardIdentity&) const = default;
};

inline constexpr size_t kShardNameBytesMax = 64;
// 1 to 64 letters, digits, '-', '_' and '.'.
bool is_shard_name(std::string_view name);

// What an opening changes: nothing; a directory of no shard becomes one of the wanted shard; one of
// a shard becomes one of none.
enum class ShardStep { kNone, kJoin, kLeave };

// Answers why a directory must not be opened so. kJoin may be repeated.
Status check_shard(const std::string& path, const std::optional<ShardIdentity>& found,
                   const std::optional<ShardIdentity>& wanted, ShardStep step);

}  // namespace weir::storage
