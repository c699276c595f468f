#include "server/core/run/policies_reload.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "algorithms/words.h"
#include "base/time_units.h"
#include "server/config/config_words.h"
#include "server/core/disk/storage_health.h"
#include "server/core/run/audit_trail.h"
#include "server/limiter/policy/descriptor_rule_lines.h"
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

using Rules = std::shared_ptr<const DescriptorRules>;

struct PoliciesOfFile {
  std::vector<PolicyLine> policies;
  Rules rules;
};

// Why a rule may not name a policy.
std::string fault_of_rule(const std::vector<PolicyLine>& policies, std::string_view name) {
  const PolicyLine* const line = find_line(policies, name);
  if (line == nullptr) return "POLICY " + algorithms::quoted(name) + " is not in this file";
  for (const algorithms::Limit& limit : line->policy.limits) {
    if (limit.algorithm->makes_leases)
      return "POLICY " + algorithms::quoted(name) +
             " has CONCURRENCY, whose leases no proxy gives back";
  }
  return {};
}

// What the cluster of shards is to be told of the file's epoch; nothing: it knows it, or there is
// no such cluster.
Result<std::optional<SettingItem>, std::string> news_of_epoch(std::string_view text,
                                                              const std::string& path,
                                                              const SettingsJournal& settings) {
  const std::optional<SettingItem> none;
  const auto epoch = policies_epoch(text, path);
  if (!epoch) return epoch.error();
  if (!settings.is_on()) return none;
  if (!*epoch)
    return path +
           ": in a cluster of shards the file begins with 'epoch N', which is raised with "
           "every change";
  const SettingItem item{
      .kind = SettingKind::kFileEpoch, .version = **epoch, .made = file_digest_of(text)};
  const auto seen = settings.find(item.kind, item.name);
  if (!seen || seen->version < item.version) return std::optional(item);
  if (seen->version > item.version)
    return path + ": its epoch " + std::to_string(item.version) + " is lower than " +
           std::to_string(seen->version) + ", which the cluster has seen";
  if (seen->made != item.made)
    return path + ": the cluster has seen another file of epoch " + std::to_string(item.version) +
           "; raise the epoch with every change";
  return none;
}

// What is wrong is told of both kinds of lines.
Result<PoliciesOfFile, std::string> parse_file(std::string_view text, const std::string& path,
                                               const PoliciesNeeds& needs) {
  auto policies =
      parse_policies(text, path, needs.limiters->zones.given(), needs.config->policies_max);
  auto rules = parse_descriptor_rules(text, path, [&](std::string_view name) {
    return policies ? fault_of_rule(*policies, name) : std::string();
  });
  if (!policies && !rules) return policies.error() + "; " + rules.error();
  if (!policies) return policies.error();
  if (!rules) return rules.error();
  return PoliciesOfFile{std::move(*policies),
                        std::make_shared<const DescriptorRules>(std::move(*rules))};
}

// Fails with the first error of `may_reach`.
Result<std::vector<std::string>, std::string> rules_diff(const Rules& before, const Rules& after,
                                                         const PoliciesReload& how) {
  const DescriptorRules::Texts none;
  const DescriptorRules::Texts& were = before == nullptr ? none : before->texts();
  std::vector<std::string> lines;
  const auto compare = [&](const DescriptorRules::Texts& some, const DescriptorRules::Texts& others,
                           std::string_view mark) -> Result<void, std::string> {
    for (const auto& rule : some) {
      if (others.contains(rule)) continue;
      if (how.may_reach) {
        if (auto may = how.may_reach(rule.second); !may) return may;
      }
      lines.push_back(std::string(mark) + rule.first);
    }
    return {};
  };
  if (const auto done = compare(were, after->texts(), "- "); !done) return done.error();
  if (const auto done = compare(after->texts(), were, "+ "); !done) return done.error();
  return lines;
}

