// Hash slots are those that Redis Cluster and its clients compute.
#include "server/cluster/hash_slot.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::server {
namespace {

// One bit after the other, as the polynomial is defined.
uint16_t slow_sum(std::string_view bytes) {
  unsigned sum = 0;
  for (const char byte : bytes) {
    sum ^= static_cast<unsigned>(static_cast<uint8_t>(byte)) << 8;
    for (int bit = 0; bit < 8; ++bit) sum = (sum & 0x8000) != 0 ? sum << 1 ^ 0x1021 : sum << 1;
  }
  return static_cast<uint16_t>(sum);
}

// The check value of CRC-16/XMODEM.
TEST(HashSlot, TheSumIsXmodems) {
  EXPECT_EQ(slow_sum("123456789"), 0x31c3);
  EXPECT_EQ(hash_slot("123456789"), 0x31c3);
}

// Wherever the braces are among the blocks that are summed at once.
TEST(HashSlot, EveryLengthIsSummedAsBitByBit) {
  std::string bytes;
  for (int length = 0; length < 70; ++length) {
    EXPECT_EQ(hash_slot(bytes), slow_sum(hashed_part(bytes)) % kSlots) << length;
    for (size_t open = 0; open < bytes.size(); ++open) {
      std::string tagged = bytes;
      tagged[open] = '{';
      EXPECT_EQ(hash_slot(tagged), slow_sum(hashed_part(tagged)) % kSlots) << tagged;
      for (size_t close = open + 1; close < bytes.size(); close += 3) {
        tagged[close] = '}';
        EXPECT_EQ(hash_slot(tagged), slow_sum(hashed_part(tagged)) % kSlots) << tagged;
      }
    }
    bytes += static_cast<char>(length * 37 + 200);
  }
}

// As a Redis 7.0 answers by CLUSTER KEYSLOT.
TEST(HashSlot, KeysHaveTheSlotsOfRedis) {
  EXPECT_EQ(hash_slot("foo"), 12182);
  EXPECT_EQ(hash_slot("a"), 15495);
  EXPECT_EQ(hash_slot("b"), 3300);
  EXPECT_EQ(hash_slot("a{b}c"), 3300);
  EXPECT_EQ(hash_slot(""), 0);
}

TEST(HashSlot, ATagIsTheFirstOneThatIsNotEmpty) {
  EXPECT_EQ(hashed_part("{user1000}.following"), "user1000");
  EXPECT_EQ(hashed_part("foo{}{bar}"), "foo{}{bar}");
  EXPECT_EQ(hashed_part("foo{{bar}}zap"), "{bar");
  EXPECT_EQ(hashed_part("foo{bar}{zap}"), "bar");
  EXPECT_EQ(hashed_part("foo{bar"), "foo{bar");
  EXPECT_EQ(hashed_part("}{"), "}{");
  EXPECT_EQ(hashed_part("}a{b}"), "b");
}

}  // namespace
}  // namespace weir::server
