#include "storage/rocks/rocks_log_cut.h"

#include <utility>

namespace weir::storage {

void RocksLogCut::set_up(rocksdb::DB* database, std::shared_ptr<LogMemtables> memtables,
                         uint64_t file_bytes) {
  database_ = database;
  memtables_ = std::move(memtables);
  file_bytes_ = file_bytes;
  writing_back_ = asked_ = false;
  closed_ = 0;
}

Status RocksLogCut::begin() {
  if (memtables_ == nullptr || memtables_->forgets()) return {};
  const rocksdb::Status status = database_->PauseBackgroundWork();
  if (status.ok()) memtables_->forget();
  return from_rocks(status, "the log does not go on");
}

bool RocksLogCut::wants_cut(uint64_t bytes, bool all_dropped) {
  asked_ = false;
  return wants_file(bytes) || (all_dropped && bytes >= kIdleBytes);
}

rocksdb::Status RocksLogCut::give_back(uint64_t dropped) {
  if (closed_ == 0 || memtables_->closed_turn() > dropped) return {};
  memtables_->note_dropped(dropped);
  // The flush that the cut has asked for waits since.
  rocksdb::Status status = database_->ContinueBackgroundWork();
  if (status.ok()) status = database_->PauseBackgroundWork();  // waits for its end
  if (status.ok()) closed_ = 0;
  return status;
}

}  // namespace weir::storage
