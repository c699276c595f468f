#include "tools/weir_bench/load.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/time_units.h"
#include "tools/weir_bench/socket.h"

namespace weir::bench {
namespace {

constexpr int64_t kWaitMaxNs = 100 * kNsPerMs;
constexpr int64_t kDrainMaxNs = 20 * kNsPerS;
constexpr size_t kBufferBytes = 1 << 20;
constexpr int kEventsMax = 256;

int64_t clock_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kNsPerS + time.tv_nsec;
}

int64_t to_ns(double seconds) { return static_cast<int64_t>(seconds * kNsPerS); }

uint64_t next_random(uint64_t* state) {
  uint64_t x = *state;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return *state = x;
}

}  // namespace

struct Load::Connection {
  int descriptor = -1;
  std::string requests;  // `pipeline` of them, end to end
  size_t batch = 0;      // requests of the batch on its way
  size_t answered = 0;   // of them
  size_t sent = 0;       // bytes of the batch
  bool waits_writable = false;
  std::vector<int64_t> since_ns;  // when each was sent, or fell due
  std::string partial;            // the beginning of a reply

  ~Connection() {
    if (descriptor >= 0) close(descriptor);
  }
};

Load::Load(const Options& options)
    : options_(options),
      buffer_(kBufferBytes),
      // Xorshift needs a state that is not 0 and warms up badly from small ones.
      random_state_((options.seed + 1) * 0x9e3779b97f4a7c15) {}

Load::~Load() {
  if (epoll_ >= 0) close(epoll_);
}

void Load::fail(std::string reason) {
  if (report_.failure.empty()) report_.failure = std::move(reason);
}

Report Load::run() {
  std::string sha1;
  if (options_.kind == Kind::kEvalsha) {
    const auto descriptor = connect_to(options_.host, options_.port);
    if (!descriptor) return fail(descriptor.error()), report_;
    const resp::Value loaded =
        ask(*descriptor, encode_request({"SCRIPT", "LOAD", limiter_script()}));
    close(*descriptor);
    if (loaded.is_error()) return fail("SCRIPT LOAD: " + loaded.text), report_;
    sha1 = loaded.text;
  }
  workload_ = std::make_unique<Workload>(options_, sha1);
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  connect_all(*workload_);
  if (report_.failure.empty()) loop();
  connections_.clear();
  return std::move(report_);
}

void Load::connect_all(const Workload& workload) {
  const auto pipeline = static_cast<size_t>(options_.pipeline);
  for (int64_t i = 0; i < options_.connections; ++i) {
    auto connection = std::make_unique<Connection>();
    const auto descriptor = connect_to(options_.host, options_.port);
    if (!descriptor) return fail(descriptor.error());
    connection->descriptor = *descriptor;
    fcntl(connection->descriptor, F_SETFL, O_NONBLOCK);
    for (size_t k = 0; k < pipeline; ++k) connection->requests += workload.request();
    connection->since_ns.resize(pipeline);
    epoll_event event{.events = EPOLLIN, .data = {.ptr = connection.get()}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, connection->descriptor, &event);
    connections_.push_back(std::move(connection));
  }
}

void Load::loop() {
  int64_t now_ns = start_ns_ = last_reply_ns_ = clock_ns();
  advance(now_ns);
  start_batches();
  while (report_.failure.empty() && !(phase_ == Phase::kDrain && outstanding_ == 0)) {
    wait(now_ns);
    now_ns = clock_ns();
    if (options_.rate > 0) send_due(now_ns);
    advance(now_ns);
  }
  if (phase_ == Phase::kMeasure) end_window(clock_ns());
}

