// How little a bucket had in use since each of its charges: what bounds the permits that come back.
//
// The idea. To give r permits of an earlier charge back is to have charged r less then. That lowers
// what was in use at every instant since by r, so it can be done only if the use was never below r:
// a bucket that was full in between has forgotten the charge. Time lowers the use between two
// changes, so the lowest points are just before a change; they are noted with the number of the
// change before. (The instant at which a bucket was last full would not do: one that was nearly
// full in between would hand the same permits out twice.)
//
//     in use
//       |    A          B              |      noted: (A, low) (B, high)
//       |    |\    |\   |\    |\       |      A gets back at most `low`, B at most `high`
//       |    | \   | \  | \   | \------|
//       |    |  \  |  \ |  \--|        |
//       |    |   \-|   \|            low
//       +----+-----------------------> time
//
// Invariants
//  1. From mark to mark `change` and `used` rise: a mark is about every charge that was made by its
//     change, so one with less use replaces those before it with more.
//  2. At most kMarksMax are kept. When two become one it is about the charges of both, with the use
//     of the lower: a charge may get less back than it could, never more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "algorithms/bytes.h"

namespace weir::algorithms {

class LowWater {
 public:
  static constexpr size_t kMarksMax = 8;

  struct Mark {
    uint64_t change = 0;  // the newest by then; the mark is about what was charged until it
    int64_t used = 0;     // whole permits, rounded down

    friend bool operator==(const Mark&, const Mark&) = default;
  };

  // Notes the use after a change. REQUIRES: no later change was noted.
  void note(uint64_t change, int64_t used);
  // Answers the least use noted since this change, which counts from 1; 0 is since ever. kNever if
  // none was noted.
  int64_t since(uint64_t change) const;
  // Notes that permits which this change charged were given back. REQUIRES: permits <=
  // since(change).
  void give_back(uint64_t change, int64_t permits);

  std::span<const Mark> marks() const { return std::span(marks_).first(size_); }

  // DO NOT CHANGE: on disk. varint(n) n x { varint(change) varint(used) }, both rising.
  void write(Writer& out) const;
  // Reads marks of changes until this one. False for bytes that are none.
  bool read(Reader& in, uint64_t newest_change);
  static constexpr size_t kBytesMax = 1 + kMarksMax * 20;

 private:
  void join_nearest();

  std::array<Mark, kMarksMax + 1> marks_ = {};
  size_t size_ = 0;
};

}  // namespace weir::algorithms
