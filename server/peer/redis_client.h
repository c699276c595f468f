// A client of a server that speaks Redis' protocol: requests in a row, then their replies. It
// waits. So it never runs on the loop.
//
// The replies to what was asked for together must fit into the socket's buffers while the requests
// are still being sent: whoever asks for long replies asks shortly.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time_units.h"
#include "resp/value.h"
#include "server/peer/redis_url.h"
#include "server/tls/tls_client.h"
#include "storage/format/file.h"

namespace weir::server {

class RedisClient {
 public:
  static constexpr size_t kExchangeBytesMax = size_t{1} << 30;
  // What a server may take before it counts as gone, or as one that means no good.
  struct Patience {
    int64_t silence_ms = 60 * kMsPerS;          // in one step
    int64_t exchange_ms = 0;                    // for all replies of an exchange; 0: any time
    size_t exchange_bytes = kExchangeBytesMax;  // of all replies of an exchange
  };

  // Connects, authenticates as the URL says, and selects nothing. The error names the server.
  // `on_socket` as in connect_socket().
  using OnSocket = std::function<bool(int descriptor)>;
  static Result<std::unique_ptr<RedisClient>, std::string> connect(const RedisUrl& url,
                                                                   const TlsClientOptions& tls,
                                                                   Patience patience,
                                                                   const OnSocket& on_socket = {});
  static Result<std::unique_ptr<RedisClient>, std::string> connect(const RedisUrl& url,
                                                                   const TlsClientOptions& tls) {
    return connect(url, tls, Patience{});
  }

  // Adds a request to those that are sent next.
  void add(std::span<const std::string_view> words);
  void add(std::initializer_list<std::string_view> words) {
    add(std::span(words.begin(), words.size()));
  }
  // Sends what was added and answers as many replies, errors of the server among them. Fails, with
  // a line, if the connection does, or if the replies together have more bytes or take longer than
  // patience has; then the client is of no use any more.
  Result<std::vector<resp::Value>, std::string> exchange();
  // One request.
  Result<resp::Value, std::string> ask(std::initializer_list<std::string_view> words);

 private:
  RedisClient(const RedisUrl& url, Patience patience) : name_(url.shown()), patience_(patience) {}

  Result<void, std::string> open(const RedisUrl& url, const TlsClientOptions& tls,
                                 const OnSocket& on_socket);
  Result<void, std::string> authenticate(const RedisUrl& url);
  Result<void, std::string> send_all();
  Result<resp::Value, std::string> read_one();
  Result<void, std::string> look_at_bounds() const;

  const std::string name_;
  const Patience patience_;
  storage::Descriptor socket_;
  std::unique_ptr<TlsClient> tls_;
  std::string requests_;
  size_t count_ = 0;
  std::string input_;
  size_t used_ = 0;          // of the input
  size_t received_ = 0;      // in the running exchange
  int64_t began_at_ms_ = 0;  // it
};

}  // namespace weir::server
