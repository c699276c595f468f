// Invariants
// 1. Within a file, each record's sequence number continues the one before it.
// 2. A record behind a break counts only where it begins (whole or first part), with its checksum
//    right and a sequence number that was still to come: leftovers of the broken record itself and
//    random bytes do not.
#include "storage/wal_scan.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "storage/codec.h"
#include "storage/crc32c.h"

namespace weir::storage {
namespace {

constexpr uint64_t kBlock = 32768;
constexpr uint64_t kHeader = 7;
constexpr uint64_t kPage = 4096;
constexpr size_t kBatchHead = 12;

enum PartType : uint8_t { kWhole = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

constexpr uint32_t kBatchCountMax = 1;  // a batch of ours is one put or one deletion of a range
constexpr uint8_t kTagPut = 1;

struct Part {
  uint8_t type = 0;
  std::string_view payload;
  uint64_t end = 0;
};

// What a record says of itself. A part of a record may say less.
struct Batch {
  uint64_t sequence = 0;
  uint64_t count = 0;
  uint64_t turn = 0;         // 0: not a turn
  uint64_t synced_turn = 0;  // 0: not told
};

uint64_t load_u16_le(const char* bytes) {
  return static_cast<uint8_t>(bytes[0]) | static_cast<uint64_t>(static_cast<uint8_t>(bytes[1]))
                                              << 8;
}

uint32_t load_u32_le(const char* bytes) {
  uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

uint32_t unmask(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8u;
  return rotated >> 17 | rotated << 15;
}

// `runs_out` is set when the file ends before the part does.
std::optional<Part> part_at(std::string_view bytes, uint64_t at, bool* runs_out) {
  *runs_out = at + kHeader > bytes.size();
  if (*runs_out) return std::nullopt;
  const char* head = bytes.data() + at;
  const uint64_t length = load_u16_le(head + 4);
  const auto type = static_cast<uint8_t>(head[6]);
  if (type < kWhole || type > kLast) return std::nullopt;
  if (at % kBlock + kHeader + length > kBlock) return std::nullopt;
  *runs_out = at + kHeader + length > bytes.size();
  if (*runs_out) return std::nullopt;
  if (crc32c(bytes.substr(at + 6, 1 + length)) != unmask(load_u32_le(head))) return std::nullopt;
  return Part{type, bytes.substr(at + kHeader, length), at + kHeader + length};
}

std::optional<Batch> parse_batch(std::string_view record) {
  if (record.size() < kBatchHead) return std::nullopt;
  Batch batch{.sequence = load_u64_le(record.data()), .count = load_u32_le(record.data() + 8)};
  Reader reader(record.substr(kBatchHead));
  if (batch.count != 1) return batch;
  const uint8_t tag = reader.u8();
  const std::string_view key = reader.sized_bytes();
  if (!reader.ok() || tag != kTagPut || key.size() != 8) return batch;
  const uint64_t turn = load_u64_be(key.data());
  reader.varint();
  const uint64_t unsynced = reader.varint();
  if (!reader.ok() || unsynced > turn) return batch;
  batch.turn = turn;
  batch.synced_turn = turn - unsynced;
  return batch;
}

bool all_zero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

class Scanner {
 public:
  explicit Scanner(std::string_view bytes) : bytes_(bytes) {}

  WalScan run() {
    uint64_t at = 0;
    while (at < bytes_.size()) {
      const uint64_t left_in_block = kBlock - at % kBlock;
      if (left_in_block < kHeader) {
        at += left_in_block;
        if (!in_record_) scan_.valid_bytes = std::min<uint64_t>(at, bytes_.size());
        continue;
      }
      bool runs_out = false;
      const auto part = part_at(bytes_, at, &runs_out);
      if (!part || !take(*part)) return look_behind(at, runs_out);
      at = part->end;
    }
    if (in_record_) return look_behind(bytes_.size(), true);
    return scan_;
  }

 private:
  bool take(const Part& part) {
    const bool begins = part.type == kWhole || part.type == kFirst;
    if (begins == in_record_) return false;
    if (begins) record_.clear();
    record_.append(part.payload);
    in_record_ = part.type == kFirst || part.type == kMiddle;
    if (in_record_) return true;
    const auto batch = parse_batch(record_);
    if (!batch || (next_sequence_ != 0 && batch->sequence != next_sequence_)) {
      out_of_order_ = true;
      return false;
    }
    next_sequence_ = batch->sequence + batch->count;
    if (batch->turn != 0) {
      if (scan_.first_turn == 0) scan_.first_turn = batch->turn;
      scan_.last_turn = batch->turn;
      scan_.synced_turn = std::max(scan_.synced_turn, batch->synced_turn);
    }
    scan_.valid_bytes = part.end;
    return true;
  }

  // REQUIRES: the part at `at` is not valid.
  WalScan look_behind(uint64_t at, bool runs_out) {
    scan_.broken = true;
    // The parts before it do not count, unless they are whole and only out of place.
    for (uint64_t offset = out_of_order_ ? scan_.valid_bytes : at;
         offset + kHeader <= bytes_.size(); ++offset) {
      const auto batch = batch_behind(offset);
      if (!batch) continue;
      if (!scan_.valid_record_behind) scan_.valid_record_behind = offset;
      scan_.synced_turn_behind = std::max(scan_.synced_turn_behind, batch->synced_turn);
    }
    scan_.unwritten = (runs_out && !scan_.valid_record_behind) || page_unwritten(at);
    return scan_;
  }

  std::optional<Batch> batch_behind(uint64_t offset) {
    const char* head = bytes_.data() + offset;
    const auto type = static_cast<uint8_t>(head[6]);
    if (type != kWhole && type != kFirst) return std::nullopt;
    // Cheap looks first: the checksum of every offset of a large file would take minutes.
    const uint64_t length = load_u16_le(head + 4);
    if (length >= kBatchHead && offset + kHeader + kBatchHead <= bytes_.size()) {
      const uint64_t ahead = load_u64_le(head + kHeader) - next_sequence_;
      if (next_sequence_ != 0 && ahead > bytes_.size() / kHeader) return std::nullopt;
      if (load_u32_le(head + kHeader + 8) > kBatchCountMax) return std::nullopt;
    } else if (type == kWhole) {
      return std::nullopt;
    }
    bool runs_out = false;
    const auto part = part_at(bytes_, offset, &runs_out);
    if (!part) return std::nullopt;
    // A first part may be cut by its block before it tells anything.
    return parse_batch(part->payload).value_or(Batch{});
  }

  // Whether a page that the broken part must reach into, or everything from it on, was never
  // written: a file system shows zeros there.
  bool page_unwritten(uint64_t at) const {
    if (all_zero(bytes_.substr(at))) return true;
    const uint64_t end =
        std::min<uint64_t>(scan_.valid_record_behind.value_or(bytes_.size()), bytes_.size());
    for (uint64_t page = (at + kPage - 1) / kPage * kPage; page + kPage <= end; page += kPage) {
      if (all_zero(bytes_.substr(page, kPage))) return true;
    }
    return false;
  }

  const std::string_view bytes_;
  WalScan scan_;
  std::string record_;
  bool in_record_ = false;
  bool out_of_order_ = false;
  uint64_t next_sequence_ = 0;  // 0: the file's first record tells
};

}  // namespace

WalScan scan_wal(std::string_view bytes) { return Scanner(bytes).run(); }

}  // namespace weir::storage
