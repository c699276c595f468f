#include "server/failover/peers/node_digests.h"

#include <cstring>
#include <string>
#include <string_view>

#include "server/acl/sha256.h"
#include "server/config/config_options.h"

namespace weir::server {
namespace {

// They are looked at every two seconds: a millisecond's work.
constexpr size_t kUsersBytesMax = 256 << 10;

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
    if (option.may_differ || option.secret) continue;
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
