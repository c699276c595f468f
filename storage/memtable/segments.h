// The segments of a table, as an extendible hash table whose hash is the key order itself, so that
// their own order is the order of the keys on disk.
//
// A directory of 2^bits pointers is indexed by the leading bits of the key order; each points to a
// segment of at most 512 entries, whose buckets are indexed by the bits that follow. A full segment
// splits in two. Where a directory may not double any more (all keys in one hash slot, say), the
// segment becomes a directory of its own. A segment that has become empty is united with its other
// half, so that what was made for a long list of elements goes with it.
//
// Because the order is the disk's, a write-back is sorted without sorting, SCAN merges
// memory and state in one walk with a cursor that keeps no state, and growth moves few entries at a
// time. What is given up is the one pointer hop of a flat table.
//
// Source: R. Fagin, J. Nievergelt, N. Pippenger, H. Strong, Extendible Hashing, 1979.
//
// Invariants
// 1. No operation moves more than one segment's entries (512), because a split divides one segment
//    and a union joins two that are small together; nothing is ever rehashed as a whole. The one
//    larger step is the doubling of a directory, which copies its pointers (at most 2 MB).
// 2. A dirty entry is on the dirty list of the segment that holds it: a split divides the list with
//    the entries, a union joins both lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "storage/memtable/entry.h"
#include "storage/memtable/partial_count.h"

namespace weir::storage {

struct Segment {
  Entry** buckets = nullptr;
  Entry* dirty = nullptr;
  KeyOrder begin = 0;
  uint16_t count = 0;
  uint16_t dirty_count = 0;
  uint8_t bucket_bits = 0;
  uint8_t prefix_bits = 0;  // leading bits of the key order that all entries here share
  uint8_t depth = 0;        // how many of those its directory looks at
  // True in tables of elements, whose lists have long prefixes in common: an entry's bucket is then
  // chosen by a hash, so that buckets are in no order.
  bool hashed = false;

  bool covers(KeyOrder key_order) const {
    return prefix_bits == 0 || (key_order ^ begin) >> (64 - prefix_bits) == 0;
  }
  KeyOrder last() const {
    return prefix_bits == 0 ? ~KeyOrder{0} : begin + ((KeyOrder{1} << (64 - prefix_bits)) - 1);
  }
  size_t bucket_of(KeyOrder key_order) const {
    if (hashed) return static_cast<size_t>(key_order * 0x9e3779b97f4a7c15 >> (64 - bucket_bits));
    return bucket_bits == 0 ? 0
                            : static_cast<size_t>(key_order << prefix_bits >> (64 - bucket_bits));
  }
  size_t bucket_count() const { return size_t{1} << bucket_bits; }
  void add_dirty(Entry* entry) {
    entry->dirty_next = dirty;
    dirty = entry;
    ++dirty_count;
  }
  // Brings the entries into the processor's caches, all at the same time: a walk along the dirty
  // list would wait for one after the other. It pays where many of them are dirty.
  void fetch_if_many_are_dirty() const {
    if (dirty_count < count / 8) return;
    for (size_t i = 0; i < bucket_count(); ++i) __builtin_prefetch(buckets[i]);
  }
};

class Segments {
 public:
  // One segment without entries, whose entries are to be elements or not.
  // What all buckets take is counted in `bytes`.
  Segments(bool of_elements, PartialCount* bytes);
  ~Segments();
  Segments(const Segments&) = delete;
  Segments& operator=(const Segments&) = delete;

  Segment* at(KeyOrder key_order) const {
    if (nearby_ != nullptr && nearby_->covers(key_order)) return nearby_;
    Directory* directory;
    auto* segment = reinterpret_cast<Segment*>(*parent_cell(key_order, &directory));
    if (segment->hashed) nearby_ = segment;
    return segment;
  }
  // The cell of the first directory on the way to a key order's segment.
  const void* root_cell(KeyOrder key_order) const {
    return &root_->children[root_->index_of(key_order)];
  }
  // Answers the segment of a key order after splits and with buckets that make room for one entry
  // more.
  Segment* with_room(KeyOrder key_order) {
    Segment* segment = at(key_order);
    while (segment->count >= kEntriesMax && segment->prefix_bits < kKeyOrderBits) {
      split(segment);
      segment = at(key_order);
    }
    if (segment->count >= segment->bucket_count() && segment->bucket_bits < kBucketBitsMax)
      resize_buckets(segment, segment->bucket_bits + 1);
    return segment;
  }
  // An entry has left a segment: takes back room that is not needed any more. The segment may be
  // gone then.
  void give_back_room(Segment* segment) {
    if (segment->bucket_bits > kBucketBitsMin && segment->count < segment->bucket_count() / 8)
      resize_buckets(segment, segment->bucket_bits - 1);
    if (segment->count == 0) unite(segment);
  }

  // Destroys segments and their entries with about `units` work units, and answers whether any are
  // left. From then on only this and the destructor may be called.
  bool shrink(size_t units);

 private:
  using Node = uintptr_t;  // a Segment*, or a Directory* with the lowest bit set
  struct Directory {
    uint8_t bits = 0;
    uint8_t bits_max = kRootBitsMax;
    uint8_t consumed = 0;  // leading bits that the directories above have looked at
    std::vector<Node> children;

    size_t index_of(KeyOrder key_order) const {
      return bits == 0 ? 0 : static_cast<size_t>(key_order << consumed >> (64 - bits));
    }
  };

  static constexpr uint16_t kEntriesMax = 512;
  static constexpr uint8_t kBucketBitsMin = 2;
  static constexpr uint8_t kBucketBitsMax = 9;
  static constexpr uint8_t kKeyOrderBits = 62;  // the bits that are stored: no split goes further
  static constexpr uint8_t kRootBitsMax = 18;
  static constexpr uint8_t kChildBitsMax = 12;
  // Directories for elements are small: the elements of a long list share 44 bits, and there may be
  // many such lists.
  static constexpr uint8_t kRootBitsMaxOfElements = 14;
  static constexpr uint8_t kChildBitsMaxOfElements = 5;

  static Directory* as_directory(Node node) {
    return node & 1 ? reinterpret_cast<Directory*>(node & ~Node{1}) : nullptr;
  }
  static Node node_of(Directory* directory) { return reinterpret_cast<Node>(directory) | 1; }
  static size_t free_node(Node node);

  // The place that points to a key order's segment, and the directory that it is in.
  Node* parent_cell(KeyOrder key_order, Directory** directory) const {
    Directory* at = root_;
    while (true) {
      Node* cell = &at->children[at->index_of(key_order)];
      Directory* below = as_directory(*cell);
      if (below == nullptr) {
        *directory = at;
        return cell;
      }
      at = below;
    }
  }
  void split(Segment* segment);
  void divide(Directory* directory, Segment* segment);
  void unite(Segment* segment);
  Segment* join(Directory* directory, Segment* lower, Segment* upper);
  bool replace_directory(Segment* only);
  void resize_buckets(Segment* segment, uint8_t bits);

  uint8_t child_bits_max_;
  Directory* root_;
  // The segment of a table of elements found last, because neighbours are asked for one after the
  // other and the way down to a long list's segments is long. Null when that segment is gone.
  mutable Segment* nearby_ = nullptr;
  PartialCount* bytes_;
};

}  // namespace weir::storage
