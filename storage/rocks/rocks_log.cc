#include "storage/rocks/rocks_log.h"

#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>
#include <vector>

#include "storage/format/codec.h"
#include "storage/rocks/log_key.h"
#include "storage/rocks/wal_check.h"

namespace weir::storage {
namespace {

// Two threads tell of turns, each of what it has seen; none of them takes back what the other told.
void raise_to(std::atomic<uint64_t>* turn, uint64_t value) {
  uint64_t before = turn->load();
  while (before < value && !turn->compare_exchange_weak(before, value)) {
  }
}

constexpr uint64_t kRotateShare = 2;  // half of wal_bytes_max
constexpr uint64_t kCutShare = 4;     // a file of a log that forgets its turns

// Answers the last turn that is in tables: 0 if there are none, nullopt if that cannot be told. The
// WAL, which may be broken, is not read: where the tables' database is told to look there is none.
std::optional<uint64_t> last_turn_in_tables(const rocksdb::Options& set, const std::string& path) {
  rocksdb::Options tables = set;
  tables.wal_dir = std::filesystem::path(path).parent_path();
  std::unique_ptr<rocksdb::DB> database;
  if (!open_database(tables, path, OpenMode::kReadOnly, &database).ok()) return std::nullopt;
  std::vector<rocksdb::LiveFileMetaData> files;
  database->GetLiveFilesMetaData(&files);
  uint64_t last = 0;
  for (const auto& file : files) {
    // A turn, not the end of dropped ones: those that dropped it had one of their own, after it. Or
    // the bookmark of the file's last turn, as turns with a bookmark come with one always.
    const auto bookmarked = turn_of_bookmark_key(file.largestkey);
    const auto turn = bookmarked ? bookmarked : turn_of_turn_key(file.largestkey);
    if (!turn) return std::nullopt;
    last = std::max(last, *turn);
  }
  return last;
}

// Whether a file with this largest key holds a turn after `dropped`, or the bookmark of `dropped`.
bool is_needed(const std::string& largest_key, uint64_t dropped) {
  const auto bookmarked = turn_of_bookmark_key(largest_key);
  return bookmarked ? *bookmarked >= dropped : largest_key > turn_key(dropped);
}

}  // namespace

Status RocksLog::open(const RocksOptions& options, const std::string& path, OpenMode mode,
                      uint64_t written_back_turn, Opened* opened) {
  path_ = path;
  rotate_bytes_ = options.wal_bytes_max / kRotateShare;
  rocksdb::Options set = log_database_options(options);
  wal_sync_ = std::make_unique<RocksWalSync>(set.env, path);
  synced_mark_ = std::make_unique<SyncedMark>(path);
  WalReport report;
  if (mode != OpenMode::kCreate) {
    std::optional<uint64_t> covered = last_turn_in_tables(set, path);
    if (covered) covered = std::max(*covered, written_back_turn);
    const auto check = mode == OpenMode::kInspect ? inspect_wal : check_wal;
    if (Status status = check(path, covered, &report); !status.ok()) return status;
  }
  // What was judged superfluous at the log's end is still there, and RocksDB stops before it.
  if (mode == OpenMode::kInspect)
    set.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  if (mode == OpenMode::kExisting) {
    // This process builds on what it finds here, so a later power cut must not take it away;
    // RocksDB never syncs files that it did not write itself.
    if (Status status = wal_sync_->sync(); !status.ok()) return status;
  }
  wal_bytes_ = report.bytes;
  events_ = std::make_shared<RocksEvents>();
  set.listeners.push_back(events_);
  if (Status status = open_database(set, path, mode, &database_); !status.ok()) return status;
  cut_.set_up(database_.get(), std::dynamic_pointer_cast<LogMemtables>(set.memtable_factory),
              options.wal_bytes_max / kCutShare);
  if (Status found = find_last_turn(&opened->last_turn); !found.ok()) return found;
  if (Status found = find_bookmarks(); !found.ok()) return found;
  synced_turn_ = opened->last_turn;
  newest_turn_ = std::max(opened->last_turn, written_back_turn);  // what is dropped may be all
  if (mode == OpenMode::kExisting) synced_mark_->note(opened->last_turn);
  writer_ = std::make_unique<LogWriter>(
      std::max(opened->last_turn, written_back_turn),
      [this](rocksdb::WriteBatch* batch) {
        const rocksdb::Status status = write(batch);
        return status.ok() ? Status() : from_rocks(status, "cannot append to the log " + path_);
      },
      notify_);
  opened->synced_turn = report.synced_turn;
  if (!report.note.empty()) {
    opened->tail_note =
        report.note + "; the last turn kept is " + std::to_string(opened->last_turn);
  }
  return {};
}

Status RocksLog::find_last_turn(uint64_t* turn) const {
  const std::unique_ptr<rocksdb::Iterator> at(database_->NewIterator(rocksdb::ReadOptions()));
  at->SeekForPrev(turn_key(kBookmarkKeyPrefix));
  *turn = at->Valid() ? turn_of_turn_key(view_of(at->key())).value_or(0) : 0;
  return from_rocks(at->status(), "cannot read the log " + path_);
}

Status RocksLog::append(uint64_t turn, std::string_view record) {
  if (!may_append()) return failure_;
  Status status = put(turn, record);
  if (!status.ok()) failure_ = status;
  return status;
}

bool RocksLog::may_append() {
  if (writer_->failed() && failure_.ok()) failure_ = writer_->failure();
  if (failure_.ok() && sync_failed_) failure_ = Status::failed("a sync of the log failed before");
  return failure_.ok();
}

Status RocksLog::put(uint64_t turn, std::string_view record) {
  rocksdb::WriteBatch batch(record.size() + 96);
  return finish(&batch, add_turn(&batch, turn, record), turn);
}

rocksdb::Status RocksLog::add_turn(rocksdb::WriteBatch* batch, uint64_t turn,
                                   std::string_view record) const {
  char head[kVarintBytesMax];
  const uint64_t unsynced = turn - std::min(turn, synced_turn_.load());
  const auto head_bytes = static_cast<size_t>(weir::put_varint(head, unsynced) - head);
  const auto key = turn_key_bytes(turn);
  const rocksdb::Slice key_part(key.data(), key.size());
  const std::array<rocksdb::Slice, 2> value_parts{rocksdb::Slice(head, head_bytes),
                                                  slice_of(record)};
  return batch->Put(rocksdb::SliceParts(&key_part, 1), rocksdb::SliceParts(value_parts.data(), 2));
}

// Adds what drops the turns that nobody needs, writes the batch, and notes what it has done.
Status RocksLog::finish(rocksdb::WriteBatch* batch, rocksdb::Status status, uint64_t turn) {
  const uint64_t before = dropped_turn_;
  uint64_t dropped = std::max(before, droppable_turn_.load());
  if (!bookmarked_.empty())
    dropped = std::max(before, bookmarked_.drop_up_to(dropped, needed_turn_));
  // What is forgotten needs no deletion.
  if (cut_.active()) dropped = before;
  if (status.ok() && dropped > before) status = add_drops(batch, dropped);
  if (!status.ok()) return from_rocks(status, "cannot append to the log " + path_);
  const size_t bytes = batch->GetDataSize();
  if (Status written = writer_->write(batch, turn); !written.ok()) return written;
  newest_turn_ = turn;
  wal_bytes_ += bytes;
  raise_to(&dropped_turn_, dropped);
  if (dropped > before && wal_bytes_ >= rotate_bytes_) rotation_due_ = true;
  if (cut_.active() && cut_.is_due(wal_bytes_)) rotation_due_ = true;
  return {};
}

// The ranges do not overlap those of earlier drops: nested ones would make reading them quadratic.
rocksdb::Status RocksLog::add_drops(rocksdb::WriteBatch* batch, uint64_t dropped) const {
  const uint64_t before = dropped_turn_;
  const rocksdb::Status status =
      batch->DeleteRange(turn_key(before == 0 ? 0 : before + 1), turn_key(dropped + 1));
  if (!status.ok() || bookmarked_.empty()) return status;
  return batch->DeleteRange(bookmark_key(before), bookmark_key(dropped));
}

rocksdb::Status RocksLog::write(rocksdb::WriteBatch* batch) {
  const std::lock_guard alone(switching_);
  if (switch_failure_.ok()) switch_failure_ = database_->Write(rocksdb::WriteOptions(), batch);
  return switch_failure_;
}

Status RocksLog::replay(uint64_t first,
                        const std::function<Status(uint64_t, std::string_view)>& visit) {
  const std::unique_ptr<rocksdb::Iterator> at(database_->NewIterator(rocksdb::ReadOptions()));
  uint64_t expected = first;
  for (at->Seek(turn_key(first)); at->Valid(); at->Next(), ++expected) {
    if (turn_of_bookmark_key(view_of(at->key()))) break;
    const uint64_t turn = turn_of_turn_key(view_of(at->key())).value_or(0);
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
  if (Status status = writer_->wait(); !status.ok()) return status;
  const uint64_t turn = writer_->written_turn();
  const LogWriter::Aside aside(writer_.get());
  if (Status status = wal_sync_->sync(); !status.ok()) {
    sync_failed_ = true;
    return status;
  }
  synced_mark_->note(turn);
  raise_to(&synced_turn_, turn);
  return {};
}

// Dropped turns do not get into the flushed file, and the WAL that held them goes away.
Status RocksLog::rotate() {
  rocksdb::Status status;
  if (cut_.active()) {
    raise_to(&dropped_turn_, droppable_turn_);
    status = cut_.give_back(dropped_turn_);
    if (status.ok() && cut_.wants_cut(wal_bytes_, writer_->written_turn() <= dropped_turn_)) {
      status = start_flush();
      if (status.ok()) cut_.note_cut();
      if (status.ok()) status = cut_.give_back(dropped_turn_);
    }
  } else {
    status = wait_for_flushes();
    if (status.ok()) status = start_flush();
    if (status.ok()) status = wait_for_flushes();
  }
  if (!status.ok()) return from_rocks(status, "cannot shorten the log " + path_);
  return remove_old_files();
}

rocksdb::Status RocksLog::start_flush() {
  const LogWriter::Aside aside(writer_.get());
  const std::lock_guard alone(switching_);
  wal_bytes_ = 0;
  rocksdb::FlushOptions options;
  options.wait = false;              // append() may not wait for the disk
  options.allow_write_stall = true;  // what could stall a write was waited for
  if (switch_failure_.ok()) switch_failure_ = database_->Flush(options);
  return switch_failure_;
}

rocksdb::Status RocksLog::wait_for_flushes() {
  const rocksdb::Status status = database_->PauseBackgroundWork();
  return status.ok() ? database_->ContinueBackgroundWork() : status;
}

// Removes files, the oldest first, because RocksDB takes no others. Files follow one another as
// their turns do.
Status RocksLog::remove_old_files() {
  std::vector<rocksdb::LiveFileMetaData> files;
  database_->GetLiveFilesMetaData(&files);
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.largest_seqno < b.largest_seqno; });
  for (const auto& file : files) {
    if (is_needed(file.largestkey, dropped_turn_)) break;
    const rocksdb::Status status = database_->DeleteFile(file.name);
    if (!status.ok()) return from_rocks(status, "cannot remove " + path_ + file.name);
  }
  return {};
}

