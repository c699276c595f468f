// Which slots a shard has: the system record `slots` of its keyspace, as a value.
//
// The record travels in turns, snapshots and restarts as every record does, so it is the truth
// about the shard's slots; storage/FORMAT.md has its bytes. A shard without it has what it was born
// with. Each slot has a version, which grows by one each time that another shard gets the slot.
//
// Invariants
// 1. Ranges are in order, and together are all slots, each once.
// 2. Neighbouring ranges differ in their version or in whether they are owned, so that one table
//    has one form.
// 3. Versions are 1 or greater.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/slot_ranges.h"
#include "storage/format/shard_origin.h"

namespace weir::server {

inline constexpr std::string_view kSlotsRecord = "slots";  // a system record's name: on disk

struct SlotShare {
  int first = 0;
  int last = 0;          // included
  uint64_t version = 1;  // the highest that is known here
  bool owned = false;

  bool operator==(const SlotShare&) const = default;
};

class SlotTable {
 public:
  static constexpr uint8_t kFormat = 1;

  // Answers what a shard without the record has: what it was founded with, at version 1, or
  // nothing, and version 1 of all others. A restored one is not admitted.
  static SlotTable of_birth(const storage::ShardOrigin& origin);
  // Answers nothing for an unknown format, and for bytes that are not exactly one table.
  static std::optional<SlotTable> decode(std::string_view bytes);
  std::string encode() const;

  // The instance that the cluster has admitted: a shard whose instance is another one serves
  // nothing.
  const storage::ShardInstance& admitted() const { return admitted_; }
  // The instance that was begun within this log, {0, 0}: none was.
  const storage::ShardInstance& next() const { return next_; }
  // How often slots were given or taken.
  uint64_t changes() const { return changes_; }
  const std::vector<SlotShare>& shares() const { return shares_; }

  // REQUIRES: the slot is one.
  bool owns(int slot) const { return share_of(slot).owned; }
  uint64_t version_of(int slot) const { return share_of(slot).version; }
  SlotRanges owned() const;

  bool operator==(const SlotTable&) const = default;

 private:
  SlotTable() = default;

  const SlotShare& share_of(int slot) const;

  storage::ShardInstance admitted_;
  storage::ShardInstance next_;
  uint64_t changes_ = 0;
  std::vector<SlotShare> shares_;
};

}  // namespace weir::server
