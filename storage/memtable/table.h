// The working set's table of one database: entries found by (key order, key) and walked in that
// order. Where an entry stands is the business of its segments, an extendible hash
// (segments.h).
//
// Invariant: entries never move in memory while they are in the table: insert() makes an entry's
// block, splits only relink it, and a value that outgrows the block is kept outside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "storage/memtable/entry.h"
#include "storage/memtable/partial_count.h"
#include "storage/memtable/segments.h"

namespace weir::storage {

class OpenLists;

class Table {
 public:
  // What all tables of a working set take, and their dirty entries of that.
  struct Totals {
    size_t bytes = 0;
    size_t dirty_bytes = 0;
  };
  // Counts what it takes in `totals`, too, until leave_totals(). Those outlive the table; null:
  // there are none.
  explicit Table(Generation generation, Totals* totals = nullptr);
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  Generation generation() const { return generation_; }
  bool has_elements() const { return open != nullptr; }
  size_t entries() const { return entries_; }
  size_t bytes() const { return bytes_.bytes(); }
  size_t dirty() const { return dirty_; }
  // What the dirty entries take, as bytes() counts them.
  size_t dirty_bytes() const { return dirty_bytes_.bytes(); }
  // From now on the totals do not include it any more.
  void leave_totals() {
    bytes_.leave();
    dirty_bytes_.leave();
  }

  Entry* find(KeyOrder key_order, std::string_view key) const;
  // Makes a new entry, not present, with room for a value. REQUIRES: find() answers null.
  Entry* insert(KeyOrder key_order, std::string_view key, size_t value_bytes);
  // Erases an entry. Segments seen before are not valid any more. REQUIRES: the entry is clean.
  void erase(Entry* entry);
  // Replaces the value; keeps the block where it fits. The old value's memory is freed unless
  // `keep_outside`, with which an outside block stays allocated for the caller who saved its
  // pointer.
  void set_value(Entry* entry, std::string_view value, bool keep_outside);
  // Does as set_value, with an outside block that the entry takes over.
  void adopt_outside(Entry* entry, char* block, size_t bytes);

  void mark_dirty(Entry* entry);
  // Moves a segment's dirty entries at `first` and after it into `entries`, in the order of their
  // key orders; they are dirty no more. Once those have `bytes_max` bytes it stops. Answers the
  // last key order up to which all are taken: that of the segment unless it stopped before.
  KeyOrder take_dirty(Segment* segment, KeyOrder first, size_t bytes_max,
                      std::vector<Entry*>* entries);
  Segment* segment_at(KeyOrder key_order) const { return segments_.at(key_order); }
  // The first thing in memory that segment_at() reads for this key order and not for all others.
  const void* directory_cell(KeyOrder key_order) const { return segments_.root_cell(key_order); }
  // Appends a segment's entries from `first` to `last`, in key order, to `entries`.
  static void append_range(const Segment* segment, KeyOrder first, KeyOrder last,
                           std::vector<Entry*>* entries);
  // Makes a segment's dirty entries from `first` to `last` clean without their being written;
  // answers how many they were.
  size_t forget_dirty(Segment* segment, KeyOrder first, KeyOrder last);

  // Destroys entries and segments with about `units` work units, and answers whether any are left.
  // From then on only this and the destructor may be called.
  bool shrink(size_t units) { return segments_.shrink(units); }

  // True while everything of the generation is in this table: then a key that is not here does not
  // exist.
  bool complete = false;
  // The table of the elements that a database's records own, once there is one.
  Table* elements = nullptr;
  // The lists that are open; only a table of elements has any.
  std::unique_ptr<OpenLists> open;

 private:
  void note_outside(const Entry* entry, size_t before);
  size_t unlink_dirty(Segment* segment, KeyOrder first, KeyOrder last, std::vector<Entry*>* taken);

  Generation generation_;
  PartialCount bytes_;  // of the entries, and of the segments' buckets
  PartialCount dirty_bytes_;
  Segments segments_;
  size_t entries_ = 0;
  size_t dirty_ = 0;
};

}  // namespace weir::storage
