// Reads the rules for descriptors from a file of policies:
//
//     rls DOMAIN entry[,entry ...] POLICY name [KEY template] [FORCE] [HEADERS]
//
//     entry := name | name=value | name=prefix*
//
// In an entry a '\' takes the next byte as it is: ',', '=', '*' and itself. Words are split and
// quoted as in weir.conf.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/limiter/policy/descriptor_rules.h"

namespace weir::server {

inline constexpr size_t kDescriptorRulesMax = 10'000;

// Tells whether a line of the file is one of these.
bool is_descriptor_rule(std::string_view line);

// Parses the rules of a whole file, whose other lines are passed over; `place` is what errors call
// it. `fault_of` says why a policy cannot be that of a rule; "": it can. The error names every line
// that is wrong, up to some, and what was expected.
Result<DescriptorRules, std::string> parse_descriptor_rules(
    std::string_view text, const std::string& place,
    const std::function<std::string(std::string_view policy)>& fault_of);

}  // namespace weir::server
