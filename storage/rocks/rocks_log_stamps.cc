// The part of RocksLog that keeps turns of a log which several machines share.
#include <rocksdb/write_batch.h>

#include "storage/format/codec.h"
#include "storage/rocks/log_key.h"
#include "storage/rocks/rocks_log.h"

namespace weir::storage {

// The bytes of the turns after each stamp decide how much stays, so all turns are looked at. A log
// without stamps is left alone.
Status RocksLog::find_stamps() {
  std::vector<KeptStamp> found;
  if (Status status = stamps(&found); !status.ok() || found.empty()) return status;
  const std::unique_ptr<rocksdb::Iterator> at(database_->NewIterator(rocksdb::ReadOptions()));
  auto next = found.begin();
  bytes_since_stamp_ = 0;
  for (at->SeekToFirst(); at->Valid(); at->Next()) {
    const auto turn = turn_of_turn_key(view_of(at->key()));
    if (!turn) break;
    for (; next != found.end() && next->turn < *turn; ++next)
      stamped_.add(next->turn, std::exchange(bytes_since_stamp_, 0));
    bytes_since_stamp_ += at->value().size();
  }
  for (; next != found.end(); ++next)
    stamped_.add(next->turn, std::exchange(bytes_since_stamp_, 0));
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
      bytes_since_stamp_ += record.size();
    }
    ++turn;
  }
  if (status.ok()) status = add_stamp(&written, batch);
  stamped_.remove_from(batch.first_stamp_replaced());
  stamped_.add(batch.last_turn(), std::exchange(bytes_since_stamp_, 0));
  Status taken = finish(&written, status, std::max(newest, batch.last_turn()));
  return taken.ok() ? writer_->wait() : taken;
}

rocksdb::Status RocksLog::add_stamp(rocksdb::WriteBatch* batch, const TurnBatch& turns) const {
  const uint64_t first = turns.first_stamp_replaced();
  const std::string key = stamp_key(turns.last_turn());
  rocksdb::Status status;
  if (!stamped_.empty() && stamped_.newest() >= first) {
    // The range ends just after the newest stamp: a file's largest key tells its last turn.
    status = batch->DeleteRange(stamp_key(first), stamp_key(stamped_.newest()) + '\0');
  }
  return status.ok() ? batch->Put(key, slice_of(turns.stamp)) : status;
}

// What a flush and a compaction have written anew holds neither the stamps nor the range that
// erased them: a reader that knows no stamps finds turns alone.
Status RocksLog::remove_stamps() {
  rocksdb::WriteBatch batch;
  rocksdb::Status status = batch.DeleteRange(stamp_key(0), stamp_key(UINT64_MAX));
  if (status.ok()) status = write(&batch);
  if (status.ok()) status = database_->Flush(rocksdb::FlushOptions());
  rocksdb::CompactRangeOptions compaction;
  compaction.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  if (status.ok()) status = database_->CompactRange(compaction, nullptr, nullptr);
  if (!status.ok()) return from_rocks(status, "cannot remove the stamps of the log " + path_);
  stamped_.remove_from(0);
  return sync();
}

Status RocksLog::stamps(std::vector<KeptStamp>* stamps) const {
  const std::unique_ptr<rocksdb::Iterator> at(database_->NewIterator(rocksdb::ReadOptions()));
  for (at->Seek(stamp_key(0)); at->Valid(); at->Next()) {
    const std::string_view key = view_of(at->key());
    const auto turn = turn_of_stamp_key(key);
    if (!turn || key.size() != kStampKeyBytes)
      return Status::corrupt("the log " + path_ + " holds a key that is neither turn nor stamp");
    stamps->push_back({*turn, at->value().ToString()});
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
