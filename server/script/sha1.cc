#include "server/script/sha1.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/ascii.h"

namespace weir::server::script {
namespace {

constexpr size_t kBlockBytes = 64;
using State = std::array<uint32_t, 5>;

uint32_t big_endian(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

// FIPS 180-4, 6.1.2.
void mix_block(State* state, const uint8_t* block) {
  uint32_t w[80];
  for (size_t t = 0; t < 16; ++t) w[t] = big_endian(block + 4 * t);
  for (size_t t = 16; t < 80; ++t) w[t] = std::rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
  uint32_t a = (*state)[0], b = (*state)[1], c = (*state)[2], d = (*state)[3], e = (*state)[4];
  const auto round = [&](uint32_t mixed, uint32_t constant, uint32_t word) {
    const uint32_t next = std::rotl(a, 5) + mixed + e + constant + word;
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  };
  for (size_t t = 0; t < 20; ++t) round((b & c) | (~b & d), 0x5a827999, w[t]);
  for (size_t t = 20; t < 40; ++t) round(b ^ c ^ d, 0x6ed9eba1, w[t]);
  for (size_t t = 40; t < 60; ++t) round((b & c) | (b & d) | (c & d), 0x8f1bbcdc, w[t]);
  for (size_t t = 60; t < 80; ++t) round(b ^ c ^ d, 0xca62c1d6, w[t]);
  const State mixed = {a, b, c, d, e};
  for (size_t i = 0; i < 5; ++i) (*state)[i] += mixed[i];
}

}  // namespace

std::array<uint8_t, 20> sha1(std::string_view bytes) {
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  size_t at = 0;
  for (; bytes.size() - at >= kBlockBytes; at += kBlockBytes) mix_block(&state, data + at);
  uint8_t tail[2 * kBlockBytes] = {};
  const size_t left = bytes.size() - at;
  if (left > 0) std::memcpy(tail, data + at, left);
  tail[left] = 0x80;
  const size_t tail_bytes = left + 9 <= kBlockBytes ? kBlockBytes : 2 * kBlockBytes;
  const uint64_t bits = uint64_t{bytes.size()} * 8;
  for (size_t i = 0; i < 8; ++i) tail[tail_bytes - 1 - i] = static_cast<uint8_t>(bits >> 8 * i);
  for (size_t i = 0; i < tail_bytes; i += kBlockBytes) mix_block(&state, tail + i);
  std::array<uint8_t, 20> digest;
  for (size_t i = 0; i < 20; ++i)
    digest[i] = static_cast<uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

std::string sha1_hex(std::string_view bytes) { return hex_text(sha1(bytes)); }

}  // namespace weir::server::script
