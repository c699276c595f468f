// The clients as CLIENT LIST shows them and CLIENT KILL chooses them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/session/session.h"

namespace weir::server {

// Writes "id=3 addr=127.0.0.1:50412 ... lib-ver=", without a line end. What weir has no equivalent
// of is 0. `now_ns` is of the steady clock.
std::string client_line(const Session& session, int64_t now_ns);

enum class ClientClass { kNormal, kReplica, kPubsub, kMaster };

// Reads a word in any case, "slave" included; answers nothing for other words.
std::optional<ClientClass> parse_client_class(std::string_view word);
ClientClass class_of(const Session& session);

// Which clients to kill. A member that is not set fits all.
struct ClientFilter {
  std::optional<uint64_t> id;
  std::optional<std::string_view> address;
  std::optional<std::string_view> local_address;
  std::optional<std::string_view> user;
  std::optional<ClientClass> client_class;
  bool skip_me = true;

  bool fits(const Session& session) const;
};

}  // namespace weir::server
