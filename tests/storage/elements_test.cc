#include <cmath>
#include <limits>

#include "tests/storage/elements_fixture.h"

namespace weir::storage {
namespace {

TEST(ElementKey, IdsAreFoundAgainFromKeyOrders) {
  std::set<KeyOrder> firsts;
  for (ElementsId id = 1; id < 20'000; ++id) {
    ASSERT_TRUE(firsts.insert(first_key_order(id)).second);
    ASSERT_EQ(elements_id_at(key_order_of_element(id, "member", {1, 2})), id);
    ASSERT_EQ(elements_id_at(last_key_order(id)), id);
  }
  EXPECT_EQ(elements_id_at(first_key_order(kElementsIdMax)), kElementsIdMax);
}

TEST(ElementKey, KeyOrdersKeepWhatAStoredKeyHolds) {
  for (ElementsId id = 1; id < 1'000; ++id) {
    const KeyOrder key_order = key_order_of_element(id, std::to_string(id), {1, 2});
    EXPECT_GE(key_order, first_key_order(id));
    EXPECT_LE(key_order, last_key_order(id));
    std::string stored;
    append_stored_key(&stored, {.generation = 1, .key_order = key_order, .key = "m"});
    EXPECT_EQ(parse_stored_key(stored)->key_order, stored_part(key_order));
  }
}

TEST(ElementKey, OrdersSortAsNumbersDo) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kTiny = std::numeric_limits<double>::denorm_min();
  const double numbers[] = {-kInfinity, -1e300, -2, -1.5,  -kTiny,   0,
                            kTiny,      1.5,    2,  1e300, kInfinity};
  for (size_t i = 0; i < std::size(numbers); ++i) {
    EXPECT_EQ(double_of_order(order_of_double(numbers[i])), numbers[i]);
    if (i > 0) {
      EXPECT_LT(order_of_double(numbers[i - 1]), order_of_double(numbers[i]));
    }
  }
  EXPECT_EQ(order_of_double(-0.0), order_of_double(0.0));
  EXPECT_FALSE(std::signbit(double_of_order(order_of_double(-0.0))));
  for (const int64_t number : {INT64_MIN, int64_t{-5}, int64_t{0}, int64_t{7}, INT64_MAX}) {
    EXPECT_EQ(integer_of_order(order_of_integer(number)), number);
  }
  EXPECT_LT(order_of_integer(-1), order_of_integer(0));
}

TEST(Header, DamagedHeadsAreRefused) {
  HeaderView header;
  std::string payload;
  const ElementsId ids[] = {5, kElementsIdMax};
  append_list_ids(&payload, ids);
  payload += "rest";
  ASSERT_TRUE(parse_header(payload, &header));
  EXPECT_EQ(header.lists, 2u);
  EXPECT_EQ(header.ids[1], kElementsIdMax);
  EXPECT_EQ(header.rest, "rest");
  for (const std::string& damaged :
       {std::string(), std::string("\x01"), std::string("\x01\0", 2), std::string("\x11"),
        std::string("\0", 1), std::string("\x01\x80\x80\x80\x80\x80\x80\x80\x01")}) {
    EXPECT_FALSE(parse_header(damaged, &header));
  }
}

TEST_F(ElementsTest, OneChangedElementCostsOneHoweverManyThereAre) {
  keys();
  put_record(0, "z", header_of(numbered(20'000)));
  commit();
  must_write_back();
  EXPECT_EQ(keys_->metrics().unwritten, 0u);
  const uint64_t log_before = keys_->metrics().log_bytes_appended;
  keys();
  list_of(0, "z")->put("m7", 99, "w");
  commit();
  EXPECT_LT(keys_->metrics().log_bytes_appended - log_before, 50u);
  EXPECT_EQ(keys_->metrics().unwritten, 1u);
}

// Nothing of the list is touched by the command, nor more than a slice of it by any call of work().
TEST_F(ElementsTest, DroppingAMillionTouchesNothingAtOnce) {
  constexpr size_t kElements = 1'000'000;
  constexpr size_t kSliceMax = 5'000;
  const size_t entries_before = keys_->metrics().entries;
  const size_t bytes_before = keys_->metrics().bytes;
  keys();
  const ElementsId id = keys_->lists().make(0, Layout::kScattered);
  auto list = keys_->lists().open(0, id);
  for (size_t i = 0; i < kElements; ++i) list->put(std::to_string(i), i, {});
  std::string payload;
  append_list_ids(&payload, {{id}});
  Ref ref = keys_->look_up(0, "big");
  keys_->put(&ref, Type::kSet, payload, 0);
  commit();
  keys();
  erase(0, "big");
  const uint64_t log_before = keys_->metrics().log_bytes_appended;
  commit();
  EXPECT_LT(keys_->metrics().log_bytes_appended - log_before, 100u);
  EXPECT_EQ(keys_->size(0), 0u);
  size_t entries = keys_->metrics().entries;
  EXPECT_GT(entries, kElements);
  for (int slices = 0; keys_->work().wanted() && slices < 1'000; ++slices) {
    work();
    const size_t left = keys_->metrics().entries;
    ASSERT_LE(entries - left, kSliceMax);
    entries = left;
  }
  for (int i = 0; i < 100; ++i) work();
  EXPECT_LE(keys_->metrics().entries, entries_before + 2);
  EXPECT_LE(keys_->metrics().bytes, bytes_before + 10'000);
  must_write_back();
  EXPECT_EQ(elements_in_state(), 0u);
}

TEST_F(ElementsTest, ADroppedListLeavesTheStateAlsoWhenTheWriteBackFails) {
  keys();
  put_record(0, "z", header_of(numbered(1'000)));
  commit();
  must_write_back();
  ASSERT_EQ(elements_in_state(), 1'000u);
  keys();
  put(0, "z", "string");
  commit();
  for (int i = 0; i < 100; ++i) work();
  disk_->faults.write_back = 1;
  write_back();
  EXPECT_EQ(elements_in_state(), 1'000u);
  must_write_back();
  EXPECT_EQ(elements_in_state(), 0u);
}

TEST_F(ElementsTest, ADroppedListLeavesTheStateAfterACrash) {
  for (const size_t size : {10, 1'000}) {
    keys();
    put_record(0, "z", header_of(numbered(size)));
    commit();
    must_write_back();
    ASSERT_EQ(elements_in_state(), size);
    keys();
    erase(0, "z");
    commit();
    crash();
    settle();
    EXPECT_EQ(elements_in_state(), 0u);
  }
}

TEST_F(ElementsTest, WhatExpiresWhileOnlyTheStateHasItLeavesTheState) {
  for (const size_t size : {10, 1'000}) {
    keys();
    put_record(0, "z", header_of(numbered(size), now_ms() + 10));
    commit();
    must_write_back();
    crash();  // nothing of it is in memory now
    ASSERT_EQ(elements_in_state(), size);
    now_ns_ += 1'000'000'000;
    keys();
    commit();
    settle();
    EXPECT_EQ(elements_in_state(), 0u);
    EXPECT_EQ(keys_->size(0), 0u);
  }
}

TEST_F(ElementsTest, WhatExpiredIsTidiedUpAlthoughTheProcessDiesBetween) {
  for (const int works : {0, 1, 30}) {
    for (const size_t size : {10, 1'000}) {
      keys();
      put_record(0, "z", header_of(numbered(size), now_ms() + 10));
      commit();
      if (works != 1) must_write_back();
      now_ns_ += 1'000'000'000;
      EXPECT_FALSE(keys().look_up(0, "z").exists());
      commit();
      for (int i = 0; i < works; ++i) work();
      crash();
      settle();
      EXPECT_EQ(elements_in_state(), 0u);
    }
  }
}

// The write-back under way must not lose the header before its elements: nothing else tells of
// them.
TEST_F(ElementsTest, AHeaderThatExpiresDuringAWriteBackKeepsItsElementsKnown) {
  keys();
  for (int i = 0; i < 5'000; ++i) put(0, "filler" + std::to_string(i), "v");
  for (int i = 0; i < 50; ++i)
    put_record(0, "z" + std::to_string(i), header_of(numbered(100), now_ms() + 10));
  commit();
  keys();
  put(0, "small turn", "so that the write-back takes small steps");
  commit();
  keys_->work().write_back_now();
  work();  // some are collected, some are not
  now_ns_ += 1'000'000'000;
  keys();
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(keys_->look_up(0, "z" + std::to_string(i)).exists());
  commit();
  for (int i = 0; i < 1'000 && keys_->metrics().written_back_turn != keys_->turn(); ++i) work();
  crash();
  settle();
  EXPECT_EQ(elements_in_state(), 0u);
  EXPECT_EQ(keys_->size(0), 5'001u);
}

TEST_F(ElementsTest, WhatTheLogErasedHidesWhatTheStateHas) {
  List list = numbered(20);
  keys();
  put_record(0, "z", header_of(list));
  commit();
  must_write_back();
  keys();
  list_of(0, "z")->erase("m3");
  list_of(0, "z")->put("m4", 77, "new");
  commit();
  crash();
  list.erase("m3");
  list["m4"] = {77, "new"};
  expect_records({{{"z", header_of(list)}}, {}, {}});
}

TEST_F(ElementsTest, AnotherValueOverAnExpiredHeaderDropsItsElements) {
  keys();
  put_record(0, "z", header_of(numbered(1'000), now_ms() + 10));
  commit();
  must_write_back();
  now_ns_ += 1'000'000'000;
  keys();
  put_record(0, "z", header_of(numbered(3)));
  commit();
  crash();
  settle();
  EXPECT_EQ(elements_in_state(), 3u);
  expect_records({{{"z", header_of(numbered(3))}}, {}, {}});
}

TEST_F(ElementsTest, IdsAreNotUsedAgainAfterACrash) {
  ElementsId newest = 0;
  for (int life = 0; life < 5; ++life) {
    keys();
    for (int i = 0; i < 3; ++i) {
      const ElementsId id =
          keys_->lists().make(i % 2, i == 1 ? Layout::kInSequence : Layout::kScattered);
      EXPECT_GT(id, newest);
      newest = id;
      std::string payload;
      append_list_ids(&payload, {{id}});
      const std::string key = "k" + std::to_string(id);
      Ref ref = keys_->look_up(i % 2, key);
      keys_->put(&ref, Type::kHash, payload, 0);
    }
    if (life == 2) keys_->running().roll_back();
    commit();
    if (life == 3) must_write_back();
    crash();
  }
}

TEST_F(ElementsTest, AFailedCommitGivesNoIdAway) {
  keys();
  put_record(0, "a", header_of(numbered(2)));
  disk_->faults.append_lost = 1;
  EXPECT_FALSE(keys_->commit_turn().ok());
  ASSERT_TRUE(keys_->reopen(Keep::kNothing).ok());
  keys();
  const ElementsId id = make_list(0, numbered(2));
  std::string payload;
  append_list_ids(&payload, {{id}});
  Ref ref = keys_->look_up(0, "b");
  keys_->put(&ref, Type::kHash, payload, 0);
  commit();
  crash();
  keys();
  EXPECT_GT(keys_->lists().make(0, Layout::kScattered), id);
}

TEST_F(ElementsTest, RollBackRestoresElementsAndTheirRanks) {
  const List before = numbered(100);
  keys();
  put_record(0, "z", header_of(before));
  keys();
  auto list = list_of(0, "z");
  for (int i = 0; i < 60; ++i) list->erase("m" + std::to_string(i));
  for (int i = 30; i < 90; ++i) list->put("m" + std::to_string(i), 3, std::string(300, 'w'));
  list->put("new", 0, "n");
  list->put("new", 9, std::string(300, 'n'));
  list->erase("m80");
  keys_->running().roll_back();
  expect_records({{{"z", header_of(before)}}, {}, {}});
  commit();
  crash();
  expect_records({{{"z", header_of(before)}}, {}, {}});
}

TEST_F(ElementsTest, AnExpiryOfTheTurnIsTakenBackWithIt) {
  const Record lasting = header_of(numbered(5));
  keys();
  put_record(0, "z", lasting);
  commit();
  keys();
  Ref ref = keys_->look_up(0, "z");
  keys_->set_expiry(&ref, now_ms() + 1);
  now_ns_ += 10'000'000;
  EXPECT_FALSE(keys().look_up(0, "z").exists());
  disk_->faults.append_lost = 1;
  EXPECT_FALSE(keys_->commit_turn().ok());
  expect_records({{{"z", lasting}}, {}, {}});
  ASSERT_TRUE(keys_->reopen(Keep::kNothing).ok());
  expect_records({{{"z", lasting}}, {}, {}});
}

TEST_F(ElementsTest, AFailingReadIsNotAnEmptyList) {
  keys();
  put_record(0, "z", header_of(numbered(100)));
  commit();
  must_write_back();
  crash();
  for (const uint64_t position : {1, 2, 50, 101}) {
    keys();
    disk_->faults.cursor = position;
    EXPECT_FALSE(list_of(0, "z"));
    EXPECT_FALSE(keys_->failure().ok());
    disk_->faults = {};
    keys_->running().roll_back();
  }
  expect_records({{{"z", header_of(numbered(100))}}, {}, {}});
}

TEST_F(ElementsTest, MemoryIsGivenUpAndFoundAgain) {
  options_.memory_bytes_max = 200'000;
  start();
  Databases model(kDatabases);
  for (int i = 0; i < 2'000; ++i) {
    const std::string key = "z" + std::to_string(i);
    keys();
    model[0][key] = header_of(numbered(static_cast<size_t>(i % 40)));
    put_record(0, key, model[0][key]);
    if (i % 100 != 0) continue;
    commit();
    must_write_back();
    for (int step = 0; step < 100; ++step) work();
  }
  commit();
  must_write_back();
  for (int step = 0; step < 300; ++step) work();
  EXPECT_LT(keys_->metrics().bytes, 300'000u);
  expect_records(model);
  for (int step = 0; step < 300; ++step) work();
  EXPECT_LT(keys_->metrics().bytes, 300'000u);
}

TEST_F(ElementsTest, MemoryGoesOnAndPaysTheDropsLater) {
  for (const size_t size : {10, 1'000}) {
    keys();
    put_record(0, "z", header_of(numbered(size)));
    commit();
    must_write_back();
    keys();
    erase(0, "z");
    disk_->faults.append_lost = 1;
    EXPECT_TRUE(keys_->commit_turn(true).ok());
    ASSERT_TRUE(keys_->reopen(Keep::kAll).ok());
    crash();
    expect_records({{}, {}, {}});
    settle();
    EXPECT_EQ(elements_in_state(), 0u);
  }
}

}  // namespace
}  // namespace weir::storage
