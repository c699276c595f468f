#include "server/core/run/policies_reload.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/time_units.h"
#include "server/config/config_words.h"
#include "server/core/disk/storage_health.h"
#include "server/core/run/audit_trail.h"
#include "server/limiter/take/limiters.h"
#include "server/os/clock.h"
#include "server/os/log.h"
#include "server/os/plain_file.h"

namespace weir::server {
namespace {

// Whom the history of policies and the audit name where nobody asked.
constexpr std::string_view kNobody = "policies-file";

constexpr std::string_view kErr = "ERR ";

std::string without_code(const std::string& error) {
  return error.starts_with(kErr) ? error.substr(kErr.size()) : error;
}

}  // namespace

Result<std::vector<PolicyEdit>, std::string> reload_policies(const PoliciesNeeds& needs,
                                                             const PoliciesReload& how) {
  const Config& config = *needs.config;
  if (config.policies_file.empty()) {
    return "ERR there is no file of policies: the option policies-file is not set";
  }
  const std::string path = (std::filesystem::path(config.dir) / config.policies_file).string();
  std::string text;
  const auto read =
      read_plain_file(path, kPoliciesFileBytesMax, format_size(kPoliciesFileBytesMax), &text);
  if (!read) return std::string(kErr) + read.error();
  const auto lines = parse_policies(text, path, needs.limiters->zones.given(), config.policies_max);
  if (!lines) return std::string(kErr) + lines.error();
  auto edits = edits_of(*lines, &needs.limiters->policies, *needs.keys);
  for (const PolicyEdit& edit : edits) {
    if (!how.may_reach) break;
    if (const auto may = how.may_reach(edit.name); !may) return may.error();
  }
  if (!how.apply) return edits;
  const PolicyEditor editor{
      .policies_max = config.policies_max,
      .wall_ms = needs.timeline->wall().at(needs.keys->running().now_ns()) / kNsPerMs,
      .user = how.user,
      .random = [&needs] { return needs.host->random(); }};
  const auto applied = apply_edits(edits, *lines, editor, &needs.limiters->policies,
                                   &needs.limiters->versions, *needs.keys);
  if (!applied) return std::string(kErr) + path + ": " + without_code(applied.error());
  const auto deleted = std::count_if(edits.begin(), edits.end(),
                                     [](const PolicyEdit& edit) { return edit.after.empty(); });
  if (!edits.empty())
    log_info("{}: {} policies, of which {} are new or changed; {} deleted", path, lines->size(),
             edits.size() - static_cast<size_t>(deleted), deleted);
  return edits;
}

Result<Reloaded, std::string> reload_policies_between_turns(const PoliciesNeeds& needs,
                                                            const StorageHealth& health,
                                                            AuditTrail* audit) {
  storage::Keyspace& keys = *needs.keys;
  if (needs.config->policies_file.empty() || keys.options().follows) return Reloaded::kSame;
  if (!keys.usable() || health.writes_denied()) {
    return std::string(
        "the disk takes no writes; RL.POLICY RELOAD reads the file when it does again");
  }
  keys.running().begin_command(needs.timeline->now_ns());
  const auto edits = reload_policies(needs, {.user = std::string(kNobody), .apply = true});
  if (!edits) return without_code(edits.error());
  if (!keys.failure().ok()) {
    keys.running().roll_back();
    return keys.failure().message();
  }
  std::vector<AuditChange> changes;
  for (const auto& [name, before, after] : *edits)
    changes.push_back({.name = name, .before = before, .after = after});
  audit->note_file(kNobody, std::move(changes));
  return edits->empty() ? Reloaded::kSame : Reloaded::kNew;
}

}  // namespace weir::server
