// Invariants
// 1. Passes and checkpoints run on one worker thread, in the order in which they were asked for. So
//    the log is not shortened while it is copied.
// 2. The log is synced after a pass is written and before it is ingested, in the same job of the
//    worker. So the state never holds a turn that the log could lose.
// 3. A store that was opened read-only stays so: the server, once there is room, opens another
//    one. So nothing is ever appended to a log that RocksDB has read without taking it over.
// 4. The getters' answers change under `mutex_`; `notify` is called after it was released.
#include "storage/rocks/rocks_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>

#include "base/check.h"
#include "storage/rocks/reserve_file.h"
#include "storage/rocks/rocks_directory.h"
#include "storage/rocks/rocks_log.h"
#include "storage/rocks/rocks_state.h"
#include "storage/store/steady_clock.h"
#include "storage/store/worker_thread.h"

namespace weir::storage {
namespace {

std::string without_trailing_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

class RocksStore : public Store {
 public:
  explicit RocksStore(const RocksOptions& options)
      : options_(options),
        directory_(without_trailing_slash(options.directory)),
        reserve_(directory_.reserve_path(), options_.reserve_bytes),
        log_(options_.stamped_kept, [this] { notify(); }),
        state_(options_) {}

  ~RocksStore() override {
    state_.stop_waiting();
    syncer_.stop();
    worker_.stop();
  }

  Status open(OpenReport* report) override;
  const HashSeed& hash_seed() const override { return identity_.seed; }

  Status append(uint64_t turn, std::string_view record) override;
  uint64_t appended_turn() const override { return log_.appended_turn(); }
  Status append_failure() const override { return log_.append_failure(); }
  Status append_batch(const TurnBatch& batch) override;
  Status stamps(std::vector<KeptStamp>* stamps) override { return log_.stamps(stamps); }
  uint64_t stamped_turn(uint64_t at_most) const override { return log_.stamped_turn(at_most); }
  Lookup kept_turn(uint64_t turn, std::string* record, Status* failure) override {
    return log_.kept_turn(turn, record, failure);
  }
  void keep_turns_from(uint64_t turn) override { log_.keep_turns_from(turn); }
  Status replay(uint64_t first,
                const std::function<Status(uint64_t, std::string_view)>& visit) override {
    return log_.replay(first, visit);
  }

  void start_sync() override;
  SyncState sync_state() const override;
  Status sync_now() override;
  Lookup get(std::string_view stored_key, std::string* value, Status* failure) override {
    return state_.get(stored_key, value, failure);
  }
  std::unique_ptr<StateCursor> cursor() override { return state_.cursor(); }

  void add_to_pass(StateSlice slice) override;
  void finish_pass(uint64_t written_back_turn, int64_t instant_ns) override;
  PassState pass_state() const override;
  void start_checkpoint(const std::string& directory) override;
  PassState checkpoint_state() const override;

  Status probe() override;
  bool is_there() const override { return file_exists(directory_.identity_path()); }
  std::vector<std::string> take_expired_owners(size_t max) override {
    return state_.take_expired_owners(max);
  }
  StoreFigures figures() const override;

 private:
  Status begin_creation();
  Status take_shard_step();
  Status open_existing(OpenReport* report);
  Status open_to_look(OpenReport* report);
  Status find_databases() const;
  Status open_databases(OpenMode mode, OpenReport* report);
  Status fit_together(const RocksLog::Opened& log, const WrittenBack& state) const;
  Status sync_log();
  void post_rotation() {
    worker_.post([this] { rotate_log(); });
  }
  void rotate_log();
  Status write_back(const WrittenBack& written_back);
  Status make_checkpoint(const std::string& directory);

  const RocksOptions options_;
  RocksDirectory directory_;
  ReserveFile reserve_;
  DirectoryIdentity identity_;
  RocksLog log_;
  RocksState state_;
  Status read_only_;  // why it is; ok if it is not

  mutable std::mutex mutex_;
  SyncState sync_;
  PassState pass_;
  PassState checkpoint_;
  uint64_t syncs_ = 0;
  uint64_t passes_ = 0;

