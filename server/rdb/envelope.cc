#include "server/rdb/envelope.h"

#include "base/crc64.h"
#include "server/rdb/integers.h"

namespace weir::server::rdb {
namespace {

constexpr size_t kVersionBytes = 2;
constexpr size_t kChecksumBytes = 8;
constexpr size_t kFooterBytes = kVersionBytes + kChecksumBytes;

}  // namespace

void seal(std::string* body) {
  put_little_endian(body, kVersionWritten, kVersionBytes);
  put_little_endian(body, crc64_redis(*body), kChecksumBytes);
}

std::optional<std::string_view> open_any(std::string_view payload) {
  if (payload.size() < kFooterBytes) return std::nullopt;
  const size_t crc_at = payload.size() - kChecksumBytes;
  if (crc64_redis(payload.substr(0, crc_at)) != load_unsigned(payload.substr(crc_at)))
    return std::nullopt;
  return payload.substr(0, payload.size() - kFooterBytes);
}

Result<std::string_view, std::string> open(std::string_view payload) {
  std::string error(kNotWhole);
  const auto body = open_any(payload);
  if (!body) return error;
  const uint64_t version = load_unsigned(payload.substr(body->size(), kVersionBytes));
  if (version <= kVersionMax) return *body;
  return error + ": version " + std::to_string(version) + ", the newest known here is " +
         std::to_string(kVersionMax);
}

}  // namespace weir::server::rdb
