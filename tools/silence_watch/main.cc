// weir-silence: a bystander that sends PING after PING to a server which others load, and tells of
// each answer that came late what the machine and the server's loop did in that time. tools/silence
// runs it; docs/TESTING.md says how to read what it prints.
//
//     weir-silence PORT PID CORE_OF_THE_LOOP CORE_OF_THE_BYSTANDER SECONDS LATE_MS
//
// Ends with 0 when no answer was late but those for which the machine is to blame, 1 when one was,
// 2 when it was called wrongly.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/time_units.h"
#include "tools/silence_watch/sleeps.h"
#include "tools/silence_watch/spinner.h"

namespace weir::silence {
namespace {

constexpr int kBystandersPriority = 50;
constexpr int kDeadMs = 60'000;
constexpr useconds_t kPauseUs = 300;
constexpr double kSlowMemory = 3;
constexpr std::string_view kPing = "PING\r\n";

double ms(int64_t ns) { return static_cast<double>(ns) / kNsPerMs; }

struct Job {
  uint16_t port = 0;
  pid_t pid = 0;
  int loop_core = 0;
  int own_core = 0;
  int64_t duration_ns = 0;
  int64_t late_ns = 0;
};

int connect_to(uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0) return fd;
  ::close(fd);
  return -1;
}

// False when no answer came.
bool ping(int fd) {
  if (::send(fd, kPing.data(), kPing.size(), MSG_NOSIGNAL) < 0) return false;
  std::array<char, 64> answer{};
  pollfd waits{.fd = fd, .events = POLLIN, .revents = 0};
  if (::poll(&waits, 1, kDeadMs) != 1) return false;
  return ::recv(fd, answer.data(), answer.size(), 0) > 0;
}

// What is left of the silence when the machine's part is taken away. While the server's own threads
// had a core, the loop may have waited for one of them. A packet waits while the kernel's thread of
// a core does. While memory was slow, what the loop did took so much longer, and so did what it
// waited for.
int64_t servers_part(int64_t silence_ns, const Window& loop, const Window& own) {
  const int64_t waited_for_own_ns = std::min(loop.waited_ns, loop.others_ns);
  const int64_t waited_for_others_ns = loop.waited_ns - waited_for_own_ns;
  const int64_t taken_ns =
      std::max({loop.gaps_ns, own.gaps_ns, loop.stolen_ns, own.stolen_ns, waited_for_others_ns,
                loop.kernel_waited_ns, own.kernel_waited_ns});
  const auto ran_ns =
      static_cast<double>(std::max<int64_t>(loop.on_core_ns + waited_for_own_ns - loop.gaps_ns, 0));
  const double slowness = std::max(loop.slowness, own.slowness);
  const bool slow = slowness >= kSlowMemory;
  return silence_ns - taken_ns - (slow ? static_cast<int64_t>(ran_ns * (1 - 1 / slowness)) : 0);
}

class Watch {
 public:
  explicit Watch(const Job& job)
      : job_(job),
        loop_spinner_(job.loop_core, job.pid),
        own_spinner_(job.own_core, 0),
        sleeps_(job.own_core, job.pid) {}

  int run() {
    const int fd = connect_to(job_.port);
    if (fd < 0) {
      std::fprintf(stderr, "weir-silence: nobody listens on port %d\n", job_.port);
      return 2;
    }
    bind_thread(job_.own_core, kBystandersPriority);
    const int64_t begin_ns = now_ns();
    while (now_ns() - begin_ns < job_.duration_ns) {
      const int64_t sent_ns = now_ns();
      if (!ping(fd)) {
        std::printf("no answer to a PING\n");
        return 1;
      }
      const int64_t answered_ns = now_ns();
      round_trips_.push_back(answered_ns - sent_ns);
      if (answered_ns - sent_ns >= job_.late_ns) tell(sent_ns - begin_ns, sent_ns, answered_ns);
      ::usleep(kPauseUs);
    }
    ::close(fd);
    return summarize();
  }

