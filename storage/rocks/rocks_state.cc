#include "storage/rocks/rocks_state.h"

#include <rocksdb/convenience.h>
#include <rocksdb/utilities/checkpoint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "storage/format/codec.h"
#include "storage/rocks/rocks_events.h"
#include "storage/store/steady_clock.h"

namespace weir::storage {
namespace {

const char kStoreRecords[] = {'\xff', '\xff', '\xff', '\xff'};
const rocksdb::Slice kStoreRecordsBegin(kStoreRecords, sizeof kStoreRecords);

class RocksCursor : public StateCursor {
 public:
  explicit RocksCursor(rocksdb::DB* database) {
    rocksdb::ReadOptions options;
    options.iterate_upper_bound = &kStoreRecordsBegin;
    at_.reset(database->NewIterator(options));
  }

  void seek(std::string_view stored_key) override { at_->Seek(slice_of(stored_key)); }
  bool valid() const override { return at_->Valid(); }
  void next() override { at_->Next(); }
  std::string_view key() const override { return view_of(at_->key()); }
  std::string_view value() const override { return view_of(at_->value()); }
  Status status() const override { return from_rocks(at_->status(), "cannot read the state"); }

 private:
  std::unique_ptr<rocksdb::Iterator> at_;
};

}  // namespace

std::string written_back_key() { return stored_key_prefix(kStoreGeneration) + "written-back"; }

std::string encode_written_back(const WrittenBack& written_back) {
  std::string value;
  put_u8(&value, kWrittenBackFormat);
  put_u64_le(&value, written_back.turn);
  put_u64_le(&value, static_cast<uint64_t>(written_back.instant_ns));
  return value;
}

Status parse_written_back(std::string_view value, WrittenBack* written_back) {
  Reader reader(value);
  const uint8_t format = reader.u8();
  if (reader.ok() && format != kWrittenBackFormat) {
    return Status::refused("the store's record has format version " + std::to_string(format) +
                           ", this weir-server reads version " +
                           std::to_string(kWrittenBackFormat));
  }
  written_back->turn = reader.u64_le();
  written_back->instant_ns = static_cast<int64_t>(reader.u64_le());
  if (!reader.ok() || !reader.at_end()) return Status::corrupt("the store's record is damaged");
  return {};
}

// Wakes the thread that waits whenever a compaction has ended, and lets compactions go after the
// event loop where both want the same core.
class RocksState::CompactionWatcher : public RocksEvents {
 public:
  void OnCompactionBegin(rocksdb::DB* database, const rocksdb::CompactionJobInfo& job) override {
    RocksEvents::OnCompactionBegin(database, job);
    step_back();
  }
  void OnCompactionCompleted(rocksdb::DB* database,
                             const rocksdb::CompactionJobInfo& job) override {
    RocksEvents::OnCompactionCompleted(database, job);
    wake();
  }
  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status*) override { wake(); }

  void stop() {
    stopped_ = true;
    wake();
  }

  template <typename Done>
  void wait_until(Done done) {
    std::unique_lock lock(mutex_);
    while (!stopped_) {
      const uint64_t seen = events_;
      lock.unlock();
      const bool is_done = done();
      lock.lock();
      if (is_done) return;
      changed_.wait_for(lock, kLookAgain, [&] { return stopped_ || events_ != seen; });
    }
  }

 private:
  // An event may be reported before the database shows its effect.
  static constexpr std::chrono::milliseconds kLookAgain{100};
  // A quarter of a core that is wanted by the loop too. Much less, and merges would trail so far
  // that write-backs wait for them.
  static constexpr int kNiceness = 5;

  // On the thread of a compaction: RocksDB's own way has but two steps, of which one is next to
  // nothing.
  static void step_back() {
    const auto thread = static_cast<id_t>(::syscall(SYS_gettid));
    if (::getpriority(PRIO_PROCESS, thread) < kNiceness)
      (void)::setpriority(PRIO_PROCESS, thread, kNiceness);
  }

