// The keyspace beside a model, over a memory disk that is killed and made to fail.
#include "tests/storage/keyspace_fixture.h"

namespace weir::storage {
namespace {

// Random commands, roll-backs, failing commits, write-backs, evictions and crashes against the
// model.
class KeyspaceRandomTest : public KeyspaceTest, public ::testing::WithParamInterface<uint64_t> {
 protected:
  struct Step {
    Model committed{kDatabases};
    Model running{kDatabases};
  };

  uint64_t pick(uint64_t bound) { return random_() % bound; }
  std::string any_key() { return "k" + std::to_string(pick(40)) + (pick(4) == 0 ? "{tag}" : ""); }
  std::string any_value() {
    return std::string(pick(8) == 0 ? pick(300) : pick(30), static_cast<char>('a' + pick(26)));
  }
  int any_database() { return static_cast<int>(pick(kDatabases)); }

  void run_command(Model* model) {
    const Model before = *model;
    now_ns_ += static_cast<int64_t>(pick(3'000'000));
    keys();
    for (uint64_t changes = 1 + pick(4); changes > 0; --changes) change(model);
    if (pick(5) != 0) return;
    keys_->running().roll_back();
    *model = before;
  }

  void change(Model* model) {
    const int database = any_database();
    Contents& contents = (*model)[static_cast<size_t>(database)];
    const std::string key = any_key();
    const uint64_t kind = pick(100);
    if (kind < 60) {
      const Value value{any_value(), pick(3) == 0 ? now_ms() + static_cast<int64_t>(pick(200)) : 0};
      put(database, key, value.payload, value.expire_at_ms);
      contents[key] = value;
    } else if (kind < 75) {
      erase(database, key);
      contents.erase(key);
    } else if (kind < 95) {
      Ref ref = keys_->look_up(database, key);
      if (!ref.exists()) return;
      const int64_t expire_at_ms = pick(2) == 0 ? 0 : now_ms() + static_cast<int64_t>(pick(200));
      keys_->set_expiry(&ref, expire_at_ms);
      contents[key].expire_at_ms = expire_at_ms;
    } else if (kind < 97) {
      keys_->clear(database);
      contents.clear();
    } else {
      const int other = any_database();
      keys_->swap(database, other);
      std::swap((*model)[static_cast<size_t>(database)], (*model)[static_cast<size_t>(other)]);
    }
  }

  void run_turn() {
    Model running = committed_;
    for (uint64_t commands = pick(4); commands > 0; --commands) run_command(&running);
    if (pick(40) == 0) {
      fail_turn(running);
    } else {
      commit();
      committed_ = running;
    }
  }

  void fail_turn(const Model& running) {
    const bool kept = pick(2) == 0;
    const bool changed = keys_->running().has_changes();
    (kept ? disk_->faults.append_kept : disk_->faults.append_lost) = 1;
    const Status status = keys_->commit_turn();
    disk_->faults = {};
    ASSERT_EQ(status.ok(), !changed);
    if (!changed) return;
    expect_same(committed_);
    ASSERT_TRUE(keys_->reopen(Keep::kNothing).ok());
    if (kept) committed_ = running;
  }

  void crash() {
    disk_ = disk_->after_kill();
    start();
  }

  std::mt19937_64 random_;
  Model committed_{kDatabases};
};

TEST_P(KeyspaceRandomTest, StaysEqualToTheModel) {
  const uint64_t seed = GetParam() != 0 ? GetParam() : test_seed();
  SCOPED_TRACE("replay with WEIR_SEED=" + std::to_string(seed));
  random_.seed(seed);
  options_.memory_bytes_max = 6'000;
  start();
  for (int i = 0; i < 4'000 && !HasFatalFailure(); ++i) {
    run_turn();
    for (uint64_t steps = pick(6); steps > 0; --steps) work();
    if (pick(20) == 0) keys_->work().write_back_now();
    if (pick(60) == 0) disk_->faults.write_back = 1;
    if (pick(100) == 0) crash();
    if (pick(10) == 0) expect_same(committed_);
  }
  expect_same(committed_);
}

// 0: a fresh seed, printed when it fails.
INSTANTIATE_TEST_SUITE_P(Seeds, KeyspaceRandomTest, ::testing::Range<uint64_t>(0, 25));

}  // namespace
}  // namespace weir::storage
