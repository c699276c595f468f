// Turns that no keyspace has made, in a log that several machines share: each is refused by name,
// as a whole, and leaves nothing.
#include "storage/keyspace/turn_check.h"

#include "tests/storage/turn_check_fixture.h"

namespace weir::storage {
namespace {

TEST_F(TurnCheckTest, WhatAnOwnerWritesIsTaken) {
  begin(kStartNs + 1);
  put_database("0", {kNext, 0});  // FLUSHDB, with a database that was made and dropped between
  put_database("1", {kFirst + 2, 5});
  put_database("2", {kFirst + 1, 7});
  put_system("next-incarnation", varints({kNext + 2}));
  put_system("next-elements-id", varints({9000}));
  writer_.erase(kSystemGeneration, "script/3");
  put_system("script/4", "anything");
  put(kNext, "k", Type::kString, "v", 1'800'000'000'000);
  put(kNext + 1, "gone", Type::kString, "v");
  put(kNext, "z", Type::kZset, varints({1, 8999}));
  put(kNext, "l", Type::kLimiterEntries, varints({2, 5, 6}) + "rest");
  put_element(kNext | kElementsBit, varints({8999}) + "m");
  writer_.erase(kFirst | kElementsBit, varints({1}) + "m");
  writer_.drop(kFirst | kElementsBit, 1);
  const Status status = follow_written();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(keys_->turn(), 2u);
}

TEST_F(TurnCheckTest, BytesThatAreNoTurn) {
  const std::string whole = first_turn();
  size_t taken = 0;
  for (size_t size = 0; size < whole.size(); ++size) taken += follow(whole.substr(0, size)).ok();
  EXPECT_EQ(taken, kDatabases + 5u) << "where it is cut between two entries";
  std::string newer = whole;
  newer[0] = 9;
  EXPECT_TRUE(follow(newer).is_refusal());
  begin(-1);
  expect_refused("impossible instant");
  begin(INT64_MAX);
  expect_refused("impossible instant");
}

TEST_F(TurnCheckTest, DatabasesThatCannotBe) {
  begin();
  put_database("0", {0, 1});  // the system records'
  expect_refused("impossible generation");
  begin();
  put_database("0", {kFirst | kElementsBit, 1});  // the elements of its own
  expect_refused("impossible generation");
  begin();
  put_database("0", {kFirst + 1, 1});
  expect_refused("the same contents");
  begin();
  put_database("0", {kNobodys, 1});
  expect_refused("was used, or was not drawn yet");
  begin();
  put_system("next-incarnation", varints({2}));
  expect_refused("lowers a bound of numbers");
  begin();
  put_system("next-elements-id", varints({4095}));
  expect_refused("lowers a bound of numbers");
  for (const char* name : {"abc", "", "00", "3", "-1", "99999999999999999999", "hiddenx"}) {
    begin();
    put_database(name, {kFirst, 1});
    expect_refused("a database that is none");
  }
  begin();
  put_system("db/0", varints({kFirst, 1}) + "x");
  expect_refused("a database that is none");
  begin();
  put_system("db/0", "");
  expect_refused("a database that is none");
  begin();
  writer_.erase(kSystemGeneration, "db/0");
  expect_refused("never erased");
}

TEST_F(TurnCheckTest, TheFirstMakesAllDatabases) {
  disk_ = make_memory_disk({11, 22});
  keys_ =
      std::make_unique<Keyspace>([this] { return std::make_unique<MemoryStore>(disk_); }, options_);
  OpenReport report;
  ASSERT_TRUE(keys_->open(&report).ok());
  begin();
  put_database("0", {kFirst, 1});
  put_system("next-incarnation", varints({kNext}));
  expect_refused("does not make all databases");
  begin();
  put_system("next-incarnation", varints({kElementsBit}));
  expect_refused("makes no database");
  EXPECT_TRUE(follow(first_turn()).ok());
}

TEST_F(TurnCheckTest, BoundsOfNumbersThatAreNone) {
  for (const char* name : {"next-incarnation", "next-elements-id"}) {
    for (const uint64_t number : {uint64_t{0}, kElementsIdMax + 2, UINT64_MAX}) {
      begin();
      put_system(name, varints({number}));
      expect_refused("a bound of numbers that is none");
    }
    begin();
    put_system(name, "");
    expect_refused("a bound of numbers that is none");
  }
}

// The last numbers of all are an error of the command that asks for one more.
TEST_F(TurnCheckTest, AnOwnerThatHasNoNumbersLeftGoesOn) {
  begin();
  put_system("next-incarnation", varints({kElementsBit}));
  put_system("next-elements-id", varints({kElementsIdMax + 1}));
  ASSERT_TRUE(follow_written().ok());
  options_.follows = false;
  keys_->set_options(options_);
  keys_->running().begin_command(kStartNs);
  EXPECT_THROW(keys_->clear(0), BrokenCheck);
  keys_->running().roll_back();
  EXPECT_THROW(keys_->lists().make(0, Layout::kScattered), BrokenCheck);
  keys_->running().roll_back();
  EXPECT_TRUE(keys_->commit_turn().ok());
}

TEST_F(TurnCheckTest, RecordsOfNoDatabase) {
  begin();
  put(kNobodys, "k", Type::kString, "v");
  expect_refused("a database that was never made");
  begin();
  put_element(kElementsBit, varints({1}) + "m");  // of the system records
  expect_refused("a database that was never made");
  begin();
  put_element(kNobodys | kElementsBit, varints({1}) + "m");
  expect_refused("a database that was never made");
  begin();
  put(kFirst, "k", Type::kString, "v");
  put_system("script/1", "late");
  expect_refused("after others");
  begin();
  put(kSystemGeneration, "script/1", Type::kString, "v");
  expect_refused("a system record that is none");
}

TEST_F(TurnCheckTest, ValuesOfNoType) {
  for (const int type : {1, 4, 14, 15, 22, 127}) {
    begin();
    put(kFirst, "k", static_cast<Type>(type), varints({1, 1}));
    expect_refused("an unknown type");
  }
  begin();
  put(kFirst, "k", Type::kString, "v", INT64_MIN);
  expect_refused("expires before time began");
}

TEST_F(TurnCheckTest, HeadersThatNameNoListsOfTheirOwn) {
  for (const std::string& payload : {varints({0}), varints({19}), varints({1}), varints({1, 0}),
                                     varints({1, kElementsIdMax + 1}), std::string()}) {
    begin();
    put(kFirst, "k", Type::kSet, payload);
    expect_refused("does not name them");
  }
  begin();
  put(kFirst, "k", Type::kLimiterEntries, varints({2, 3, 3}));
  expect_refused("names a list twice");
  begin();
  put(kFirst, "k", Type::kSet, varints({1, 4096}));
  expect_refused("a list that was never made");
}

TEST_F(TurnCheckTest, ElementsOfNoList) {
  constexpr Generation kElements = kFirst | kElementsBit;
  begin();
  put_element(kElements, varints({0}) + "m");
  expect_refused("an element of no list");
  begin();
  put_element(kElements, "");
  expect_refused("an element of no list");
  begin();
  put_element(kElements, varints({5000}) + "m");
  expect_refused("a list that was never made");
  begin();
  put(kElements, varints({1}) + "m", Type::kString, "a value of eight bytes");
  expect_refused("an element that is none");
  begin();
  put(kElements, varints({1}) + "m", Type::kElement, "short");
  expect_refused("an element that is none");
  begin();
  writer_.drop(kFirst, 1);
  expect_refused("drops a list without naming it");
  begin();
  writer_.drop(kElements, 5000);
  expect_refused("a list that was never made");
}

// What is right in a record of the log counts for nothing beside what is wrong.
TEST_F(TurnCheckTest, ABadTurnTakesTheWholeBatchWithIt) {
  std::vector<std::string> turns;
  begin(kStartNs + 1);
  put(kFirst, "k", Type::kString, "v");
  turns.emplace_back(writer_.bytes());
  begin(kStartNs + 2);
  put(kNobodys, "k", Type::kString, "v");
  turns.emplace_back(writer_.bytes());
  const Status status = keys_->follow({.first_turn = 2, .turns = turns, .bookmark = "a bookmark"});
  EXPECT_TRUE(status.is_refusal());
  EXPECT_EQ(status.message().find("turn 3: a turn's record names a database"), 0u)
      << status.message();
  EXPECT_EQ(keys_->turn(), 1u);
  EXPECT_EQ(keys_->logged_turn(), 1u);
  keys_->running().begin_command(kStartNs);
  EXPECT_FALSE(keys_->look_up(0, "k").exists());
}

}  // namespace
}  // namespace weir::storage
