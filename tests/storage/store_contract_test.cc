// What every store promises, asked of each form of it.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "storage/memory/memory_store.h"
#include "storage/rocks/rocks_store.h"
#include "storage/store/steady_clock.h"
#include "tests/storage/store_driver.h"

namespace weir::storage {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

struct MemoryForm {
  std::unique_ptr<Store> make() { return std::make_unique<MemoryStore>(disk); }
  std::unique_ptr<Store> make_of_checkpoint(const std::string& name) {
    return std::make_unique<MemoryStore>(disk->checkpoints.at(name));
  }
  std::string checkpoint_path() { return "copy"; }

  std::shared_ptr<MemoryDisk> disk = make_memory_disk({1, 2});
};

struct RocksForm {
  std::unique_ptr<Store> make() { return make_rocks_store({.directory = directory / "data"}); }
  std::unique_ptr<Store> make_of_checkpoint(const std::string& path) {
    return make_rocks_store({.directory = path});
  }
  std::string checkpoint_path() { return directory / "copy"; }

  TemporaryDirectory directory;
};

template <typename Form>
class StoreContract : public testing::Test {
 protected:
  void SetUp() override { open(); }
  void open() {
    driver.reset();
    driver = std::make_unique<StoreDriver>(form.make());
    ASSERT_STATUS_OK(driver->open());
  }
  StoreDriver& store() { return *driver; }

  std::map<std::string, std::string> everything() {
    std::map<std::string, std::string> found;
    const auto cursor = (*driver)->cursor();
    for (cursor->seek(""); cursor->valid(); cursor->next()) {
      found.emplace(cursor->key(), cursor->value());
    }
    EXPECT_STATUS_OK(cursor->status());
    return found;
  }

