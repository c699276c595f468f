// A policy as words: what stands after the name in RL.POLICY SET.
//
//     (limits [SHADOW | PERCENT n] | UNLIMITED | BLOCKED) [ONCHANGE mode]
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "algorithms/limit_text.h"
#include "base/result.h"
#include "server/command/command.h"
#include "server/limiter/policy/policies.h"

namespace weir::server {

// Parses the words after the name. The error is a whole line, "ERR ...".
Result<Policy, std::string> parse_policy(
    Args words, const algorithms::Zones& zones,
    algorithms::BareTimes bare_times = algorithms::BareTimes::kRefused);

// Parses what an override has of it: (limits | UNLIMITED | BLOCKED).
Result<Policy, std::string> parse_effect(Args words, const algorithms::Zones& zones);

// Answers what the policy does, as words that parse_policy() takes: all but ONCHANGE, or with it
// where it is not USED.
std::string effect_text(const Policy& policy, algorithms::LimitStyle style);
std::string policy_text(const Policy& policy);

// Answers "RESET", "ASIS", "PROPORTIONAL", "ADDITIVE" or "USED".
std::string_view mode_name(algorithms::CarryOver mode);
std::optional<algorithms::CarryOver> parse_mode(std::string_view word);

}  // namespace weir::server
