// A client of a server that speaks Redis' protocol: requests in a row, then their replies. It
// waits.
//
// The replies to what was asked for together must fit into the socket's buffers while the requests
// are still being sent: whoever asks for long replies asks shortly.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "resp/value.h"
#include "server/peer/redis_url.h"
#include "server/tls/tls_client.h"
#include "storage/file.h"

namespace weir::server {

class RedisClient {
 public:
  // How long a server may be silent in one step before it counts as gone.
  struct Patience {
    int64_t seconds = 60;
  };

  // Connects, authenticates as the URL says, and selects nothing. The error names the server.
  static Result<std::unique_ptr<RedisClient>, std::string> connect(const RedisUrl& url,
                                                                   const TlsClientOptions& tls,
                                                                   Patience patience);
  static Result<std::unique_ptr<RedisClient>, std::string> connect(const RedisUrl& url,
                                                                   const TlsClientOptions& tls) {
    return connect(url, tls, Patience{.seconds = 60});
  }

  // Adds a request to those that are sent next.
  void add(std::span<const std::string_view> words);
  void add(std::initializer_list<std::string_view> words) {
    add(std::span(words.begin(), words.size()));
  }
  // Sends what was added and answers as many replies, errors of the server among them. Fails, with
  // a line, if the connection does, or if the replies together have more than kExchangeBytesMax;
  // then the client is of no use any more.
  static constexpr size_t kExchangeBytesMax = size_t{1} << 30;
  Result<std::vector<resp::Value>, std::string> exchange();
  // One request.
  Result<resp::Value, std::string> ask(std::initializer_list<std::string_view> words);

 private:
  explicit RedisClient(const RedisUrl& url) : name_(url.shown()) {}

  Result<void, std::string> open(const RedisUrl& url, const TlsClientOptions& tls,
                                 Patience patience);
  Result<void, std::string> authenticate(const RedisUrl& url);
  Result<void, std::string> send_all();
  Result<resp::Value, std::string> read_one();

  const std::string name_;
  storage::Descriptor socket_;
  std::unique_ptr<TlsClient> tls_;
  std::string requests_;
  size_t count_ = 0;
  std::string input_;
  size_t used_ = 0;      // of the input
  size_t received_ = 0;  // in the running exchange
};

}  // namespace weir::server
