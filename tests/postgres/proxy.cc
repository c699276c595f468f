#include "tests/postgres/proxy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <optional>

#include "base/time_units.h"

namespace weir::storage::postgres {
namespace {

constexpr size_t kChunk = 256 * 1024;
constexpr size_t kPileMax = 4 << 20;
constexpr int64_t kDelayNs = kNsPerS;

// What is there; nothing at the end.
std::optional<std::string> receive(const Descriptor& from) {
  std::string bytes(kChunk, '\0');
  const ssize_t got = ::recv(from.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN)) return std::nullopt;
  bytes.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return bytes;
}

void send(const Descriptor& to, std::string* bytes) {
  if (bytes->empty()) return;
  const ssize_t sent = ::send(to.get(), bytes->data(), bytes->size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent > 0) bytes->erase(0, static_cast<size_t>(sent));
}

}  // namespace

Proxy::Proxy(ProxyPlan plan) : plan_(std::move(plan)) { listen(); }

void Proxy::listen() {
  listener_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  here.sin_port = htons(static_cast<uint16_t>(port_));
  const int on = 1;
  ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  socklen_t size = sizeof here;
  EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&here), size), 0);
  EXPECT_EQ(::listen(listener_.get(), 64), 0);
  EXPECT_EQ(::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&here), &size), 0);
  port_ = ntohs(here.sin_port);
}

// To the server; none if it does not listen.
Descriptor Proxy::connect() const {
  sockaddr_in by_port{};
  by_port.sin_family = AF_INET;
  by_port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  by_port.sin_port = htons(static_cast<uint16_t>(plan_.port));
  sockaddr_un by_name{};
  by_name.sun_family = AF_UNIX;
  std::strncpy(by_name.sun_path, plan_.socket.c_str(), sizeof by_name.sun_path - 1);
  const bool has_name = !plan_.socket.empty();
  Descriptor server(::socket(has_name ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int failed =
      has_name ? ::connect(server.get(), reinterpret_cast<sockaddr*>(&by_name), sizeof by_name)
               : ::connect(server.get(), reinterpret_cast<sockaddr*>(&by_port), sizeof by_port);
  return failed == 0 ? std::move(server) : Descriptor();
}

void Proxy::set_open(bool is_open) {
  Descriptor closed;
  std::swap(closed, listener_);
  ways_.clear();
  if (is_open) listen();
}

void Proxy::add_to(std::vector<pollfd>* watched) const {
  if (listener_.ok()) watched->push_back({.fd = listener_.get(), .events = POLLIN, .revents = 0});
  for (const Way& way : ways_) {
    if (is_stalled_) continue;
    const auto add = [&](const Descriptor& here, bool reads, bool writes) {
      const int events = (reads ? POLLIN : 0) | (writes ? POLLOUT : 0);
      if (here.ok() && events)
        watched->push_back({.fd = here.get(), .events = static_cast<short>(events), .revents = 0});
    };
    add(way.client, way.to_server.size() < kPileMax, !way.to_client.empty());
    add(way.server, way.to_client.size() < kPileMax, !way.to_server.empty());
  }
}

void Proxy::step(int64_t now_ns) {
  while (listener_.ok()) {
    Descriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client.ok()) break;
    ++taken_;
    Descriptor server = connect();
    if (!server.ok()) continue;
    ways_.emplace_back();
    ways_.back().client = std::move(client);
    ways_.back().server = std::move(server);
  }
  if (is_stalled_) return;
  for (Way& way : ways_) step(&way, now_ns);
  ways_.remove_if([](const Way& way) { return way.is_over; });
}

void Proxy::step(Way* way, int64_t now_ns) {
  if (way->client.ok() && way->to_server.size() < kPileMax) {
    auto bytes = receive(way->client);
    if (bytes) {
      from_client(way, std::move(*bytes));
    } else {
      way->client = Descriptor();
      way->is_over = way->held.empty();
      way->held_until_ns = now_ns + kDelayNs;
    }
  }
  if (!way->client.ok() && !way->held.empty() && now_ns >= way->held_until_ns)
    way->to_server = std::exchange(way->held, {});
  if (way->to_client.size() < kPileMax) {
    auto bytes = receive(way->server);
    if (!bytes) {
      way->is_over = true;
    } else if (way->client.ok() && way->fault == Fault::kNone) {
      way->to_client += *bytes;
    } else if (!way->client.ok() && way->held.empty() && !bytes->empty()) {
      way->is_over = true;  // the answer to what was held
    }
  }
  send(way->server, &way->to_server);
  if (way->client.ok()) send(way->client, &way->to_client);
}

void Proxy::from_client(Way* way, std::string bytes) {
  if (arranged_ != Fault::kNone && bytes.find(plan_.append) != std::string::npos)
    way->fault = std::exchange(arranged_, Fault::kNone);
  if (way->fault == Fault::kLoseRequest) return;
  (way->fault == Fault::kDelayRequest ? way->held : way->to_server) += bytes;
}

}  // namespace weir::storage::postgres
