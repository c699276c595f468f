#include "server/failover/peers/peer.h"

#include "base/time_units.h"
#include "resp/numbers.h"
#include "server/core/shard/membership.h"
#include "storage/replication/plain.h"

namespace weir::server {
namespace {

// Members answer one another shortly; what is larger or slower comes of one that means no good.
constexpr int64_t kExchangeS = 60;
constexpr size_t kExchangeBytesMax = 4 << 20;

}  // namespace

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
  return connect_to_peer(access, address,
                         RedisClient::Patience{.silence_ms = silence_s * kMsPerS,
                                               .exchange_ms = kExchangeS * kMsPerS,
                                               .exchange_bytes = kExchangeBytesMax});
}

Result<std::unique_ptr<RedisClient>, std::string> connect_to_peer(
    const PeerAccess& access, const std::string& address, const RedisClient::Patience& patience,
    const RedisClient::OnSocket& on_socket) {
  const HostAndPort parts = host_and_port(address);
  const auto port = resp::parse_int64(parts.port);
  if (!storage::replication::is_plain_address(address) || parts.host.empty() || !port)
    return std::string("a member tells of no address");
  const RedisUrl url{.tls = access.tls,
                     .user = access.user,
                     .password = access.password,
                     .host = std::string(parts.host),
                     .port = static_cast<int>(*port),
                     .database = -1};
  return RedisClient::connect(url, access.tls_options, patience, on_socket);
}

}  // namespace weir::server
