#include "server/peer/redis_client.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/time_units.h"
#include "resp/reply_end.h"
#include "server/peer/socket.h"

namespace weir::server {
namespace {

constexpr size_t kPieceBytes = 1 << 20;
constexpr int64_t kBulkBytesMax = 1LL << 30;
constexpr int64_t kValuesMax = 1 << 20;  // of one reply: a Value takes more than its bytes

int64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kMsPerS + now.tv_nsec / kNsPerMs;
}

std::string shown_time(int64_t ms) {
  return ms % kMsPerS == 0 ? std::to_string(ms / kMsPerS) + " seconds" : std::to_string(ms) + " ms";
}

std::string shown(int64_t bytes) {
  return bytes >> 30 > 0 ? std::to_string(bytes >> 30) + " GB"
                         : std::to_string(bytes >> 20) + " MB";
}

void append_header(std::string* out, char kind, size_t number) {
  *out += kind;
  *out += std::to_string(number);
  *out += "\r\n";
}

}  // namespace

Result<std::unique_ptr<RedisClient>, std::string> RedisClient::connect(const RedisUrl& url,
                                                                       const TlsClientOptions& tls,
                                                                       Patience patience,
                                                                       const OnSocket& on_socket) {
  std::unique_ptr<RedisClient> client(new RedisClient(url, patience));
  if (auto opened = client->open(url, tls, on_socket); !opened)
    return "cannot connect to " + url.shown() + ": " + opened.error();
  if (auto known = client->authenticate(url); !known) return known.error();
  return client;
}

Result<void, std::string> RedisClient::open(const RedisUrl& url, const TlsClientOptions& tls,
                                            const OnSocket& on_socket) {
  auto made = connect_socket(url.host, url.port, patience_.silence_ms, on_socket);
  if (!made) return made.error();
  socket_ = std::move(*made);
  if (!url.tls) return {};
  auto secured = TlsClient::connect(socket_.get(), url.host, tls);
  if (!secured) return secured.error();
  tls_ = std::move(*secured);
  return {};
}

Result<void, std::string> RedisClient::authenticate(const RedisUrl& url) {
  if (!url.password.empty() || !url.user.empty()) {
    const auto reply =
        url.user.empty() ? ask({"AUTH", url.password}) : ask({"AUTH", url.user, url.password});
    if (!reply) return reply.error();
    if (reply->is_error()) return name_ + " refuses user or password: " + reply->text;
  }
  const auto reply = ask({"PING"});
  if (!reply) return reply.error();
  if (reply->is_error() && !reply->text.starts_with("NOPERM")) return name_ + ": " + reply->text;
  return {};
}

void RedisClient::add(std::span<const std::string_view> words) {
  append_header(&requests_, '*', words.size());
  for (const std::string_view word : words) {
    append_header(&requests_, '$', word.size());
    requests_.append(word).append("\r\n");
  }
  ++count_;
}

Result<void, std::string> RedisClient::send_all() {
  for (size_t at = 0; at < requests_.size();) {
    const char* const from = requests_.data() + at;
    const size_t size = requests_.size() - at;
    const long put =
        tls_ ? tls_->send(from, size) : ::send(socket_.get(), from, size, MSG_NOSIGNAL);
    if (put < 0 && !tls_ && errno == EINTR) continue;
    if (put <= 0) return "the connection to " + name_ + " is lost";
    at += static_cast<size_t>(put);
  }
  requests_.clear();
  return {};
}

Result<void, std::string> RedisClient::look_at_bounds() const {
  if (received_ > patience_.exchange_bytes)
    return name_ + " answers more than " + shown(static_cast<int64_t>(patience_.exchange_bytes)) +
           " at once; where the user may not run MEMORY USAGE, the keys may be larger than " +
           "expected";
  if (patience_.exchange_ms > 0 && now_ms() - began_at_ms_ > patience_.exchange_ms)
    return name_ + " takes more than " + shown_time(patience_.exchange_ms) + " for an answer";
  return {};
}

Result<resp::Value, std::string> RedisClient::read_one() {
  const auto bytes_max = static_cast<int64_t>(patience_.exchange_bytes);
  const resp::DecodeLimits limits{.bulk_bytes_max = std::min(kBulkBytesMax, bytes_max),
                                  .elements_max = kValuesMax};
  resp::ReplyEnd end(limits, kValuesMax);
  for (;;) {
    const std::string_view reply = std::string_view(input_).substr(used_);
    auto status = end.look(reply);
    if (status == resp::DecodeStatus::kValue) {
      resp::Value value;
      size_t consumed = 0;
      status = resp::decode(reply.substr(0, end.bytes()), &value, &consumed, limits);
      used_ += consumed;
      if (status == resp::DecodeStatus::kValue) return value;
    }
    if (status == resp::DecodeStatus::kError)
      return name_ + " answers what is no reply, or one of more than " + shown(bytes_max) +
             " or a million values";
    input_.erase(0, used_);
    used_ = 0;
    const size_t held = input_.size();
    if (auto bounded = look_at_bounds(); !bounded) return bounded.error();
    input_.resize(held + kPieceBytes);
    const long got = tls_ ? tls_->receive(input_.data() + held, kPieceBytes)
                          : ::recv(socket_.get(), input_.data() + held, kPieceBytes, 0);
    input_.resize(held + static_cast<size_t>(got > 0 ? got : 0));
    if (got < 0 && !tls_ && errno == EINTR) continue;
    if (got <= 0) return "the connection to " + name_ + " is lost";
    received_ += static_cast<size_t>(got);
  }
}

Result<std::vector<resp::Value>, std::string> RedisClient::exchange() {
  if (auto sent = send_all(); !sent) return sent.error();
  std::vector<resp::Value> replies;
  received_ = 0;
  began_at_ms_ = now_ms();
  for (; count_ > 0; --count_) {
    auto reply = read_one();
    if (!reply) return reply.error();
    replies.push_back(std::move(*reply));
  }
  return replies;
}

Result<resp::Value, std::string> RedisClient::ask(std::initializer_list<std::string_view> words) {
  add(words);
  auto replies = exchange();
  if (!replies) return replies.error();
  return std::move(replies->front());
}

}  // namespace weir::server
