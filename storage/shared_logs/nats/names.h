// What a shard's streams and subjects are called:
//
//     weir_SHARD               the stream of the log
//     weir.SHARD.log.XXXX      its subjects; XXXX is the end of the record's crc, hexadecimal
//     KV_weir_SHARD            the stream of the member registry, a key-value bucket to other
//     clients $KV.weir_SHARD.MEMBER    its subjects
//
// A name is written with its letters, digits, '-' and '_' as they are and each other byte as =XX,
// since the server gives a meaning to dots, stars and spaces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::storage::nats {

std::string token_of(std::string_view name);
// Of what is no such token, something.
std::string name_of(std::string_view token);

// 16 digits.
std::string hex_of(uint64_t number);
// False unless it is 16 digits.
bool parse_hex(std::string_view text, uint64_t* number);

class Names {
 public:
  explicit Names(std::string_view shard) : shard_(token_of(shard)) {}

  std::string log_stream() const { return "weir_" + shard_; }
  std::string log_subjects() const { return "weir." + shard_ + ".log.*"; }
  std::string log_subject(uint64_t crc) const {
    return "weir." + shard_ + ".log." + hex_of(crc).substr(12);
  }
  std::string registry_stream() const { return "KV_weir_" + shard_; }
  std::string registry_prefix() const { return "$KV.weir_" + shard_ + "."; }

 private:
  const std::string shard_;
};

}  // namespace weir::storage::nats
