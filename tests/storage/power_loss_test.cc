// Random work, a power cut in the middle of it, and the promises: every synced turn is there, what
// is there is a beginning of what was appended, and the state is as of a turn of it.
//
// WEIR_POWER_LIVES=1000 WEIR_SEED=n makes it long.
#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <random>

#include "storage/rocks/rocks_store.h"
#include "tests/storage/keyspace_fixture.h"
#include "tests/storage/power_loss_fs.h"
#include "tests/storage/store_driver.h"

namespace weir::storage {
namespace {

constexpr uint64_t kKeys = 40;

std::string key_of(uint64_t turn) { return stored_key("key" + std::to_string(turn % kKeys)); }
std::string body_of(uint64_t turn) {
  return std::to_string(turn) + std::string(turn * 7919 % 9000, 'r');
}

// How turns come: one by one, or as the records of a log that several machines share.
enum class Log { kOwn, kShared };

// One data directory through many lives.
class Machine {
 public:
  Machine(uint64_t seed, Log log) : random_(seed), log_(log) {}

  int cuts() const { return cuts_; }
  void live_and_die() {
    start();
    if (testing::Test::HasFatalFailure()) return;
    // Some lives end by a kill alone, and the power goes in a later one.
    const bool killed = random_() % 3 == 0;
    uint64_t work_left = killed ? random_() % 200 : UINT64_MAX;
    if (!killed) fs_->cut_after(1 + random_() % 400);
    while (!fs_->is_cut() && !failed_ && work_left-- != 0) work();
    acknowledged_ = std::max(acknowledged_, (*store_)->sync_state().synced_turn);
    store_.reset();
    if (killed) return;
    ++cuts_;
    fs_->apply_cut(&random_);
    env_.reset();
    fs_.reset();
  }

