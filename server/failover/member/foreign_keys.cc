#include "server/failover/member/foreign_keys.h"

#include <utility>

#include "base/time_units.h"
#include "storage/format/codec.h"
#include "storage/keyspace/turn_commit.h"

namespace weir::server {

using storage::Status;

ForeignKeys::ForeignKeys(SlotRanges own, int64_t instant_ns)
    : own_(std::move(own)), instant_ms_(instant_ns / kNsPerMs) {}

Status ForeignKeys::take(std::string_view stored_key, std::string_view stored_value) {
  if (has_all_slots(own_)) return {};
  const auto key = storage::parse_stored_key(stored_key);
  if (!key) return Status::corrupt("a record's key is too short");
  const bool is_system = key->generation == storage::kSystemGeneration;
  const auto database = databases_.find(key->generation);
  if (!is_system && database == databases_.end()) return {};
  storage::ValueView value;
  if (Status status = storage::parse_value(stored_value, &value); !status.ok()) return status;
  if (is_system) {
    take_database(key->key, value.payload);
    return {};
  }
  if (value.expire_at_ms != 0 && value.expire_at_ms < instant_ms_) return {};
  if (!database->second) {
    ++beside_;
    return {};
  }
  const int slot = storage::slot_of(key->key_order);
  if (has_slot(own_, slot)) return {};
  if (count_++ == 0) example_ = slot;
  return {};
}

void ForeignKeys::take_database(std::string_view name, std::string_view payload) {
  if (!name.starts_with(storage::kDatabaseRecords)) return;
  name.remove_prefix(storage::kDatabaseRecords.size());
  const uint64_t generation = storage::Reader(payload).varint();
  if (name != "hidden") databases_[static_cast<storage::Generation>(generation)] = name == "0";
}

}  // namespace weir::server
