// What a text option may hold beyond being text. Each function checks one value and may rewrite it.
#pragma once

#include <string>

#include "server/config/option.h"

namespace weir::server {

// Accepts a path: no NUL byte.
Result<void, Refusal> accept_path(std::string* value);
Result<void, Refusal> accept_path_not_empty(std::string* value);

// Who has not logged in can send no longer word (resp/request_parser.h), so nobody can use one.
inline constexpr size_t kPasswordBytesMax = 16 << 10;
// Accepts a password that can be logged in with, or nothing.
Result<void, Refusal> accept_password(std::string* value);

// Accepts an address or the name of a machine, as lists of words have it, or nothing.
Result<void, Refusal> accept_host(std::string* value);

// Accepts addresses "host:port" with blanks between them, one blank where there are several.
Result<void, Refusal> accept_seeds(std::string* value);

// Accepts the address of a shared log, or nothing.
Result<void, Refusal> accept_shared_log(std::string* value);
// Accepts the name of a shard.
Result<void, Refusal> accept_shard(std::string* value);
// Accepts the names of groups of commands: "incr", or nothing.
Result<void, Refusal> accept_uncommitted_commands(std::string* value);

// Accepts classes of keyspace events, as notify-keyspace-events has them, and puts them into Redis'
// order.
Result<void, Refusal> accept_event_classes(std::string* value);

// Which versions tls-protocols names; if it is empty, those that Redis takes then: 1.2 and 1.3.
struct TlsVersions {
  bool v1_0 = false;
  bool v1_1 = false;
  bool v1_2 = false;
  bool v1_3 = false;
};
TlsVersions tls_versions(const std::string& tls_protocols);

// Accepts names of versions, in any case, with blanks between them.
Result<void, Refusal> accept_tls_protocols(std::string* value);

}  // namespace weir::server
