#include "base/string_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

namespace weir {
namespace {

// libstdc++'s std::hash of a string is MurmurHash64A, which mixes each 8 bytes before it takes them
// in. A flip of the mixed word's highest bit reaches nothing but the highest bit of the state, and
// the same flip in the next word takes it back, whatever the seed. So every pair of words has a
// twin of the same hash.
constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995;

uint64_t inverse_of_multiplier() {
  uint64_t inverse = kMultiplier;
  for (int i = 0; i < 6; ++i) inverse *= 2 - kMultiplier * inverse;
  return inverse;
}

uint64_t mixed(uint64_t word) {
  word *= kMultiplier;
  word ^= word >> 47;
  return word * kMultiplier;
}

uint64_t unmixed(uint64_t word) {
  word *= inverse_of_multiplier();
  word ^= word >> 47;
  return word * inverse_of_multiplier();
}

std::string bytes_of(uint64_t first, uint64_t second) {
  std::string bytes(16, 0);
  std::memcpy(bytes.data(), &first, 8);
  std::memcpy(bytes.data() + 8, &second, 8);
  return bytes;
}

// 2^pairs strings that std::hash cannot tell apart.
std::vector<std::string> colliding_strings(int pairs) {
  constexpr uint64_t kFlip = uint64_t{1} << 63;
  std::vector<std::string> strings = {""};
  for (int pair = 0; pair < pairs; ++pair) {
    const uint64_t first = mixed(static_cast<uint64_t>(pair) + 1);
    const uint64_t second = mixed(static_cast<uint64_t>(pair) + 1000);
    const std::string plain = bytes_of(unmixed(first), unmixed(second));
    const std::string twin = bytes_of(unmixed(first ^ kFlip), unmixed(second ^ kFlip));
    const size_t count = strings.size();
    for (size_t i = 0; i < count; ++i) {
      strings.push_back(strings[i] + twin);
      strings[i] += plain;
    }
  }
  return strings;
}

template <typename Map>
size_t fullest_bucket(const Map& map) {
  size_t most = 0;
  for (size_t i = 0; i < map.bucket_count(); ++i) most = std::max(most, map.bucket_size(i));
  return most;
}

TEST(StringHash, KeysThatCollideOnPurposeStandApart) {
  const std::vector<std::string> strings = colliding_strings(10);
  std::unordered_map<std::string, int> plain;
  StringMap<int> keyed;
  for (const std::string& string : strings) plain[string] = keyed[string] = 1;
  EXPECT_EQ(fullest_bucket(plain), strings.size());  // so the strings are what they should be
  EXPECT_LT(fullest_bucket(keyed), 20u);
}

TEST(StringHash, LooksUpViews) {
  StringMap<int> map;
  map["key"] = 7;
  EXPECT_EQ(map.find(std::string_view("key"))->second, 7);
}

TEST(StringHash, FollowsTheKeyOfTheProcess) {
  const SipKey drawn = std::exchange(process_hash_key, SipKey{1, 2});
  EXPECT_EQ(StringHash()("key"), (siphash<1, 3>("key", SipKey{1, 2})));
  process_hash_key = drawn;
  EXPECT_NE(StringHash()("key"), (siphash<1, 3>("key", SipKey{1, 2})));
}

// The vectors of the authors' reference code: key 00 01 .. 0f, messages "", 00, 00 01, ...
TEST(SipHash, IsSipHash24) {
  const SipKey key = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::string message;
  EXPECT_EQ((siphash<2, 4>(message, key)), 0x726fdb47dd0e0e31u);
  for (char c = 0; c < 15; ++c) message.push_back(c);
  EXPECT_EQ((siphash<2, 4>(message, key)), 0xa129ca6149be45e5u);
}

}  // namespace
}  // namespace weir
