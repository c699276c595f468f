// The undo log: what is needed to take back the changes of the running command, or of the running
// turn.
//
// Before an entry changes for the first time in a command, its old state is saved here. Rolling
// back goes through the saved states in reverse, down to a savepoint. After a commit everything
// saved is forgotten. So a command that fails, a commit that fails and a script that is stopped
// leave nothing. The price is a copy of what each command changes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "storage/memtable/table.h"

namespace weir::storage {

class Undo {
 public:
  Undo() = default;
  ~Undo() { forget(); }
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;

  size_t savepoint() const { return saved_.size(); }

  // Saves an entry's state. With `value_goes` the caller replaces the value next, and an outside
  // block passes to this log; otherwise the value's bytes are copied.
  void save(Table* table, Entry* entry, bool value_goes);

  // Restores the entries saved since the savepoint, the newest first. For each it calls
  // restoring(table, entry) before and restored(table, entry, was_present) after.
  template <typename Restoring, typename Restored>
  void roll_back(size_t savepoint, Restoring restoring, Restored restored) {
    while (saved_.size() > savepoint) {
      const Saved saved = saved_.back();
      saved_.pop_back();
      const bool was_present = saved.entry->has(Entry::kPresent);
      restoring(saved.table, saved.entry);
      restore(saved);
      restored(saved.table, saved.entry, was_present);
    }
  }

  // Calls visit(table, type, value) for each state saved in which a record was present.
  template <typename Visit>
  void for_each_present(Visit visit) const {
    for (const Saved& saved : saved_) {
      if ((saved.flags & Entry::kPresent) != 0) visit(saved.table, saved.type, value_of(saved));
    }
  }

  void forget();

 private:
  struct Saved {
    Table* table;
    Entry* entry;
    int64_t expire_at_ms;
    char* outside;  // null: the value's bytes are in values_
    size_t values_offset;
    uint32_t value_size;
    uint32_t saved_by;
    Type type;
    uint8_t flags;
  };

  void restore(const Saved& saved);
  std::string_view value_of(const Saved& saved) const {
    return saved.outside != nullptr
               ? std::string_view(saved.outside, saved.value_size)
               : std::string_view(values_).substr(saved.values_offset, saved.value_size);
  }

  std::vector<Saved> saved_;
  std::string values_;
};

}  // namespace weir::storage
