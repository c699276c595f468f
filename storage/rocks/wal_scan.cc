// Invariants
// 1. Within a file, each record's sequence number continues that of the record before it.
// 2. A record after a break counts only from its beginning on (a whole or first part), with a right
//    checksum and a sequence number that was still to come. So leftovers of the broken record
//    itself and random bytes do not count.
#include "storage/rocks/wal_scan.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "storage/format/codec.h"
#include "storage/rocks/log_key.h"
#include "storage/rocks/wal_record.h"

namespace weir::storage {
namespace {

constexpr uint64_t kPage = 4096;
constexpr size_t kBatchHeadBytes = 12;
// A batch of one turn holds a put and perhaps deletions of ranges; the batch of a shared log's
// record may hold as many turns as fit into it, of 10 bytes at least.
constexpr uint32_t kBatchCountMax = 4 << 20;

// The entries of a batch, by RocksDB's numbers.
constexpr uint8_t kTagPut = 1;
constexpr uint8_t kTagDelete = 0;
constexpr uint8_t kTagDeleteRange = 15;

// What a record says of itself. The first part of a record may say less.
struct Batch {
  uint64_t sequence = 0;
  uint32_t count = 0;
  uint64_t first_turn = 0;  // 0: it has no turn
  uint64_t last_turn = 0;
  uint64_t synced_turn = 0;  // 0: not told
};

void take_turn(uint64_t turn, std::string_view value, Batch* batch) {
  Reader reader(value);
  const uint64_t unsynced = reader.varint();
  if (!reader.ok() || unsynced > turn || turn == 0) return;  // they count from 1
  if (batch->first_turn == 0) batch->first_turn = turn;
  batch->last_turn = turn;
  batch->synced_turn = std::max(batch->synced_turn, turn - unsynced);
}

std::optional<Batch> parse_batch(std::string_view record) {
  if (record.size() < kBatchHeadBytes) return std::nullopt;
  Batch batch{.sequence = load_u64_le(record.data()), .count = load_u32_le(record.data() + 8)};
  Reader reader(record.substr(kBatchHeadBytes));
  for (uint32_t i = 0; i < batch.count && !reader.at_end(); ++i) {
    const uint8_t tag = reader.u8();
    if (tag != kTagPut && tag != kTagDelete && tag != kTagDeleteRange) break;
    const std::string_view key = reader.sized_bytes();
    const auto turn = turn_of_turn_key(key);
    if (!reader.ok()) break;
    if (tag == kTagDelete) continue;
    const uint64_t size = reader.varint();
    // The head of a turn may be there although the rest of its record is in later parts.
    const std::string_view value = reader.rest();
    if (tag == kTagPut && turn) take_turn(*turn, value.substr(0, size), &batch);
    reader.bytes(size);
    if (!reader.ok()) break;
  }
  return batch;
}

bool all_zero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

class Scanner {
 public:
  explicit Scanner(std::string_view bytes) : bytes_(bytes) {}

  WalScan run() {
    WalRecordReader reader(bytes_);
    while (true) {
      const uint64_t begin = reader.valid_bytes();
      if (!reader.next()) break;
      if (!take(reader.record())) {
        // A whole record that should not be here counts as a record after the break.
        scan_.valid_bytes = begin;
        return look_behind(begin, false);
      }
    }
    scan_.valid_bytes = reader.valid_bytes();
    return reader.at_end() ? scan_ : look_behind(reader.broken_at(), reader.runs_out());
  }

 private:
  bool take(const std::string& record) {
    const auto batch = parse_batch(record);
    if (!batch || (next_sequence_ != 0 && batch->sequence != next_sequence_)) return false;
    next_sequence_ = batch->sequence + batch->count;
    if (batch->first_turn == 0) return true;
    if (scan_.first_turn == 0) scan_.first_turn = batch->first_turn;
    scan_.last_turn = batch->last_turn;
    scan_.synced_turn = std::max(scan_.synced_turn, batch->synced_turn);
    return true;
  }

  WalScan look_behind(uint64_t at, bool runs_out) {
    scan_.broken = true;
    for (uint64_t offset = at; offset + kWalHeaderBytes <= bytes_.size(); ++offset) {
      const auto batch = batch_behind(offset);
      if (!batch) continue;
      if (!scan_.valid_record_behind) scan_.valid_record_behind = offset;
      scan_.synced_turn_behind = std::max(scan_.synced_turn_behind, batch->synced_turn);
    }
    scan_.unwritten = (runs_out && !scan_.valid_record_behind) || page_unwritten(at);
    return scan_;
  }

  // Cheap tests come first: to compute the checksum at every offset of a large file would take
  // minutes.
  std::optional<Batch> batch_behind(uint64_t offset) {
    const char* head = bytes_.data() + offset;
    const auto type = static_cast<uint8_t>(head[6]);
    if (type != kWalWhole && type != kWalFirst) return std::nullopt;
    const bool told = head[5] != 0 || static_cast<uint8_t>(head[4]) >= kBatchHeadBytes;
    if (told && offset + kWalHeaderBytes + kBatchHeadBytes <= bytes_.size()) {
      const uint64_t ahead = load_u64_le(head + kWalHeaderBytes) - next_sequence_;
      // Each record in between took more than a header.
      if (next_sequence_ != 0 && ahead > bytes_.size() / kWalHeaderBytes) return std::nullopt;
      const uint32_t count = load_u32_le(head + kWalHeaderBytes + 8);
      if (count == 0 || count > kBatchCountMax) return std::nullopt;
    } else if (type == kWalWhole) {
      return std::nullopt;
    }
    bool runs_out = false;
    const auto part = wal_part_at(bytes_, offset, &runs_out);
    if (!part) return std::nullopt;
    // A block's end may cut a first part before it tells anything.
    return parse_batch(part->payload).value_or(Batch{});
  }

  // True if a page that the broken part must reach into, or everything from it on, was never
  // written: a file system shows zeros there.
  bool page_unwritten(uint64_t at) const {
    if (all_zero(bytes_.substr(at))) return true;
    const uint64_t end = scan_.valid_record_behind.value_or(bytes_.size());
    for (uint64_t page = (at + kPage - 1) / kPage * kPage; page + kPage <= end; page += kPage) {
      if (all_zero(bytes_.substr(page, kPage))) return true;
    }
    return false;
  }

  const std::string_view bytes_;
  WalScan scan_;
  uint64_t next_sequence_ = 0;  // 0: the file's first record tells
};

}  // namespace

WalScan scan_wal(std::string_view bytes) { return Scanner(bytes).run(); }

}  // namespace weir::storage
