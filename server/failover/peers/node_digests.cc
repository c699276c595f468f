#include "server/failover/peers/node_digests.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "server/acl/sha256.h"
#include "server/config/config_options.h"

namespace weir::server {
namespace {

constexpr std::string_view kLocalFamilies[] = {"cluster-announce-", "http-", "metrics-", "tls-"};
constexpr std::string_view kLocal[] = {"aclfile",
                                       "bind",
                                       "checkpoint-keep",
                                       "dir",
                                       "disk-reserve",
                                       "logfile",
                                       "loglevel",
                                       "log-password-file",
                                       "pidfile",
                                       "policies-file",
                                       "port",
                                       "supervised",
                                       "unixsocket",
                                       "unixsocketperm",
                                       "watch-files"};

// They are looked at every two seconds: a millisecond's work.
constexpr size_t kUsersBytesMax = 256 << 10;

bool is_local(std::string_view name) {
  return std::any_of(std::begin(kLocalFamilies), std::end(kLocalFamilies),
                     [&](std::string_view family) { return name.starts_with(family); }) ||
         std::find(std::begin(kLocal), std::end(kLocal), name) != std::end(kLocal);
}

std::array<char, 32> digest_of(std::string_view text) {
  const std::array<uint8_t, 32> bytes = acl::sha256(text);
  std::array<char, 32> digest{};
  std::memcpy(digest.data(), bytes.data(), bytes.size());
  return digest;
}

}  // namespace

NodeDigests node_digests(const Config& config, const acl::Users& users) {
  std::string options;
  for (const Option& option : config_options()) {
    if (is_local(option.name) || is_secret_option(option.name)) continue;
    options.append(option.name).append(" ").append(file_text(option, config)).append("\n");
  }
  NodeDigests digests{.configuration = digest_of(options), .acl = {}};
  std::string lines;
  for (const auto& [name, user] : users.all()) {
    lines.append(user->line()).append("\n");
    if (lines.size() > kUsersBytesMax) return digests;
  }
  digests.acl = digest_of(lines);
  return digests;
}

}  // namespace weir::server
