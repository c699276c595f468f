// Key orders: where a key stands in the one order that the working set, the state on disk and
// SCAN's cursors share.
//
// A key order is 64 bits: the key's Redis Cluster hash slot in the top 14, then 48 bits of a keyed
// hash, then two zero bits. So a range of slots is a range of key orders, and within a slot keys
// are spread evenly whatever names clients choose: the hash is SipHash-2-4 under a seed drawn when
// the data directory was made. DO NOT CHANGE: key orders are on disk.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/siphash.h"

namespace weir::storage {

using KeyOrder = uint64_t;
using HashSeed = SipKey;

inline constexpr int kSlots = 16384;

// The key's hash slot: CRC16 (XMODEM) modulo 16384. Only the part between the first '{' and the
// next '}' is hashed if that part is not empty.
uint16_t hash_slot(std::string_view key);

inline uint64_t siphash24(std::string_view bytes, const HashSeed& seed) {
  return siphash<2, 4>(bytes, seed);
}

inline KeyOrder key_order_of(std::string_view key, const HashSeed& seed) {
  return static_cast<KeyOrder>(hash_slot(key)) << 50 | siphash24(key, seed) >> 16 << 2;
}

// The part of a key order that the state keeps. In memory the key orders of elements have two bits
// more.
inline constexpr KeyOrder stored_part(KeyOrder key_order) { return key_order & ~KeyOrder{3}; }
// The last key order whose stored part is the same.
inline constexpr KeyOrder last_beside(KeyOrder key_order) { return key_order | KeyOrder{3}; }

inline uint16_t slot_of(KeyOrder key_order) { return static_cast<uint16_t>(key_order >> 50); }

// SCAN's cursor: the top 53 bits, so that a client that keeps numbers as doubles keeps it exactly.
// Keys that share a cursor are returned together.
inline uint64_t cursor_of(KeyOrder key_order) { return key_order >> 11; }
inline KeyOrder key_order_of_cursor(uint64_t cursor) { return cursor << 11; }

}  // namespace weir::storage