 private:
  void start() {
    if (!fs_) {
      std::filesystem::create_directory(directory_ / "graveyard");
      fs_ = std::make_shared<PowerLossFs>(directory_ / "graveyard");
      env_ = rocksdb::NewCompositeEnv(fs_);
    }
    store_ = std::make_unique<StoreDriver>(
        make_rocks_store({.directory = directory_ / "data",
                          .wal_bytes_max = 1 << 20,
                          .bookmarked_kept = {.bytes = 100'000, .bookmarks = 2},
                          .env = env_.get()}));
    ASSERT_STATUS_OK(store_->open());
    (*store_)->keep_turns_from(UINT64_MAX);
    failed_ = false;
    turn_ = store_->report.written_back_turn;
    check_state();
    ASSERT_STATUS_OK((*store_)->replay(turn_ + 1, [this](uint64_t turn, std::string_view record) {
      EXPECT_EQ(record, body_of(turn));
      turn_ = turn;
      return Status();
    }));
    ASSERT_GE(turn_, acknowledged_) << "a synced turn is lost";
    ASSERT_LE(turn_, appended_);
    appended_ = turn_;
    check_bookmarks();
  }

  // A record is there whole or not at all, so the log ends with the bookmark of its last turn. All
  // turns after the oldest bookmark are there.
  void check_bookmarks() {
    std::vector<KeptBookmark> bookmarks;
    ASSERT_STATUS_OK((*store_)->bookmarks(&bookmarks));
    ASSERT_EQ(bookmarks.empty(), log_ == Log::kOwn || turn_ == 0);
    if (bookmarks.empty()) return;
    for (const KeptBookmark& bookmark : bookmarks)
      ASSERT_EQ(bookmark.bytes, std::to_string(bookmark.turn));
    ASSERT_EQ(bookmarks.back().turn, turn_);
    ASSERT_LE(bookmarks.front().turn, store_->report.written_back_turn + 5);
    std::vector<uint64_t> turns;
    ASSERT_STATUS_OK(store_->replay(bookmarks.front().turn + 1, &turns));
    ASSERT_EQ(turns.size(), turn_ - bookmarks.front().turn);
  }

  // For each key the state shows the newest turn, up to the written-back one, that changed it.
  void check_state() {
    const uint64_t written_back = turn_;
    const uint64_t first = written_back > kKeys ? written_back - kKeys + 1 : 1;
    for (uint64_t turn = first; turn <= written_back; ++turn) {
      ASSERT_EQ(store_->get(key_of(turn)), stored_value(std::to_string(turn)))
          << "the written-back turn is " << written_back;
    }
    for (uint64_t turn = written_back + 1; turn <= kKeys; ++turn) {
      ASSERT_EQ(store_->get(key_of(turn)), "absent");
    }
  }

  void work() {
    switch (random_() % 40) {
      case 0:
        failed_ = !store_->sync().ok();
        break;
      case 1:
        failed_ = !write_back().ok();
        break;
      case 2:
        failed_ = !sync_now().ok();
        break;
      default:
        log_ == Log::kOwn ? append() : append_batch();
    }
  }

  // Whether it is there after a failure is open.
  void append() {
    const uint64_t turn = ++appended_;
    failed_ = !(*store_)->append(turn, body_of(turn)).ok();
    if (!failed_) turn_ = turn;
  }

  void append_batch() {
    const uint64_t first = appended_ + 1;
    std::vector<std::string> turns(1 + random_() % 5);
    for (std::string& turn : turns) turn = body_of(++appended_);
    const std::string bookmark = std::to_string(appended_);
    const TurnBatch batch{.first_turn = first, .turns = turns, .bookmark = bookmark};
    failed_ = !(*store_)->append_batch(batch).ok();
    if (!failed_) turn_ = appended_;
  }

  Status sync_now() {
    Status status = (*store_)->sync_now();
    if (status.ok()) acknowledged_ = turn_;
    return status;
  }

  Status write_back() {
    StoreDriver::Changes changes;
    const uint64_t w = turn_;
    for (uint64_t turn = w > kKeys ? w - kKeys + 1 : 1; turn <= w; ++turn) {
      changes.emplace_back(key_of(turn), stored_value(std::to_string(turn)));
    }
    Status status = store_->write_back(changes, w);
    if (status.ok()) acknowledged_ = std::max(acknowledged_, w);
    return status;
  }

  std::mt19937_64 random_;
  const Log log_;
  TemporaryDirectory directory_;
  std::shared_ptr<PowerLossFs> fs_;
  std::unique_ptr<rocksdb::Env> env_;
  std::unique_ptr<StoreDriver> store_;
  uint64_t turn_ = 0;          // the last one that is surely there
  uint64_t appended_ = 0;      // the last one that may be there
  uint64_t acknowledged_ = 0;  // the last one that must be there
  bool failed_ = false;
  int cuts_ = 0;
};

void live_through(uint64_t seed, int lives, Log log) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Machine machine(seed, log);
  for (int i = 0; i < lives && !testing::Test::HasFailure(); ++i) machine.live_and_die();
  show_power_cuts(machine.cuts());
}

// A killed process leaves turns that only the system's memory has. The next one builds on them.
TEST(PowerLoss, KeepsWhatAnOpeningFound) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    TemporaryDirectory directory;
    std::filesystem::create_directory(directory / "graveyard");
    const auto fs = std::make_shared<PowerLossFs>(directory / "graveyard");
    const auto env = rocksdb::NewCompositeEnv(fs);
    const auto open = [&](rocksdb::Env* on) {
      auto store = std::make_unique<StoreDriver>(
          make_rocks_store({.directory = directory / "data", .env = on}));
      EXPECT_STATUS_OK(store->open());
      return store;
    };
    EXPECT_STATUS_OK(open(env.get())->append(1, 50));
    EXPECT_EQ((*open(env.get()))->sync_state().synced_turn, 50u);
    fs->cut_now();
    std::mt19937_64 random(seed);
    fs->apply_cut(&random);
    std::vector<uint64_t> turns;
    EXPECT_STATUS_OK(open(nullptr)->replay(1, &turns));
    EXPECT_EQ(turns, turns_between(1, 50));
  }
}

TEST(PowerLoss, KeepsWhatWasSyncedOfFixedSeeds) {
  for (const uint64_t seed : {1, 2, 3, 4}) live_through(seed, 15, Log::kOwn);
}

TEST(PowerLoss, KeepsWhatWasSyncedOfAFreshSeed) {
  live_through(test_seed(), power_loss_lives(15), Log::kOwn);
}

TEST(PowerLoss, LeavesRecordsOfASharedLogWhole) {
  for (const uint64_t seed : {1, 2, 3}) live_through(seed, 15, Log::kShared);
  live_through(test_seed(), power_loss_lives(15), Log::kShared);
}

}  // namespace
}  // namespace weir::storage
