// A thread that runs the jobs it is given, one after another.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace weir::storage {

class WorkerThread {
 public:
  WorkerThread() : thread_([this] { run(); }) {}
  // Lets the running job end and drops the waiting ones.
  ~WorkerThread() { stop(); }

  void post(std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
    changed_.notify_one();
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      changed_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
      if (stopped_) return;
      {
        const auto work = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        work();
      }
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace weir::storage
