// Long lists are opened slice by slice (storage/lists/list_opening.h), whatever happens between the
// slices.
#include "storage/lists/list_opening.h"

#include "tests/storage/elements_fixture.h"

namespace weir::storage {
namespace {

constexpr size_t kListElements = 7'000;
constexpr int kSlicesMax = 20;

class OpeningTest : public ElementsTest {
 protected:
  // One command that asks for the list of "z"; nothing when it is not open yet.
  std::optional<Elements> ask() {
    keys();
    auto list = list_of(0, "z");
    EXPECT_EQ(!list, keys_->failure().code() == Status::Code::kNotYet);
    if (!list) keys_->running().roll_back();
    commit();
    return list;
  }
  std::optional<Elements> open(const std::function<void()>& between = [] {}) {
    for (int slices = 0; slices < kSlicesMax; ++slices) {
      if (auto list = ask()) return list;
      between();
    }
    ADD_FAILURE() << "it is never open";
    return std::nullopt;
  }
  void store_long(const List& list) {
    keys();
    put_record(0, "z", header_of(list));
    commit();
    must_write_back();
  }
  // Until all that can has left memory, and the list is closed.
  void evict() {
    const size_t memory = std::exchange(options_.memory_bytes_max, 1);
    keys_->set_options(options_);
    const uint64_t before = keys_->metrics().evicted;
    disk_->faults.write_back = 1;  // what changed stays newer than the state
    for (int i = 0; i < 200; ++i) work();
    EXPECT_GT(keys_->metrics().evicted, before);
    disk_->faults = {};
    options_.memory_bytes_max = memory;
    keys_->set_options(options_);
  }
};

TEST_F(OpeningTest, NoCallReadsMoreThanASlice) {
  const List list = numbered(kListElements);
  store_long(list);
  start();
  size_t entries = keys_->metrics().entries;
  size_t slices = 0;
  auto opened = open([&] {
    const size_t now = keys_->metrics().entries;
    EXPECT_LE(now - entries, kOpeningSliceElements + 1);
    entries = now;
    ++slices;
  });
  EXPECT_EQ(slices, (kListElements - 1) / kOpeningSliceElements);
  ASSERT_TRUE(opened);
  expect_list(*opened, list);
  const auto again = ask();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->size(), list.size());
}

TEST_F(OpeningTest, AShortListIsOpenAtOnce) {
  store_long(numbered(kOpeningSliceElements));
  start();
  EXPECT_TRUE(ask());
}

TEST_F(OpeningTest, WhatMemoryHasIsTakenSliceBySliceToo) {
  const List list = numbered(kListElements);
  keys();
  put_record(0, "z", header_of(list));
  commit();
  start();  // replayed from the log, nothing is in the state
  ASSERT_FALSE(ask());
  auto opened = open();
  ASSERT_TRUE(opened);
  expect_list(*opened, list);
}

// What was erased before is in memory as an absence, until a write-back has taken it from the state
// too.
TEST_F(OpeningTest, PassesBetweenSlicesBringNothingBack) {
  List list = numbered(kListElements);
  store_long(list);
  keys();
  auto before = list_of(0, "z");
  for (int i = 0; i < 7'000; i += 30) {
    const std::string gone = "m" + std::to_string(i);
    before->erase(gone);
    list.erase(gone);
  }
  for (int i = 1; i < 7'000; i += 30) {
    const std::string changed = "m" + std::to_string(i);
    before->put(changed, 99, "new");
    list[changed] = {99, "new"};
  }
  commit();
  evict();
  auto opened = open([this] { must_write_back(); });
  ASSERT_TRUE(opened);
  expect_list(*opened, list);
}

TEST_F(OpeningTest, WhatIsDroppedMeanwhileIsGone) {
  const size_t entries_before = keys_->metrics().entries;
  store_long(numbered(kListElements));
  start();
  ASSERT_FALSE(ask());
  keys();
  erase(0, "z");
  commit();
  settle();
  EXPECT_EQ(elements_in_state(), 0u);
  EXPECT_LE(keys_->metrics().entries, entries_before + 3);
}

TEST_F(OpeningTest, WhatIsDroppedWhenLittleOfItIsReadIsGone) {
  store_long(numbered(kListElements));
  keys();
  auto before = list_of(0, "z");
  std::vector<std::string> first;
  (void)before->scan(0, 5'000, [&](const Element& element) { first.emplace_back(element.member); });
  for (const std::string& member : first) before->erase(member);
  commit();
  evict();
  ASSERT_FALSE(ask());  // which has met what is erased only
  keys();
  erase(0, "z");
  commit();
  settle();
  EXPECT_EQ(elements_in_state(), 0u);
}

// Else it would be read from its beginning again and again.
TEST_F(OpeningTest, TooLittleMemoryDoesNotCloseWhatIsBeingOpened) {
  const List list = numbered(kListElements);
  store_long(list);
  options_.memory_bytes_max = 1;
  start();
  auto opened = open([this] {
    for (int i = 0; i < 20; ++i) work();
  });
  ASSERT_TRUE(opened);
  expect_list(*opened, list);
  now_ns_ += (kLongListKeptMs + 1) * 1'000'000;
  keys();
  commit();
  const uint64_t before = keys_->metrics().evicted;
  for (int i = 0; i < 100; ++i) work();
  EXPECT_GT(keys_->metrics().evicted, before);
}

TEST_F(OpeningTest, AFailureBetweenSlicesBeginsAnew) {
  const List list = numbered(kListElements);
  store_long(list);
  start();
  ASSERT_FALSE(ask());
  disk_->faults.cursor = 1;
  keys();
  EXPECT_FALSE(list_of(0, "z"));
  EXPECT_FALSE(keys_->failure().ok());
  EXPECT_FALSE(keys_->failure().code() == Status::Code::kNotYet);
  keys_->running().roll_back();
  auto opened = open();
  ASSERT_TRUE(opened);
  expect_list(*opened, list);
}

}  // namespace
}  // namespace weir::storage
