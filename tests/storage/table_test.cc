#include "storage/table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace weir::storage {
namespace {

constexpr HashSeed kSeed = {1, 2};

// A table beside the simplest thing that orders keys by (position, key).
class TableModel : public ::testing::Test {
 protected:
  using Place = std::pair<Position, std::string>;

  void put(const std::string& key, const std::string& value) {
    const Position position = position_of(key, kSeed);
    Entry* entry = table_.find(position, key);
    if (entry == nullptr) entry = table_.insert(position, key, value.size());
    table_.set_value(entry, value, false);
    entry->flags |= Entry::kPresent;
    model_[{position, key}] = value;
  }

  void erase(const std::string& key) {
    const Position position = position_of(key, kSeed);
    if (Entry* entry = table_.find(position, key)) table_.erase(entry);
    model_.erase({position, key});
  }

  // Walks the segments in order and compares what they hold with the model's range.
  void expect_same() {
    ASSERT_EQ(table_.entries(), model_.size());
    Position position = 0;
    size_t seen = 0;
    auto expected = model_.begin();
    do {
      const Segment* segment = table_.segment_at(position);
      ASSERT_EQ(segment->begin, position);
      std::map<Place, std::string> here;
      for (size_t i = 0; i < segment->bucket_count(); ++i) {
        for (const Entry* entry = segment->buckets[i]; entry != nullptr; entry = entry->next) {
          ASSERT_EQ(segment->bucket_of(entry->position), i);
          here[{entry->position, std::string(entry->key())}] = std::string(entry->value());
        }
      }
      ASSERT_EQ(here.size(), segment->count);
      for (const auto& [place, value] : here) {
        ASSERT_NE(expected, model_.end());
        ASSERT_EQ(place, expected->first);
        ASSERT_EQ(value, expected->second);
        ++expected;
      }
      seen += here.size();
      position = segment->last() + 1;
    } while (position != 0);
    ASSERT_EQ(seen, model_.size());
  }

  Table table_{7};
  std::map<Place, std::string> model_;
  std::mt19937_64 random_{42};
};

TEST_F(TableModel, StaysEqualUnderRandomChanges) {
  for (int i = 0; i < 60'000; ++i) {
    const std::string key = "k" + std::to_string(random_() % 20'000);
    if (random_() % 3 == 0) {
      erase(key);
    } else {
      put(key, std::string(random_() % 40, static_cast<char>('a' + random_() % 26)));
    }
  }
  expect_same();
}

TEST_F(TableModel, HoldsManyKeysOfOneHashSlot) {
  for (int i = 0; i < 20'000; ++i) put("{user}:" + std::to_string(i), "v");
  expect_same();
  for (int i = 0; i < 20'000; i += 2) erase("{user}:" + std::to_string(i));
  expect_same();
}

TEST_F(TableModel, GivesMemoryBack) {
  const size_t empty = table_.bytes();
  for (int i = 0; i < 5'000; ++i) put(std::to_string(i), std::string(100, 'x'));
  EXPECT_GT(table_.bytes(), empty + 5'000 * 100);
  for (int i = 0; i < 5'000; ++i) erase(std::to_string(i));
  EXPECT_LT(table_.bytes(), empty + 5'000 * 10);
}

TEST_F(TableModel, KeepsDirtyEntriesOverSplits) {
  size_t marked = 0;
  for (int i = 0; i < 5'000; ++i) {
    const std::string key = std::to_string(i);
    put(key, "v");
    if (i % 3 != 0) continue;
    table_.mark_dirty(table_.find(position_of(key, kSeed), key));
    ++marked;
  }
  EXPECT_EQ(table_.dirty(), marked);
  std::vector<Entry*> taken;
  Position position = 0;
  do {
    Segment* segment = table_.segment_at(position);
    const size_t before = taken.size();
    table_.take_dirty(segment, &taken);
    for (size_t i = before; i < taken.size(); ++i) {
      EXPECT_GE(taken[i]->position, segment->begin);
      EXPECT_LE(taken[i]->position, segment->last());
    }
    position = segment->last() + 1;
  } while (position != 0);
  EXPECT_EQ(taken.size(), marked);
  EXPECT_EQ(table_.dirty(), 0u);
}

TEST_F(TableModel, ValuesMoveBetweenBlockAndOutside) {
  for (const size_t size : {0u, 5u, 100u, 100'000u, 3u, 0u, 60u}) {
    put("key", std::string(size, 'v'));
    expect_same();
  }
}

TEST(Position, SlotsAreThoseOfRedisCluster) {
  EXPECT_EQ(hash_slot("123456789"), 12739);
  EXPECT_EQ(hash_slot("foo"), 12182);
  EXPECT_EQ(hash_slot("lim:000000012345"), 8143);
  EXPECT_EQ(hash_slot("a key of thirty-two bytes, it is"), 3360);
  EXPECT_EQ(hash_slot("{user1000}.following"), hash_slot("user1000"));
  EXPECT_EQ(hash_slot("foo{}{bar}"), hash_slot("foo{}{bar}"));
  EXPECT_EQ(hash_slot("foo{{bar}}zap"), hash_slot("{bar"));
  EXPECT_EQ(hash_slot("foo{bar}{zap}"), hash_slot("bar"));
}

TEST(Position, CursorsFitADoubleAndKeepTheOrder) {
  const Position low = position_of("a", kSeed);
  EXPECT_LT(cursor_of(~Position{0}), uint64_t{1} << 53);
  EXPECT_LE(position_of_cursor(cursor_of(low)), low);
}

// The reference vector of SipHash-2-4: key 00..0f, message 00..0e.
TEST(Position, HashIsSipHash24) {
  std::string message;
  for (char i = 0; i < 15; ++i) message.push_back(i);
  EXPECT_EQ(siphash24(message, {0x0706050403020100, 0x0f0e0d0c0b0a0908}), 0xa129ca6149be45e5);
}

}  // namespace
}  // namespace weir::storage
