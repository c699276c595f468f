#include "tools/weir_bench/collection_load.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/time_units.h"
#include "resp/value.h"
#include "tools/weir_bench/collection_steps.h"
#include "tools/weir_bench/socket.h"

namespace weir::bench {
namespace {

constexpr size_t kBufferBytes = 256 << 10;
constexpr int kWaitMaxMs = 100;

int64_t clock_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kNsPerS + time.tv_nsec;
}

// The replies differ: what came instead, as text.
std::string first_difference(std::string_view got, std::string_view expected) {
  size_t at = 0;
  while (at < got.size() && at < expected.size() && got[at] == expected[at]) ++at;
  const size_t line = expected.substr(0, at).rfind("\r\n");
  const size_t begin = line == expected.npos ? 0 : line + 2;
  resp::Value value;
  size_t size = 0;
  const auto status = resp::decode(got.substr(begin), &value, &size);
  const std::string text = status == resp::DecodeStatus::kValue
                               ? resp::to_string(value).substr(0, 200)
                               : "bytes that are no reply";
  return text + " instead of " + std::string(expected.substr(begin, 24));
}

}  // namespace

struct CollectionLoad::Connection {
  Connection(const Options& options, int64_t number)
      : steps(options, number),
        next(options.fill ? 0 : static_cast<uint64_t>(options.skip)),
        end(options.fill ? steps.fills() : next + steps_of(options)) {}
  ~Connection() {
    if (descriptor >= 0) close(descriptor);
  }

  // At least one batch, and of all connections together what was asked for.
  uint64_t steps_of(const Options& options) const {
    const auto commands = static_cast<uint64_t>(options.requests / options.connections);
    return std::max<uint64_t>(commands / steps.commands_per_step(), 1);
  }

  int descriptor = -1;
  CollectionSteps steps;
  uint64_t next;
  uint64_t end;
  size_t batch = 0;  // commands on their way
  std::string requests;
  std::string replies;   // that must come
  size_t sent = 0;       // bytes of the requests
  size_t received = 0;   // bytes of the replies
  int64_t since_ns = 0;  // when the batch was sent
};

CollectionLoad::CollectionLoad(const Options& options) : options_(options), buffer_(kBufferBytes) {}

CollectionLoad::~CollectionLoad() = default;

void CollectionLoad::fail(std::string reason) {
  if (report_.failure.empty()) report_.failure = std::move(reason);
}

void CollectionLoad::connect_all() {
  for (int64_t i = 0; i < options_.connections; ++i) {
    auto connection = std::make_unique<Connection>(options_, i);
    const auto descriptor = connect_to(options_.host, options_.port);
    if (!descriptor) return fail(descriptor.error());
    connection->descriptor = *descriptor;
    fcntl(connection->descriptor, F_SETFL, O_NONBLOCK);
    connections_.push_back(std::move(connection));
  }
}

Report CollectionLoad::run() {
  connect_all();
  start_ns_ = last_reply_ns_ = clock_ns();
  const int64_t server_cpu_us = cpu_time_us(options_.server_pid);
  const int64_t own_cpu_us = cpu_time_us(getpid());
  const int64_t machine_cpu_us = machine_cpu_time_us();
  for (const auto& connection : connections_) start_batch(connection.get());
  const auto waits = [](const auto& connection) { return connection->batch > 0; };
  while (report_.failure.empty() && std::any_of(connections_.begin(), connections_.end(), waits)) {
    wait();
  }
  report_.window_ns = last_reply_ns_ - start_ns_;
  if (options_.server_pid > 0) {
    report_.server_cpu_us = cpu_time_us(options_.server_pid) - server_cpu_us;
  }
  report_.own_cpu_us = cpu_time_us(getpid()) - own_cpu_us;
  report_.others_cpu_us = machine_cpu_time_us() - machine_cpu_us - report_.own_cpu_us -
                          std::max<int64_t>(report_.server_cpu_us, 0);
  return std::move(report_);
}

void CollectionLoad::wait() {
  std::vector<pollfd> descriptors;
  for (const auto& connection : connections_) {
    short events = connection->batch > 0 ? POLLIN : 0;
    if (connection->sent < connection->requests.size()) events |= POLLOUT;
    descriptors.push_back({.fd = connection->descriptor, .events = events, .revents = 0});
  }
  poll(descriptors.data(), descriptors.size(), kWaitMaxMs);
  for (size_t i = 0; i < descriptors.size() && report_.failure.empty(); ++i) {
    if (descriptors[i].revents & POLLOUT) send_rest(connections_[i].get());
    if (descriptors[i].revents & ~POLLOUT) on_readable(connections_[i].get());
  }
  const double seconds = static_cast<double>(clock_ns() - start_ns_) / kNsPerS;
  if (seconds > options_.time_limit_s) fail("time limit reached");
}

void CollectionLoad::start_batch(Connection* connection) {
  const CollectionSteps& steps = connection->steps;
  connection->requests.clear();
  connection->replies.clear();
  connection->sent = connection->received = connection->batch = 0;
  const size_t commands_each = options_.fill ? 1 : steps.commands_per_step();
  const auto commands_max =
      std::max(commands_each, static_cast<size_t>(options_.fill ? 1 : options_.pipeline));
  while (connection->next < connection->end && connection->batch + commands_each <= commands_max) {
    options_.fill ? steps.add_fill(connection->next, &connection->requests, &connection->replies)
                  : steps.add_step(connection->next, &connection->requests, &connection->replies);
    ++connection->next;
    connection->batch += commands_each;
  }
  connection->since_ns = clock_ns();
  if (connection->batch > 0) send_rest(connection);
}

void CollectionLoad::send_rest(Connection* connection) {
  while (connection->sent < connection->requests.size()) {
    const ssize_t sent =
        send(connection->descriptor, connection->requests.data() + connection->sent,
             connection->requests.size() - connection->sent, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) return fail(std::string("send: ") + strerror(errno));
    connection->sent += static_cast<size_t>(sent);
  }
}

void CollectionLoad::on_readable(Connection* connection) {
  const ssize_t got = recv(connection->descriptor, buffer_.data(), buffer_.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got < 0) return fail(std::string("recv: ") + strerror(errno));
  if (got == 0) return fail("the server closed a connection");
  const std::string_view bytes(buffer_.data(), static_cast<size_t>(got));
  const std::string_view expected =
      std::string_view(connection->replies).substr(connection->received);
  if (!expected.starts_with(bytes)) {
    ++report_.tally.wrong;
    const std::string all = connection->replies.substr(0, connection->received);
    report_.tally.first_bad = first_difference(all + std::string(bytes), connection->replies);
    return fail("a reply was wrong");
  }
  const int64_t now_ns = clock_ns();
  report_.silence_max_ns = std::max(report_.silence_max_ns, now_ns - last_reply_ns_);
  last_reply_ns_ = now_ns;
  connection->received += bytes.size();
  if (connection->received < connection->replies.size()) return;
  report_.replies += connection->batch;
  report_.tally.good += connection->batch;
  report_.latency.add(now_ns - connection->since_ns);
  start_batch(connection);
}

}  // namespace weir::bench
