// What every store promises of the turns and bookmarks of a log that several machines share.
#include "storage/store/bookmarked_log.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "storage/memory/memory_store.h"
#include "storage/rocks/rocks_log.h"
#include "storage/rocks/rocks_store.h"
#include "storage/rocks/wal_scan.h"
#include "tests/storage/wal_fixture.h"

namespace weir::storage {
namespace {

constexpr BookmarkedTurns::Kept kLittle{.bytes = 0, .bookmarks = 1};

struct BookmarkedMemory {
  BookmarkedMemory() { disk->bookmarked_kept = kLittle; }
  std::unique_ptr<Store> make() { return std::make_unique<MemoryStore>(disk); }

  std::shared_ptr<MemoryDisk> disk = make_memory_disk({1, 2});
};

struct BookmarkedRocks {
  std::unique_ptr<Store> make() {
    return make_rocks_store(
        {.directory = directory / "data", .wal_bytes_max = 1 << 20, .bookmarked_kept = kLittle});
  }

  TemporaryDirectory directory;
};

template <typename Form>
class BookmarkedLogContract : public testing::Test {
 protected:
  void SetUp() override { open(); }
  void open() {
    driver.reset();
    driver = std::make_unique<StoreDriver>(form.make());
    ASSERT_STATUS_OK(driver->open());
  }
  Store* store() { return driver->operator->(); }

  // Turns first to last with a bookmark that tells them.
  Status append(uint64_t first, uint64_t last, const std::string& body = "turn ") {
    std::vector<std::string> turns;
    for (uint64_t turn = first; turn <= last; ++turn) turns.push_back(body + std::to_string(turn));
    const std::string bookmark = std::to_string(first) + "-" + std::to_string(last);
    return store()->append_batch({.first_turn = first, .turns = turns, .bookmark = bookmark});
  }
  Status replace_bookmark(uint64_t turn, const std::string& bookmark) {
    return store()->append_batch({.first_turn = turn + 1, .turns = {}, .bookmark = bookmark});
  }

  std::map<uint64_t, std::string> bookmarks() {
    std::vector<KeptBookmark> found;
    EXPECT_STATUS_OK(store()->bookmarks(&found));
    std::map<uint64_t, std::string> by_turn;
    for (const KeptBookmark& bookmark : found) by_turn[bookmark.turn] = bookmark.bytes;
    return by_turn;
  }
  std::vector<uint64_t> turns(uint64_t first) {
    std::vector<uint64_t> found;
    EXPECT_STATUS_OK(driver->replay(first, &found));
    return found;
  }
  std::string kept(uint64_t turn) {
    std::string record;
    Status failure;
    const Lookup found = store()->kept_turn(turn, &record, &failure);
    EXPECT_STATUS_OK(failure);
    return found == Lookup::kFound ? record : "absent";
  }