 private:
  void tell(int64_t into_ns, int64_t sent_ns, int64_t answered_ns) {
    const int64_t silence_ns = answered_ns - sent_ns;
    const Window loop = loop_spinner_.window(sent_ns, answered_ns);
    const Window own = own_spinner_.window(sent_ns, answered_ns);
    const int64_t asleep_ns = silence_ns - loop.on_core_ns - loop.waited_ns;
    const bool servers = servers_part(silence_ns, loop, own) >= job_.late_ns;
    servers_ += servers ? 1 : 0;
    ++late_;
    std::printf(
        "%8.3f s: %6.1f ms of silence; the spinner's gaps %.1f ms on the loop's core (the longest "
        "%.1f ms), %.1f ms (%.1f ms) on the bystander's; the loop ran for %.1f ms, waited for its "
        "core for %.1f ms, slept for "
        "%.1f ms; the server's other threads ran for %.1f ms; the kernel's thread waited for "
        "%.1f ms on the loop's core, %.1f ms on the bystander's; the host took %.0f and %.0f ms of "
        "them; memory took %.1f and %.1f times "
        "as long as usual%s\n",
        ms(into_ns) / 1000, ms(silence_ns), ms(loop.gaps_ns), ms(loop.gap_ns), ms(own.gaps_ns),
        ms(own.gap_ns), ms(loop.on_core_ns), ms(loop.waited_ns),
        ms(std::max<int64_t>(asleep_ns, 0)), ms(loop.others_ns), ms(loop.kernel_waited_ns),
        ms(own.kernel_waited_ns), ms(loop.stolen_ns), ms(own.stolen_ns), loop.slowness,
        own.slowness, servers ? "" : " (the machine's)");
    if (const std::string seen = sleeps_.seen(sent_ns, answered_ns); !seen.empty())
      std::printf("             the loop slept in %s\n", seen.c_str());
    std::fflush(stdout);
  }

  int summarize() {
    std::sort(round_trips_.begin(), round_trips_.end());
    const auto at = [&](double share) {
      const auto last = static_cast<double>(round_trips_.size() - 1);
      return ms(round_trips_[static_cast<size_t>(last * share)]);
    };
    std::printf("PINGs: %zu; median %.2f ms, p99 %.2f ms, p99.9 %.2f ms, longest %.1f ms\n",
                round_trips_.size(), at(0.5), at(0.99), at(0.999), at(1));
    for (const int64_t bound_ms : {5, 10, 20, 50, 100}) {
      const auto first =
          std::lower_bound(round_trips_.begin(), round_trips_.end(), bound_ms * kNsPerMs);
      std::printf("  %3lld ms or longer: %zd\n", static_cast<long long>(bound_ms),
                  round_trips_.end() - first);
    }
    std::printf(
        "the spinner's longest gap: %.1f ms on the loop's core, %.1f ms on the "
        "bystander's%s\n",
        ms(loop_spinner_.longest_gap_ns()), ms(own_spinner_.longest_gap_ns()),
        loop_spinner_.has_priority() ? ""
                                     : " (without priority, which the system refuses: "
                                       "other programs are part of it)");
    std::printf("silences of %.0f ms or longer: %d, of them the server's own: %d\n",
                ms(job_.late_ns), late_, servers_);
    return servers_ == 0 ? 0 : 1;
  }

  const Job job_;
  Spinner loop_spinner_;
  Spinner own_spinner_;
  Sleeps sleeps_;
  std::vector<int64_t> round_trips_;
  int late_ = 0;
  int servers_ = 0;
};

}  // namespace
}  // namespace weir::silence

int main(int argc, char** argv) {
  using namespace weir;
  using namespace weir::silence;
  if (argc != 7) {
    std::fprintf(stderr,
                 "usage: weir-silence PORT PID CORE_OF_THE_LOOP CORE_OF_THE_BYSTANDER SECONDS "
                 "LATE_MS\n");
    return 2;
  }
  const Job job{.port = static_cast<uint16_t>(std::atoi(argv[1])),
                .pid = std::atoi(argv[2]),
                .loop_core = std::atoi(argv[3]),
                .own_core = std::atoi(argv[4]),
                .duration_ns = std::atoll(argv[5]) * kNsPerS,
                .late_ns = std::atoll(argv[6]) * kNsPerMs};
  return Watch(job).run();
}
