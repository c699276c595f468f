#include "storage/shared_logs/nats/reading.h"

#include <algorithm>
#include <utility>

#include "base/crc64.h"
#include "storage/replication/log_rows.h"
#include "storage/shared_logs/nats/names.h"
#include "storage/shared_logs/nats/requests.h"

namespace weir::storage::nats {

using replication::Head;
using replication::Read;
using replication::Record;

namespace {

// So many of the largest answers fit into the mailbox.
constexpr size_t kRoundMax = 16;
// At the end of the log, where most reads are, there is the record `after` and perhaps a new one.
constexpr size_t kFirstRound = 2;

// A record that does not tell its checksum is as good as broken.
Record record_of(Message message) {
  uint64_t crc = 0;
  if (!parse_hex(header(message.headers, kCrcHeader), &crc)) crc = ~crc64_xz(message.data);
  return {.head = {.log_index = message.sequence, .crc = crc}, .bytes = std::move(message.data)};
}

std::optional<uint64_t> followed_by(const Message& message) {
  uint64_t crc = 0;
  if (!parse_hex(header(message.headers, kAfterHeader), &crc)) return std::nullopt;
  return crc;
}

}  // namespace

std::vector<uint64_t> Reading::next_round() {
  std::vector<uint64_t> asked;
  if (is_over_) return asked;
  const bool is_first = next_ == 0;
  if (is_first) next_ = std::max<uint64_t>(after_.log_index, 1);
  const size_t count = is_first ? (bytes_max_ == 0 ? 1 : kFirstRound) : records_wanted();
  first_ = next_;
  for (; asked.size() < count && next_ < UINT64_MAX; ++next_) asked.push_back(next_);
  round_.assign(asked.size(), std::nullopt);
  is_over_ = asked.empty();
  return asked;
}

bool Reading::take(uint64_t asked, Found found) {
  round_[asked - first_] = std::move(found);
  const auto is_there = [](const auto& one) { return one.has_value(); };
  if (!std::all_of(round_.begin(), round_.end(), is_there)) return false;
  for (size_t i = 0; i < round_.size() && !is_over_; ++i) is_over_ = ends_with(*round_[i]);
  return true;
}

// Takes the next row, if that is what it is.
bool Reading::ends_with(Found& found) {
  has_failed_ = found.kind == Found::Kind::kFailed;
  at_end_ = found.kind == Found::Kind::kNone;
  if (has_failed_ || at_end_) return true;
  const uint64_t expected = std::max<uint64_t>(after_.log_index, 1) + rows_.size();
  followed_.push_back(followed_by(found.message));
  rows_.push_back(record_of(std::move(found.message)));
  const Head& head = rows_.back().head;
  const bool proves = rows_.size() > 1 || after_.log_index == 0 || head == after_;
  if (head.log_index != expected || !proves) return true;
  if (expected > after_.log_index) bytes_ += rows_.back().bytes.size();
  return bytes_ >= bytes_max_;
}

// About as many as the rest of the bytes holds.
size_t Reading::records_wanted() const {
  const size_t records = std::max<size_t>(rows_.size() - (after_.log_index == 0 ? 0 : 1), 1);
  const size_t each = std::max<size_t>(bytes_ / records, 1);
  return std::clamp<size_t>((bytes_max_ - bytes_) / each, 1, kRoundMax);
}

bool Reading::is_chain() const {
  for (size_t i = 1; i < rows_.size(); ++i)
    if (followed_[i] && *followed_[i] != rows_[i - 1].head.crc) return false;
  return true;
}

Read Reading::result() {
  Read read;
  if (has_failed_) return read;
  const bool tells_only = bytes_max_ == 0 && after_.log_index == 0;
  if (tells_only && !rows_.empty() && rows_.front().head.log_index == 1) {
    read.outcome = Read::Outcome::kRecords;
    return read;
  }
  const bool is_chained = is_chain();
  read = replication::read_from_rows(after_, std::move(rows_), at_end_);
  if (read.outcome != Read::Outcome::kRecords || is_chained) return read;
  Read damaged;
  damaged.outcome = Read::Outcome::kDamaged;
  return damaged;
}

}  // namespace weir::storage::nats
