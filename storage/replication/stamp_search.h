// Finds the newest of a member's stamps that the log still confirms, after the log was rewound.
//
// Two logs that agree on one record agree on everything before it, and a member's stamps follow one
// another on one history, so confirmation is monotone and the search halves. A search that finds
// nothing is made twice (CatchUp): where the engine fails over in its middle, its answers are about
// two logs.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "storage/replication/shared_log.h"
#include "storage/replication/stamp.h"

namespace weir::storage::replication {

class StampSearch {
 public:
  // The stamps in ascending order.
  explicit StampSearch(std::vector<Stamp> stamps)
      : stamps_(std::move(stamps)), above_(stamps_.size()) {}

  bool is_done() const { return below_ == above_; }
  // The record to ask the log for. REQUIRES: !is_done().
  const Head& probe() const { return stamps_[middle()].head; }
  // REQUIRES: the answer is about probe(), and tells something: kRecords, kRewound or kTrimmed.
  void answer(Read::Outcome outcome);
  // The result; nothing if the log confirms none.
  std::optional<Stamp> found() const;

 private:
  size_t middle() const { return below_ + (above_ - below_) / 2; }

  std::vector<Stamp> stamps_;
  size_t below_ = 0;  // the first that is not known to be confirmed or too old
  size_t above_;      // the first that is known to be lost
  std::optional<size_t> confirmed_;
};

}  // namespace weir::storage::replication
