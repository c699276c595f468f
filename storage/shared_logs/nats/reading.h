// One read of the log: which messages are asked for, and what the answers mean.
//
// Messages are asked for one by one, each by "the first from this sequence on", several at a time.
// The leader of the stream answers. So a message of a later sequence shows a gap, and none the end.
//
// Invariants
// 1. The record `after` is asked for in the first round: it proves that this is the log asked for.
// 2. A leader may change between two answers. What is told as consecutive is so by the records
//    themselves: each conditional append carries the crc of what it follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/replication/shared_log.h"
#include "storage/shared_logs/nats/answers.h"

namespace weir::storage::nats {

struct Found {
  enum class Kind { kMessage, kNone, kFailed };
  Kind kind = Kind::kFailed;
  Message message;  // of kMessage
};

class Reading {
 public:
  Reading(replication::Head after, size_t bytes_max) : after_(after), bytes_max_(bytes_max) {}

  // The sequences of the next round; each has to be answered. None: it is done, and result() says
  // what was read.
  std::vector<uint64_t> next_round();
  // Answers whether the round is over.
  bool take(uint64_t asked, Found found);
  replication::Read result();

 private:
  bool ends_with(Found& found);
  size_t records_wanted() const;
  bool is_chain() const;

  const replication::Head after_;
  const size_t bytes_max_;
  uint64_t first_ = 0;  // of the round
  std::vector<std::optional<Found>> round_;
  uint64_t next_ = 0;
  std::vector<replication::Record> rows_;
  std::vector<std::optional<uint64_t>> followed_;  // by each row, if it tells
  size_t bytes_ = 0;                               // of records after `after`
  bool is_over_ = false;
  bool has_failed_ = false;
  bool at_end_ = false;
};

}  // namespace weir::storage::nats