// Waits for sockets, and serves them.
void Load::wait(int64_t now_ns) {
  int64_t wait_ns = kWaitMaxNs;
  if (options_.rate > 0 && !idle_.empty() && phase_ != Phase::kDrain) {
    wait_ns = std::clamp<int64_t>(due_ns(issued_) - now_ns, 0, kWaitMaxNs);
  }
  const timespec timeout{.tv_sec = 0, .tv_nsec = wait_ns};
  epoll_event events[kEventsMax];
  const int count = epoll_pwait2(epoll_, events, kEventsMax, &timeout, nullptr);
  const int64_t awake_ns = clock_ns();
  for (int i = 0; i < count && report_.failure.empty(); ++i) {
    auto* connection = static_cast<Connection*>(events[i].data.ptr);
    if (events[i].events & EPOLLOUT) send_rest(connection);
    if (events[i].events & ~static_cast<uint32_t>(EPOLLOUT)) on_readable(connection);
  }
  if (phase_ != Phase::kMeasure) return;
  report_.own_pause_max_ns = std::max(report_.own_pause_max_ns, clock_ns() - awake_ns);
}

void Load::advance(int64_t now_ns) {
  if (now_ns - start_ns_ > to_ns(options_.time_limit_s)) return fail("time limit reached");
  if (phase_ == Phase::kWarmup && now_ns - start_ns_ >= to_ns(options_.warmup_s)) {
    begin_window(now_ns);
  }
  if (phase_ == Phase::kMeasure) {
    const bool over = options_.requests > 0 ? !may_send() && outstanding_ == 0
                                            : now_ns - window_begin_ns_ >= to_ns(options_.seconds);
    if (over) end_window(now_ns);
  }
  if (phase_ == Phase::kDrain && now_ns - drain_begin_ns_ > kDrainMaxNs) {
    fail("replies are missing: the server did not answer for " +
         std::to_string(kDrainMaxNs / kNsPerS) + " seconds");
  }
}

void Load::begin_window(int64_t now_ns) {
  phase_ = Phase::kMeasure;
  window_begin_ns_ = last_reply_ns_ = now_ns;
  if (options_.server_pid > 0) server_cpu_begin_us_ = cpu_time_us(options_.server_pid);
  own_cpu_begin_us_ = cpu_time_us(getpid());
  machine_cpu_begin_us_ = machine_cpu_time_us();
}

void Load::end_window(int64_t now_ns) {
  phase_ = Phase::kDrain;
  drain_begin_ns_ = now_ns;
  report_.window_ns = now_ns - window_begin_ns_;
  report_.silence_max_ns = std::max(report_.silence_max_ns, now_ns - last_reply_ns_);
  if (options_.server_pid > 0) {
    report_.server_cpu_us = cpu_time_us(options_.server_pid) - server_cpu_begin_us_;
  }
  report_.own_cpu_us = cpu_time_us(getpid()) - own_cpu_begin_us_;
  report_.others_cpu_us = machine_cpu_time_us() - machine_cpu_begin_us_ - report_.own_cpu_us -
                          std::max<int64_t>(report_.server_cpu_us, 0);
  if (options_.rate == 0) return;
  while (due_ns(issued_ + report_.never_sent) < now_ns) ++report_.never_sent;
}

bool Load::may_send() const {
  if (phase_ == Phase::kDrain) return false;
  return options_.requests == 0 || issued_ < static_cast<uint64_t>(options_.requests);
}

void Load::start_batches() {
  for (const auto& connection : connections_) {
    if (options_.rate > 0) {
      idle_.push_back(connection.get());
    } else if (may_send()) {
      start_batch(connection.get(), connection->since_ns.size(), clock_ns());
    }
  }
}

int64_t Load::due_ns(uint64_t request) const {
  return start_ns_ + static_cast<int64_t>(static_cast<double>(request) * kNsPerS /
                                          static_cast<double>(options_.rate));
}

// Open loop: hands out what is due to connections that are free.
void Load::send_due(int64_t now_ns) {
  while (!idle_.empty() && may_send() && due_ns(issued_) <= now_ns) {
    Connection* connection = idle_.back();
    idle_.pop_back();
    size_t requests = 0;
    while (requests < connection->since_ns.size() && due_ns(issued_ + requests) <= now_ns) {
      ++requests;
    }
    start_batch(connection, requests, now_ns);
  }
}

