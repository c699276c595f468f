// Changes of policies and of their overrides as settings of a cluster of shards
// (settings_journal.h). Nothing happens where settings are not numbered, or no journal is given.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "server/limiter/policy/overrides.h"
#include "server/limiter/policy/policies.h"
#include "server/limiter/policy/settings_journal.h"

namespace weir::server {

// What a policy or an override is to the others; its version is the version.
SettingItem policy_item(std::string_view name, const Policy& policy);
SettingItem override_item(std::string_view policy, const OverrideScope& scope,
                          const Override& override);

// Fail with an error line where there would be too many.
Result<void, std::string> note_policy(SettingsJournal* journal, std::string_view name,
                                      const Policy& policy);
Result<void, std::string> note_override(SettingsJournal* journal, std::string_view policy,
                                        const OverrideScope& scope, const Override& override);
// They are gone since the version.
Result<void, std::string> note_no_policy(SettingsJournal* journal, std::string_view name,
                                         uint64_t version);
Result<void, std::string> note_no_override(SettingsJournal* journal, std::string_view policy,
                                           const OverrideScope& scope, uint64_t version);

}  // namespace weir::server
