// A thread on one core that looks at the clock each millisecond, before everything else that wants
// the core: the time between two looks is what the machine took away. Before each look it touches a
// few places of memory (memory_probe.h), of the watched process' if there is one, and notes how
// long that took. With each look it notes how long a process' first thread (the server's loop) has
// had a core, how long it has waited for one, how long the process' other threads have had one, how
// long the kernel's own thread of the core (ksoftirqd, which delivers packets when there are many)
// has waited for it, and for how long the host of a virtual machine has kept the core from it
// although it had work (steal): in pieces shorter than a look that is no gap.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace weir::silence {

int64_t now_ns();
// Binds the calling thread to a core; -1: to none. Then puts it before ordinary threads. Answers
// whether the system allowed the latter.
bool bind_thread(int core, int priority);

// What a process has done up to an instant.
struct Look {
  int64_t at_ns = 0;
  int64_t on_core_ns = 0;        // its first thread had a core
  int64_t waited_ns = 0;         // or waited for one
  int64_t others_ns = 0;         // its other threads had one
  int64_t kernel_waited_ns = 0;  // the kernel's thread of the core waited for it
  int64_t stolen_ns = 0;         // the host gave the core to others; in steps of 10 ms
  int64_t probe_ns = 0;          // the look's own touches of memory
};

// What is known of a stretch of time.
struct Window {
  int64_t gap_ns = 0;   // the spinner's longest
  int64_t gaps_ns = 0;  // all of them together
  int64_t on_core_ns = 0;
  int64_t waited_ns = 0;
  int64_t others_ns = 0;
  int64_t kernel_waited_ns = 0;
  int64_t stolen_ns = 0;
  double slowness = 1;  // how many times as long as usual touches of memory took; at least 1
};

class Spinner {
 public:
  // Returns when it looks. `watched`: the process whose times are noted; 0: none. Its threads have
  // all been started.
  Spinner(int core, pid_t watched);
  ~Spinner();
  Spinner(const Spinner&) = delete;
  Spinner& operator=(const Spinner&) = delete;

  // REQUIRES: it has looked once since `end_ns`, or will do soon; this waits for that.
  Window window(int64_t begin_ns, int64_t end_ns);
  int64_t longest_gap_ns();
  bool has_priority() const { return has_priority_; }

 private:
  void run();
  Look look() const;

  const int core_;
  const pid_t watched_;
  std::vector<int> schedstats_;  // of the process' threads, the first one's first
  const int kernels_schedstat_;  // -1: it cannot be seen
  const int stat_;               // the system's; -1 likewise
  const std::string core_name_;  // in it
  std::atomic<bool> stopped_{false};
  std::atomic<bool> looks_at_all_{false};
  std::atomic<bool> has_priority_{false};
  std::mutex mutex_;
  std::vector<Look> looks_;  // the newest kLooksKept
  size_t next_ = 0;
  int64_t longest_gap_ns_ = 0;
  std::thread thread_;
};

}  // namespace weir::silence
