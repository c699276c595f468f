#include "tools/silence_watch/sleeps.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "tools/silence_watch/spinner.h"

namespace weir::silence {
namespace {

constexpr int kPriority = 60;
constexpr useconds_t kBetweenLooksUs = 2000;
constexpr int kLooksOfASleep = 4;
constexpr int kFunctionsTold = 6;

// The number of the system call in which it sleeps; -1: it runs, or waits for a core in its own
// code, or cannot be seen.
long call_of(const std::string& task) {
  std::string first;
  std::ifstream(task + "/syscall") >> first;
  return first.empty() || first == "running" ? -1 : std::atol(first.c_str());
}

bool waits_for_sockets(long call) {
#ifdef SYS_epoll_wait
  if (call == SYS_epoll_wait) return true;
#endif
  return call == SYS_epoll_pwait;
}

// For example: call 12: vma_prepare < commit_merge < vma_expand
std::string stack_of(const std::string& task, long call) {
  std::ifstream in(task + "/stack");
  std::string text = "call " + std::to_string(call) + ":";
  std::string line;
  for (int i = 0; i < kFunctionsTold && std::getline(in, line); ++i) {
    const size_t begin = line.find("] ");
    const size_t end = line.find('+');
    if (begin == line.npos || end == line.npos || end < begin) continue;
    text += (i == 0 ? " " : " < ") + line.substr(begin + 2, end - begin - 2);
  }
  return text;
}

}  // namespace

Sleeps::Sleeps(int core, pid_t watched)
    : core_(core),
      task_("/proc/" + std::to_string(watched) + "/task/" + std::to_string(watched)),
      thread_([this] { run(); }) {}

Sleeps::~Sleeps() {
  stopped_ = true;
  thread_.join();
}

void Sleeps::run() {
  bind_thread(core_, kPriority);
  int looks = 0;
  long before = -1;
  for (; !stopped_; ::usleep(kBetweenLooksUs)) {
    const long call = call_of(task_);
    looks = call == before ? looks + 1 : 1;
    before = call;
    if (call < 0 || waits_for_sockets(call) || looks != kLooksOfASleep) continue;
    Sleep sleep{.at_ns = now_ns(), .stack = stack_of(task_, call)};
    const std::lock_guard lock(mutex_);
    sleeps_.push_back(std::move(sleep));
  }
}

std::string Sleeps::seen(int64_t begin_ns, int64_t end_ns) {
  const std::lock_guard lock(mutex_);
  std::string text;
  for (const Sleep& sleep : sleeps_) {
    if (sleep.at_ns >= begin_ns && sleep.at_ns <= end_ns)
      text += (text.empty() ? "" : "; ") + sleep.stack;
  }
  return text;
}

}  // namespace weir::silence
