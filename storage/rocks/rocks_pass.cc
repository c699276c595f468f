// A pass is written into a file of its own beside the databases and then ingested.
#include <rocksdb/convenience.h>
#include <unistd.h>

#include <algorithm>

#include "storage/rocks/rocks_state.h"

namespace weir::storage {

Status RocksState::begin_pass() {
  if (failed_before_) {
    // An earlier failure has stopped the database, and the disk may have room again.
    if (const auto status = database_->Resume(); !status.ok()) {
      return from_rocks(status, "the state " + path_ + " does not go on");
    }
  }
  ::unlink(pass_path_.c_str());
  writer_ = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions(set_), set_);
  return from_rocks(writer_->Open(pass_path_), "cannot create " + pass_path_);
}

void RocksState::add_to_pass(const StateSlice& slice) {
  if (pass_failure_.ok()) pass_failure_ = add(slice);
}

Status RocksState::add(const StateSlice& slice) {
  if (!writer_) {
    if (Status status = begin_pass(); !status.ok()) return status;
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
    return from_rocks(status, "cannot write " + pass_path_);
  };
  return slice.for_each(write);
}

Status RocksState::write_last(const WrittenBack& written_back) {
  if (!writer_) {
    if (Status status = begin_pass(); !status.ok()) return status;
  }
  std::sort(ranges_.begin(), ranges_.end());
  rocksdb::Status status = writer_->Put(written_back_key(), encode_written_back(written_back));
  for (const auto& [begin, end] : ranges_) {
    if (status.ok()) status = writer_->DeleteRange(begin, end);
  }
  if (status.ok()) status = writer_->Finish();
  return from_rocks(status, "cannot write " + pass_path_);
}

Status RocksState::finish_pass(const WrittenBack& written_back,
                               const std::function<Status()>& sync_log) {
  Status status = pass_failure_;
  if (status.ok()) status = write_last(written_back);
  if (status.ok()) status = sync_log();
  if (status.ok()) status = ingest();
  if (status.ok()) {
    filter_.set_horizon_ms(written_back.instant_ns / kNsPerMs);
    free_ranges(ranges_);
  }
  failed_before_ = !status.ok();
  abandon_pass();
  return status;
}

void RocksState::abandon_pass() {
  if (writer_) ::unlink(pass_path_.c_str());
  writer_.reset();
  ranges_.clear();
  pass_failure_ = {};
}

Status RocksState::ingest() {
  wait_for_compactions();
  rocksdb::IngestExternalFileOptions how;
  how.move_files = true;
  how.write_global_seqno = false;
  return from_rocks(database_->IngestExternalFile({pass_path_}, how),
                    "cannot take the pass into the state " + path_);
}

// Removes whole files of a range that is erased already. Where one of them held an older erasure,
// keys at the edges may show again. That is harmless, since the keys of a dropped incarnation or
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
