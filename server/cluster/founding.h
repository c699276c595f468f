// The founding text, by which a cluster of shards is made once, the same for all of them:
//
//     # comment
//     cluster limits 0f3b5c1e9a7d42668833aa10ffee9c01
//     shard a 0-5460
//     shard b 5461-10921
//     shard c 10922-16383
//
// The first line names the cluster, for people, and 128 random bits in hexadecimal, so that no two
// clusters are one by chance. A shard has one line, with one range of slots or several; where no
// line has ranges, all shards have even shares, in the order of their lines. Every slot has exactly
// one shard.
//
// The cluster's id is the first 16 bytes of the SHA-256 of the canonical form, so it follows from
// what the text says and not from how it is laid out. Two shards of one id have read the same text,
// and cannot begin with the same slot.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/slot_ranges.h"

namespace weir::server {

inline constexpr size_t kFoundingBytesMax = 1 << 18;
inline constexpr size_t kFoundedShardsMax = 64;

struct FoundedShard {
  std::string name = {};  // storage::is_shard_name()
  SlotRanges slots = {};  // in order, at least one
};

class Founding {
 public:
  // Reads a text. The error is one line that names the place, as "PLACE:LINE: ...", and what is
  // accepted there.
  static Result<Founding, std::string> parse(std::string_view text, const std::string& place);

  // Answers the text without comments, with single spaces, digits in lower case, and shards in the
  // order of their first slots; neighbouring ranges are one.
  std::string canonical() const;
  std::array<char, 16> id() const;
  const std::string& name() const { return name_; }
  // Answers the shards in the order of their first slots.
  const std::vector<FoundedShard>& shards() const { return shards_; }
  // Answers nothing for a name that no shard has.
  const FoundedShard* find(std::string_view shard) const;

 private:
  Founding() = default;

  std::string name_;
  std::string random_;  // 32 digits
  std::vector<FoundedShard> shards_;
};

}  // namespace weir::server
