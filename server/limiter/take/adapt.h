// What callers report of the service that a limit protects, and what that changes (RL.REPORT,
// RL.POLICY REPORT; algorithms/adaptive.h).
//
// A report about a key changes the counts of the adaptive limits that the key was last used with,
// but of those whose count is their policy's. A report about a policy changes the counts that all
// its keys have; from the first one on they follow it, when they are next used. A new version of
// the policy with other limits begins at its own counts.
//
// Who waits for the key is tried again after a report about it, since the command touches the key;
// after one about its policy at the instant that was foreseen, as after RL.POLICY SET.
#pragma once

#include <string_view>

#include "algorithms/adaptive.h"
#include "server/command/command.h"

namespace weir::server {

// Takes the report, and replies: for each adaptive limit its name, its count, min and max; null if
// the key holds nothing.
void report_to_key(Call& call, std::string_view key, const algorithms::Report& report);
// The same about a policy.
void report_to_policy(Call& call, std::string_view name, const algorithms::Report& report);

}  // namespace weir::server
