#include "storage/replication/stamp.h"

#include "storage/format/codec.h"

namespace weir::storage::replication {

std::string encode_stamp(const Stamp& stamp) {
  std::string out;
  put_u8(&out, kStampFormat);
  for (const uint64_t field :
       {stamp.head.position, stamp.head.crc, stamp.epoch.position, stamp.epoch.crc, stamp.next_turn,
        static_cast<uint64_t>(stamp.times.lease_ns),
        static_cast<uint64_t>(stamp.times.failover_after_ns)}) {
    put_u64_le(&out, field);
  }
  return out;
}

std::optional<Stamp> decode_stamp(std::string_view bytes) {
  Reader reader(bytes);
  if (reader.u8() != kStampFormat) return std::nullopt;
  Stamp stamp;
  stamp.head = {.position = reader.u64_le(), .crc = reader.u64_le()};
  stamp.epoch = {.position = reader.u64_le(), .crc = reader.u64_le()};
  stamp.next_turn = reader.u64_le();
  stamp.times.lease_ns = static_cast<int64_t>(reader.u64_le());
  stamp.times.failover_after_ns = static_cast<int64_t>(reader.u64_le());
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  return stamp;
}

}  // namespace weir::storage::replication
