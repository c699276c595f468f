#include "server/core/run/policies_reload.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/time_units.h"
#include "server/config/config_words.h"
#include "server/core/run/server.h"
#include "server/os/log.h"
#include "server/os/plain_file.h"

namespace weir::server {
namespace {

// The user whom the history of policies names where nobody asked.
constexpr std::string_view kNobody = "policies-file";

constexpr std::string_view kErr = "ERR ";

std::string without_code(const std::string& error) {
  return error.starts_with(kErr) ? error.substr(kErr.size()) : error;
}

}  // namespace

Result<std::vector<PolicyEdit>, std::string> reload_policies(Server& server,
                                                             const PoliciesReload& how) {
  const Config& config = server.config();
  if (config.policies_file.empty()) {
    return "ERR there is no file of policies: the option policies-file is not set";
  }
  const std::string path = (std::filesystem::path(config.dir) / config.policies_file).string();
  std::string text;
  const auto read =
      read_plain_file(path, kPoliciesFileBytesMax, format_size(kPoliciesFileBytesMax), &text);
  if (!read) return std::string(kErr) + read.error();
  const auto lines =
      parse_policies(text, path, server.limiters().zones.given(), config.policies_max);
  if (!lines) return std::string(kErr) + lines.error();
  auto edits = edits_of(*lines, &server.limiters().policies, server.keys());
  for (const PolicyEdit& edit : edits) {
    if (!how.may_reach) break;
    if (const auto may = how.may_reach(edit.name); !may) return may.error();
  }
  if (!how.apply) return edits;
  const PolicyEditor editor{
      .policies_max = config.policies_max,
      .wall_ms = server.timeline().wall().at(server.keys().running().now_ns()) / kNsPerMs,
      .user = how.user,
      .random = [&server] { return server.random(); }};
  const auto applied = apply_edits(edits, *lines, editor, &server.limiters().policies,
                                   &server.limiters().versions, server.keys());
  if (!applied) return std::string(kErr) + path + ": " + without_code(applied.error());
  const auto deleted = std::count_if(edits.begin(), edits.end(),
                                     [](const PolicyEdit& edit) { return edit.after.empty(); });
  spdlog::info("{}: {} policies, of which {} are new or changed; {} deleted", path, lines->size(),
               edits.size() - static_cast<size_t>(deleted), deleted);
  return edits;
}

Result<void, std::string> reload_policies_between_turns(Server& server) {
  storage::Keyspace& keys = server.keys();
  if (server.config().policies_file.empty() || keys.options().follows) return {};
  if (!keys.usable() || server.persistence().health.writes_denied()) {
    return "the disk takes no writes; RL.POLICY RELOAD reads the file when it does again";
  }
  keys.running().begin_command(server.timeline().now_ns());
  const auto edits = reload_policies(server, {.user = std::string(kNobody), .apply = true});
  if (!edits) return without_code(edits.error());
  if (keys.failure().ok()) return {};
  keys.running().roll_back();
  return keys.failure().message();
}

}  // namespace weir::server
