// Invariants
// 1. Write-backs and checkpoints run on one worker thread, in the order in which they were asked
//    for. So the log is not shortened while it is copied.
// 2. The log is synced after a write-back is written and before it is ingested, in the same job of
//    the worker. So the state never holds a turn that the log could lose.
// 3. A store that was opened read-only stays so: the server, once there is room, opens another
//    one.
// 4. The getters' answers change under `mutex_`; `notify` is called after it was released.
#include "storage/rocks/rocks_store.h"

#include <functional>
#include <mutex>

#include "base/check.h"
#include "storage/rocks/rocks_data.h"
#include "storage/store/steady_clock.h"
#include "storage/store/worker_thread.h"

namespace weir::storage {
namespace {

class RocksStore : public Store {
 public:
  explicit RocksStore(const RocksOptions& options)
      : tell_(options.log), data_(options, [this] { notify(); }) {}

  ~RocksStore() override {
    data_.state().stop_waiting();
    syncer_.stop();
    worker_.stop();
  }

  Status open(OpenReport* report) override;
  const HashSeed& hash_seed() const override { return data_.hash_seed(); }

  Status append(uint64_t turn, std::string_view record) override;
  uint64_t appended_turn() const override { return data_.log().appended_turn(); }
  Status append_failure() const override { return data_.log().append_failure(); }
  Status append_batch(const TurnBatch& batch) override;
  Status bookmarks(std::vector<KeptBookmark>* bookmarks) override {
    return data_.log().bookmarks(bookmarks);
  }
  uint64_t bookmarked_turn(uint64_t at_most) const override {
    return data_.log().bookmarked_turn(at_most);
  }
  Lookup kept_turn(uint64_t turn, std::string* record, Status* failure) override {
    return data_.log().kept_turn(turn, record, failure);
  }
  void keep_turns_from(uint64_t turn) override { data_.log().keep_turns_from(turn); }
  Status replay(uint64_t first,
                const std::function<Status(uint64_t, std::string_view)>& visit) override {
    return data_.log().replay(first, visit);
  }
  Status forget_turns() override {
    return data_.read_only().ok() ? data_.log().forgetting().begin() : data_.read_only();
  }

  void start_sync() override;
  SyncState sync_state() const override;
  Status sync_now() override;
  Lookup get(std::string_view stored_key, std::string* value, Status* failure) override {
    return data_.state().get(stored_key, value, failure);
  }
  std::unique_ptr<StateCursor> cursor() override { return data_.state().cursor(); }

  void add_to_write_back(StateSlice slice) override;
  void finish_write_back(uint64_t written_back_turn, int64_t instant_ns) override;
  JobState write_back_state() const override;
  void start_checkpoint(const std::string& directory) override;
  JobState checkpoint_state() const override;

  Status probe() override { return data_.probe(); }
  bool is_there() const override { return data_.is_there(); }
  std::vector<std::string> take_expired_headers(size_t max) override {
    return data_.state().take_expired_headers(max);
  }
  StoreMetrics metrics() const override;
  StoreMemory memory() const override { return data_.memory(); }

 private:
  Status sync_log();
  void post_rotation() {
    worker_.post([this] { rotate_log(); });
  }
  void rotate_log();
  Status write_back(const WrittenBack& written_back);

  const std::function<void(RocksLogLevel, const std::string&)> tell_;  // may be empty
  RocksData data_;

  mutable std::mutex mutex_;
  SyncState sync_;
  JobState write_back_;
  JobState checkpoint_;
  uint64_t syncs_ = 0;
  uint64_t write_backs_ = 0;