  Form form;
  std::unique_ptr<StoreDriver> driver;
};

using Bookmarks = std::map<uint64_t, std::string>;
using BookmarkedForms = testing::Types<BookmarkedMemory, BookmarkedRocks>;
TYPED_TEST_SUITE(BookmarkedLogContract, BookmarkedForms);

TYPED_TEST(BookmarkedLogContract, KeepsTurnsAndBookmarks) {
  ASSERT_STATUS_OK(this->append(1, 3));
  ASSERT_STATUS_OK(this->append(4, 4));
  for (const bool opened_again : {false, true}) {
    if (opened_again) this->open();
    EXPECT_EQ(this->bookmarks(), (Bookmarks{{3, "1-3"}, {4, "4-4"}}));
    EXPECT_EQ(this->turns(1), turns_between(1, 4));
    EXPECT_EQ(this->kept(2), "turn 2");
    EXPECT_EQ(this->kept(5), "absent");
    EXPECT_EQ(this->store()->bookmarked_turn(4), 4u);
    EXPECT_EQ(this->store()->bookmarked_turn(3), 3u);
    EXPECT_EQ(this->store()->bookmarked_turn(2), 0u);
  }
}

TYPED_TEST(BookmarkedLogContract, AnOrdinaryLogMayGetBookmarksLater) {
  ASSERT_STATUS_OK(this->driver->append(1, 5));
  EXPECT_EQ(this->store()->bookmarked_turn(5), 5u) << "without bookmarks every turn counts";
  ASSERT_STATUS_OK(this->replace_bookmark(5, "from here on"));
  ASSERT_STATUS_OK(this->append(6, 7));
  this->open();
  EXPECT_EQ(this->bookmarks(), (Bookmarks{{5, "from here on"}, {7, "6-7"}}));
  EXPECT_EQ(this->turns(1), turns_between(1, 7));
}

TYPED_TEST(BookmarkedLogContract, ANewerBookmarkOfATurnReplacesTheOlder) {
  ASSERT_STATUS_OK(this->append(1, 3));
  ASSERT_STATUS_OK(this->replace_bookmark(3, "newer"));
  EXPECT_EQ(this->bookmarks(), (Bookmarks{{3, "newer"}}));
  ASSERT_STATUS_OK(this->append(4, 5));
  this->open();
  EXPECT_EQ(this->bookmarks(), (Bookmarks{{3, "newer"}, {5, "4-5"}}));
}

// After a shared log has lost its end, the same turns come again in other records.
TYPED_TEST(BookmarkedLogContract, TurnsThatAreThereAreNotWrittenAgain) {
  ASSERT_STATUS_OK(this->append(1, 3));
  ASSERT_STATUS_OK(this->append(4, 6));
  ASSERT_STATUS_OK(this->append(7, 9));
  ASSERT_STATUS_OK(this->append(5, 7));
  for (const bool opened_again : {false, true}) {
    if (opened_again) this->open();
    EXPECT_EQ(this->bookmarks(), (Bookmarks{{3, "1-3"}, {7, "5-7"}}));
    EXPECT_EQ(this->turns(1), turns_between(1, 9));
  }
  ASSERT_STATUS_OK(this->append(8, 10));
  this->open();
  EXPECT_EQ(this->bookmarks(), (Bookmarks{{3, "1-3"}, {7, "5-7"}, {10, "8-10"}}));
  EXPECT_EQ(this->turns(1), turns_between(1, 10));
}

TYPED_TEST(BookmarkedLogContract, TurnsAndBookmarksGoOnceTheyAreWrittenBackAndNotNeeded) {
  for (uint64_t turn = 1; turn <= 20; turn += 2) ASSERT_STATUS_OK(this->append(turn, turn + 1));
  ASSERT_STATUS_OK(this->driver->write_back(StateSlice(), 9));
  ASSERT_STATUS_OK(this->append(21, 21));
  EXPECT_EQ(this->turns(1), turns_between(1, 21)) << "nobody has said what is needed";
  this->store()->keep_turns_from(7);
  ASSERT_STATUS_OK(this->driver->write_back(StateSlice(), 9));
  ASSERT_STATUS_OK(this->append(22, 22));
  EXPECT_EQ(this->kept(6), "absent");
  EXPECT_EQ(this->kept(7), "turn 7");
  EXPECT_EQ(this->bookmarks().begin()->first, 6u);
  this->store()->keep_turns_from(UINT64_MAX);
  ASSERT_STATUS_OK(this->driver->write_back(StateSlice(), 22));
  ASSERT_STATUS_OK(this->append(23, 23));
  this->open();
  const uint64_t oldest = this->bookmarks().begin()->first;
  EXPECT_GE(oldest, 21u);
  EXPECT_EQ(this->turns(oldest + 1), turns_between(oldest + 1, 23));
}

TYPED_TEST(BookmarkedLogContract, ABatchThatLeavesAHoleIsRefusedOrAnError) {
  if (std::is_same_v<TypeParam, BookmarkedMemory>)
    GTEST_SKIP() << "there it is a mistake of the caller";
  ASSERT_STATUS_OK(this->append(1, 3));
  EXPECT_EQ(this->append(5, 6).code(), Status::Code::kCorrupt);
}

// A record that a power cut has cut anywhere is not there at all.
TEST(BookmarkedLog, ACutRecordIsGivenUpWhole) {
  for (size_t cut = 1; cut < 4'000; cut += 131) {
    TemporaryDirectory directory;
    const RocksOptions options{.directory = directory / "data"};
    {
      StoreDriver store(make_rocks_store(options));
      ASSERT_STATUS_OK(store.open());
      const std::vector<std::string> first{"a", "b"};
      ASSERT_STATUS_OK(store->append_batch({.first_turn = 1, .turns = first, .bookmark = "S2"}));
      const std::vector<std::string> long_turns(40, std::string(1'000, 't'));
      ASSERT_STATUS_OK(
          store->append_batch({.first_turn = 3, .turns = long_turns, .bookmark = "S42"}));
    }
    const std::string file = wal_files(options.directory).back();
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - cut * 10);
    StoreDriver store(make_rocks_store(options));
    ASSERT_STATUS_OK(store.open());
    std::vector<uint64_t> turns;
    ASSERT_STATUS_OK(store.replay(1, &turns));
    ASSERT_EQ(turns, turns_between(1, 2)) << cut;
    std::vector<KeptBookmark> bookmarks;
    ASSERT_STATUS_OK(store->bookmarks(&bookmarks));
    ASSERT_EQ(bookmarks.size(), 1u);
    EXPECT_EQ(bookmarks[0].bytes, "S2");
  }
}

// The log's own files: some turns in a table, then others in the WAL.
class BookmarkedFilesTest : public testing::Test {
 protected:
  BookmarkedFilesTest() : log_({.bytes = 0, .bookmarks = 1}) {
    RocksLog::Opened opened;
    EXPECT_STATUS_OK(log_.open({.directory = directory_.path()}, directory_ / "log",
                               OpenMode::kCreate, 0, &opened));
    log_.keep_turns_from(UINT64_MAX);
  }

  void append(uint64_t first, uint64_t last) {
    const std::vector<std::string> turns(last - first + 1, std::string(3'000, 't'));
    ASSERT_STATUS_OK(
        log_.append_batch({.first_turn = first, .turns = turns, .bookmark = "bookmark"}));
  }
  size_t tables() {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory_ / "log"))
      count += entry.path().extension() == ".sst";
    return count;
  }
  std::vector<uint64_t> bookmarks() {
    std::vector<KeptBookmark> found;
    EXPECT_STATUS_OK(log_.bookmarks(&found));
    std::vector<uint64_t> turns;
    for (const KeptBookmark& bookmark : found) turns.push_back(bookmark.turn);
    return turns;
  }

  TemporaryDirectory directory_;
  RocksLog log_;
};

TEST_F(BookmarkedFilesTest, TheFileWithTheBookmarkThatStaysIsKept) {
  append(1, 10);
  ASSERT_STATUS_OK(log_.rotate());
  log_.drop_up_to(10);
  append(11, 12);
  ASSERT_STATUS_OK(log_.rotate());
  EXPECT_EQ(bookmarks(), (std::vector<uint64_t>{10, 12}));
}

TEST_F(BookmarkedFilesTest, AFileWithoutTurnsThatAreNeededGoes) {
  append(1, 10);
  ASSERT_STATUS_OK(log_.rotate());
  append(11, 12);
  ASSERT_STATUS_OK(log_.rotate());
  EXPECT_EQ(tables(), 2u);
  log_.drop_up_to(12);
  append(13, 14);
  ASSERT_STATUS_OK(log_.rotate());
  EXPECT_EQ(bookmarks(), (std::vector<uint64_t>{12, 14}));
  EXPECT_EQ(tables(), 2u) << "the first one is not needed";
}

// As after a shared log has lost its end: the turns of two files may not overlap.
TEST_F(BookmarkedFilesTest, TurnsThatAreThereAreInOneFileOnly) {
  append(1, 10);
  ASSERT_STATUS_OK(log_.sync());
  ASSERT_STATUS_OK(log_.rotate());
  append(9, 12);
  EXPECT_EQ(bookmarks(), (std::vector<uint64_t>{12}));
  const auto files = wal_files(directory_.path());
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(scan_wal(contents(files[0])).first_turn, 11u);
  EXPECT_EQ(scan_wal(contents(files[0])).last_turn, 12u);
}

}  // namespace
}  // namespace weir::storage
