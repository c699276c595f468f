#include "server/core/policies_reload.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/time_units.h"
#include "server/config/config_words.h"
#include "server/core/server.h"
#include "server/os/log.h"

namespace weir::server {
namespace {

// The user whom the history of policies names where nobody asked.
constexpr std::string_view kNobody = "policies-file";

std::string shown_error(const std::string& error) {
  return error.starts_with("ERR ") ? error.substr(4) : error;
}

Result<void, std::string> read_file(const std::string& path, std::string* text) {
  const auto cannot = [&](const std::string& why) { return "cannot read " + path + ": " + why; };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return cannot("it is a directory");
  std::ifstream file(path, std::ios::binary);
  if (!file) return cannot(std::strerror(errno));
  text->resize(kPoliciesFileBytesMax + 1);
  file.read(text->data(), static_cast<std::streamsize>(text->size()));
  if (file.bad()) return cannot("input error");
  text->resize(static_cast<size_t>(file.gcount()));
  if (text->size() <= kPoliciesFileBytesMax) return {};
  return cannot("it is longer than " + format_size(kPoliciesFileBytesMax));
}

}  // namespace

Result<std::vector<PolicyEdit>, std::string> reload_policies(Server& server,
                                                             const std::string& user, bool apply) {
  const Config& config = server.config();
  if (config.policies_file.empty()) {
    return "there is no file of policies: the option policies-file is not set";
  }
  const std::string path = (std::filesystem::path(config.dir) / config.policies_file).string();
  std::string text;
  if (const auto read = read_file(path, &text); !read) return read.error();
  const auto lines = parse_policies(text, path, server.limiters().zones.given());
  if (!lines) return lines.error();
  auto edits = edits_of(*lines, &server.limiters().policies, server.keys());
  if (!apply) return edits;
  const PolicyEditor editor{
      .policies_max = config.policies_max,
      .wall_ms = server.timeline().wall().at(server.keys().running().now_ns()) / kNsPerMs,
      .user = user,
      .random = [&server] { return server.random(); }};
  const auto applied = apply_edits(edits, *lines, editor, &server.limiters(), server.keys());
  if (!applied) return path + ": " + shown_error(applied.error());
  const auto deleted = std::count_if(edits.begin(), edits.end(),
                                     [](const PolicyEdit& edit) { return edit.after.empty(); });
  spdlog::info("{}: {} policies, of which {} are new or changed; {} deleted", path, lines->size(),
               edits.size() - static_cast<size_t>(deleted), deleted);
  return edits;
}

Result<void, std::string> reload_policies_between_turns(Server& server) {
  if (server.config().policies_file.empty()) return {};
  storage::Keyspace& keys = server.keys();
  if (!keys.usable() || server.persistence().health.writes_denied()) {
    return "the disk takes no writes; RL.POLICY RELOAD reads the file when it does again";
  }
  keys.running().begin_command(server.timeline().now_ns());
  const auto edits = reload_policies(server, std::string(kNobody), true);
  if (!edits) return edits.error();
  if (keys.failure().ok()) return {};
  keys.running().roll_back();
  return keys.failure().message();
}

}  // namespace weir::server
