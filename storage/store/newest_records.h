// All records as of the end of the log, in the order of their stored keys, without loading them:
// the state is read from front to back, and what the log has changed since lies over it.
//
// For who only looks at a store (--check). Records of databases that were dropped, and elements of
// lists that were, may still be in the state until a write-back erases them; those of lists are
// left out.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "storage/format/element_key.h"
#include "storage/store/store.h"

namespace weir::storage {

class NewestRecords {
 public:
  // The store is open, and its state is of turn `written_back_turn`.
  NewestRecords(Store* store, uint64_t written_back_turn, int64_t instant_ns)
      : store_(*store), turn_(written_back_turn), instant_ns_(instant_ns) {}

  // Reads the log after the written-back turn and keeps what it has changed. The error names the
  // turn.
  Status read_log();
  // Visits the records: the stored key, the stored value, as they are. Stops where `visit` answers
  // an error, or where the state cannot be read. REQUIRES: read_log().
  Status visit(const std::function<Status(std::string_view key, std::string_view value)>& use);

  uint64_t turn() const { return turn_; }             // the newest one
  int64_t instant_ns() const { return instant_ns_; }  // of it
  uint64_t turns_of_log() const { return turns_; }
  size_t changes() const { return changes_.size(); }

 private:
  Status apply(std::string_view record);
  bool is_dropped(std::string_view stored_key) const;

  Store& store_;
  uint64_t turn_;
  int64_t instant_ns_;
  uint64_t turns_ = 0;
  std::map<std::string, std::optional<std::string>, std::less<>> changes_;  // nothing: erased
  std::set<ListName> dropped_;
};

}  // namespace weir::storage
