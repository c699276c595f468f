#include "storage/rocks_log.h"

#include <rocksdb/listener.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <system_error>

#include "storage/codec.h"
#include "storage/wal_check.h"

namespace weir::storage {
namespace {

constexpr uint64_t kRotateShare = 4;  // a quarter of wal_bytes_max

std::string key_of(uint64_t turn) {
  std::string key;
  put_u64_be(&key, turn);
  return key;
}

class SyncBeforeFlush : public rocksdb::EventListener {
 public:
  explicit SyncBeforeFlush(std::function<void()> sync) : sync_(std::move(sync)) {}
  void OnFlushBegin(rocksdb::DB*, const rocksdb::FlushJobInfo&) override { sync_(); }

 private:
  const std::function<void()> sync_;
};

}  // namespace

Status RocksLog::open(const RocksOptions& options, const std::string& path, bool create,
                      std::string* tail_note) {
  path_ = path;
  rotate_bytes_ = options.wal_bytes_max / kRotateShare;
  WalReport report;
  if (Status status = check_wal(path, &report); !status.ok()) return status;
  wal_bytes_ = report.bytes;
  rocksdb::Options set = log_database_options(options);
  set.create_if_missing = create;
  wal_sync_ = std::make_unique<RocksWalSync>(set.env, path);
  set.listeners.push_back(std::make_shared<SyncBeforeFlush>([this] { (void)sync(); }));
  rocksdb::DB* database = nullptr;
  const rocksdb::Status opened = rocksdb::DB::Open(set, path, &database);
  if (!opened.ok()) return from_rocks(opened, "cannot open the log " + path);
  database_.reset(database);
  uint64_t last_turn = 0;
  if (Status status = find_last_turn(&last_turn); !status.ok()) return status;
  appended_turn_ = synced_turn_ = last_turn;
  if (!report.note.empty()) {
    *tail_note = report.note + "; the last turn kept is " + std::to_string(last_turn);
  }
  return {};
}

Status RocksLog::find_last_turn(uint64_t* turn) const {
  const std::unique_ptr<rocksdb::Iterator> at(database_->NewIterator(rocksdb::ReadOptions()));
  at->SeekToLast();
  *turn = at->Valid() && at->key().size() == 8 ? load_u64_be(at->key().data()) : 0;
  return from_rocks(at->status(), "cannot read the log " + path_);
}

Status RocksLog::append(uint64_t turn, std::string_view record) {
  if (failure_.ok() && sync_failed_) failure_ = Status::failed("a sync of the log failed before");
  if (failure_.ok()) failure_ = put(turn, record);
  return failure_;
}

Status RocksLog::put(uint64_t turn, std::string_view record) {
  std::string head;
  put_varint(&head, turn - std::min(turn, synced_turn_.load()));
  const std::string key = key_of(turn);
  const rocksdb::Slice key_part(key);
  const std::array<rocksdb::Slice, 2> value_parts{rocksdb::Slice(head), slice_of(record)};
  rocksdb::WriteBatch batch(record.size() + 48);
  rocksdb::Status status =
      batch.Put(rocksdb::SliceParts(&key_part, 1), rocksdb::SliceParts(value_parts.data(), 2));
  if (status.ok()) status = database_->Write(rocksdb::WriteOptions(), &batch);
  if (!status.ok()) return from_rocks(status, "cannot append to the log " + path_);
  appended_turn_ = turn;
  wal_bytes_ += batch.GetDataSize();
  return {};
}

Status RocksLog::replay(uint64_t first,
                        const std::function<Status(uint64_t, std::string_view)>& visit) {
  const std::unique_ptr<rocksdb::Iterator> at(database_->NewIterator(rocksdb::ReadOptions()));
  uint64_t expected = first;
  for (at->Seek(key_of(first)); at->Valid(); at->Next(), ++expected) {
    const uint64_t turn = at->key().size() == 8 ? load_u64_be(at->key().data()) : 0;
    if (turn != expected) {
      return Status::corrupt("the log " + path_ + " lacks the turns " + std::to_string(expected) +
                             " to " + std::to_string(turn - 1) + "; restore from a checkpoint");
    }
    Reader reader(view_of(at->value()));
    reader.varint();
    if (!reader.ok()) return Status::corrupt("turn " + std::to_string(turn) + " is cut short");
    if (Status status = visit(turn, reader.rest()); !status.ok()) return status;
  }
  return from_rocks(at->status(), "cannot read the log " + path_);
}

Status RocksLog::sync() {
  const uint64_t turn = appended_turn_.load();
  if (Status status = wal_sync_->sync(); !status.ok()) {
    sync_failed_ = true;
    return status;
  }
  uint64_t synced = synced_turn_.load();
  while (synced < turn && !synced_turn_.compare_exchange_weak(synced, turn)) {
  }
  return {};
}

Status RocksLog::truncate(uint64_t turn) {
  if (turn > truncated_turn_) {
    // Ranges that do not overlap: nested ones would make reading them quadratic.
    const std::string begin = key_of(truncated_turn_ == 0 ? 0 : truncated_turn_ + 1);
    const rocksdb::Status status = database_->DeleteRange(
        rocksdb::WriteOptions(), database_->DefaultColumnFamily(), begin, key_of(turn + 1));
    if (!status.ok()) return from_rocks(status, "cannot shorten the log " + path_);
    truncated_turn_ = turn;
  }
  if (wal_bytes_ < rotate_bytes_) return {};
  wal_bytes_ = 0;
  return from_rocks(database_->Flush(rocksdb::FlushOptions()), "cannot shorten the log " + path_);
}

Status RocksLog::checkpoint(const std::string& path) {
  rocksdb::Checkpoint* made = nullptr;
  rocksdb::Status status = rocksdb::Checkpoint::Create(database_.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  // Never a flush: the WAL is copied.
  if (status.ok()) {
    status = checkpoint->CreateCheckpoint(path, std::numeric_limits<uint64_t>::max());
  }
  return from_rocks(status, "cannot copy the log to " + path);
}

uint64_t RocksLog::bytes_on_disk() const {
  uint64_t bytes = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator at(path_, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    const auto extension = at->path().extension();
    if (extension != ".log" && extension != ".sst") continue;
    const uint64_t size = at->file_size(gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

}  // namespace weir::storage
