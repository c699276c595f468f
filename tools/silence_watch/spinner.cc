#include "tools/silence_watch/spinner.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/time_units.h"
#include "tools/silence_watch/memory_probe.h"

namespace weir::silence {
namespace {

constexpr int64_t kPeriodNs = 1'000'000;
constexpr int64_t kGapNs = 2 * kPeriodNs;
constexpr size_t kLooksKept = 16'384;  // sixteen seconds
constexpr int kPriority = 60;

void sleep_until(int64_t at_ns) {
  const timespec at{.tv_sec = at_ns / kNsPerS, .tv_nsec = at_ns % kNsPerS};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
}

// Of a thread, since it began.
struct Times {
  int64_t on_core_ns = 0;
  int64_t waited_ns = 0;
};

Times read_times(int schedstat) {
  char text[96];
  const ssize_t bytes = ::pread(schedstat, text, sizeof text - 1, 0);
  if (bytes <= 0) return {};
  text[bytes] = '\0';
  long long on_core = 0;
  long long waited = 0;
  std::sscanf(text, "%lld %lld", &on_core, &waited);
  return {.on_core_ns = on_core, .waited_ns = waited};
}

// Of a core ("\ncpu1 "), since the machine started.
int64_t read_stolen_ns(int stat, const std::string& core_name) {
  std::array<char, 4096> text;
  const ssize_t bytes = ::pread(stat, text.data(), text.size() - 1, 0);
  if (bytes <= 0) return 0;
  text[static_cast<size_t>(bytes)] = '\0';
  const char* line = std::strstr(text.data(), core_name.c_str());
  long long stolen = 0;
  if (line != nullptr)
    std::sscanf(line + core_name.size(), "%*d %*d %*d %*d %*d %*d %*d %lld", &stolen);
  return stolen * kNsPerS / sysconf(_SC_CLK_TCK);
}

int open_schedstat_of_kernels_thread(int core) {
  const std::string wanted = "ksoftirqd/" + std::to_string(core);
  std::error_code error;
  for (const auto& process : std::filesystem::directory_iterator("/proc", error)) {
    std::string name;
    std::getline(std::ifstream(process.path() / "comm"), name);
    if (name == wanted) return ::open((process.path() / "schedstat").c_str(), O_RDONLY | O_CLOEXEC);
  }
  return -1;
}

}  // namespace

int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kNsPerS + now.tv_nsec;
}

bool bind_thread(int core, int priority) {
  if (core >= 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<size_t>(core), &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
  }
  const sched_param how{.sched_priority = priority};
  return pthread_setschedparam(pthread_self(), SCHED_FIFO, &how) == 0;
}

int64_t median(std::vector<int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Spinner::Spinner(int core, pid_t watched)
    : core_(core),
      watched_(watched),
      kernels_schedstat_(open_schedstat_of_kernels_thread(core)),
      stat_(::open("/proc/stat", O_RDONLY | O_CLOEXEC)),
      core_name_("\ncpu" + std::to_string(core) + " ") {
  const std::string first = std::to_string(watched);
  const std::string tasks = "/proc/" + first + "/task";
  const auto add = [&](const std::string& task) {
    const int file = ::open((tasks + "/" + task + "/schedstat").c_str(), O_RDONLY | O_CLOEXEC);
    if (file >= 0) schedstats_.push_back(file);
  };
  if (watched != 0) {
    add(first);
    for (const auto& task : std::filesystem::directory_iterator(tasks)) {
      if (task.path().filename() != first) add(task.path().filename());
    }
  }
  thread_ = std::thread([this] { run(); });
  while (!looks_at_all_) sleep_until(now_ns() + kPeriodNs);
}

Spinner::~Spinner() {
  stopped_ = true;
  thread_.join();
  for (const int file : schedstats_) ::close(file);
  if (kernels_schedstat_ >= 0) ::close(kernels_schedstat_);
  if (stat_ >= 0) ::close(stat_);
}

Look Spinner::look() const {
  Look seen;
  for (size_t i = 0; i < schedstats_.size(); ++i) {
    const Times times = read_times(schedstats_[i]);
    (i == 0 ? seen.on_core_ns : seen.others_ns) += times.on_core_ns;
    if (i == 0) seen.waited_ns = times.waited_ns;
  }
  seen.kernel_waited_ns = read_times(kernels_schedstat_).waited_ns;
  seen.stolen_ns = read_stolen_ns(stat_, core_name_);
  seen.at_ns = now_ns();
  return seen;
}

void Spinner::run() {
  looks_.reserve(kLooksKept);
  MemoryProbe memory(watched_);  // before the priority: the system takes long to give the memory
  has_priority_ = bind_thread(core_, kPriority);
  int64_t before_ns = now_ns();
  int64_t next_ns = before_ns;
  while (!stopped_) {
    next_ns = std::max(next_ns + kPeriodNs, now_ns());
    sleep_until(next_ns);
    const int64_t probe_ns = memory.touch_ns();
    Look seen = look();
    seen.probe_ns = probe_ns;
    const std::lock_guard lock(mutex_);
    longest_gap_ns_ = std::max(longest_gap_ns_, seen.at_ns - before_ns);
    before_ns = seen.at_ns;
    if (looks_.size() < kLooksKept) {
      looks_.push_back(seen);
    } else {
      looks_[next_] = seen;
    }
    next_ = (next_ + 1) % kLooksKept;
    looks_at_all_ = true;
  }
}

Window Spinner::window(int64_t begin_ns, int64_t end_ns) {
  sleep_until(now_ns() + 3 * kPeriodNs);
  std::vector<Look> looks;
  {
    const std::lock_guard lock(mutex_);
    looks = looks_;
  }
  std::sort(looks.begin(), looks.end(),
            [](const Look& a, const Look& b) { return a.at_ns < b.at_ns; });
  // From the last look before it to the first after it.
  Window window;
  std::vector<int64_t> usual;
  std::vector<int64_t> here;
  for (const Look& seen : looks) usual.push_back(seen.probe_ns);
  const Look* first = nullptr;
  const Look* before = nullptr;
  for (const Look& seen : looks) {
    if (before != nullptr && seen.at_ns > begin_ns) {
      if (first == nullptr) first = before;
      here.push_back(seen.probe_ns);
      const int64_t gap_ns = seen.at_ns - before->at_ns;
      window.gap_ns = std::max(window.gap_ns, gap_ns);
      if (gap_ns >= kGapNs) window.gaps_ns += gap_ns;
      window.on_core_ns = seen.on_core_ns - first->on_core_ns;
      window.waited_ns = seen.waited_ns - first->waited_ns;
      window.others_ns = seen.others_ns - first->others_ns;
      window.kernel_waited_ns = seen.kernel_waited_ns - first->kernel_waited_ns;
      window.stolen_ns = seen.stolen_ns - first->stolen_ns;
    }
    before = &seen;
    if (seen.at_ns >= end_ns) break;
  }
  const auto usual_ns = static_cast<double>(std::max<int64_t>(median(usual), 1));
  window.slowness = std::max(1.0, static_cast<double>(median(here)) / usual_ns);
  return window;
}

int64_t Spinner::longest_gap_ns() {
  const std::lock_guard lock(mutex_);
  return longest_gap_ns_;
}

}  // namespace weir::silence
