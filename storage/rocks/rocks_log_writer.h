// Writes the log's batches: on the thread that hands them over, or on a thread of its own while
// something else is done to the log's files, because a write then may wait for the disk. (ext4
// holds a file's map of blocks while a sync gives blocks to what was appended; whoever appends to
// the file meanwhile waits for that, and for every read of the disk that it needs.) Otherwise the
// thread that hands them over writes by itself, because a wake-up takes longer than a write of a
// few kilobytes.
//
// Invariants
// 1. Batches are written in the order of their turns, one at a time: those that wait before any
//    that come later.
// 2. After a failure nothing is written any more. What waited then is in no file. A failure of the
//    writer's thread is known late: no command's error tells of it, and the store ends as after a
//    failed sync.
#pragma once

#include <rocksdb/write_batch.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

#include "storage/format/status.h"
#include "storage/store/worker_thread.h"

namespace weir::storage {

class LogWriter {
 public:
  // Writes one batch, on any thread.
  using Write = std::function<Status(rocksdb::WriteBatch* batch)>;

  // `written_turn`: the newest turn that is in the log already. `notify` is called on the writer's
  // thread when something that waited was written, or has failed.
  LogWriter(uint64_t written_turn, Write write, std::function<void()> notify);
  // Writes what still waits.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Takes the batch that ends with a turn. Ok says that it is written, or will be unless that
  // fails; then failure() and every later call tell. Waits where too many bytes wait. REQUIRES:
  // always the same thread. The batch is not used any more afterwards.
  Status write(rocksdb::WriteBatch* batch, uint64_t turn);
  // Waits until what was taken before the call is written. On any thread.
  Status wait();
  // Every turn up to this one is in the log's files.
  uint64_t written_turn() const { return written_turn_.load(); }
  bool failed() const { return failed_; }
  Status failure() const;
  // Of what waits.
  size_t waiting_bytes() const;

  // While one lives, batches are written on the writer's thread.
  class Aside {
   public:
    explicit Aside(LogWriter* writer) : writer_(*writer) { ++writer_.asides_; }
    ~Aside() { --writer_.asides_; }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;

   private:
    LogWriter& writer_;
  };

 private:
  struct Taken {
    rocksdb::WriteBatch batch;
    uint64_t turn = 0;
  };

  void write_what_waits();
  std::deque<Taken> take_what_waits();
  void note(const Status& status, size_t bytes);

  const Write write_;
  const std::function<void()> notify_;
  std::atomic<int> asides_{0};
  std::atomic<bool> failed_{false};
  std::atomic<uint64_t> taken_turn_;
  std::atomic<uint64_t> written_turn_;
  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<Taken> waiting_;
  size_t bytes_ = 0;  // of what was taken and is not written
  Status failure_;
  bool asked_ = false;  // the thread was asked to write, and has not found nothing since
  WorkerThread thread_;
};

}  // namespace weir::storage
