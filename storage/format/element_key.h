// The key orders of elements. The key orders of one list's elements begin with the list's id, so
// the elements are one range of the table and one range of stored keys. DO NOT CHANGE: these key
// orders are on disk.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "storage/format/codec.h"
#include "storage/format/key_order.h"
#include "storage/format/record.h"

namespace weir::storage {

// The id of a list of elements: 1 to 2^44 - 1, never used again.
using ElementsId = uint64_t;

inline constexpr int kElementsIdBits = 44;
inline constexpr ElementsId kElementsIdMax = (ElementsId{1} << kElementsIdBits) - 1;
// How many bits of a key order follow the id. The last two are not stored: in memory they keep
// apart the elements that share a stored key order.
inline constexpr int kElementHashBits = 20;
inline constexpr int kUnstoredBits = 2;

// The elements of a database generation live under a generation of their own, with this bit,
// which begins and ends with it.
inline constexpr Generation kElementsBit = 0x80000000;
inline constexpr bool holds_elements(Generation generation) {
  return (generation & kElementsBit) != 0 && generation != kStoreGeneration;
}

// Ids are counted up; an odd factor spreads them over the leading bits, and its inverse finds them
// again. Source: multiplicative hashing by the golden ratio, here of 2^44 (D. Knuth, The Art of
// Computer Programming, 6.4).
inline constexpr uint64_t kIdFactor = 0x9e3779b97f5;
inline constexpr uint64_t kIdFactorInverse = [] {
  // Right in its last three bits; each step doubles how many are right.
  uint64_t inverse = kIdFactor;
  for (int i = 0; i < 5; ++i) inverse *= 2 - kIdFactor * inverse;
  return inverse & kElementsIdMax;
}();
static_assert((kIdFactor * kIdFactorInverse & kElementsIdMax) == 1);

// A list of elements, by the generation of its elements and its id.
struct ListName {
  Generation generation = 0;
  ElementsId id = 0;
  bool operator==(const ListName&) const = default;
  auto operator<=>(const ListName&) const = default;
};

inline constexpr KeyOrder first_key_order(ElementsId id) {
  return (id * kIdFactor & kElementsIdMax) << (64 - kElementsIdBits);
}
inline constexpr KeyOrder last_key_order(ElementsId id) {
  return first_key_order(id) | ((KeyOrder{1} << (64 - kElementsIdBits)) - 1);
}
inline constexpr ElementsId elements_id_at(KeyOrder key_order) {
  return (key_order >> (64 - kElementsIdBits)) * kIdFactorInverse & kElementsIdMax;
}

// How the elements of a list are laid out; the list's id tells. Scattered: by a hash that clients
// cannot guess. In sequence: members are 8-byte big-endian numbers that the server itself assigns,
// and members kSequenceStep apart are neighbours, so that walking the list is walking through
// memory and files in order. A member that is not such a number is scattered in either layout. What
// is given up is every other id, and an element that is inserted between neighbours stands
// anywhere.
enum class Layout : uint8_t { kScattered, kInSequence };
inline constexpr Layout layout_of(ElementsId id) {
  return id % 2 == 0 ? Layout::kInSequence : Layout::kScattered;
}
inline constexpr int kSequenceStepBits = 20;
inline constexpr uint64_t kSequenceStep = uint64_t{1} << kSequenceStepBits;

inline KeyOrder key_order_of_element(ElementsId id, std::string_view member, const HashSeed& seed) {
  constexpr KeyOrder kMask = (KeyOrder{1} << kElementHashBits) - 1;
  if (layout_of(id) == Layout::kInSequence && member.size() == sizeof(uint64_t))
    return first_key_order(id) | (load_u64_be(member.data()) >> kSequenceStepBits & kMask);
  return first_key_order(id) | siphash24(member, seed) >> (64 - kElementHashBits);
}

// Appends the name that the log gives an element; the element's key order follows from it.
inline void append_element_name(std::string* out, KeyOrder key_order, std::string_view member) {
  put_varint(out, elements_id_at(key_order));
  out->append(member);
}

// An element's payload begins with its order.
inline constexpr size_t kOrderBytes = 8;
inline bool is_element(const ValueView& value) {
  return value.type == Type::kElement && value.payload.size() >= kOrderBytes;
}

// Numbers as orders: a smaller number is a smaller order. Minus zero is zero; NaN has no order.
inline uint64_t order_of_double(double number) {
  const auto bits = std::bit_cast<uint64_t>(number == 0 ? 0.0 : number);
  constexpr uint64_t kSign = uint64_t{1} << 63;
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
inline double double_of_order(uint64_t order) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  return std::bit_cast<double>((order & kSign) != 0 ? order ^ kSign : ~order);
}
inline constexpr uint64_t order_of_integer(int64_t number) {
  return static_cast<uint64_t>(number) ^ uint64_t { 1 } << 63;
}
inline constexpr int64_t integer_of_order(uint64_t order) {
  return static_cast<int64_t>(order ^ uint64_t{1} << 63);
}

}  // namespace weir::storage
