// Loaded before redis-server's libraries (LD_PRELOAD): its wall clock is that of clock_file.h. What
// it measures by the monotonic clock, timers among it, goes on as ever.
#include <sys/syscall.h>
#include <sys/time.h>

#include <ctime>

#include "base/time_units.h"
#include "tests/differential/clock_file.h"

using weir::kNsPerS;

extern "C" {

int clock_gettime(clockid_t id, timespec* time) noexcept {
  if (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE) {
    return static_cast<int>(syscall(SYS_clock_gettime, id, time));
  }
  const int64_t now_ns = weir::clock_file::now_ns();
  time->tv_sec = now_ns / kNsPerS;
  time->tv_nsec = now_ns % kNsPerS;
  return 0;
}

int gettimeofday(timeval* time, void*) noexcept {
  const int64_t now_ns = weir::clock_file::now_ns();
  time->tv_sec = now_ns / kNsPerS;
  time->tv_usec = now_ns % kNsPerS / 1000;
  return 0;
}

time_t time(time_t* time) noexcept {
  const time_t now_s = weir::clock_file::now_ns() / kNsPerS;
  if (time != nullptr) *time = now_s;
  return now_s;
}
}
