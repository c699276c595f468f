// Entries as they would be after some changes, without making them and without a copy: the entries
// below stay, and only what differs from them is kept here. So a simulation costs by what it
// changes, however long the log is. Overlays can be laid over overlays.
//
// Invariants
// 1. The base does not change as long as the overlay is used: the ranks kept here are the base's.
//    The keeper of an overlay makes sure of it (take/queue.h); where it is broken all the same, the
//    answers make no sense, but each rank below size() has an entry.
// 2. Each operation takes O(log n) looks at the base, and moves at most what was changed here.
#pragma once

#include <unordered_map>
#include <vector>

#include "algorithms/entries.h"

namespace weir::server {

class OverlayEntries : public algorithms::Entries {
 public:
  // A null base has no entries.
  explicit OverlayEntries(const algorithms::Entries* base = nullptr) : base_(base) {}

  // The same entries by another object.
  void set_base(const algorithms::Entries* base) { base_ = base; }

  size_t size() const override;
  algorithms::LogEntry entry(size_t rank) const override;
  std::optional<algorithms::LogEntry> find(int64_t id) const override;
  size_t lower_bound(int64_t at_ns) const override;
  void put(const algorithms::LogEntry& entry) override;
  void erase(int64_t id) override;

 private:
  struct Change {
    algorithms::LogEntry entry;
    size_t base_rank = 0;  // how many entries of the base are smaller
  };
  using Changes = std::vector<Change>;  // in the order of entries

  static Changes::const_iterator place_in(const Changes& changes,
                                          const algorithms::LogEntry& entry);
  static void insert(Changes* changes, const Change& change);
  size_t base_rank_of(const algorithms::LogEntry& entry) const;
  bool is_hidden(const algorithms::LogEntry& entry) const;
  size_t rank_of_added(size_t index) const;
  algorithms::LogEntry visible_entry_of_base(size_t number) const;

  const algorithms::Entries* base_;
  Changes hidden_;                                 // entries of the base that are erased here
  Changes added_;                                  // entries that are here alone
  std::unordered_map<int64_t, int64_t> added_at_;  // the at_ns of those, by id
};

}  // namespace weir::server
