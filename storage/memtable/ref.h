// What the keyspace hands out: records looked up, records met by a scan, events.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/format/record.h"
#include "storage/memtable/table.h"

namespace weir::storage {

// A live record met by a scan; its views are valid during the visit only.
struct Seen {
  std::string_view key;
  Type type = Type::kNone;
  int64_t expire_at_ms = 0;
  bool in_memory = false;
  bool expired = false;  // only shown by walk_records()
};

// A key looked up: a live record, or its absence. Valid until the next call that changes the
// keyspace through another Ref, or begin_command.
class Ref {
 public:
  bool exists() const { return entry_ != nullptr && entry_->has(Entry::kPresent); }
  Type type() const { return exists() ? entry_->type : Type::kNone; }
  std::string_view value() const { return exists() ? entry_->value() : std::string_view(); }
  int64_t expire_at_ms() const { return exists() ? entry_->expire_at_ms : 0; }  // 0: none
  std::string_view key() const { return key_; }
  KeyOrder key_order() const { return key_order_; }
  int database() const { return database_; }

 private:
  friend class LiveRecords;
  int database_ = 0;
  Table* table_ = nullptr;
  KeyOrder key_order_ = 0;
  std::string_view key_;
  Entry* entry_ = nullptr;
};

// What happened to a key without being named by a command.
struct KeyEvent {
  enum class Kind : uint8_t { kExpired, kCreated };
  Kind kind = Kind::kExpired;
  int database = 0;
  std::string key;
};

}  // namespace weir::storage
