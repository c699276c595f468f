// The arguments of RL.* commands after the key: limits or a policy's name, then options.
//
//     limits | POLICY name   [COST n[,n...]] [UPTO] [SHADOW] [FORCE] [ID token] [TIMEOUT ms]
//     [MAXWAIT ms]
//
// Parsing looks at the words only. An error names the argument, what was given and what is
// accepted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/limit.h"
#include "base/result.h"
#include "base/time_units.h"
#include "server/command/command.h"

namespace weir::server {

// The options that commands take; each command names its own.
enum RequestOption : uint32_t {
  kCostOption = 1 << 0,
  kUptoOption = 1 << 1,
  kShadowOption = 1 << 2,
  kForceOption = 1 << 3,
  kIdOption = 1 << 4,
  kTimeoutOption = 1 << 5,  // must be given
  kMaxWaitOption = 1 << 6,
  kLimitsMayLack = 1 << 7,  // not an option: PEEK may be asked without limits
};

inline constexpr size_t kIdBytesMax = 64;
inline constexpr size_t kPolicyNameBytesMax = 128;
inline constexpr int64_t kTimeoutMsMax = 3'650 * (kNsPerDay / kNsPerMs);

struct LimiterRequest {
  std::vector<algorithms::Limit> limits;  // as written; empty with a policy, or where they lack
  std::string policy;
  std::vector<int64_t> costs = {1};  // one cost for all limits, or one for each
  bool upto = false;
  bool shadow = false;
  bool force = false;
  std::string id;                     // empty: none
  std::optional<int64_t> timeout_ms;  // 0: for ever
  std::optional<int64_t> max_wait_ms;

  int64_t cost(size_t limit) const { return costs.size() == 1 ? costs[0] : costs[limit]; }
  // A request of cost 0 asks for nothing: it is allowed in any state and never waits.
  bool asks() const {
    return std::any_of(costs.begin(), costs.end(), [](int64_t cost) { return cost > 0; });
  }
};

// Parses a request. The error is a whole line, "ERR ...".
Result<LimiterRequest, std::string> parse_request(Args words, uint32_t options);

// Parses a number of permits for all limits, or one for each with commas between. The error is a
// whole line, which calls the argument `name`.
Result<std::vector<int64_t>, std::string> parse_costs(std::string_view name, std::string_view text);

// Checks what can only be told once a policy's limits are known: there must be as many costs as
// limits. The error is a whole line.
Result<void, std::string> check_fit(const LimiterRequest& request,
                                    const std::vector<algorithms::Limit>& limits);

// The error lines of a policy's name and of an ID that are empty or too long.
std::string policy_name_error(std::string_view name);
std::string id_error(std::string_view id);

}  // namespace weir::server