void Load::start_batch(Connection* connection, size_t requests, int64_t now_ns) {
  if (options_.requests > 0) {
    requests = std::min<size_t>(requests, static_cast<uint64_t>(options_.requests) - issued_);
  }
  if (workload_->has_key()) patch_keys(connection, requests);
  for (size_t i = 0; i < requests; ++i) {
    connection->since_ns[i] = options_.rate > 0 ? due_ns(issued_ + i) : now_ns;
  }
  issued_ += requests;
  outstanding_ += requests;
  connection->batch = requests;
  connection->answered = connection->sent = 0;
  send_rest(connection);
}

void Load::patch_keys(Connection* connection, size_t requests) {
  char* digits = connection->requests.data() + workload_->key_offset();
  const auto keys = static_cast<uint64_t>(options_.keys);
  for (size_t i = 0; i < requests; ++i, digits += workload_->request().size()) {
    const uint64_t key =
        options_.fill ? (issued_ + i) % keys : (next_random(&random_state_) >> 32) * keys >> 32;
    write_key_digits(key, digits);
  }
}

void Load::send_rest(Connection* connection) {
  const size_t size = connection->batch * workload_->request().size();
  while (connection->sent < size) {
    const ssize_t sent =
        send(connection->descriptor, connection->requests.data() + connection->sent,
             size - connection->sent, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) return fail(std::string("send: ") + strerror(errno));
    if (sent < 0) break;
    connection->sent += static_cast<size_t>(sent);
  }
  const bool waits = connection->sent < size;
  if (waits == connection->waits_writable) return;
  connection->waits_writable = waits;
  epoll_event event{.events = waits ? EPOLLIN | EPOLLOUT : EPOLLIN, .data = {.ptr = connection}};
  epoll_ctl(epoll_, EPOLL_CTL_MOD, connection->descriptor, &event);
}

void Load::on_readable(Connection* connection) {
  std::string& partial = connection->partial;
  std::copy(partial.begin(), partial.end(), buffer_.begin());
  const ssize_t got = recv(connection->descriptor, buffer_.data() + partial.size(),
                           buffer_.size() - partial.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got < 0) return fail(std::string("recv: ") + strerror(errno));
  if (got == 0) return fail("the server closed a connection");
  const int64_t now_ns = clock_ns();
  const std::string_view bytes(buffer_.data(), partial.size() + static_cast<size_t>(got));
  const Workload::Taken taken =
      workload_->take_replies(bytes, connection->batch - connection->answered, &report_.tally);
  record(connection, taken.replies, now_ns);
  if (taken.broken) return fail("a reply cannot be read");
  if (taken.bytes < bytes.size() && connection->answered == connection->batch) {
    ++report_.tally.wrong;
    return fail("more replies than requests");
  }
  partial.assign(bytes.substr(taken.bytes));
  if (connection->answered < connection->batch) return;
  if (options_.rate > 0) return idle_.push_back(connection);
  if (may_send()) start_batch(connection, connection->since_ns.size(), clock_ns());
}

void Load::record(Connection* connection, size_t replies, int64_t now_ns) {
  int64_t latency_max_ns = 0;
  for (size_t i = 0; i < replies; ++i) {
    const int64_t since_ns = connection->since_ns[connection->answered++];
    if (phase_ == Phase::kWarmup || since_ns < window_begin_ns_) continue;
    report_.latency.add(now_ns - since_ns);
    latency_max_ns = std::max(latency_max_ns, now_ns - since_ns);
  }
  outstanding_ -= replies;
  if (phase_ != Phase::kMeasure || replies == 0) return;
  report_.replies += replies;
  report_.silence_max_ns = std::max(report_.silence_max_ns, now_ns - last_reply_ns_);
  last_reply_ns_ = now_ns;
  if (!options_.series) return;
  const auto second = static_cast<size_t>((now_ns - window_begin_ns_) / kNsPerS);
  if (report_.series.size() <= second) report_.series.resize(second + 1);
  report_.series[second].replies += replies;
  report_.series[second].latency_max_ns =
      std::max(report_.series[second].latency_max_ns, latency_max_ns);
}

}  // namespace weir::bench