  WorkerThread syncer_;
  WorkerThread worker_;
};

Status RocksStore::open(OpenReport* report) {
  if (options_.inspect) return open_to_look(report);
  if (Status status = directory_.lock(); !status.ok()) return status;
  bool fresh = false;
  Status status = directory_.identify(&fresh, &identity_);
  if (status.ok() && expected_) {
    if (fresh) return directory_.mark_gone();
    if (identity_.seed != *expected_)
      return Status::refused(directory_.path() + " holds other data than the server has opened");
  }
  if (status.ok() && !fresh)
    status = check_shard(directory_.path(), identity_.shard, options_.shard, options_.shard_step);
  if (status.ok() && fresh) status = begin_creation();
  if (status.ok())
    status = fresh ? open_databases(OpenMode::kCreate, report) : open_existing(report);
  if (status.ok() && fresh) status = directory_.end_creation();
  if (status.ok()) status = take_shard_step();
  if (status.ok() && read_only_.ok()) worker_.post([this] { reserve_.keep(); });
  return status;
}

Status RocksStore::begin_creation() {
  if (options_.shard_step != ShardStep::kNone)
    return Status::refused("data directory " + directory_.path() + " holds no data");
  identity_ = draw_identity();
  if (options_.shard) {
    identity_.shard = options_.shard;
    identity_.seed = options_.shard_seed;
  }
  return directory_.begin_creation(identity_);
}

// A directory that leaves has no stamps any more when it says so. If that is cut short, it is one
// of its shard without stamps, and leaves when it is asked again.
Status RocksStore::take_shard_step() {
  if (options_.shard_step == ShardStep::kNone) return {};
  if (!read_only_.ok()) return read_only_;
  identity_.shard = options_.shard_step == ShardStep::kJoin ? options_.shard : std::nullopt;
  if (options_.shard_step == ShardStep::kLeave) {
    if (Status status = log_.remove_stamps(); !status.ok()) return status;
  }
  return directory_.change_identity(identity_);
}

Status RocksStore::open_to_look(OpenReport* report) {
  if (Status status = directory_.lock_to_look(); !status.ok()) return status;
  bool fresh = false;
  if (Status status = directory_.identify(&fresh, &identity_); !status.ok()) return status;
  if (fresh) return Status::refused(directory_.path() + " holds no data of weir: it has no WEIR");
  report->read_only = read_only_ = Status::failed("the data is opened to be looked at only");
  if (Status status = find_databases(); !status.ok()) return status;
  return open_databases(OpenMode::kInspect, report);
}

Status RocksStore::find_databases() const {
  for (const std::string& path : {directory_.state_path(), directory_.log_path()}) {
    if (!file_exists(path)) return Status::corrupt(path + " is missing; restore from a checkpoint");
  }
  return {};
}

Status RocksStore::open_existing(OpenReport* report) {
  if (Status status = find_databases(); !status.ok()) return status;
  Status status = open_databases(OpenMode::kExisting, report);
  if (status.is_no_space() && reserve_.give_up()) {
    report->gave_up_reserve = true;
    status = open_databases(OpenMode::kExisting, report);
  }
  if (!status.is_no_space()) return status;
  report->read_only = read_only_ = status;
  return open_databases(OpenMode::kReadOnly, report);
}

Status RocksStore::open_databases(OpenMode mode, OpenReport* report) {
  report->created = mode == OpenMode::kCreate;
  WrittenBack written_back;
  RocksLog::Opened log;
  Status status = state_.open(directory_.state_path(), directory_.pass_path(), mode, &written_back);
  const std::string log_path = directory_.log_path();
  tell_opening({.part = OpeningStep::Part::kReadLog, .all = RocksLog::bytes_in(log_path)});
  if (status.ok()) status = log_.open(options_, log_path, mode, written_back.turn, &log);
  if (status.ok()) status = fit_together(log, written_back);
  if (!status.ok()) return status;
  report->written_back_turn = written_back.turn;
  report->instant_ns = written_back.instant_ns;
  report->tail_note = log.tail_note;
  report->last_turn = sync_.synced_turn = std::max(log.last_turn, written_back.turn);
  return {};
}

Status RocksStore::fit_together(const RocksLog::Opened& log, const WrittenBack& state) const {
  const std::string end = "the log of " + directory_.path() + " ends at turn " +
                          std::to_string(log.last_turn) + ", but ";
  if (log.last_turn != 0 && log.last_turn < state.turn) {
    return Status::corrupt(end + "the state is of turn " + std::to_string(state.turn) +
                           "; restore from a checkpoint");
  }
  if (std::max(log.last_turn, state.turn) < log.synced_turn) {
    return Status::corrupt(end + "turn " + std::to_string(log.synced_turn) +
                           " was known to be on the disk; restore from a checkpoint");
  }
  return {};
}

Status RocksStore::append(uint64_t turn, std::string_view record) {
  if (!read_only_.ok()) return read_only_;
  Status status = log_.append(turn, record);
  if (log_.take_rotation_due()) post_rotation();
  return status;
}

Status RocksStore::append_batch(const TurnBatch& batch) {
  if (!read_only_.ok()) return read_only_;
  Status status = log_.append_batch(batch);
  if (log_.take_rotation_due()) post_rotation();
  return status;
}

// A failure here is no answer to anybody: the files stay, and the next append fails by itself if
// the log takes nothing any more.
void RocksStore::rotate_log() {
  const Status status = log_.rotate();
  if (!status.ok() && options_.log) options_.log(RocksLogLevel::kWarning, status.message());
}

Status RocksStore::sync_log() {
  if (!read_only_.ok()) return read_only_;
  const int64_t begin_ns = steady_clock_ns();
  Status status = log_.sync();
  const std::lock_guard lock(mutex_);
  if (!status.ok()) return status;
  ++syncs_;
  sync_.synced_turn = std::max(sync_.synced_turn, log_.synced_turn());
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

void RocksStore::add_to_pass(StateSlice slice) {
  auto shared = std::make_shared<const StateSlice>(std::move(slice));
  worker_.post([this, shared = std::move(shared)] {
    if (read_only_.ok()) state_.add_to_pass(*shared);
  });
}

void RocksStore::finish_pass(uint64_t written_back_turn, int64_t instant_ns) {
  {
    const std::lock_guard lock(mutex_);
    WEIR_CHECK(!pass_.running);
    pass_.running = true;
  }
  const WrittenBack written_back{written_back_turn, instant_ns};
  worker_.post([this, written_back] {
    Status status = write_back(written_back);
    {
      const std::lock_guard lock(mutex_);
      if (status.ok()) ++passes_;
      pass_.failure = std::move(status);
      pass_.running = false;
    }
    notify();
  });
}

Status RocksStore::write_back(const WrittenBack& written_back) {
  if (!read_only_.ok()) return read_only_;
  Status status = state_.finish_pass(written_back, [this] { return sync_log(); });
  if (status.ok()) log_.drop_up_to(written_back.turn);
  if (status.ok()) reserve_.keep();
  return status;
}

PassState RocksStore::pass_state() const {
  const std::lock_guard lock(mutex_);
  return pass_;
}

void RocksStore::start_checkpoint(const std::string& directory) {
  {
    const std::lock_guard lock(mutex_);
    WEIR_CHECK(!checkpoint_.running);
    checkpoint_.running = true;
  }
  worker_.post([this, directory = without_trailing_slash(directory)] {
    Status status = make_checkpoint(directory);
    {
      const std::lock_guard lock(mutex_);
      checkpoint_.failure = std::move(status);
      checkpoint_.running = false;
    }
    notify();
  });
}

PassState RocksStore::checkpoint_state() const {
  const std::lock_guard lock(mutex_);
  return checkpoint_;
}

// Copies the state first and then the log, so that the copied log reaches at least to the copied W.
// The copy gets its name last, so it appears whole.
Status RocksStore::make_checkpoint(const std::string& directory) {
  if (!read_only_.ok()) return read_only_;
  const std::string unfinished = directory + ".tmp";
  if (file_exists(directory)) return Status::failed(directory + " exists already");
  Status status = remove_tree(unfinished);
  if (status.ok()) status = make_directory(unfinished);
  const RocksDirectory copy(unfinished);
  if (status.ok()) status = state_.checkpoint(copy.state_path());
  if (status.ok()) status = log_.checkpoint(copy.log_path());
  if (status.ok()) status = write_file(copy.identity_path(), encode_identity(identity_));
  if (status.ok()) status = sync_tree(unfinished);
  if (status.ok()) status = rename_file(unfinished, directory);
  if (!status.ok()) {
    (void)remove_tree(unfinished);
    return status;
  }
  std::error_code ignored;  // what has no name cannot be synced, which is told then
  return sync_directory(std::filesystem::absolute(directory, ignored).parent_path().string());
}

Status RocksStore::probe() {
  constexpr size_t kProbeBytes = 256 << 10;
  const std::string path = directory_.path() + "/probe";
  Status status = write_file(path, std::string(kProbeBytes, 'p'));
  ::unlink(path.c_str());
  return status;
}

StoreFigures RocksStore::figures() const {
  StoreFigures figures;
  figures.log_bytes = log_.bytes_on_disk();
  figures.state_bytes = state_.bytes_on_disk();
  figures.state_records_estimate = state_.records_estimate();
  figures.records_dropped = state_.records_dropped();
  figures.write_stalls = log_.stalls();
  state_.add_figures(&figures);
  std::error_code unknown;
  const auto space = std::filesystem::space(directory_.path(), unknown);
  if (!unknown) {
    figures.disk_bytes = space.capacity;
    figures.disk_free_bytes = space.available;
  }
  const std::lock_guard lock(mutex_);
  figures.syncs = syncs_;
  figures.passes = passes_;
  return figures;
}

}  // namespace

std::unique_ptr<Store> make_rocks_store(RocksOptions options) {
  return std::make_unique<RocksStore>(options);
}

}  // namespace weir::storage
