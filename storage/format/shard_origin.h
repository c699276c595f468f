// How a shard was born, as GENESIS and the data directories of its members say it. Knows no file.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "base/slot_ranges.h"

namespace weir::storage {

// How a shard has come to be. The numbers are on disk.
enum class ShardBirth : uint8_t {
  kFounded = 0,   // with its share of all slots
  kJoined = 1,    // a cluster that was there, with no slots
  kRestored = 2,  // from a directory of a shard that was there, into a new log
};

// Which making of a shard it is: drawn when its log is made. Later ones are greater. {0, 0}: a
// shard that was founded with all slots.
struct ShardInstance {
  uint64_t ms = 0;  // since the Unix epoch
  uint64_t random = 0;

  auto operator<=>(const ShardInstance&) const = default;
};

// How a shard was born. Who has which slots since is said by its records.
struct ShardOrigin {
  SlotRanges slots = all_slots();
  ShardBirth born = ShardBirth::kFounded;
  ShardInstance instance = {};

  // Tells whether it is as every shard was before several made a cluster: then its records and its
  // directories keep the forms that an older weir reads.
  bool is_whole() const { return *this == ShardOrigin{}; }
  bool operator==(const ShardOrigin&) const = default;
};

// Two words of 16 hexadecimal digits.
std::string instance_text(const ShardInstance& instance);

}  // namespace weir::storage
