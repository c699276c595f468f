// A keyspace of headers and elements, a power cut in the middle of its work, and what is found: all
// of some turn and nothing of the next, no turn before the last that was synced.
//
// A turn changes records by the dozen, a write-back erases ranges of elements: what one turn did
// must not be there in part.
#include <rocksdb/env.h>

#include "storage/rocks/rocks_store.h"
#include "tests/storage/elements_random.h"
#include "tests/storage/power_loss_fs.h"

namespace weir::storage {
namespace {

class PowerLossElements : public RandomElements, public ::testing::WithParamInterface<uint64_t> {
 protected:
  void TearDown() override { keys_.reset(); }  // before what it stands on

  void live_and_die() {
    open();
    if (HasFatalFailure()) return;
    // Some lives end by a kill alone, and the power goes in a later one.
    const bool killed = pick(4) == 0;
    if (!killed) fs_->cut_after(1 + pick(150));
    for (uint64_t left = killed ? pick(60) : UINT64_MAX; left > 0 && !fs_->is_cut(); --left)
      work_on();
    note_synced();
    keys_.reset();
    if (killed) return;
    ++cuts_;
    fs_->apply_cut(&random_);
    env_.reset();
    fs_.reset();
  }

  int cuts_ = 0;

 private:
  void open() {
    if (!fs_) {
      std::filesystem::create_directory(directory_ / "graveyard");
      fs_ = std::make_shared<PowerLossFs>(directory_ / "graveyard");
      env_ = rocksdb::NewCompositeEnv(fs_);
    }
    rocks_ = true;
    make_store_ = [this] {
      return make_rocks_store(
          {.directory = directory_ / "data", .wal_bytes_max = 1 << 20, .env = env_.get()});
    };
    start();
    if (HasFatalFailure()) return;
    ASSERT_GE(keys_->turn(), synced_) << "a synced turn is lost";
    if (keys_->turn() == 1) history_.try_emplace(1, Databases(kDatabases));  // made, and empty
    ASSERT_TRUE(history_.contains(keys_->turn())) << "turn " << keys_->turn();
    history_.erase(history_.upper_bound(keys_->turn()), history_.end());
    ASSERT_NO_FATAL_FAILURE(expect_records(history_.rbegin()->second));
    commit();  // what was found to have expired
    history_.try_emplace(keys_->turn(), history_.rbegin()->second);
  }

  void work_on() {
    if (pick(30) == 0) keys_->work().write_back_now();
    if (pick(15) == 0) {
      if (!keys_->store_in_use()->sync_now().ok()) return fs_->cut_now();
      note_synced();
    }
    for (uint64_t steps = pick(6); steps > 0; --steps) work();
    Databases model = history_.rbegin()->second;
    for (uint64_t commands = pick(4); commands > 0; --commands) run_command(&model);
    const uint64_t turn = keys_->turn();
    const bool changed = keys_->running().has_changes();
    const bool committed = keys_->commit_turn().ok();
    // Whether it is there after a failure is open.
    if (changed) history_[turn + 1] = std::move(model);
    if (!committed) fs_->cut_now();
  }

  void note_synced() {
    synced_ = std::max(synced_, keys_->store_in_use()->sync_state().synced_turn);
    history_.erase(history_.begin(), history_.lower_bound(synced_));
  }

  std::shared_ptr<PowerLossFs> fs_;
  std::unique_ptr<rocksdb::Env> env_;
  std::map<uint64_t, Databases> history_;  // by turn, from the last that was synced on
  uint64_t synced_ = 0;
};

TEST_P(PowerLossElements, AreAsOfOneTurn) {
  const uint64_t seed = GetParam() != 0 ? GetParam() : test_seed();
  SCOPED_TRACE("replay with WEIR_SEED=" + std::to_string(seed));
  random_.seed(seed);
  options_.memory_bytes_max = seed % 2 == 0 ? SIZE_MAX : 15'000;
  const int lives = GetParam() != 0 ? 25 : power_loss_lives(10);
  for (int life = 0; life < lives && !HasFatalFailure(); ++life) live_and_die();
  show_power_cuts(cuts_);
}

// 0: a fresh seed, printed when it fails.
INSTANTIATE_TEST_SUITE_P(Seeds, PowerLossElements, ::testing::Range<uint64_t>(0, 5));

}  // namespace
}  // namespace weir::storage
