// The records as bytes: the worked examples of storage/replication/FORMAT.md, and damage.
#include "storage/replication/record.h"

#include <gtest/gtest.h>

#include <random>

#include "base/crc64.h"
#include "storage/replication/log_bookmark.h"

namespace weir::storage::replication {
namespace {

std::string hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<uint8_t>(byte) >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

const Envelope kEnvelope = {.nonce = 0x0102030405060708, .shard = 0x5eed, .epoch = {2, 0xabcd}};
const Author kAuthor = {.node = "n1", .address = "db1:7000", .incarnation = {1, 2}};

std::vector<Body> one_of_each() {
  Genesis genesis;
  genesis.shard_name = "main";
  genesis.databases = 16;
  genesis.cluster[0] = 'c';
  return {
      genesis,
      Claim{.author = kAuthor, .instant_ns = 5, .times = {.lease_ns = 6, .failover_after_ns = 7}},
      Turns{.first_turn = 8, .turns = {"one", "", "three"}},
      Part{.turn = 9, .number = 1, .count = 2, .bytes = "part"},
      Heartbeat{.author = kAuthor, .instant_ns = 10, .written_back_turn = 11},
      Switchover{.to = "n2", .instant_ns = 12}};
}

TEST(Record, TheExamplesOfTheFormat) {
  const std::string turn("\x01\x00\x00\x2a\x36\xfe\x9c\x97\x17", 9);
  const std::string turns = encode_record(kEnvelope, Turns{.first_turn = 8, .turns = {turn}});
  EXPECT_EQ(hex(turns),
            "570103"
            "0807060504030201"
            "ed5e000000000000"
            "0200000000000000cdab000000000000"
            "0800000000000000"
            "01"
            "090100002a36fe9c9717");
  EXPECT_EQ(turn_instant_ns(turn), 1'700'000'000'000'000'000);
  const LogBookmark bookmark = {
      .head = {3, crc64_xz(turns)},
      .epoch = {2, 0xabcd},
      .next_turn = 9,
      .times = {.lease_ns = 1'500'000'000, .failover_after_ns = 2'000'000'000}};
  EXPECT_EQ(hex(encode_bookmark(bookmark)),
            "01"
            "030000000000000078499c7abfa7b5be"
            "0200000000000000cdab000000000000"
            "0900000000000000"
            "002f685900000000"
            "0094357700000000");
}

TEST(Record, WhatIsEncodedIsDecoded) {
  for (const Body& body : one_of_each()) {
    const std::string bytes = encode_record(kEnvelope, body);
    const auto record = decode_record(bytes);
    ASSERT_TRUE(record.has_value());
    EXPECT_EQ(record->body.index(), body.index());
    EXPECT_EQ(static_cast<size_t>(record->kind()), body.index() + 1);
    EXPECT_EQ(record->envelope.epoch, kEnvelope.epoch);
    EXPECT_EQ(encode_record(record->envelope, record->body), bytes);
  }
  const std::string bytes = encode_record(kEnvelope, one_of_each()[1]);
  EXPECT_EQ(std::get<Claim>(decode_record(bytes)->body).author, kAuthor);
}

TEST(Record, ACutOrLengthenedOneIsNone) {
  for (const Body& body : one_of_each()) {
    const std::string bytes = encode_record(kEnvelope, body);
    for (size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(decode_record(std::string_view(bytes).substr(0, size)).has_value());
    }
    EXPECT_FALSE(decode_record(bytes + "x").has_value());
  }
}

TEST(Record, UnknownVersionsAndKindsAreNone) {
  for (const size_t at : {0, 1, 2}) {
    std::string bytes = encode_record(kEnvelope, Switchover{.to = "n2"});
    for (const int value : {0, 7, 255}) {
      bytes[at] = static_cast<char>(value);
      EXPECT_FALSE(decode_record(bytes).has_value()) << at << " " << value;
    }
  }
}

TEST(Record, RandomBytesAreHarmless) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = encode_record(kEnvelope, one_of_each()[random() % 6]);
    for (int n = 0; n < 3; ++n)
      bytes[3 + random() % (bytes.size() - 3)] = static_cast<char>(random());
    const auto record = decode_record(bytes);
    if (!record) continue;
    EXPECT_LE(encode_record(record->envelope, record->body).size(), bytes.size());
  }
}

TEST(LogBookmarkFormat, IsReadBackOrRefused) {
  const LogBookmark bookmark = {.head = {3, 4}, .epoch = {1, 2}, .next_turn = 9, .times = {5, 6}};
  const std::string bytes = encode_bookmark(bookmark);
  EXPECT_EQ(decode_bookmark(bytes), bookmark);
  EXPECT_EQ(bookmark.turn(), 8u);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_bookmark(std::string_view(bytes).substr(0, size)).has_value());
  }
  EXPECT_FALSE(decode_bookmark(bytes + "x").has_value());
  EXPECT_FALSE(decode_bookmark("\x02" + bytes.substr(1)).has_value());
}

}  // namespace
}  // namespace weir::storage::replication