  WorkerThread syncer_;
  WorkerThread worker_;
};

Status RocksStore::open(OpenReport* report) {
  const auto watch = [this](const OpeningStep& step) { tell_opening(step); };
  Status status = data_.open(expected_, watch, report);
  if (!status.ok()) return status;
  sync_.synced_turn = report->last_turn;
  if (data_.read_only().ok()) worker_.post([this] { data_.keep_reserve(); });
  return status;
}

Status RocksStore::append(uint64_t turn, std::string_view record) {
  if (!data_.read_only().ok()) return data_.read_only();
  Status status = data_.log().append(turn, record);
  if (data_.log().take_rotation_due()) post_rotation();
  return status;
}

Status RocksStore::append_batch(const TurnBatch& batch) {
  if (!data_.read_only().ok()) return data_.read_only();
  Status status = data_.log().append_batch(batch);
  if (data_.log().take_rotation_due()) post_rotation();
  return status;
}

// A failure here is no answer to anybody: the files stay, and the next append fails by itself if
// the log takes nothing any more.
void RocksStore::rotate_log() {
  const Status status = data_.log().rotate();
  if (!status.ok() && tell_) tell_(RocksLogLevel::kWarning, status.message());
}

Status RocksStore::sync_log() {
  if (!data_.read_only().ok()) return data_.read_only();
  const int64_t begin_ns = steady_clock_ns();
  Status status = data_.log().sync();
  const std::lock_guard lock(mutex_);
  if (!status.ok()) return status;
  ++syncs_;
  sync_.synced_turn = std::max(sync_.synced_turn, data_.log().synced_turn());
  sync_.last_begin_steady_ns = std::max(sync_.last_begin_steady_ns, begin_ns);
  return status;
}

void RocksStore::start_sync() {
  {
    const std::lock_guard lock(mutex_);
    WEIR_CHECK(!sync_.running);
    sync_.running = true;
  }
  syncer_.post([this] {
    Status status = sync_log();
    {
      const std::lock_guard lock(mutex_);
      sync_.failure = std::move(status);
      sync_.running = false;
    }
    notify();
  });
}

Status RocksStore::sync_now() { return sync_log(); }

SyncState RocksStore::sync_state() const {
  const std::lock_guard lock(mutex_);
  return sync_;
}

void RocksStore::add_to_write_back(StateSlice slice) {
  data_.log().forgetting().begin_write_back();
  auto shared = std::make_shared<const StateSlice>(std::move(slice));
  worker_.post([this, shared = std::move(shared)] {
    if (data_.read_only().ok()) data_.state().add_to_write_back(*shared);
  });
}

void RocksStore::finish_write_back(uint64_t written_back_turn, int64_t instant_ns) {
  {
    const std::lock_guard lock(mutex_);
    WEIR_CHECK(!write_back_.running);
    write_back_.running = true;
  }
  const WrittenBack written_back{written_back_turn, instant_ns};
  worker_.post([this, written_back] {
    Status status = write_back(written_back);
    {
      const std::lock_guard lock(mutex_);
      if (status.ok()) ++write_backs_;
      write_back_.failure = std::move(status);
      write_back_.running = false;
    }
    notify();
  });
}

Status RocksStore::write_back(const WrittenBack& written_back) {
  if (!data_.read_only().ok()) return data_.read_only();
  Status status = data_.state().finish_write_back(written_back, [this] { return sync_log(); });
  if (status.ok()) data_.log().drop_up_to(written_back.turn);
  data_.log().forgetting().end_write_back();
  if (status.ok() && data_.log().forgetting().active()) rotate_log();
  if (status.ok()) data_.keep_reserve();
  return status;
}

JobState RocksStore::write_back_state() const {
  const std::lock_guard lock(mutex_);
  return write_back_;
}

void RocksStore::start_checkpoint(const std::string& directory) {
  {
    const std::lock_guard lock(mutex_);
    WEIR_CHECK(!checkpoint_.running);
    checkpoint_.running = true;
  }
  worker_.post([this, directory = without_trailing_slash(directory)] {
    Status status = data_.make_checkpoint(directory);
    {
      const std::lock_guard lock(mutex_);
      checkpoint_.failure = std::move(status);
      checkpoint_.running = false;
    }
    notify();
  });
}

JobState RocksStore::checkpoint_state() const {
  const std::lock_guard lock(mutex_);
  return checkpoint_;
}

StoreMetrics RocksStore::metrics() const {
  StoreMetrics metrics;
  data_.add_metrics(&metrics);
  const std::lock_guard lock(mutex_);
  metrics.syncs = syncs_;
  metrics.write_backs = write_backs_;
  return metrics;
}

}  // namespace

std::unique_ptr<Store> make_rocks_store(RocksOptions options) {
  return std::make_unique<RocksStore>(options);
}

}  // namespace weir::storage
