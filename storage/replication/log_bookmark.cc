#include "storage/replication/log_bookmark.h"

#include "storage/format/codec.h"

namespace weir::storage::replication {

std::string encode_bookmark(const LogBookmark& bookmark) {
  std::string out;
  put_u8(&out, kLogBookmarkFormat);
  for (const uint64_t field :
       {bookmark.head.log_index, bookmark.head.crc, bookmark.epoch.log_index, bookmark.epoch.crc,
        bookmark.next_turn, static_cast<uint64_t>(bookmark.times.lease_ns),
        static_cast<uint64_t>(bookmark.times.failover_after_ns)}) {
    put_u64_le(&out, field);
  }
  return out;
}

std::optional<LogBookmark> decode_bookmark(std::string_view bytes) {
  Reader reader(bytes);
  if (reader.u8() != kLogBookmarkFormat) return std::nullopt;
  LogBookmark bookmark;
  bookmark.head = {.log_index = reader.u64_le(), .crc = reader.u64_le()};
  bookmark.epoch = {.log_index = reader.u64_le(), .crc = reader.u64_le()};
  bookmark.next_turn = reader.u64_le();
  bookmark.times.lease_ns = static_cast<int64_t>(reader.u64_le());
  bookmark.times.failover_after_ns = static_cast<int64_t>(reader.u64_le());
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  return bookmark;
}

}  // namespace weir::storage::replication
