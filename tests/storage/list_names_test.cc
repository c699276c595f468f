// Lists of elements that turns name although no primary can have made such a turn.
#include "storage/keyspace/list_names.h"

#include "storage/format/meaning.h"
#include "tests/storage/turn_check_fixture.h"

namespace weir::storage {
namespace {

constexpr Generation kElements = kFirst | kElementsBit;

// Members of a zset are of one byte; only limiters may have empty lists.
class ShortMembers final : public ElementRule {
 public:
  bool allows(std::string_view member, uint64_t, std::string_view) const override {
    return member.size() == 1;
  }
};

class TestMeaning final : public Meaning {
 public:
  RecordMeaning of_record(const ValueView& value) override {
    RecordMeaning meaning{.may_be_empty = is_limiter(value.type)};
    if (value.type == Type::kZset) meaning.rules[0] = &short_members_;
    if (value.payload == "bad") meaning.fault = {"it is bad"};
    if (value.payload == "new") meaning.fault = {"it is of a later version", true};
    return meaning;
  }
  Fault of_system_record(std::string_view name, std::string_view payload) override {
    return name == "scripts" && payload.size() != 4 ? Fault{"it is no number"} : Fault();
  }

 private:
  ShortMembers short_members_;
};

class ListNamesTest : public TurnCheckTest {
 protected:
  ListNamesTest() {
    options_.meaning = std::make_shared<TestMeaning>();
    keys_->set_options(options_);
  }
  void put_header(std::string_view key, uint64_t list, Type type = Type::kSet,
                  int64_t expire_at_ms = 0) {
    put(kFirst, key, type, varints({1, list}), expire_at_ms);
  }
  void put_member(uint64_t list, const std::string& member = "m") {
    put_element(kElements, varints({list}) + member);
  }
  void expect_taken(int line = __builtin_LINE()) {
    SCOPED_TRACE(line);
    const Status status = follow_written();
    EXPECT_TRUE(status.ok()) << status.message();
  }
  // Takes the follower for one that has just begun: it does not know which ids are new.
  void open_again() {
    keys_.reset();
    disk_ = disk_->after_kill();
    keys_ = std::make_unique<Keyspace>([this] { return std::make_unique<MemoryStore>(disk_); },
                                       options_);
    OpenReport report;
    ASSERT_TRUE(keys_->open(&report).ok());
  }
};

TEST_F(ListNamesTest, ACollectionHasElementsFromItsFirstTurnOn) {
  begin();
  put_header("k", 2);
  expect_refused("names a list without elements: key \"k\"");
  begin();
  put_header("k", 2);
  writer_.erase(kElements, varints({2}) + "m");
  expect_refused("names a list without elements");
  begin();
  put_header("k", 2);
  put_member(3);
  expect_refused("an element of a list that no header names");
  begin();
  put_header("k", 2);
  put_element((kFirst + 1) | kElementsBit, varints({2}) + "m");  // of another database
  expect_refused("an element of a list that no header names");
  begin();
  put_header("k", 2, Type::kLimiterEntries);
  expect_taken();
  begin();
  put_member(5);
  writer_.erase(kElements, varints({5}) + "n");
  put_header("z", 5, Type::kZset);
  expect_taken();
}

TEST_F(ListNamesTest, AfterAnOpeningToo) {
  for (const bool is_stored : {false, true}) {
    if (is_stored) {
      keys_->work().write_back_now();
      for (int64_t ns = 1; ns < 100; ++ns) keys_->work().step(ns * 1'000'000'000);
    }
    open_again();
    begin();
    put_header("k", 2);
    expect_refused("names a list without elements");
    begin();
    put_header("k", 1);
    expect_refused("names a list that is not its own: key \"k\"");
    begin();
    put_header("k", 1);
    put_member(1, "n");
    expect_refused("names a list that is not its own");
  }
  begin();
  put_header("k", 100);
  put_member(100);
  expect_taken();
  begin();
  put_header("j", 90);
  put_member(90);
  expect_taken();
  begin();
  put_header("i", 90);
  put_member(90, "n");
  expect_refused("names a list that is not its own");
}

TEST_F(ListNamesTest, ALimiterKeepsItsListsWhileItsTypeChanges) {
  begin();
  put_header("l", 2, Type::kLimiterEntries);
  put_member(2);
  expect_taken();
  for (const uint64_t holds : {3, 4}) {
    begin();
    put(kFirst, "l", Type::kLimiterCharges, varints({2, holds, 2}));  // a hold is made,
    expect_taken();
    begin();
    put_header("l", 2, Type::kLimiterEntries);  // and has ended
    writer_.drop(kElements, holds);
    expect_taken();
  }
  begin();
  put_header("other", 2, Type::kLimiterCharges);
  expect_refused("names a list that is not its own: key \"other\"");
}

TEST_F(ListNamesTest, AListHasOneOwner) {
  begin();
  put_header("k", 1);
  expect_refused("names a list that is not its own");
  begin();
  put_header("k", 1);
  put_header("s", 1);
  expect_refused("names a list twice");
  begin();
  put(kFirst + 1, "k", Type::kSet, varints({1, 1}));  // of another database
  writer_.erase(kFirst, "s");
  expect_refused("names a list without elements");
  begin();
  put_header("s", 1, Type::kHash);
  expect_refused("names a list that is not its own");
  begin();
  put_header("s", 1);
  writer_.drop(kElements, 1);
  expect_refused("drops a list that it names");
}

TEST_F(ListNamesTest, AHeaderKeepsItsListOrHandsItOn) {
  begin();
  put_header("s", 1, Type::kSet, 1'900'000'000'000);  // EXPIRE
  expect_taken();
  begin();
  writer_.erase(kFirst, "s");
  put_header("k", 1);  // RENAME
  expect_taken();
  begin();
  put(kFirst, "k", Type::kString, "v");
  put_header("s", 1);
  writer_.erase(kElements, varints({1}) + "m");
  put_member(1, "n");
  expect_taken();
  begin();
  put_header("k", 1);
  expect_refused("names a list that is not its own");
}

// When the turn was made it had perhaps not expired yet.
TEST_F(ListNamesTest, WhatHasExpiredByNowKeepsItsList) {
  begin(kStartNs + 1);
  put_header("s", 1, Type::kSet, kStartNs / kNsPerMs + 5);
  expect_taken();
  begin(kStartNs + 10 * kNsPerMs);
  put(kFirst, "other", Type::kString, "v");
  expect_taken();
  begin(kStartNs + 11 * kNsPerMs);
  put_header("s", 1);
  expect_taken();
}

// The turns of a batch are looked at before any of them is applied.
TEST_F(ListNamesTest, EarlierTurnsOfABatchCount) {
  const auto follow_both = [this](const std::function<void()>& first,
                                  const std::function<void()>& second) {
    std::vector<std::string> turns;
    for (const auto& write : {first, second}) {
      begin(kStartNs + static_cast<int64_t>(turns.size()));
      write();
      turns.emplace_back(writer_.bytes());
    }
    return keys_->follow(
        {.first_turn = keys_->turn() + 1, .turns = turns, .bookmark = "a bookmark"});
  };
  const auto drop = [this] { put(kFirst, "s", Type::kString, "v"); };
  EXPECT_TRUE(follow_both(drop, [this] { put_header("s", 1); }).is_refusal());
  EXPECT_TRUE(follow_both(drop, [this] { put_header("k", 1); }).is_refusal());
  const auto rename = [this] {
    writer_.erase(kFirst, "s");
    put_header("k", 1);
  };
  EXPECT_TRUE(follow_both(rename, [this] { put_header("s", 1); }).is_refusal());
  open_again();
  const auto make = [this] {
    put_header("n", 50);
    put_member(50);
  };
  EXPECT_TRUE(follow_both(make, [this] { put_header("m", 50); }).is_refusal());
  EXPECT_EQ(keys_->turn(), 1u);
  EXPECT_TRUE(
      follow_both(rename, [this] { put_header("k", 1, Type::kSet, 1'900'000'000'000); }).ok());
  EXPECT_TRUE(follow_both(make, [this] { put_header("n", 50); }).ok());
}

TEST_F(ListNamesTest, ElementsAreWhatTheirHeaderCanHave) {
  begin();
  put_header("z", 2, Type::kZset);
  put_member(2, "long");
  expect_refused("holds an element that its header cannot have: key \"z\"");
  begin();
  put_header("z", 2, Type::kZset);
  put_member(2, "a");
  expect_taken();
}

TEST_F(ListNamesTest, NothingIsChangedTwiceInATurn) {
  begin();
  put(kFirst, "k", Type::kString, "v");
  writer_.erase(kFirst, "k");
  expect_refused("changes a record twice: name \"k\"");
  begin();
  put_header("k", 2);
  put_member(2);
  writer_.erase(kElements, varints({2}) + "m");
  expect_refused("changes a record twice");
}

TEST_F(ListNamesTest, RecordsMeanSomething) {
  begin();
  put(kFirst, "k", Type::kString, "bad");
  expect_refused("holds what cannot be: key \"k\": it is bad");
  begin();
  put(kFirst, "k", Type::kString, "new");
  expect_taken();
  begin();
  put_system("scripts", "12345");
  expect_refused("holds what cannot be: system record \"scripts\": it is no number");
}

// A header is left without its list by a turn that only drops it, which nothing contradicts. Who
// opens the list while it is being freed is no danger.
TEST_F(ListNamesTest, AListThatWasDroppedUnderItsOwner) {
  begin();
  put_header("k", 2);
  for (int i = 0; i < 3000; ++i) put_member(2, std::to_string(i));
  expect_taken();
  begin();
  writer_.drop(kElements, 2);
  expect_taken();
  const auto open = [this] {
    keys_->running().begin_command(kStartNs);
    auto list = keys_->lists().open(0, 2);
    const size_t walked = list ? list->walk(0, [](const Element&) { return true; }) : 0;
    keys_->running().roll_back();
    return walked;
  };
  open();
  for (int64_t ns = 1; ns < 30; ++ns) {
    keys_->work().step(ns * 1'000'000);
    open();
    begin();
    put_member(2, "again");
    expect_taken();
  }
  keys_->work().write_back_now();
  for (int64_t ns = 30; ns < 60; ++ns) {
    keys_->work().step(ns * 1'000'000);
    open();
  }
}

}  // namespace
}  // namespace weir::storage
