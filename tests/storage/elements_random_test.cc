// Headers and their elements beside a model, over stores that are killed and made to fail.
#include "tests/storage/elements_random.h"

namespace weir::storage {
namespace {

class ElementsRandomTest : public RandomElements, public ::testing::WithParamInterface<uint64_t> {
 protected:
  void run_turn() {
    Databases running = committed_;
    for (uint64_t commands = pick(4); commands > 0; --commands) run_command(&running);
    if (pick(40) == 0 && !rocks_) {
      fail_turn(running);
    } else {
      commit();
      committed_ = running;
    }
  }

  void fail_turn(const Databases& running) {
    const uint64_t policy = pick(4);
    const bool changed = keys_->running().has_changes();
    (policy % 2 == 0 ? disk_->faults.append_kept : disk_->faults.append_lost) = 1;
    const Status status = keys_->commit_turn(policy >= 2);
    disk_->faults = {};
    if (!changed) return;
    ASSERT_EQ(status.ok(), policy >= 2);
    if (policy >= 2) {
      committed_ = running;
      Databases later = committed_;
      run_command(&later);
      ASSERT_TRUE(keys_->commit_turn(true).ok());
      committed_ = later;
    }
    ASSERT_NO_FATAL_FAILURE(expect_records(committed_));
    ASSERT_TRUE(keys_->reopen(policy >= 2 ? Keep::kAll : Keep::kNothing).ok());
    if (policy == 0) committed_ = running;
  }

  // Nothing of a list without a name is left in the state, and nothing else is gone.
  // On RocksDB a header that has expired unseen keeps its elements until a compaction comes by, so
  // all are looked at first.
  void expect_tidy_state() {
    if (rocks_) {
      ASSERT_NO_FATAL_FAILURE(expect_records(committed_));
    }
    ASSERT_NO_FATAL_FAILURE(settle());
    ASSERT_EQ(elements_in_state(), elements_in(committed_, now_ms()));
  }

  void run(int turns) {
    for (int i = 0; i < turns && !HasFatalFailure(); ++i) {
      run_turn();
      for (uint64_t steps = pick(6); steps > 0; --steps) work();
      if (pick(20) == 0) keys_->work().write_back_now();
      if (pick(60) == 0) disk_->faults.write_back = 1;
      if (pick(50) == 0) now_ns_ += static_cast<int64_t>(pick(300'000'000));
      if (pick(100) == 0) crash();
      if (pick(15) == 0) expect_records(committed_);
      if (pick(150) == 0) {
        disk_->faults = {};
        expect_tidy_state();
      }
    }
    disk_->faults = {};
    ASSERT_NO_FATAL_FAILURE(expect_records(committed_));
    expect_tidy_state();
  }

  Databases committed_{kDatabases};
};

TEST_P(ElementsRandomTest, StayEqualToTheModel) {
  const uint64_t seed = GetParam() != 0 ? GetParam() : test_seed();
  SCOPED_TRACE("replay with WEIR_SEED=" + std::to_string(seed));
  random_.seed(seed);
  options_.memory_bytes_max = seed % 3 == 0 ? SIZE_MAX : 15'000;
  start();
  run(2'500);
}

TEST_P(ElementsRandomTest, StayEqualToTheModelOnRocks) {
  if (GetParam() > 2) return;
  const uint64_t seed = GetParam() != 0 ? GetParam() : test_seed();
  SCOPED_TRACE("replay with WEIR_SEED=" + std::to_string(seed));
  random_.seed(seed);
  options_.memory_bytes_max = 15'000;
  use_rocks();
  run(400);
}

// 0: a fresh seed, printed when it fails.
INSTANTIATE_TEST_SUITE_P(Seeds, ElementsRandomTest, ::testing::Range<uint64_t>(0, 16));

}  // namespace
}  // namespace weir::storage
