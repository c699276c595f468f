#include "storage/rocks/wal_record.h"

#include <algorithm>

#include "storage/format/codec.h"
#include "storage/format/crc32c.h"

namespace weir::storage {
namespace {

uint32_t unmask(uint32_t masked) {
  const uint32_t rotated = masked - 0xa282ead8u;
  return rotated >> 17 | rotated << 15;
}

}  // namespace

std::optional<WalPart> wal_part_at(std::string_view bytes, uint64_t at, bool* runs_out) {
  *runs_out = at + kWalHeaderBytes > bytes.size();
  if (*runs_out) return std::nullopt;
  const char* head = bytes.data() + at;
  const uint64_t length =
      static_cast<uint8_t>(head[4]) | static_cast<uint64_t>(static_cast<uint8_t>(head[5])) << 8;
  const auto type = static_cast<uint8_t>(head[6]);
  if (type < kWalWhole || type > kWalLast) return std::nullopt;
  if (at % kWalBlockBytes + kWalHeaderBytes + length > kWalBlockBytes) return std::nullopt;
  *runs_out = at + kWalHeaderBytes + length > bytes.size();
  if (*runs_out) return std::nullopt;
  if (crc32c(bytes.substr(at + 6, 1 + length)) != unmask(load_u32_le(head))) return std::nullopt;
  return WalPart{type, bytes.substr(at + kWalHeaderBytes, length), at + kWalHeaderBytes + length};
}

bool WalRecordReader::next() {
  while (at_ < bytes_.size()) {
    const uint64_t left_in_block = kWalBlockBytes - at_ % kWalBlockBytes;
    if (left_in_block < kWalHeaderBytes) {
      at_ = std::min<uint64_t>(at_ + left_in_block, bytes_.size());
      if (!in_record_) valid_bytes_ = at_;
      continue;
    }
    const auto part = wal_part_at(bytes_, at_, &runs_out_);
    if (!part || part->begins() == in_record_) return false;
    if (part->begins()) record_.clear();
    record_.append(part->payload);
    in_record_ = !part->ends();
    at_ = part->end;
    if (in_record_) continue;
    valid_bytes_ = at_;
    return true;
  }
  at_end_ = !in_record_;
  runs_out_ = in_record_;
  return false;
}

}  // namespace weir::storage
