// SipHash (Aumasson and Bernstein, 2012): a hash of bytes under a key, which nobody who lacks the
// key can make collide on purpose.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace weir {

using SipKey = std::array<uint64_t, 2>;

class SipState {
 public:
  explicit SipState(const SipKey& key)
      : v0(key[0] ^ 0x736f6d6570736575),
        v1(key[1] ^ 0x646f72616e646f6d),
        v2(key[0] ^ 0x6c7967656e657261),
        v3(key[1] ^ 0x7465646279746573) {}

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }

  template <int kRounds>
  void absorb(uint64_t word) {
    v3 ^= word;
    for (int i = 0; i < kRounds; ++i) round();
    v0 ^= word;
  }

  template <int kRounds>
  uint64_t finish() {
    v2 ^= 0xff;
    for (int i = 0; i < kRounds; ++i) round();
    return v0 ^ v1 ^ v2 ^ v3;
  }

 private:
  uint64_t v0, v1, v2, v3;
};

// SipHash-c-d: so many rounds for each word, and so many at the end.
template <int kWordRounds, int kEndRounds>
uint64_t siphash(std::string_view bytes, const SipKey& key) {
  SipState state(key);
  const uint64_t length_byte = static_cast<uint64_t>(bytes.size()) << 56;
  while (bytes.size() >= 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    state.absorb<kWordRounds>(word);
    bytes.remove_prefix(8);
  }
  uint64_t last = 0;
  if (!bytes.empty()) std::memcpy(&last, bytes.data(), bytes.size());
  state.absorb<kWordRounds>(last | length_byte);
  return state.finish<kEndRounds>();
}

}  // namespace weir
