#include "storage/rocks/rocks_log_writer.h"

#include <utility>

namespace weir::storage {
namespace {

constexpr size_t kBytesMax = 16 << 20;

}  // namespace

LogWriter::LogWriter(uint64_t written_turn, Write write, std::function<void()> notify)
    : write_(std::move(write)),
      notify_(std::move(notify)),
      taken_turn_(written_turn),
      written_turn_(written_turn) {}

LogWriter::~LogWriter() {
  (void)wait();
  thread_.stop();
}

// Where nothing waits, only the calling thread could make something wait.
Status LogWriter::write(rocksdb::WriteBatch* batch, uint64_t turn) {
  if (asides_ == 0 && taken_turn_ == written_turn_) {
    Status status = write_(batch);
    if (status.ok()) {
      // In this order: who waits for what was taken is woken by nobody here.
      written_turn_ = turn;
      taken_turn_ = turn;
    } else {
      note(status, 0);
    }
    return status;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return bytes_ < kBytesMax || !failure_.ok(); });
  if (!failure_.ok()) return failure_;
  bytes_ += batch->GetDataSize();
  waiting_.push_back({std::move(*batch), turn});
  taken_turn_ = turn;
  if (!std::exchange(asked_, true)) thread_.post([this] { write_what_waits(); });
  return {};
}

Status LogWriter::wait() {
  const uint64_t turn = taken_turn_;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return written_turn_ >= turn || !failure_.ok(); });
  return failure_;
}

Status LogWriter::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

size_t LogWriter::waiting_bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::deque<LogWriter::Taken> LogWriter::take_what_waits() {
  const std::lock_guard lock(mutex_);
  if (!failure_.ok()) waiting_.clear();
  if (waiting_.empty()) asked_ = false;
  return std::exchange(waiting_, {});
}

void LogWriter::write_what_waits() {
  while (true) {
    std::deque<Taken> taken = take_what_waits();
    if (taken.empty()) return;
    for (Taken& next : taken) {
      const size_t bytes = next.batch.GetDataSize();
      const Status status = write_(&next.batch);
      if (status.ok()) written_turn_ = next.turn;
      note(status, bytes);
      if (!status.ok()) break;
    }
    notify_();
  }
}

// Under the lock, so that whoever waits either sees the change or is woken by it.
void LogWriter::note(const Status& status, size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    bytes_ -= bytes;
    if (!status.ok()) {
      failure_ = status;
      failed_ = true;
    }
  }
  changed_.notify_all();
}

}  // namespace weir::storage
