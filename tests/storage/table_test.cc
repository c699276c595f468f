#include "storage/memtable/table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

#include "storage/format/element_key.h"
#include "storage/memtable/open_lists.h"

namespace weir::storage {
namespace {

constexpr HashSeed kSeed = {1, 2};

// A table beside the simplest thing that orders keys by (key order, key).
class TableModel : public ::testing::Test {
 protected:
  using Place = std::pair<KeyOrder, std::string>;

  void put(const std::string& key, const std::string& value) {
    const KeyOrder key_order = key_order_of(key, kSeed);
    Entry* entry = table_.find(key_order, key);
    if (entry == nullptr) entry = table_.insert(key_order, key, value.size());
    table_.set_value(entry, value, false);
    entry->flags |= Entry::kPresent;
    model_[{key_order, key}] = value;
  }

  void erase(const std::string& key) {
    const KeyOrder key_order = key_order_of(key, kSeed);
    if (Entry* entry = table_.find(key_order, key)) table_.erase(entry);
    model_.erase({key_order, key});
  }

  // Walks the segments in order and compares what they hold with the model's range.
  void expect_same() {
    ASSERT_EQ(table_.entries(), model_.size());
    KeyOrder key_order = 0;
    size_t seen = 0;
    auto expected = model_.begin();
    do {
      const Segment* segment = table_.segment_at(key_order);
      ASSERT_EQ(segment->begin, key_order);
      std::map<Place, std::string> here;
      for (size_t i = 0; i < segment->bucket_count(); ++i) {
        for (const Entry* entry = segment->buckets[i]; entry != nullptr; entry = entry->next) {
          ASSERT_EQ(segment->bucket_of(entry->key_order), i);
          here[{entry->key_order, std::string(entry->key())}] = std::string(entry->value());
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
      key_order = segment->last() + 1;
    } while (key_order != 0);
    ASSERT_EQ(seen, model_.size());
  }

  size_t segments() const {
    size_t count = 0;
    KeyOrder key_order = 0;
    do {
      key_order = table_.segment_at(key_order)->last() + 1;
      ++count;
    } while (key_order != 0);
    return count;
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

TEST_F(TableModel, EmptySegmentsAreUnited) {
  for (const std::string prefix : {"", "{one slot}"}) {
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 20'000; ++i) put(prefix + std::to_string(i), "v");
      ASSERT_GT(segments(), 40u);
      for (int i = 0; i < 20'000; ++i) {
        if (i % 10'000 == 5'000) expect_same();
        if (i != 77) erase(prefix + std::to_string(i));
      }
      ASSERT_EQ(segments(), 1u);
      expect_same();
      erase(prefix + "77");
    }
  }
}

TEST_F(TableModel, StaysEqualWhileItGrowsAndShrinks) {
  std::set<std::string> dirty;
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 20'000; ++i) {
      const std::string key = (i % 3 == 0 ? "{tag}k" : "k") + std::to_string(random_() % 6'000);
      if (dirty.contains(key)) continue;
      if (random_() % 8 < static_cast<uint64_t>(round % 2 == 0 ? 6 : 1)) {
        put(key, "v");
      } else {
        erase(key);
        continue;
      }
      if (random_() % 400 != 0) continue;
      table_.mark_dirty(table_.find(key_order_of(key, kSeed), key));
      dirty.insert(key);
    }
    expect_same();
    std::vector<Entry*> taken;
    for (KeyOrder key_order = 0;;) {
      Segment* segment = table_.segment_at(key_order);
      const KeyOrder last = table_.take_dirty(segment, key_order, random_() % 500, &taken);
      if (last == ~KeyOrder{0}) break;
      key_order = last + 1;
    }
    ASSERT_EQ(taken.size(), dirty.size());
    EXPECT_TRUE(std::is_sorted(taken.begin(), taken.end(), [](const Entry* a, const Entry* b) {
      return a->key_order < b->key_order;
    }));
    dirty.clear();
  }
}

TEST_F(TableModel, RangesAreFoundAndForgotten) {
  for (int i = 0; i < 3'000; ++i) {
    const std::string key = std::to_string(i);
    put(key, "v");
    table_.mark_dirty(table_.find(key_order_of(key, kSeed), key));
  }
  const KeyOrder first = KeyOrder{5} << 60, last = (KeyOrder{9} << 60) + 12345;
  std::vector<Entry*> found;
  size_t forgotten = 0;
  for (KeyOrder key_order = first; key_order <= last;) {
    Segment* segment = table_.segment_at(key_order);
    Table::append_range(segment, first, last, &found);
    forgotten += table_.forget_dirty(segment, first, last);
    key_order = segment->last() + 1;
  }
  std::vector<Place> places;
  for (const Entry* entry : found) {
    places.emplace_back(entry->key_order, entry->key());
    EXPECT_TRUE(entry->clean());
  }
  std::vector<Place> expected;
  for (const auto& [place, value] : model_) {
    if (place.first >= first && place.first <= last) expected.push_back(place);
  }
  EXPECT_EQ(places, expected);
  EXPECT_EQ(forgotten, expected.size());
  EXPECT_EQ(table_.dirty(), 3'000 - forgotten);
}

// Long lists come and go; none of them leaves anything behind.
TEST(ElementTable, ListsLeaveNothingBehind) {
  Table table(7 | kElementsBit);
  const size_t empty = table.bytes();
  std::vector<Entry*> entries;
  for (ElementsId id = 1; id < 30; ++id) {
    for (uint64_t i = 0; i < 2'000; ++i) {
      std::string member;
      put_u64_be(&member, i * kSequenceStep);
      entries.push_back(table.insert(key_order_of_element(id, member, kSeed), member, 0));
    }
    ASSERT_NE(table.segment_at(first_key_order(id)), table.segment_at(last_key_order(id)));
    if (id % 3 != 0) continue;
    for (Entry* entry : entries) table.erase(entry);
    entries.clear();
  }
  for (Entry* entry : entries) table.erase(entry);
  EXPECT_EQ(table.segment_at(0)->last(), ~KeyOrder{0});
  EXPECT_EQ(table.entries(), 0u);
  EXPECT_LT(table.bytes(), empty + 10'000);
}

TEST_F(TableModel, KeepsDirtyEntriesOverSplits) {
  size_t marked = 0;
  for (int i = 0; i < 5'000; ++i) {
    const std::string key = std::to_string(i);
    put(key, "v");
    if (i % 3 != 0) continue;
    table_.mark_dirty(table_.find(key_order_of(key, kSeed), key));
    ++marked;
  }
  EXPECT_EQ(table_.dirty(), marked);
  std::vector<Entry*> taken;
  KeyOrder key_order = 0;
  do {
    Segment* segment = table_.segment_at(key_order);
    const size_t before = taken.size();
    EXPECT_EQ(table_.take_dirty(segment, segment->begin, SIZE_MAX, &taken), segment->last());
    for (size_t i = before; i < taken.size(); ++i) {
      EXPECT_GE(taken[i]->key_order, segment->begin);
      EXPECT_LE(taken[i]->key_order, segment->last());
    }
    key_order = segment->last() + 1;
  } while (key_order != 0);
  EXPECT_EQ(taken.size(), marked);
  EXPECT_EQ(table_.dirty(), 0u);
}

// Giving a page back is work, too.
TEST_F(TableModel, LargeEntriesAreDestroyedInMoreSteps) {
  const auto steps_for = [](size_t value_bytes) {
    Table table(7);
    const std::string value(value_bytes, 'v');
    for (int i = 0; i < 3'000; ++i) {
      const std::string key = std::to_string(i);
      Entry* entry = table.insert(key_order_of(key, kSeed), key, value_bytes);
      table.set_value(entry, value, false);
    }
    size_t steps = 1;
    while (table.shrink(1'000)) ++steps;
    return steps;
  };
  EXPECT_LE(steps_for(1), 4u);
  EXPECT_GE(steps_for(32 << 10), 8u);
}

TEST_F(TableModel, ValuesMoveBetweenBlockAndOutside) {
  for (const size_t size : {0u, 5u, 100u, 100'000u, 3u, 0u, 60u}) {
    put("key", std::string(size, 'v'));
    expect_same();
  }
}

TEST(KeyOrder, SlotsAreThoseOfRedisCluster) {
  EXPECT_EQ(hash_slot("123456789"), 12739);
  EXPECT_EQ(hash_slot("foo"), 12182);
  EXPECT_EQ(hash_slot("lim:000000012345"), 8143);
  EXPECT_EQ(hash_slot("a key of thirty-two bytes, it is"), 3360);
  EXPECT_EQ(hash_slot("{user1000}.following"), hash_slot("user1000"));
  EXPECT_EQ(hash_slot("foo{}{bar}"), hash_slot("foo{}{bar}"));
  EXPECT_EQ(hash_slot("foo{{bar}}zap"), hash_slot("{bar"));
  EXPECT_EQ(hash_slot("foo{bar}{zap}"), hash_slot("bar"));
}

TEST(KeyOrder, CursorsFitADoubleAndKeepTheOrder) {
  const KeyOrder low = key_order_of("a", kSeed);
  EXPECT_LT(cursor_of(~KeyOrder{0}), uint64_t{1} << 53);
  EXPECT_LE(key_order_of_cursor(cursor_of(low)), low);
}

// The reference vector of SipHash-2-4: key 00..0f, message 00..0e.
TEST(KeyOrder, HashIsSipHash24) {
  std::string message;
  for (char i = 0; i < 15; ++i) message.push_back(i);
  EXPECT_EQ(siphash24(message, {0x0706050403020100, 0x0f0e0d0c0b0a0908}), 0xa129ca6149be45e5);
}

}  // namespace
}  // namespace weir::storage
