// Keys of a data directory in slots that its shard is not to have.
//
// It is handed all records in the order of their stored keys, so it knows the databases before
// their keys. Keys that have expired, and those of databases that were dropped, are none; nor are
// what weir keeps beside the keys, and elements, which go with their keys. A shard with all slots
// has no foreign keys, and nothing is looked at.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/slot_ranges.h"
#include "storage/format/record.h"
#include "storage/format/status.h"

namespace weir::server {

class ForeignKeys {
 public:
  // `instant_ns`: that of the newest turn.
  ForeignKeys(SlotRanges own, int64_t instant_ns);

  // Fails where a record cannot be read, since its key may be a foreign one.
  storage::Status take(std::string_view stored_key, std::string_view stored_value);

  // How many keys of database 0 are in others' slots, and the slot of one of them.
  uint64_t count() const { return count_; }
  int example() const { return example_; }
  // How many keys are in other databases, which a cluster does not have.
  uint64_t beside_database_0() const { return beside_; }

 private:
  void take_database(std::string_view name, std::string_view payload);

  const SlotRanges own_;
  const int64_t instant_ms_;
  std::map<storage::Generation, bool> databases_;  // whether it is database 0
  uint64_t count_ = 0;
  int example_ = 0;
  uint64_t beside_ = 0;
};

}  // namespace weir::server
