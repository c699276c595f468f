// The working set's table of one database: entries found by (position, key) and walked in position
// order.
//
// An extendible hash table whose hash is the position itself, so the table's own order is the order
// of the keys on disk. A directory of 2^bits pointers is indexed by the leading bits of the
// position; each points to a segment of at most 512 entries, whose buckets are indexed by the bits
// that follow. A full segment splits in two. Where a directory may not double any more (all keys in
// one hash slot, say), the segment becomes a directory of its own. A segment that has become empty
// is united with its other half, so that what was made for a long list of elements goes with it.
//
// Invariants
// 1. No operation moves more than one segment's entries (512), because a split divides one segment
//    and a union joins two that are small together; nothing is ever rehashed as a whole. The one
//    larger step is the doubling of a directory, which copies its pointers (at most 2 MB).
// 2. Entries never move in memory while they are in the table: insert() makes an entry's block,
//    splits only relink it, and a value that outgrows the block is kept outside it.
// 3. A dirty entry is on the dirty list of the segment that holds it: a split divides the list with
//    the entries, a union joins both lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "storage/memtable/entry.h"

namespace weir::storage {

class OpenLists;

struct Segment {
  Entry** buckets = nullptr;
  Entry* dirty = nullptr;
  Position begin = 0;
  uint16_t count = 0;
  uint8_t bucket_bits = 0;
  uint8_t prefix_bits = 0;  // leading bits of the position that all entries here share
  uint8_t depth = 0;        // how many of those its directory looks at
  // True in tables of elements, whose lists have long prefixes in common: an entry's bucket is then
  // chosen by a hash, so that buckets are in no order.
  bool hashed = false;

  bool covers(Position position) const {
    return prefix_bits == 0 || (position ^ begin) >> (64 - prefix_bits) == 0;
  }
  Position last() const {
    return prefix_bits == 0 ? ~Position{0} : begin + ((Position{1} << (64 - prefix_bits)) - 1);
  }
  size_t bucket_of(Position position) const {
    if (hashed) return static_cast<size_t>(position * 0x9e3779b97f4a7c15 >> (64 - bucket_bits));
    return bucket_bits == 0 ? 0
                            : static_cast<size_t>(position << prefix_bits >> (64 - bucket_bits));
  }
  size_t bucket_count() const { return size_t{1} << bucket_bits; }
};

class Table {
 public:
  explicit Table(Incarnation incarnation);
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  Incarnation incarnation() const { return incarnation_; }
  bool has_elements() const { return open != nullptr; }
  size_t entries() const { return entries_; }
  size_t bytes() const { return bytes_; }
  size_t dirty() const { return dirty_; }
  // What the dirty entries take, as bytes() counts them.
  size_t dirty_bytes() const { return dirty_bytes_; }
  // What an entry takes, its value included.
  static size_t footprint(const Entry* entry);
  // How many looks it is to give an entry's memory back: one, and one more for each page.
  static size_t looks_to_free(const Entry* entry);

  Entry* find(Position position, std::string_view key) const;
  // Makes a new entry, not present, with room for a value. REQUIRES: find() answers null.
  Entry* insert(Position position, std::string_view key, size_t value_bytes);
  // Erases an entry. Segments seen before are not valid any more. REQUIRES: the entry is clean.
  void erase(Entry* entry);
  // Replaces the value; keeps the block where it fits. The old value's memory is freed unless
  // `keep_outside`, with which an outside block stays allocated for the caller who saved its
  // pointer.
  void set_value(Entry* entry, std::string_view value, bool keep_outside);
  // Does as set_value, with an outside block that the entry takes over.
  void adopt_outside(Entry* entry, char* block, size_t bytes);
  static char* copy_outside(std::string_view value);
  static void free_outside(char* block);

  void mark_dirty(Entry* entry);
  // Moves a segment's dirty entries at `first` and after it into `entries`, in the order of their
  // positions; they are dirty no more. Once those have `bytes_max` bytes it stops. Answers the last
  // position up to which all are taken: that of the segment unless it stopped before.
  Position take_dirty(Segment* segment, Position first, size_t bytes_max,
                      std::vector<Entry*>* entries);
  Segment* segment_at(Position position) const;
  // Appends a segment's entries from `first` to `last`, in key order, to `entries`.
  static void append_range(const Segment* segment, Position first, Position last,
                           std::vector<Entry*>* entries);
  // Makes a segment's dirty entries from `first` to `last` clean without their being written;
  // answers how many they were.
  size_t forget_dirty(Segment* segment, Position first, Position last);

  // Destroys entries and segments with about `looks` looks, and answers whether any are left. From
  // then on only this and the destructor may be called.
  bool shrink(size_t looks);

  // True while everything of the incarnation is in this table: then a key that is not here does not
  // exist.
  bool complete = false;
  // The table of the elements that a database's records own, once there is one.
  Table* elements = nullptr;
  // The lists that are open; only a table of elements has any.
  std::unique_ptr<OpenLists> open;

 private:
  struct Directory;
  using Node = uintptr_t;  // a Segment*, or a Directory* with the lowest bit set

  static Directory* as_directory(Node node);
  static Node node_of(Directory* directory);
  void split(Segment* segment);
  void divide(Directory* directory, Segment* segment);
  void unite(Segment* segment);
  Segment* join(Directory* directory, Segment* lower, Segment* upper);
  bool replace_directory(Segment* only);
  Node* parent_cell(Position position, Directory** directory) const;
  void resize_buckets(Segment* segment, uint8_t bits);
  void note_outside(const Entry* entry, size_t before);
  size_t unlink_dirty(Segment* segment, Position first, Position last, std::vector<Entry*>* taken);
  size_t free_node(Node node);

  Incarnation incarnation_;
  uint8_t child_bits_max_;
  Directory* root_;
  // The segment of a table of elements found last, because neighbours are asked for one after the
  // other and the way down to a long list's segments is long. Null when that segment is gone.
  mutable Segment* nearby_ = nullptr;
  size_t entries_ = 0;
  size_t bytes_ = 0;
  size_t dirty_ = 0;
  size_t dirty_bytes_ = 0;
};

}  // namespace weir::storage
