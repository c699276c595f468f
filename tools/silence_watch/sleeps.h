// Where a process' first thread (the server's loop) sleeps although it waits for no socket: a
// thread that looks each two milliseconds, and keeps the kernel's stack of each sleep that it has
// seen for eight. The system shows stacks to root alone; for others nothing is seen.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weir::silence {

class Sleeps {
 public:
  // `core`: where it looks.
  Sleeps(int core, pid_t watched);
  ~Sleeps();
  Sleeps(const Sleeps&) = delete;
  Sleeps& operator=(const Sleeps&) = delete;

  // Answers where it was seen to sleep between two instants of now_ns(), innermost function first;
  // empty: nowhere.
  std::string seen(int64_t begin_ns, int64_t end_ns);

 private:
  struct Sleep {
    int64_t at_ns = 0;
    std::string stack;
  };

  void run();

  const int core_;
  const std::string task_;  // its folder in /proc
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::vector<Sleep> sleeps_;
  std::thread thread_;
};

}  // namespace weir::silence
