#include "tests/replication/sim_engine.h"

#include <algorithm>
#include <utility>

#include "base/crc64.h"
#include "storage/replication/log_rows.h"

namespace weir::storage::replication {

bool SimEngine::is_same(const Head& left, const Head& right) const {
  return left.log_index == right.log_index &&
         (flaws_.compares_log_indexes || left.crc == right.crc);
}

Appended SimEngine::append(size_t branch, const std::optional<Head>& expected,
                           const std::string& record) {
  std::vector<Record>& records = branches_[branch].records;
  const Head end = records.empty() ? Head{} : records.back().head;
  if (expected && !flaws_.ignores_condition && !is_same(*expected, end)) {
    return {.outcome = Appended::Outcome::kRefused, .head = {}};
  }
  const Head head{.log_index = end.log_index + 1, .crc = crc64_xz(record)};
  records.push_back({.head = head, .bytes = record});
  return {.outcome = Appended::Outcome::kDone, .head = head};
}

// Hands out rows as a database does, the record that is asked for first.
Read SimEngine::read(size_t branch, const Head& after, size_t bytes_max, size_t visible) const {
  const Branch& log = branches_[branch];
  visible = std::min(std::max(visible, log.trimmed + 1), log.records.size());
  std::vector<Record> rows;
  size_t bytes = 0;
  size_t at = std::max<size_t>({after.log_index, log.trimmed + 1, 1}) - 1;
  for (; at < visible && (rows.empty() || bytes < bytes_max); ++at) {
    const size_t log_index = at + 1;
    if (log_index == log.removed) continue;
    rows.push_back(log.records[at]);
    if (log_index == log.damaged) rows.back().bytes += '!';
    if (log_index != after.log_index) bytes += rows.back().bytes.size();
    if (flaws_.compares_log_indexes && log_index == after.log_index) rows.back().head = after;
  }
  Read read = read_from_rows(after, std::move(rows), at >= visible);
  if (bytes_max == 0) read.records.clear();
  return read;
}

size_t SimEngine::trim(size_t branch, size_t up_to) {
  Branch& log = branches_[branch];
  up_to = std::min(up_to, log.records.size() - std::min<size_t>(1, log.records.size()));
  if (up_to <= log.trimmed) return 0;
  log.trims.push_back({.records = log.records.size(), .up_to = up_to});
  return up_to - std::exchange(log.trimmed, up_to);
}

void SimEngine::make_durable(size_t branch, size_t count) {
  branches_[branch].durable = std::max(branches_[branch].durable, count);
}

void SimEngine::fail_over(size_t count, size_t trims_missed) {
  Branch next;
  const Branch& last = branches_.back();
  next.records.assign(last.records.begin(), last.records.begin() + static_cast<ptrdiff_t>(count));
  next.durable = count;
  for (const Trim& trim : last.trims) {
    if (trim.records <= count) next.trims.push_back(trim);
  }
  next.trims.resize(next.trims.size() - std::min(trims_missed, next.trims.size()));
  if (!next.trims.empty()) next.trimmed = next.trims.back().up_to;
  branches_.push_back(std::move(next));
}

bool SimEngine::confirms(size_t branch, const Head& head) const {
  return read(branch, head, 0).outcome == Read::Outcome::kRecords;
}

}  // namespace weir::storage::replication
