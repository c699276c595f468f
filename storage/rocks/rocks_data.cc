#include "storage/rocks/rocks_data.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace weir::storage {

std::string without_trailing_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

RocksData::RocksData(const RocksOptions& options, std::function<void()> notify)
    : options_(options),
      directory_(without_trailing_slash(options.directory)),
      reserve_(directory_.reserve_path(), options_.reserve_bytes),
      log_(options_.bookmarked_kept, std::move(notify)),
      state_(options_) {}

Status RocksData::open(const std::optional<HashSeed>& expected, const OpeningWatch& watch,
                       OpenReport* report) {
  if (options_.inspect) return open_to_look(watch, report);
  if (Status status = directory_.lock(); !status.ok()) return status;
  bool fresh = false;
  Status status = directory_.identify(&fresh, &identity_);
  if (status.ok() && expected) {
    if (fresh) return directory_.mark_gone();
    if (identity_.seed != *expected)
      return Status::refused(directory_.path() + " holds other data than the server has opened");
  }
  if (status.ok() && !fresh)
    status = check_shard(directory_.path(), identity_.shard, options_.shard, options_.shard_step);
  if (status.ok() && fresh) status = begin_creation();
  if (status.ok())
    status =
        fresh ? open_databases(OpenMode::kCreate, watch, report) : open_existing(watch, report);
  if (status.ok() && fresh) status = directory_.end_creation();
  if (status.ok()) status = take_shard_step();
  return status;
}

Status RocksData::begin_creation() {
  if (options_.shard_step != ShardStep::kNone)
    return Status::refused("data directory " + directory_.path() + " holds no data");
  identity_ = draw_identity();
  if (options_.shard) {
    identity_.shard = options_.shard;
    identity_.seed = options_.shard_seed;
  }
  return directory_.begin_creation(identity_);
}

// A directory that leaves has no bookmarks any more when it says so. If that is cut short, it is
// one of its shard without bookmarks, and leaves when it is asked again.
Status RocksData::take_shard_step() {
  if (options_.shard_step == ShardStep::kNone) return {};
  if (!read_only_.ok()) return read_only_;
  identity_.shard = options_.shard_step == ShardStep::kJoin ? options_.shard : std::nullopt;
  if (options_.shard_step == ShardStep::kLeave) {
    if (Status status = log_.remove_bookmarks(); !status.ok()) return status;
  }
  return directory_.change_identity(identity_);
}

Status RocksData::open_to_look(const OpeningWatch& watch, OpenReport* report) {
  if (Status status = directory_.lock_to_look(); !status.ok()) return status;
  bool fresh = false;
  if (Status status = directory_.identify(&fresh, &identity_); !status.ok()) return status;
  if (fresh) return Status::refused(directory_.path() + " holds no data of weir: it has no WEIR");
  report->read_only = read_only_ = Status::failed("the data is opened to be looked at only");
  if (Status status = find_databases(); !status.ok()) return status;
  return open_databases(OpenMode::kInspect, watch, report);
}

Status RocksData::find_databases() const {
  for (const std::string& path : {directory_.state_path(), directory_.log_path()}) {
    if (!file_exists(path)) return Status::corrupt(path + " is missing; restore from a checkpoint");
  }
  return {};
}

Status RocksData::open_existing(const OpeningWatch& watch, OpenReport* report) {
  if (Status status = find_databases(); !status.ok()) return status;
  Status status = open_databases(OpenMode::kExisting, watch, report);
  if (status.is_no_space() && reserve_.give_up()) {
    report->gave_up_reserve = true;
    status = open_databases(OpenMode::kExisting, watch, report);
  }
  if (!status.is_no_space()) return status;
  report->read_only = read_only_ = status;
  return open_databases(OpenMode::kReadOnly, watch, report);
}

Status RocksData::open_databases(OpenMode mode, const OpeningWatch& watch, OpenReport* report) {
  report->created = mode == OpenMode::kCreate;
  WrittenBack written_back;
  RocksLog::Opened log;
  Status status =
      state_.open(directory_.state_path(), directory_.write_back_path(), mode, &written_back);
  const std::string log_path = directory_.log_path();
  watch({.part = OpeningStep::Part::kReadLog, .done = 0, .all = RocksLog::bytes_in(log_path)});
  if (status.ok()) status = log_.open(options_, log_path, mode, written_back.turn, &log);
  if (status.ok()) status = fit_together(log, written_back);
  if (!status.ok()) return status;
  report->written_back_turn = written_back.turn;
  report->instant_ns = written_back.instant_ns;
  report->tail_note = log.tail_note;
  report->last_turn = std::max(log.last_turn, written_back.turn);
  return {};
}

Status RocksData::fit_together(const RocksLog::Opened& log, const WrittenBack& state) const {
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

// Copies the state first and then the log, so that the copied log reaches at least to the copied
// written-back turn.
// The copy gets its name last, so it appears whole.
Status RocksData::make_checkpoint(const std::string& directory) {
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

Status RocksData::probe() const {
  constexpr size_t kProbeBytes = 256 << 10;
  const std::string path = directory_.path() + "/probe";
  Status status = write_file(path, std::string(kProbeBytes, 'p'));
  ::unlink(path.c_str());
  return status;
}

void RocksData::add_metrics(StoreMetrics* metrics) const {
  metrics->state_bytes = state_.bytes_on_disk();
  metrics->state_records_estimate = state_.records_estimate();
  metrics->records_dropped = state_.records_dropped();
  log_.add_metrics(metrics);
  state_.add_metrics(metrics);
  std::error_code unknown;
  const auto space = std::filesystem::space(directory_.path(), unknown);
  if (!unknown) {
    metrics->disk_bytes = space.capacity;
    metrics->disk_free_bytes = space.available;
  }
}

StoreMemory RocksData::memory() const {
  StoreMemory memory;
  log_.add_memory(&memory);
  state_.add_memory(&memory);
  return memory;
}

}  // namespace weir::storage
