// A POST over HTTP or HTTPS: one request on a connection of its own, of whose answer the status
// counts. It waits. So it never runs on the loop.
//
// Each step ends after the target's time-out; whoever wants all of them together to end sooner cuts
// the connection from another thread (CutOff). No more than kHttpAnswerBytesMax of an answer are
// read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "server/peer/cut_off.h"
#include "server/tls/tls_client.h"

namespace weir::server {

inline constexpr size_t kHttpAnswerBytesMax = 64 << 10;

struct HttpTarget {
  bool tls = false;
  std::string host;
  int port = 0;
  std::string path = "/";
  std::vector<std::pair<std::string, std::string>> fields = {};  // sent with each request; secret
  TlsClientOptions certificates = {};
  int64_t timeout_ms = 10'000;

  // "http://host:port/path", without what is secret.
  std::string shown() const;
};

// Reads http://host[:port][/path], or https://. The error says what is accepted. User and password
// have no place in it, and are not shown.
Result<HttpTarget, std::string> parse_http_url(std::string_view text);

// Answers the status of the answer. The error is one line that names the target.
Result<int, std::string> http_post(const HttpTarget& target, std::string_view content_type,
                                   std::string_view body, CutOff* cut_off);

}  // namespace weir::server