  void wake() {
    const std::lock_guard lock(mutex_);
    ++events_;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t events_ = 0;
  std::atomic<bool> stopped_{false};
};

RocksState::~RocksState() { abandon_write_back(); }

Status RocksState::open(const std::string& path, const std::string& write_back_path, OpenMode mode,
                        WrittenBack* written_back) {
  path_ = path;
  write_back_path_ = write_back_path;
  if (mode != OpenMode::kInspect) ::unlink(write_back_path_.c_str());
  watcher_ = std::make_shared<CompactionWatcher>();
  set_ = state_database_options(options_);
  set_.listeners.push_back(watcher_);
  set_.compaction_filter = &filter_;
  if (Status status = open_database(set_, path_, mode, &database_); !status.ok()) return status;
  if (Status status = load_written_back(written_back); !status.ok()) return status;
  filter_.set_gc_watermark_ms(written_back->instant_ns / kNsPerMs);
  return {};
}

Status RocksState::load_written_back(WrittenBack* written_back) const {
  std::string value;
  Status failure;
  switch (get(written_back_key(), &value, &failure)) {
    case Lookup::kFailed:
      return failure;
    case Lookup::kFound:
      return parse_written_back(value, written_back);
    case Lookup::kAbsent:
      break;
  }
  *written_back = {};
  if (records_estimate() == 0 && bytes_on_disk() == 0)
    return {};  // no write-back was ever finished
  return Status::corrupt("the state " + path_ + " holds records but not the turn they are of");
}

// What is read becomes an entry, so its block is not wanted again soon. To put it into the block
// cache, and another one out of it, took a quarter of the look-up (9.8 us with it, 7.3 without).
// The system's page cache has it.
Lookup RocksState::get(std::string_view stored_key, std::string* value, Status* failure) const {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  const rocksdb::Status status = database_->Get(options, slice_of(stored_key), value);
  if (status.ok()) return Lookup::kFound;
  if (status.IsNotFound()) return Lookup::kAbsent;
  *failure = from_rocks(status, "cannot read the state " + path_);
  return Lookup::kFailed;
}

std::unique_ptr<StateCursor> RocksState::cursor() const {
  return std::make_unique<RocksCursor>(database_.get());
}

uint64_t RocksState::property(const std::string& name) const {
  uint64_t value = 0;
  return database_->GetIntProperty(name, &value) ? value : 0;
}

Status RocksState::checkpoint(const std::string& path) {
  rocksdb::Checkpoint* made = nullptr;
  rocksdb::Status status = rocksdb::Checkpoint::Create(database_.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  if (status.ok()) status = checkpoint->CreateCheckpoint(path);
  return from_rocks(status, "cannot copy the state to " + path);
}

void RocksState::stop_waiting() {
  if (watcher_) watcher_->stop();
}

uint64_t RocksState::level0_files() const {
  std::string files;
  database_->GetProperty("rocksdb.num-files-at-level0", &files);
  return std::strtoull(files.c_str(), nullptr, 10);
}

void RocksState::wait_for_compactions() {
  // Reads look into every file of level 0, and RocksDB never stalls ingestion, so this bound does.
  constexpr uint64_t kLevel0FilesMax = 20;
  if (level0_files() < kLevel0FilesMax) return;
  const int64_t begin_ns = steady_clock_ns();
  watcher_->wait_until([this] {
    return level0_files() < kLevel0FilesMax || property("rocksdb.background-errors") != 0 ||
           property("rocksdb.num-running-compactions") == 0;
  });
  ++merge_waits_;
  merge_wait_us_ += static_cast<uint64_t>((steady_clock_ns() - begin_ns) / kNsPerUs);
}

void RocksState::add_metrics(StoreMetrics* metrics) const {
  metrics->write_stalls += watcher_->stalls();
  metrics->compactions += watcher_->compactions();
  metrics->compactions_running += watcher_->compactions_running();
  metrics->compaction_us += watcher_->compaction_us();
  metrics->compaction_bytes += watcher_->compaction_bytes();
  metrics->compaction_pending_bytes = property("rocksdb.estimate-pending-compaction-bytes");
  metrics->unmerged_files = level0_files();
  metrics->merge_waits = merge_waits_;
  metrics->merge_wait_us = merge_wait_us_;
}

// A write-back is written into a file of its own beside the databases and then ingested.

Status RocksState::begin_write_back() {
  if (failed_before_) {
    // An earlier failure has stopped the database, and the disk may have room again.
    if (const auto status = database_->Resume(); !status.ok()) {
      return from_rocks(status, "the state " + path_ + " does not go on");
    }
  }
  ::unlink(write_back_path_.c_str());
  // What was just written is what the loop looks for first. RocksDB's default drops it from the
  // page cache, and each look then waits for a disk that is busy with the rest of the write-back
  // (12 to 40 ms).
  constexpr bool kDropsPages = false;
  writer_ = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions(set_), set_, nullptr,
                                                     kDropsPages);
  return from_rocks(writer_->Open(write_back_path_), "cannot create " + write_back_path_);
}

void RocksState::add_to_write_back(const StateSlice& slice) {
  if (write_back_failure_.ok()) write_back_failure_ = add(slice);
}

Status RocksState::add(const StateSlice& slice) {
  if (!writer_) {
    if (Status status = begin_write_back(); !status.ok()) return status;
  }
  const auto write = [this](StateSlice::Op op, std::string_view first, std::string_view second) {
    rocksdb::Status status;
    switch (op) {
      case StateSlice::kPut:
        status = writer_->Put(slice_of(first), slice_of(second));
        break;
      case StateSlice::kErase:
        status = writer_->Delete(slice_of(first));
        break;
      case StateSlice::kEraseRange:
        ranges_.emplace_back(first, second);
        break;
    }
    return from_rocks(status, "cannot write " + write_back_path_);
  };
  return slice.for_each(write);
}

Status RocksState::write_last(const WrittenBack& written_back) {
  if (!writer_) {
    if (Status status = begin_write_back(); !status.ok()) return status;
  }
  std::sort(ranges_.begin(), ranges_.end());
  rocksdb::Status status = writer_->Put(written_back_key(), encode_written_back(written_back));
  for (const auto& [begin, end] : ranges_) {
    if (status.ok()) status = writer_->DeleteRange(begin, end);
  }
  if (status.ok()) status = writer_->Finish();
  return from_rocks(status, "cannot write " + write_back_path_);
}

Status RocksState::finish_write_back(const WrittenBack& written_back,
                                     const std::function<Status()>& sync_log) {
  Status status = write_back_failure_;
  if (status.ok()) status = write_last(written_back);
  if (status.ok()) status = sync_log();
  if (status.ok()) status = ingest();
  if (status.ok()) {
    filter_.set_gc_watermark_ms(written_back.instant_ns / kNsPerMs);
    free_ranges(ranges_);
  }
  failed_before_ = !status.ok();
  abandon_write_back();
  return status;
}

void RocksState::abandon_write_back() {
  if (writer_) ::unlink(write_back_path_.c_str());
  writer_.reset();
  ranges_.clear();
  write_back_failure_ = {};
}

Status RocksState::ingest() {
  wait_for_compactions();
  rocksdb::IngestExternalFileOptions how;
  how.move_files = true;
  how.write_global_seqno = false;
  return from_rocks(database_->IngestExternalFile({write_back_path_}, how),
                    "cannot take the write-back into the state " + path_);
}

// Removes whole files of a range that is erased already. Where one of them held an older erasure,
// keys at the edges may show again. That is harmless, since the keys of a dropped generation or
// list are never asked for.
void RocksState::free_ranges(const Ranges& ranges) {
  if (ranges.empty()) return;
  std::vector<rocksdb::Slice> ends;
  ends.reserve(ranges.size() * 2);
  std::vector<rocksdb::RangePtr> pointers;
  for (const auto& [begin, end] : ranges) {
    ends.emplace_back(begin);
    ends.emplace_back(end);
    pointers.emplace_back(&ends[ends.size() - 2], &ends.back());
  }
  rocksdb::DeleteFilesInRanges(database_.get(), database_->DefaultColumnFamily(), pointers.data(),
                               pointers.size(), false)
      .PermitUncheckedError();
}

}  // namespace weir::storage
