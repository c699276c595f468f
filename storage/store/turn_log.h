// The seam between the end of a turn and what keeps turns. Today the store's own log stands here;
// a log that several machines share can take its place.
//
// Invariants
// 1. Turns are appended in ascending order and without gaps, each once. It holds because only
//    the end of a turn appends, and counts the turn when its append was accepted.
// 2. Once an append has failed, it is unknown whether the log holds the record. The keyspace
//    appends nothing more until the store was reopened and the log has told. An append that is
//    refused has done nothing, and the turn is taken back.
#pragma once

#include <cstdint>
#include <string_view>

#include "storage/format/status.h"

namespace weir::storage {

class TurnLog {
 public:
  virtual ~TurnLog() = default;

  // Appends the record of a turn. Ok says that the record was accepted and that no other record can
  // take its place in the order. The append may complete later than this call. Whoever holds the
  // turn's replies asks the log itself when they may leave, as it does for a sync: the store's
  // own has Store::appended_turn().
  virtual Status append(uint64_t turn, std::string_view record) = 0;
};

}  // namespace weir::storage
