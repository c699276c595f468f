#include "server/replication/peer.h"

#include "resp/numbers.h"
#include "server/core/membership.h"

namespace weir::server {

PeerAccess peer_access(const Config& config) {
  return {.tls = config.port == 0,
          .user = config.member_user,
          .password = config.member_password,
          .tls_options = {.ca_cert_file = config.tls_ca_cert_file,
                          .cert_file = config.tls_cert_file,
                          .key_file = config.tls_key_file}};
}

Result<std::unique_ptr<RedisClient>, std::string> connect_to_peer(const PeerAccess& access,
                                                                  const std::string& address,
                                                                  int64_t silence_s) {
  const HostAndPort parts = host_and_port(address);
  const auto port = resp::parse_int64(parts.port);
  if (parts.host.empty() || !port || *port < 1 || *port > UINT16_MAX)
    return "'" + address + "' is no address";
  const RedisUrl url{.tls = access.tls,
                     .user = access.user,
                     .password = access.password,
                     .host = std::string(parts.host),
                     .port = static_cast<int>(*port),
                     .database = -1};
  return RedisClient::connect(url, access.tls_options, RedisClient::Patience{.seconds = silence_s});
}

}  // namespace weir::server
