// The other members of the shard, as clients of whose port this one comes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "server/config/config.h"
#include "server/peer/redis_client.h"

namespace weir::server {

// As whom this member comes to the others, and how.
struct PeerAccess {
  bool tls = false;
  std::string user;
  std::string password;
  TlsClientOptions tls_options;
};

PeerAccess peer_access(const Config& config);

// Waits. `address` is "host:port"; `patience` and `on_socket` as RedisClient has them.
Result<std::unique_ptr<RedisClient>, std::string> connect_to_peer(
    const PeerAccess& access, const std::string& address, const RedisClient::Patience& patience,
    const RedisClient::OnSocket& on_socket = {});
// The same for what may take long: a server that is silent for `silence_s` counts as gone.
Result<std::unique_ptr<RedisClient>, std::string> connect_to_peer(const PeerAccess& access,
                                                                  const std::string& address,
                                                                  int64_t silence_s);

}  // namespace weir::server
