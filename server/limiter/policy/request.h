// The arguments of RL.* commands after the key: limits or a policy's name, then options.
//
//     limits [COST n[,n...] | KEYCOSTS n,n...] [UPTO] [SHADOW] [FORCE] [ID token] [TIMEOUT time]
//     [MAXWAIT time] [HOLD duration] [FULL] [HEADERS] [LEGACY] [PROBLEM] [PARTITION]
//     [ONCHANGE mode] [TRACEPARENT traceparent]
//
//     limits := limit | POLICY name, in any order; one policy at most
//             | EACH limits [EACH limits ...]      of RL.MTAKE: those of each key
//
// Parsing looks at the words only, and at no more of them than a request may have: it ends at the
// first that may not stand where it does, and tells a word that is too long by its length. An error
// names the argument, what was given and what is accepted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/algorithm.h"
#include "algorithms/zone.h"
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
  kFullOption = 1 << 7,
  kHeadersOption = 1 << 8,
  kOnChangeOption = 1 << 11,
  kHoldOption = 1 << 12,
  // No options. PEEK may be asked without limits; MTAKE may name the limits of each key.
  kLimitsMayLack = 1 << 9,
  kLimitsOfEach = 1 << 10,
  // Each asks for HEADERS, too.
  kLegacyOption = 1 << 13,
  kProblemOption = 1 << 14,
  kPartitionOption = 1 << 15,
  kTraceOption = 1 << 16,
  kKeyCostsOption = 1 << 17,  // of RL.MTAKE
};
inline constexpr uint32_t kAllHeaders =
    kHeadersOption | kLegacyOption | kProblemOption | kPartitionOption;

// The words of a request end here, and so does what is read of one that has more: no request needs
// as many (request.cc).
inline constexpr std::string_view kTraceWord = "TRACEPARENT";
inline constexpr size_t kRequestWordsMax = 8192;
// Numbers of a COST: one for each limit of each key of RL.MTAKE.
inline constexpr size_t kCostsMax = 256;
inline constexpr size_t kIdBytesMax = 64;
inline constexpr size_t kPolicyNameBytesMax = 128;
inline constexpr int64_t kTimeoutNsMax = 3'650 * kNsPerDay;
inline constexpr int64_t kHoldNsMax = kNsPerDay;  // so long a key may outlive its limits

// The limits of a key as they were asked for: a policy may stand among them.
struct AskedLimits {
  std::vector<algorithms::Limit> limits;  // as written, without the policy's
  std::vector<std::string> names;         // one each, or none at all (algorithms/limit_text.h)
  std::string policy;                     // empty: none
  size_t policy_at = 0;                   // how many of `limits` stand before it

  bool empty() const { return limits.empty() && policy.empty(); }
};

struct LimiterRequest : AskedLimits {
  std::vector<AskedLimits> each;     // with EACH, one for each key; the request has no others then
  std::vector<int64_t> costs = {1};  // one cost for all limits, or one for each
  std::vector<int64_t> key_costs;    // of RL.MTAKE: in place of those one for each key, or none
  bool upto = false;
  bool shadow = false;
  bool force = false;
  bool full = false;
  bool headers = false;  // only with `full`
  bool legacy = false;   // these three only with `headers`
  bool problem = false;
  bool partition = false;
  bool traced = false;                // TRACEPARENT was among the words (trace_words.h)
  std::string id;                     // empty: none
  size_t id_word = 0;                 // which of the words the id is; 0: none
  std::optional<int64_t> timeout_ns;  // 0: for ever
  std::optional<int64_t> max_wait_ns;
  std::optional<int64_t> hold_ns;                  // > 0
  std::optional<algorithms::CarryOver> on_change;  // of the limits that are no policy's

  // Answers how much memory the request holds beside itself.
  size_t heap_bytes() const;
  int64_t cost(size_t limit) const { return costs.size() == 1 ? costs[0] : costs[limit]; }
  // Nothing is asked for but to take.
  bool only_takes() const { return !upto && !force && !shadow && !hold_ns; }
  // A request of cost 0 asks for nothing: it is allowed in any state and never waits.
  bool asks() const {
    return std::any_of(costs.begin(), costs.end(), [](int64_t cost) { return cost > 0; });
  }
};

// Parses a request. The error is a whole line, "ERR ...". Without `zones` no limit may have one.
Result<LimiterRequest, std::string> parse_request(Args words, uint32_t options,
                                                  const algorithms::Zones* zones = nullptr);

// Parses a number of permits for all limits, or one for each, at most kCostsMax, with commas
// between. The error is a whole line, which calls the argument `name`.
Result<std::vector<int64_t>, std::string> parse_costs(std::string_view name, std::string_view text);

// Checks what can only be told once a policy's limits are known: there must be as many costs as
// limits. The error is a whole line.
Result<void, std::string> check_fit(const LimiterRequest& request, size_t limits);

// The error lines of a policy's name and of an ID that are empty or too long.
std::string policy_name_error(std::string_view name);
std::string id_error(std::string_view id);

}  // namespace weir::server