  Form form;
  std::unique_ptr<StoreDriver> driver;
};

using Forms = testing::Types<MemoryForm, RocksForm>;
TYPED_TEST_SUITE(StoreContract, Forms);

TYPED_TEST(StoreContract, IsCreatedOnce) {
  EXPECT_TRUE(this->store().report.created);
  EXPECT_EQ(this->store().report.written_back_turn, 0u);
  EXPECT_EQ(this->store().report.last_turn, 0u);
  const HashSeed seed = this->store()->hash_seed();
  this->open();
  EXPECT_FALSE(this->store().report.created);
  EXPECT_EQ(this->store()->hash_seed(), seed);
  EXPECT_EQ(this->store().report.tail_note, "");
}

TYPED_TEST(StoreContract, ReplaysWhatWasAppendedAlsoUnsynced) {
  ASSERT_STATUS_OK(this->store().append(1, 100));
  this->open();
  EXPECT_EQ(this->store().report.last_turn, 100u);
  std::vector<uint64_t> turns;
  ASSERT_STATUS_OK(this->store().replay(1, &turns));
  EXPECT_EQ(turns, turns_between(1, 100));
  turns.clear();
  ASSERT_STATUS_OK(this->store().replay(98, &turns));
  EXPECT_EQ(turns, turns_between(98, 100));
  turns.clear();
  ASSERT_STATUS_OK(this->store().replay(101, &turns));
  EXPECT_TRUE(turns.empty());
}

TYPED_TEST(StoreContract, KeepsRecordsOfAnySizeAndBytes) {
  std::string bytes("\0\n\xff", 3);
  bytes.append(300'000, '\0');
  ASSERT_STATUS_OK(this->store()->append(1, ""));
  ASSERT_STATUS_OK(this->store()->append(2, bytes));
  this->open();
  std::vector<std::string> records;
  ASSERT_STATUS_OK(this->store()->replay(1, [&](uint64_t, std::string_view record) {
    records.emplace_back(record);
    return Status();
  }));
  EXPECT_EQ(records, (std::vector<std::string>{"", bytes}));
}

TYPED_TEST(StoreContract, ReplayStopsWhereTheVisitorFails) {
  ASSERT_STATUS_OK(this->store().append(1, 3));
  int visits = 0;
  const Status status = this->store()->replay(1, [&](uint64_t, std::string_view) {
    ++visits;
    return Status::corrupt("no");
  });
  EXPECT_EQ(status.message(), "no");
  EXPECT_EQ(visits, 1);
}

TYPED_TEST(StoreContract, SyncTellsHowFarItCame) {
  EXPECT_EQ(this->store()->sync_state().synced_turn, 0u);
  ASSERT_STATUS_OK(this->store().append(1, 5));
  const int64_t before_ns = steady_clock_ns();
  ASSERT_STATUS_OK(this->store().sync());
  EXPECT_EQ(this->store()->sync_state().synced_turn, 5u);
  EXPECT_GE(this->store()->sync_state().last_begin_steady_ns, before_ns);
  ASSERT_STATUS_OK(this->store().append(6, 7));
  EXPECT_EQ(this->store()->sync_state().synced_turn, 5u);
  ASSERT_STATUS_OK(this->store()->sync_now());
  EXPECT_EQ(this->store()->sync_state().synced_turn, 7u);
  EXPECT_EQ(this->store()->metrics().syncs, 2u);
}

TYPED_TEST(StoreContract, AWriteBackIsFoundAndItsTurnsAreGone) {
  ASSERT_STATUS_OK(this->store().append(1, 10));
  EXPECT_EQ(this->store().get(stored_key("a")), "absent");
  const StoreDriver::Changes changes{{stored_key("a"), stored_value("1")},
                                     {stored_key("b"), stored_value("2")}};
  ASSERT_STATUS_OK(this->store().write_back(changes, 7, 3 * kSecond));
  EXPECT_EQ(this->store()->sync_state().synced_turn, 10u) << "a write-back syncs the log";
  this->open();
  EXPECT_EQ(this->store().report.written_back_turn, 7u);
  EXPECT_EQ(this->store().report.last_turn, 10u);
  EXPECT_EQ(this->store().report.instant_ns, 3 * kSecond);
  EXPECT_EQ(this->store().get(stored_key("a")), stored_value("1"));
  EXPECT_EQ(this->store().get(stored_key("b")), stored_value("2"));
  EXPECT_EQ(this->store().get(stored_key("c")), "absent");
  std::vector<uint64_t> turns;
  ASSERT_STATUS_OK(this->store().replay(8, &turns));
  EXPECT_EQ(turns, turns_between(8, 10));
}

TYPED_TEST(StoreContract, LaterWriteBacksWin) {
  const std::string a = stored_key("a");
  ASSERT_STATUS_OK(this->store().append(1, 3));
  ASSERT_STATUS_OK(this->store().write_back({{a, stored_value("1")}}, 1));
  ASSERT_STATUS_OK(this->store().write_back({{a, stored_value("2")}}, 2));
  EXPECT_EQ(this->store().get(a), stored_value("2"));
  StateSlice slice;
  slice.erase(a);
  ASSERT_STATUS_OK(this->store().write_back(std::move(slice), 3));
  EXPECT_EQ(this->store().get(a), "absent");
  this->open();
  EXPECT_EQ(this->store().get(a), "absent");
  EXPECT_EQ(this->store().report.written_back_turn, 3u);
}

TYPED_TEST(StoreContract, SlicesOfAWriteBackAreOne) {
  std::map<std::string, std::string> wanted;
  for (int i = 0; i < 1000; ++i) wanted[stored_key(std::to_string(i))] = stored_value("v");
  StateSlice slice;
  for (const auto& [key, value] : wanted) {
    slice.put(key, value);
    if (slice.size() == 10) {
      this->store()->add_to_write_back(std::move(slice));
      slice = StateSlice();
    }
  }
  ASSERT_STATUS_OK(this->store().write_back(StateSlice(), 0));
  EXPECT_EQ(this->everything(), wanted);
}

TYPED_TEST(StoreContract, AnEmptyWriteBackMovesTheTurnAndTheInstant) {
  ASSERT_STATUS_OK(this->store().append(1, 2));
  for (int i = 1; i <= 30; ++i) ASSERT_STATUS_OK(this->store().write_back(StateSlice(), 2, i));
  EXPECT_EQ(this->store()->metrics().write_backs, 30u);
  this->open();
  EXPECT_EQ(this->store().report.written_back_turn, 2u);
  EXPECT_EQ(this->store().report.instant_ns, 30);
  EXPECT_TRUE(this->everything().empty()) << "a cursor shows records only";
}

TYPED_TEST(StoreContract, ErasesARangeButNotWhatTheSameWriteBackPutsElsewhere) {
  StoreDriver::Changes changes;
  for (const Generation generation : {1u, 2u, 3u}) {
    for (int i = 0; i < 50; ++i) {
      changes.emplace_back(stored_key(std::to_string(i), generation), stored_value("v"));
    }
  }
  ASSERT_STATUS_OK(this->store().write_back(changes, 0));
  StateSlice slice;
  // Ranges come before the puts, in any order.
  slice.erase_range(stored_key_prefix(3), stored_key_prefix(4));
  slice.erase_range(stored_key_prefix(1), stored_key_prefix(2));
  slice.put(stored_key_prefix(0), stored_value("system"));
  ASSERT_STATUS_OK(this->store().write_back(std::move(slice), 0));
  EXPECT_EQ(this->everything().size(), 51u);
  EXPECT_EQ(this->store().get(stored_key("7", 1)), "absent");
  EXPECT_EQ(this->store().get(stored_key("7", 2)), stored_value("v"));
  EXPECT_EQ(this->store().get(stored_key("7", 3)), "absent");
  this->open();
  EXPECT_EQ(this->everything().size(), 51u);
}

TYPED_TEST(StoreContract, ACursorShowsOneMoment) {
  const std::string a = stored_key_prefix(1, 1ull << 50) + "a";
  const std::string b = stored_key_prefix(1, 2ull << 50) + "b";
  const std::string c = stored_key_prefix(1, 3ull << 50) + "c";
  ASSERT_STATUS_OK(this->store().write_back({{a, stored_value("1")}, {c, stored_value("3")}}, 0));
  const auto cursor = this->store()->cursor();
  ASSERT_STATUS_OK(this->store().write_back({{b, stored_value("2")}, {c, stored_value("4")}}, 0));
  cursor->seek(stored_key_prefix(1));
  ASSERT_TRUE(cursor->valid());
  EXPECT_EQ(cursor->key(), a);
  cursor->next();
  ASSERT_TRUE(cursor->valid());
  EXPECT_EQ(cursor->key(), c);
  EXPECT_EQ(cursor->value(), stored_value("3"));
  cursor->next();
  EXPECT_FALSE(cursor->valid());
  EXPECT_STATUS_OK(cursor->status());
  const auto later = this->store()->cursor();
  later->seek(b);
  ASSERT_TRUE(later->valid());
  EXPECT_EQ(later->key(), b);
}

TYPED_TEST(StoreContract, ACheckpointOpensOnItsOwnAndGoesItsOwnWay) {
  ASSERT_STATUS_OK(this->store().append(1, 10));
  ASSERT_STATUS_OK(this->store().write_back({{stored_key("a"), stored_value("1")}}, 4, 5));
  const std::string path = this->form.checkpoint_path();
  ASSERT_STATUS_OK(this->store().checkpoint(path));
  ASSERT_STATUS_OK(this->store().append(11, 12));
  ASSERT_STATUS_OK(this->store().write_back({{stored_key("a"), stored_value("2")}}, 12));

  StoreDriver copy(this->form.make_of_checkpoint(path));
  ASSERT_STATUS_OK(copy.open());
  EXPECT_FALSE(copy.report.created);
  EXPECT_EQ(copy.report.written_back_turn, 4u);
  EXPECT_EQ(copy->hash_seed(), this->store()->hash_seed());
  EXPECT_EQ(copy.get(stored_key("a")), stored_value("1"));
  std::vector<uint64_t> turns;
  ASSERT_STATUS_OK(copy.replay(5, &turns));
  EXPECT_EQ(turns, turns_between(5, 10));
  ASSERT_STATUS_OK(copy.append(11, 11));
}

TYPED_TEST(StoreContract, TheLogGoesOnBehindAnEmptyOne) {
  ASSERT_STATUS_OK(this->store().append(1, 3));
  ASSERT_STATUS_OK(this->store().write_back(StateSlice(), 3));
  this->open();
  ASSERT_STATUS_OK(this->store().append(4, 5));
  this->open();
  std::vector<uint64_t> turns;
  ASSERT_STATUS_OK(this->store().replay(4, &turns));
  EXPECT_EQ(turns, turns_between(4, 5));
}

}  // namespace
}  // namespace weir::storage
