// Feeds the parser of RL.* requests arbitrary words, and demands that every refusal is one line
// that begins with "ERR ", and that what is accepted is in range, is written and read back as the
// same limit, is kept in a record and read back, and can be decided on.
//
// Input: a byte that says which options the command takes, then the words, with spaces between.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/algorithm.h"
#include "algorithms/limit_text.h"
#include "algorithms/limiter_record.h"
#include "server/limiter/policy/request.h"
#include "server/limiter/policy/request_cache.h"
#include "server/os/time_zones.h"

namespace {

using weir::algorithms::Limit;
using weir::algorithms::LimitState;
using weir::server::LimiterRequest;
using Words = std::vector<std::string_view>;

constexpr int64_t kNowNs = 1'700'000'000'123'456'789;
constexpr size_t kErrorBytesMax = 1'000;

constexpr uint32_t kShown = weir::server::kFullOption | weir::server::kHeadersOption;
constexpr uint32_t kTaken = weir::server::kCostOption | weir::server::kUptoOption |
                            weir::server::kShadowOption | weir::server::kForceOption |
                            weir::server::kIdOption | weir::server::kHoldOption |
                            weir::server::kFullOption;

// As RL.TAKE, PEEK, MTAKE, ACQUIRE and RESERVE take them.
constexpr uint32_t kCommands[] = {
    kTaken | kShown, weir::server::kCostOption | weir::server::kLimitsMayLack | kShown,
    kTaken | weir::server::kLimitsOfEach,
    weir::server::kCostOption | weir::server::kIdOption | weir::server::kTimeoutOption | kShown,
    weir::server::kCostOption | weir::server::kIdOption | weir::server::kMaxWaitOption};

const weir::algorithms::Zones& zones() {
  static const weir::server::TimeZones zones;
  return zones.given();
}

void check(bool holds) {
  if (!holds) std::abort();
}

Words words_of(std::string_view text) {
  Words words;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

void check_error(std::string_view error) {
  check(error.starts_with("ERR "));
  check(error.size() <= kErrorBytesMax);
  check(std::all_of(error.begin(), error.end(), [](char c) { return c >= ' ' && c <= '~'; }));
}

void check_text(const Limit& limit, weir::algorithms::LimitStyle style) {
  const std::string text = weir::algorithms::format_limit(limit, style);
  const Words words = words_of(text);
  const auto again = weir::algorithms::parse_limits(words, 0, &zones());
  check(again && again->words == words.size() && again->limits.size() == 1);
  check(weir::algorithms::same_limit(limit, again->limits[0]));
  check(weir::algorithms::format_limit(again->limits[0], style) == text);
  const std::string whole = weir::algorithms::format_with_ban(limit, style);
  const auto banning = weir::algorithms::parse_limits(words_of(whole), 0, &zones());
  check(banning && banning->limits.size() == 1 && banning->limits[0].ban == limit.ban);
}

void check_limit(const Limit& limit) {
  check(limit.capacity >= 1 && limit.capacity <= weir::algorithms::kCapacityMax);
  check_text(limit, weir::algorithms::LimitStyle::kShort);
  check_text(limit, weir::algorithms::LimitStyle::kWhole);
}

// The limits and names of one key.
void check_asked(const weir::server::AskedLimits& asked) {
  check(asked.limits.size() <= weir::algorithms::kLimitsMax);
  check(asked.names.empty() || asked.names.size() == asked.limits.size());
  check(asked.policy_at <= asked.limits.size());
  check(asked.policy.size() <= weir::server::kPolicyNameBytesMax);
  for (const std::string& name : asked.names) {
    check(name.size() <= weir::algorithms::kLimitNameBytesMax);
  }
  for (const Limit& limit : asked.limits) check_limit(limit);
}

void check_record(const Limit& limit, int64_t cost) {
  LimitState kept{limit, weir::algorithms::fresh_state(limit, kNowNs)};
  const auto seen = weir::algorithms::peek(limit, kept.state, kNowNs, cost);
  check(seen.allowed == (seen.retry_after_ns == 0) && seen.retry_after_ns >= 0);
  check(seen.reset_after_ns >= 0 && seen.remaining >= 0 && seen.remaining <= seen.limit);
  if (!limit.algorithm->uses_entries) {
    weir::algorithms::decide(limit, kept.state, {.now_ns = kNowNs, .cost = cost});
  }
  std::string record;
  weir::algorithms::write_record({&kept, 1}, record);
  LimitState found;
  const auto head = weir::algorithms::read_record(record, {&found, 1}, &zones());
  check(head && head->limits == 1 && weir::algorithms::same_limit(found.limit, limit));
  const auto before = weir::algorithms::peek(limit, kept.state, kNowNs, 1);
  check(before == weir::algorithms::peek(found.limit, found.state, kNowNs, 1));
}

void check_request(const LimiterRequest& request, uint32_t options) {
  check(!request.costs.empty() && request.costs.size() <= 1'000'000);
  for (const int64_t cost : request.costs) check(cost >= 0 && cost <= weir::algorithms::kCostMax);
  check(request.id.size() <= weir::server::kIdBytesMax);
  check(request.each.empty() || request.empty());
  check(!request.empty() || !request.each.empty() || (options & weir::server::kLimitsMayLack) != 0);
  check(request.full || !request.headers);
  check_asked(request);
  for (const auto& asked : request.each) {
    check(!asked.empty());
    check_asked(asked);
  }
  if (const auto fit = weir::server::check_fit(request, request.limits.size()); !fit) {
    return check_error(fit.error());
  }
  for (size_t i = 0; i < request.limits.size(); ++i) {
    check_record(request.limits[i], request.cost(i));
  }
}

// The cache answers what the parser does, at first sight and at the second.
void check_cache(const Words& words, uint32_t options, const LimiterRequest* parsed) {
  static weir::server::RequestCache cache(&zones());
  for (int times = 0; times < 2; ++times) {
    const auto found = cache.parse(words, options);
    check(found.ok() == (parsed != nullptr));
    if (!found) {
      check_error(found.error());
      continue;
    }
    const LimiterRequest* cached = *found;
    check(cached->costs == parsed->costs && cached->policy == parsed->policy);
    check(cached->id == parsed->id && cached->timeout_ns == parsed->timeout_ns);
    check(cached->upto == parsed->upto && cached->shadow == parsed->shadow);
    check(cached->full == parsed->full && cached->headers == parsed->headers);
    check(cached->policy_at == parsed->policy_at && cached->names == parsed->names);
    check(cached->each.size() == parsed->each.size());
    check(cached->force == parsed->force && cached->max_wait_ns == parsed->max_wait_ns);
    check(weir::algorithms::format_limits(cached->limits) ==
          weir::algorithms::format_limits(parsed->limits));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const uint32_t options = kCommands[data[0] % std::size(kCommands)];
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Words words = words_of(text);
  const auto parsed = weir::server::parse_request(words, options, &zones());
  if (parsed) {
    check_request(*parsed, options);
  } else {
    check_error(parsed.error());
  }
  check_cache(words, options, parsed ? &*parsed : nullptr);
  if (!parsed || parsed->id.empty()) return 0;
  Words others = words;  // found by what was parsed for the first token
  others[parsed->id_word] = "another";
  const auto other = weir::server::parse_request(others, options, &zones());
  check(other.ok());
  check_cache(others, options, &*other);
  return 0;
}
