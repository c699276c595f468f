#include "storage/replication/log_rows.h"

#include <utility>

#include "base/crc64.h"

namespace weir::storage::replication {
namespace {

Read outcome_of(Read::Outcome outcome) {
  Read read;
  read.outcome = outcome;
  return read;
}

}  // namespace

Read read_from_rows(const Head& after, std::vector<Record> rows, bool at_end) {
  const bool from_start = after.log_index == 0;
  if (rows.empty() && !from_start) return outcome_of(Read::Outcome::kRewound);
  auto first = rows.begin();
  if (!rows.empty()) {
    const Head& head = first->head;
    if (head.log_index > after.log_index + (from_start ? 1 : 0))
      return outcome_of(Read::Outcome::kTrimmed);
    if (!from_start && head != after) return outcome_of(Read::Outcome::kRewound);
    if (!from_start) ++first;
  }
  uint64_t log_index = after.log_index;
  for (auto row = first; row != rows.end(); ++row) {
    const bool is_whole = crc64_xz(row->bytes) == row->head.crc;
    if (row->head.log_index != ++log_index || !is_whole) return outcome_of(Read::Outcome::kDamaged);
  }
  Read read = outcome_of(Read::Outcome::kRecords);
  read.records.assign(std::make_move_iterator(first), std::make_move_iterator(rows.end()));
  read.at_end = at_end;
  return read;
}

}  // namespace weir::storage::replication
