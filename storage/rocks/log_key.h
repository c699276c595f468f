// The keys of the `log/` database: turns, and after all of them the log bookmarks. DO NOT CHANGE:
// FORMAT.md.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "storage/format/codec.h"

namespace weir::storage {

inline constexpr size_t kTurnKeyBytes = 8;
inline constexpr size_t kBookmarkKeyBytes = 16;
inline constexpr uint64_t kBookmarkKeyPrefix = UINT64_MAX;  // a number that no turn has

inline std::array<char, kTurnKeyBytes> turn_key_bytes(uint64_t turn) {
  return std::bit_cast<std::array<char, kTurnKeyBytes>>(__builtin_bswap64(turn));
}

inline std::string turn_key(uint64_t turn) {
  std::string key;
  put_u64_be(&key, turn);
  return key;
}

inline std::string bookmark_key(uint64_t turn) {
  std::string key = turn_key(kBookmarkKeyPrefix);
  put_u64_be(&key, turn);
  return key;
}

inline std::optional<uint64_t> turn_of_turn_key(std::string_view key) {
  if (key.size() != kTurnKeyBytes) return std::nullopt;
  return load_u64_be(key.data());
}

// Also of a key that only begins as a bookmark's does: the end of a range of bookmarks.
inline std::optional<uint64_t> turn_of_bookmark_key(std::string_view key) {
  if (key.size() < kBookmarkKeyBytes || load_u64_be(key.data()) != kBookmarkKeyPrefix)
    return std::nullopt;
  return load_u64_be(key.data() + sizeof(uint64_t));
}

}  // namespace weir::storage
