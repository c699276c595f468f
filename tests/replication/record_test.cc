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

Genesis whole_shard() {
  Genesis genesis;
  genesis.shard_name = "main";
  genesis.databases = 16;
  genesis.cluster[0] = 'c';
  genesis.first_turn = 9;
  return genesis;
}

// One of several shards.
Genesis part_of_slots() {
  Genesis genesis = whole_shard();
  genesis.origin = {.slots = {{0, 5460}, {8000, 8000}}, .instance = {.ms = 5, .random = 6}};
  return genesis;
}

Envelope envelope_of(const Genesis& genesis) {
  Envelope envelope = kEnvelope;
  envelope.version = record_version_of(genesis.origin);
  return envelope;
}

bool is_read(const Genesis& genesis) {
  return decode_record(encode_record(envelope_of(genesis), genesis)).has_value();
}

std::vector<Body> one_of_each() {
  const Genesis genesis = whole_shard();
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

constexpr std::string_view kBeginning =
    "0807060504030201ed5e0000000000000200000000000000cdab000000000000"  // nonce, shard, epoch
    "63000000000000000000000000000000"                                  // cluster
    "046d61696e";                                                       // "main"
constexpr std::string_view kMiddle =
    "0000000000000000000000000000000010"                                // hash-seed, databases
    "00000000000000000000000000000000"                                  // base
    "0000000000000000000000000000000000000000000000000000000000000000"  // base-digest
    "090000000000000002";                                               // first-turn, reads 2

std::string all(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

// What a weir that knows version 1 only wrote and read, to the letter, and what it stops at.
TEST(Record, GenesisOfBothVersionsToTheLetter) {
  const std::string whole = encode_record(envelope_of(whole_shard()), whole_shard());
  EXPECT_EQ(hex(whole), all({"570101", kBeginning, "00ff7f", kMiddle}));
  const std::string part = encode_record(envelope_of(part_of_slots()), part_of_slots());
  EXPECT_EQ(hex(part), all({"570201", kBeginning, "0200d42ac03ec03e", kMiddle,
                            "00"                                    // founded
                            "05000000000000000600000000000000"      // instance
                            "00000000000000000000000000000000"}));  // former instance
  for (const std::string& bytes : {whole, part}) {
    const auto read = decode_record(bytes);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->envelope.version, bytes[1]);
    EXPECT_EQ(encode_record(read->envelope, read->body), bytes);
    for (size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(decode_record(std::string_view(bytes).substr(0, size)).has_value()) << size;
    EXPECT_FALSE(decode_record(bytes + '\0').has_value());
  }
  const auto read = decode_record(part);
  EXPECT_EQ(std::get<Genesis>(read->body).origin, part_of_slots().origin);
}

// Neither form says what the other one is for: a weir that knows no slots would read on.
TEST(Record, AShardHasOneForm) {
  std::string bytes = encode_record(envelope_of(whole_shard()), whole_shard());
  for (const size_t at : {size_t{56}, size_t{58}}) {  // first-slot, the last byte of last-slot
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_FALSE(decode_record(other).has_value()) << at;
  }
  bytes[1] = 2;
  bytes.insert(56, 1, '\1');
  EXPECT_FALSE(decode_record(bytes + std::string(33, '\0')).has_value())
      << "all slots, founded, without an instance";
  EXPECT_TRUE(decode_record(bytes + '\0' + '\7' + std::string(31, '\0')).has_value());
}

TEST(Record, SlotsAndBirthsThatNoAuthorHas) {
  Genesis genesis = part_of_slots();
  EXPECT_TRUE(is_read(genesis));
  for (const SlotRanges& slots :
       {SlotRanges{{5, 4}}, SlotRanges{{0, 16384}}, SlotRanges{{9, 10}, {0, 5}},
        SlotRanges{{0, 5}, {5, 6}}, SlotRanges{{0, 5}, {6, 7}}, SlotRanges{}}) {
    genesis.origin.slots = slots;
    EXPECT_FALSE(is_read(genesis)) << slot_ranges_text(slots);
  }
  genesis.origin.born = ShardBirth::kJoined;
  EXPECT_TRUE(is_read(genesis)) << "it joins without slots";
  genesis.former = {.ms = 1, .random = 0};
  EXPECT_FALSE(is_read(genesis)) << "what has joined was nothing before";
  genesis.origin.born = ShardBirth::kRestored;
  EXPECT_TRUE(is_read(genesis));
  genesis.former = genesis.origin.instance;
  EXPECT_FALSE(is_read(genesis)) << "a restored shard has a later instance";
  genesis.former = {};
  genesis.origin.born = static_cast<ShardBirth>(3);
  EXPECT_FALSE(is_read(genesis));
  genesis = part_of_slots();
  genesis.origin.instance.ms = uint64_t{1} << 63;
  EXPECT_FALSE(is_read(genesis));
}

// A count that promises more than there is costs nothing.
TEST(Record, RandomBytesOfVersion2AreHarmless) {
  std::mt19937_64 random(2);
  const std::string whole = encode_record(envelope_of(part_of_slots()), part_of_slots());
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = whole;
    for (int n = 0; n < 2; ++n)
      bytes[3 + random() % (bytes.size() - 3)] = static_cast<char>(random());
    const auto record = decode_record(bytes);
    if (!record) continue;
    EXPECT_TRUE(are_in_order(std::get<Genesis>(record->body).origin.slots));
    EXPECT_LE(encode_record(record->envelope, record->body).size(), bytes.size());
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
