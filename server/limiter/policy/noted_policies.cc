#include "server/limiter/policy/noted_policies.h"

#include "server/limiter/policy/policy_words.h"

namespace weir::server {
namespace {

std::string name_of_override(std::string_view policy, const OverrideScope& scope) {
  return override_setting_name(
      {.policy = policy, .is_prefix = scope.is_prefix, .name = scope.name});
}

}  // namespace

SettingItem policy_item(std::string_view name, const Policy& policy) {
  return {.kind = SettingKind::kPolicy,
          .name = std::string(name),
          .version = policy.version,
          .seed = policy.seed,
          .content = policy_text(policy)};
}

SettingItem override_item(std::string_view policy, const OverrideScope& scope,
                          const Override& override) {
  const Policy shown{
      .kind = override.kind, .limits = override.parsed.limits, .names = override.parsed.names};
  return {.kind = SettingKind::kOverride,
          .name = name_of_override(policy, scope),
          .version = override.version,
          .content = effect_text(shown, algorithms::LimitStyle::kWhole)};
}

Result<void, std::string> note_policy(SettingsJournal* journal, std::string_view name,
                                      const Policy& policy) {
  if (journal == nullptr || !journal->is_on()) return {};
  return journal->note(policy_item(name, policy));
}

Result<void, std::string> note_override(SettingsJournal* journal, std::string_view policy,
                                        const OverrideScope& scope, const Override& override) {
  if (journal == nullptr || !journal->is_on()) return {};
  return journal->note(override_item(policy, scope, override));
}

Result<void, std::string> note_no_policy(SettingsJournal* journal, std::string_view name,
                                         uint64_t version) {
  if (journal == nullptr || !journal->is_on()) return {};
  return journal->note({.kind = SettingKind::kPolicy,
                        .name = std::string(name),
                        .version = version,
                        .is_deleted = true});
}

Result<void, std::string> note_no_override(SettingsJournal* journal, std::string_view policy,
                                           const OverrideScope& scope, uint64_t version) {
  if (journal == nullptr || !journal->is_on()) return {};
  return journal->note({.kind = SettingKind::kOverride,
                        .name = name_of_override(policy, scope),
                        .version = version,
                        .is_deleted = true});
}

}  // namespace weir::server
