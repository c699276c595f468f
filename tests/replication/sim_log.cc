#include "tests/replication/sim_log.h"

#include <algorithm>

#include "base/crc64.h"

namespace weir::storage::replication {

bool SimLog::is_same(const Head& left, const Head& right) const {
  return left.position == right.position && (flaws_.compares_positions || left.crc == right.crc);
}

Appended SimLog::append(size_t branch, const std::optional<Head>& expected,
                        const std::string& record) {
  std::vector<Record>& records = branches_[branch].records;
  const Head end = records.empty() ? Head{} : records.back().head;
  if (expected && !flaws_.ignores_condition && !is_same(*expected, end)) {
    return {.outcome = Appended::Outcome::kRefused, .head = {}};
  }
  const Head head{.position = end.position + 1, .crc = crc64_xz(record)};
  records.push_back({.head = head, .bytes = record});
  return {.outcome = Appended::Outcome::kDone, .head = head};
}

Read SimLog::read(size_t branch, const Head& after, size_t bytes_max, size_t visible) const {
  const std::vector<Record>& records = branches_[branch].records;
  visible = std::min(visible, records.size());
  Read read;
  if (after.position > visible ||
      (after.position > 0 && !is_same(records[after.position - 1].head, after))) {
    read.outcome = Read::Outcome::kRewound;
    return read;
  }
  read.outcome = Read::Outcome::kTrimmed;
  if (after.position <= branches_[branch].trimmed && branches_[branch].trimmed > 0) return read;
  read.outcome = Read::Outcome::kRecords;
  size_t bytes = 0;
  size_t at = after.position;
  for (; at < visible && bytes < bytes_max; ++at) {
    read.records.push_back(records[at]);
    bytes += records[at].bytes.size();
  }
  read.at_end = at == visible;
  return read;
}

void SimLog::make_durable(size_t branch, size_t count) {
  branches_[branch].durable = std::max(branches_[branch].durable, count);
}

void SimLog::promote(size_t count) {
  Branch next;
  const std::vector<Record>& records = branches_.back().records;
  next.records.assign(records.begin(), records.begin() + static_cast<ptrdiff_t>(count));
  next.durable = count;
  branches_.push_back(std::move(next));
}

}  // namespace weir::storage::replication