// Rules are each member's own, and go to no other shard: those of a file that is too old for its
// policies are better than none, where every question about descriptors would fail.
void take_rules_alone(std::string_view text, const std::string& path, const PoliciesNeeds& needs) {
  if (needs.limiters->descriptor_rules != nullptr) return;
  const auto file = parse_file(text, path, needs);
  if (!file || file->rules->texts().empty()) return;
  log_warning("{}: its {} rules for descriptors are taken, its policies are not", path,
              file->rules->texts().size());
  needs.limiters->descriptor_rules = file->rules;
}

}  // namespace

Result<PoliciesDiff, std::string> reload_policies(const PoliciesNeeds& needs,
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
  const auto epoch = news_of_epoch(text, path, needs.limiters->settings);
  if (!epoch) {
    if (how.apply) take_rules_alone(text, path, needs);
    return std::string(kErr) + epoch.error();
  }
  const auto file = parse_file(text, path, needs);
  if (!file) return std::string(kErr) + file.error();
  const std::vector<PolicyLine>& lines = file->policies;
  auto edits = edits_of(lines, &needs.limiters->policies, *needs.keys);
  // The shard that has read this file first has deleted what a file before it had. What has such a
  // name now is somebody's who has made it since.
  if (needs.limiters->settings.is_on() && !*epoch)
    std::erase_if(edits, [](const PolicyEdit& edit) { return edit.after.empty(); });
  for (const PolicyEdit& edit : edits) {
    if (!how.may_reach) break;
    if (const auto may = how.may_reach(edit.name); !may) return may.error();
  }
  Rules& rules = needs.limiters->descriptor_rules;
  const auto changed_rules = rules_diff(rules, file->rules, how);
  if (!changed_rules) return changed_rules.error();
  const PoliciesDiff diff = {edits, *changed_rules};
  if (!how.apply) return diff;
  const PolicyEditor editor{
      .policies_max = config.policies_max,
      .wall_ms = needs.timeline->wall().at(needs.keys->running().now_ns()) / kNsPerMs,
      .user = how.user,
      .random = [&needs] { return needs.host->random(); },
      .settings = &needs.limiters->settings};
  const auto applied = apply_edits(edits, lines, editor, &needs.limiters->policies,
                                   &needs.limiters->versions, *needs.keys);
  if (!applied) return std::string(kErr) + path + ": " + without_code(applied.error());
  if (*epoch) {
    if (const auto noted = needs.limiters->settings.note(**epoch); !noted) return noted.error();
  }
  const auto deleted = std::count_if(edits.begin(), edits.end(),
                                     [](const PolicyEdit& edit) { return edit.after.empty(); });
  if (!edits.empty())
    log_info("{}: {} policies, of which {} are new or changed; {} deleted", path, lines.size(),
             edits.size() - static_cast<size_t>(deleted), deleted);
  if (!diff.rules.empty())
    log_info("{}: {} rules for descriptors", path, file->rules->texts().size());
  rules = file->rules;
  return diff;
}

std::vector<AuditChange> changes_of(const PoliciesDiff& diff) {
  std::vector<AuditChange> changes;
  for (const auto& [name, before, after] : diff.policies)
    changes.push_back({.name = name, .before = before, .after = after});
  for (const std::string& line : diff.rules) {
    const std::string rule = line.substr(2);
    const bool is_new = line.starts_with('+');
    changes.push_back({.name = "rls", .before = is_new ? "" : rule, .after = is_new ? rule : ""});
  }
  return changes;
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
  const auto diff = reload_policies(needs, {.user = std::string(kNobody), .apply = true});
  if (!diff) {
    keys.running().roll_back();
    return without_code(diff.error());
  }
  if (!keys.failure().ok()) {
    keys.running().roll_back();
    return keys.failure().message();
  }
  audit->note_file(kNobody, changes_of(*diff));
  return diff->policies.empty() && diff->rules.empty() ? Reloaded::kSame : Reloaded::kNew;
}

}  // namespace weir::server
