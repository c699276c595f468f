// The record `slots` as a value: its bytes, and what a shard has that has no record.
#include "server/cluster/slot_table.h"

#include <gtest/gtest.h>

#include <random>

#include "storage/format/codec.h"

namespace weir::server {
namespace {

using storage::ShardBirth;

const storage::ShardOrigin kOrigin{.slots = {{0, 5460}, {8000, 8000}},
                                   .instance = {.ms = 5, .random = 6}};

SlotTable founded() { return SlotTable::of_birth(kOrigin); }

// The bytes of a table with these ranges: last, version, owned.
std::string table_bytes(std::initializer_list<std::array<uint64_t, 3>> shares) {
  std::string bytes("\1", 1);
  bytes.append(32, '\0');
  storage::put_varint(&bytes, 3);  // changes
  storage::put_varint(&bytes, shares.size());
  for (const auto& [last, version, owned] : shares) {
    storage::put_varint(&bytes, last);
    storage::put_varint(&bytes, version);
    storage::put_u8(&bytes, static_cast<uint8_t>(owned));
  }
  return bytes;
}

TEST(SlotTable, WithoutARecordIsWhatTheShardWasBornWith) {
  const SlotTable table = founded();
  EXPECT_EQ(table.owned(), kOrigin.slots);
  EXPECT_EQ(table.admitted(), kOrigin.instance);
  EXPECT_EQ(table.next(), storage::ShardInstance{});
  EXPECT_EQ(table.changes(), 0u);
  for (int slot = 0; slot < kHashSlots; ++slot) {
    EXPECT_EQ(table.version_of(slot), 1u);
    EXPECT_EQ(table.owns(slot), has_slot(kOrigin.slots, slot)) << slot;
  }
  EXPECT_EQ(SlotTable::of_birth({}).owned(), all_slots());
  const SlotTable joined = SlotTable::of_birth({.slots = {}, .born = ShardBirth::kJoined});
  EXPECT_TRUE(joined.owned().empty());
  EXPECT_EQ(joined.version_of(16383), 1u);
  storage::ShardOrigin restored = kOrigin;
  restored.born = ShardBirth::kRestored;
  EXPECT_NE(SlotTable::of_birth(restored).admitted(), restored.instance) << "nobody has asked yet";
}

TEST(SlotTable, TheBytesOfTheFormat) {
  const std::string bytes = founded().encode();
  const std::string expected = std::string("\1", 1) +                                 //
                               std::string("\5\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0", 16) +  // admitted
                               std::string(16, '\0') +                                // next
                               std::string("\0\4", 2) +  // changes, ranges
                               std::string(
                                   "\xd4\x2a\1\1"
                                   "\xbf\x3e\1\0"
                                   "\xc0\x3e\1\1"
                                   "\xff\x7f\1\0",
                                   16);
  EXPECT_EQ(bytes, expected);
  EXPECT_EQ(SlotTable::decode(bytes), founded());
}

TEST(SlotTable, VersionsAreKept) {
  const auto table = SlotTable::decode(table_bytes({{9, 1, 1}, {10, 7, 1}, {16383, 2, 0}}));
  ASSERT_TRUE(table.has_value());
  EXPECT_EQ(table->version_of(9), 1u);
  EXPECT_EQ(table->version_of(10), 7u);
  EXPECT_EQ(table->version_of(11), 2u);
  EXPECT_EQ(table->owned(), (SlotRanges{{0, 10}}));
  EXPECT_EQ(table->changes(), 3u);
  EXPECT_EQ(table->encode(), table_bytes({{9, 1, 1}, {10, 7, 1}, {16383, 2, 0}}));
}

TEST(SlotTable, WhatIsNoTable) {
  EXPECT_TRUE(SlotTable::decode(table_bytes({{16383, 1, 1}})).has_value());
  EXPECT_FALSE(SlotTable::decode(table_bytes({})).has_value()) << "not all slots";
  EXPECT_FALSE(SlotTable::decode(table_bytes({{16382, 1, 1}})).has_value());
  EXPECT_FALSE(SlotTable::decode(table_bytes({{16384, 1, 1}})).has_value());
  EXPECT_FALSE(SlotTable::decode(table_bytes({{9, 1, 1}, {9, 1, 0}, {16383, 1, 1}})).has_value());
  EXPECT_FALSE(SlotTable::decode(table_bytes({{9, 1, 1}, {16383, 1, 1}})).has_value())
      << "two ranges that are one";
  EXPECT_FALSE(SlotTable::decode(table_bytes({{16383, 0, 1}})).has_value()) << "version 0";
  EXPECT_FALSE(SlotTable::decode(table_bytes({{16383, 1, 2}})).has_value());
  EXPECT_FALSE(SlotTable::decode(table_bytes({{16383, 1, 1}, {16383, 2, 1}})).has_value());
  const std::string bytes = founded().encode();
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(SlotTable::decode(std::string_view(bytes).substr(0, size)).has_value()) << size;
  EXPECT_FALSE(SlotTable::decode(bytes + '\0').has_value());
  EXPECT_FALSE(SlotTable::decode('\2' + bytes.substr(1)).has_value()) << "another format";
  std::string longer = bytes;  // a varint of two bytes for what one says
  longer.replace(33, 1, std::string("\x80\0", 2));
  EXPECT_FALSE(SlotTable::decode(longer).has_value());
  std::string many = bytes.substr(0, 34);
  storage::put_varint(&many, UINT64_MAX);
  EXPECT_FALSE(SlotTable::decode(many).has_value());
}

TEST(SlotTable, RandomBytesAreHarmless) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 50'000; ++i) {
    std::string bytes = table_bytes({{9, 1, 1}, {10, 7, 1}, {8000, 2, 0}, {16383, 3, 1}});
    for (int n = 0; n < 2; ++n) bytes[random() % bytes.size()] = static_cast<char>(random());
    const auto table = SlotTable::decode(bytes);
    if (!table) continue;
    EXPECT_EQ(table->encode(), bytes);
    EXPECT_TRUE(are_in_order(table->owned()));
  }
}

}  // namespace
}  // namespace weir::server