Status RocksLog::checkpoint(const std::string& path) {
  if (Status status = writer_->wait(); !status.ok()) return status;
  rocksdb::Checkpoint* made = nullptr;
  rocksdb::Status status = rocksdb::Checkpoint::Create(database_.get(), &made);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  // Nothing is flushed for this: the WAL is copied.
  if (status.ok()) {
    status = checkpoint->CreateCheckpoint(path, std::numeric_limits<uint64_t>::max());
  }
  return from_rocks(status, "cannot copy the log to " + path);
}

void RocksLog::add_metrics(StoreMetrics* metrics) const {
  metrics->log_bytes = bytes_in(path_);
  metrics->write_stalls += events_ == nullptr ? 0 : events_->stalls();
}

void RocksLog::add_memory(StoreMemory* memory) const {
  storage::add_memory(database_.get(), memory);
  if (writer_ != nullptr) memory->log_queue += writer_->waiting_bytes();
}

uint64_t RocksLog::bytes_in(const std::string& path) {
  uint64_t bytes = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    const auto extension = at->path().extension();
    if (extension != ".log" && extension != ".sst") continue;
    const uint64_t size = at->file_size(gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

// The rest keeps turns of a log which several machines share.

// The bytes of the turns after each bookmark decide how much stays, so all turns are looked at. A
// log without bookmarks is left alone.
Status RocksLog::find_bookmarks() {
  std::vector<KeptBookmark> found;
  if (Status status = bookmarks(&found); !status.ok() || found.empty()) return status;
  const std::unique_ptr<rocksdb::Iterator> at(database_->NewIterator(rocksdb::ReadOptions()));
  auto next = found.begin();
  bytes_since_bookmark_ = 0;
  for (at->SeekToFirst(); at->Valid(); at->Next()) {
    const auto turn = turn_of_turn_key(view_of(at->key()));
    if (!turn) break;
    for (; next != found.end() && next->turn < *turn; ++next)
      bookmarked_.add(next->turn, std::exchange(bytes_since_bookmark_, 0));
    bytes_since_bookmark_ += at->value().size();
  }
  for (; next != found.end(); ++next)
    bookmarked_.add(next->turn, std::exchange(bytes_since_bookmark_, 0));
  return from_rocks(at->status(), "cannot read the log " + path_);
}

Status RocksLog::append_batch(const TurnBatch& batch) {
  if (may_append()) failure_ = put_batch(batch);
  return failure_;
}

Status RocksLog::put_batch(const TurnBatch& batch) {
  const uint64_t newest = newest_turn_;
  if (batch.first_turn > newest + 1)
    return Status::corrupt("the log " + path_ + " ends at turn " + std::to_string(newest) +
                           ", got turn " + std::to_string(batch.first_turn));
  rocksdb::WriteBatch written;
  rocksdb::Status status;
  uint64_t turn = batch.first_turn;
  for (const std::string& record : batch.turns) {
    if (status.ok() && turn > newest) {
      status = add_turn(&written, turn, record);
      bytes_since_bookmark_ += record.size();
    }
    ++turn;
  }
  if (status.ok()) status = add_bookmark(&written, batch);
  bookmarked_.remove_from(batch.first_bookmark_replaced());
  bookmarked_.add(batch.last_turn(), std::exchange(bytes_since_bookmark_, 0));
  Status taken = finish(&written, status, std::max(newest, batch.last_turn()));
  return taken.ok() ? writer_->wait() : taken;
}

rocksdb::Status RocksLog::add_bookmark(rocksdb::WriteBatch* batch, const TurnBatch& turns) const {
  const uint64_t first = turns.first_bookmark_replaced();
  const std::string key = bookmark_key(turns.last_turn());
  rocksdb::Status status;
  if (!bookmarked_.empty() && bookmarked_.newest() >= first) {
    // The range ends just after the newest bookmark: a file's largest key tells its last turn.
    status = batch->DeleteRange(bookmark_key(first), bookmark_key(bookmarked_.newest()) + '\0');
  }
  return status.ok() ? batch->Put(key, slice_of(turns.bookmark)) : status;
}

// What a flush and a compaction have written anew holds neither the bookmarks nor the range that
// erased them: a reader that knows no bookmarks finds turns alone.
Status RocksLog::remove_bookmarks() {
  rocksdb::WriteBatch batch;
  rocksdb::Status status = batch.DeleteRange(bookmark_key(0), bookmark_key(UINT64_MAX));
  if (status.ok()) status = write(&batch);
  if (status.ok()) status = database_->Flush(rocksdb::FlushOptions());
  rocksdb::CompactRangeOptions compaction;
  compaction.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  if (status.ok()) status = database_->CompactRange(compaction, nullptr, nullptr);
  if (!status.ok()) return from_rocks(status, "cannot remove the bookmarks of the log " + path_);
  bookmarked_.remove_from(0);
  return sync();
}

Status RocksLog::bookmarks(std::vector<KeptBookmark>* bookmarks) const {
  const std::unique_ptr<rocksdb::Iterator> at(database_->NewIterator(rocksdb::ReadOptions()));
  for (at->Seek(bookmark_key(0)); at->Valid(); at->Next()) {
    const std::string_view key = view_of(at->key());
    const auto turn = turn_of_bookmark_key(key);
    if (!turn || key.size() != kBookmarkKeyBytes)
      return Status::corrupt("the log " + path_ + " holds a key that is neither turn nor bookmark");
    bookmarks->push_back({*turn, at->value().ToString()});
  }
  return from_rocks(at->status(), "cannot read the log " + path_);
}

Lookup RocksLog::kept_turn(uint64_t turn, std::string* record, Status* failure) const {
  std::string value;
  const rocksdb::Status status = database_->Get(rocksdb::ReadOptions(), turn_key(turn), &value);
  if (status.IsNotFound()) return Lookup::kAbsent;
  Reader reader(value);
  reader.varint();
  *failure = from_rocks(status, "cannot read the log " + path_);
  if (failure->ok() && !reader.ok())
    *failure = Status::corrupt("turn " + std::to_string(turn) + " is cut short");
  if (!failure->ok()) return Lookup::kFailed;
  *record = reader.rest();
  return Lookup::kFound;
}

}  // namespace weir::storage
