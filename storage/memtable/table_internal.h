// What the files of the table share.
#pragma once

#include <vector>

#include "storage/memtable/table.h"

namespace weir::storage {

inline constexpr uint8_t kBucketBitsMin = 2;
inline constexpr uint8_t kRootBitsMax = 18;
inline constexpr uint8_t kChildBitsMax = 12;
// Directories for elements are small: the elements of a long list share 44 bits, and there may be
// many such lists.
inline constexpr uint8_t kRootBitsMaxOfElements = 14;
inline constexpr uint8_t kChildBitsMaxOfElements = 5;

struct Table::Directory {
  uint8_t bits = 0;
  uint8_t bits_max = kRootBitsMax;
  uint8_t consumed = 0;  // leading bits of the position that the directories above have looked at
  std::vector<Node> children;

  size_t index_of(Position position) const {
    return bits == 0 ? 0 : static_cast<size_t>(position << consumed >> (64 - bits));
  }
};

}  // namespace weir::storage
