// redis://[[user]:password@]host[:port][/db], as redis-cli -u and the client libraries take it;
// rediss:// is TLS. User and password are percent-decoded; an IPv6 address stands in [].
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace weir::server {

struct RedisUrl {
  bool tls = false;
  std::string user;
  std::string password;
  std::string host;
  int port = 6379;
  int database = -1;  // -1: none is named

  // "redis://host:port", without what is secret.
  std::string shown() const;
};

// The error says what is wrong and what is accepted, and never shows the password.
Result<RedisUrl, std::string> parse_redis_url(std::string_view text);

// Overwrites the password in a URL, which stands in this process' arguments, for whoever looks at
// the list of processes.
void hide_password(char* url);

}  // namespace weir::server
