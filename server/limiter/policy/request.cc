#include "server/limiter/policy/request.h"

#include <algorithm>

#include "algorithms/algorithm.h"
#include "algorithms/ban.h"
#include "algorithms/grammar.h"
#include "algorithms/limit_text.h"
#include "algorithms/limiter_record.h"
#include "algorithms/rate_text.h"
#include "algorithms/words.h"
#include "base/ascii.h"
#include "base/heap_bytes.h"
#include "base/trace_parent.h"
#include "resp/numbers.h"
#include "server/limiter/policy/policy_words.h"
#include "server/limiter/policy/request_hints.h"

namespace weir::server {
namespace {

using Done = Result<void, std::string>;

struct WordRow {
  RequestOption option;
  std::string_view name;
  bool has_value;
};
constexpr WordRow kOptions[] = {
    {kCostOption, "COST", true},         {kKeyCostsOption, "KEYCOSTS", true},
    {kUptoOption, "UPTO", false},        {kShadowOption, "SHADOW", false},
    {kForceOption, "FORCE", false},      {kIdOption, "ID", true},
    {kTimeoutOption, "TIMEOUT", true},   {kMaxWaitOption, "MAXWAIT", true},
    {kHoldOption, "HOLD", true},         {kFullOption, "FULL", false},
    {kHeadersOption, "HEADERS", false},  {kLegacyOption, "LEGACY", false},
    {kProblemOption, "PROBLEM", false},  {kPartitionOption, "PARTITION", false},
    {kOnChangeOption, "ONCHANGE", true}, {kTraceOption, kTraceWord, true},
};

// Every limit of every key with every option; the words of ADAPTIVE, AS and EACH, and the options
// of the request.
constexpr size_t kAlgorithmWords = 1 + 3 + 2 * algorithms::kOptionsMax;
constexpr size_t kLimitWords = kAlgorithmWords + 4 + algorithms::kBanWords + 2;
constexpr size_t kOptionWords = 2 * std::size(kOptions);
static_assert(kCostsMax == algorithms::kLimitsMax * algorithms::kLimitsMax);
static_assert(kCostsMax * kLimitWords + algorithms::kLimitsMax * 3 + kOptionWords <=
              kRequestWordsMax);

// The digits of kCostMax, and a comma.
constexpr size_t kCostBytesMax = 14;

class RequestReader {
 public:
  RequestReader(Args words, uint32_t options, const algorithms::Zones* zones)
      : words_(words), accepted_(options), zones_(zones) {}

  Result<LimiterRequest, std::string> read() {
    if (words_.size() > kRequestWordsMax) {
      return "ERR syntax error: limits and options are at most " +
             std::to_string(kRequestWordsMax) + " words, got " + std::to_string(words_.size());
    }
    if (auto done = read_limits(); !done) return done.error();
    while (at_ < words_.size()) {
      if (auto done = read_option(); !done) return done.error();
    }
    if ((accepted_ & kTimeoutOption) != 0 && !request_.timeout_ns) {
      return std::string("ERR TIMEOUT must be given: 10s or 10000, 0 waits for ever");
    }
    if (request_.force && (request_.upto || request_.shadow)) {
      return std::string("ERR syntax error: FORCE goes neither with UPTO nor with SHADOW");
    }
    const bool has_key_costs = !request_.key_costs.empty();
    if (request_.upto && (request_.costs.size() > 1 || has_key_costs)) {
      return std::string("ERR syntax error: UPTO takes one COST for all limits");
    }
    if (has_key_costs && (seen_ & kCostOption) != 0) {
      return std::string("ERR syntax error: COST and KEYCOSTS exclude each other");
    }
    return request_;
  }

 private:
  bool next_is(std::string_view word) const {
    return at_ < words_.size() && equals_ignoring_case(words_[at_], word);
  }

  Done read_limits() {
    if ((accepted_ & kLimitsOfEach) != 0 && next_is("EACH")) return read_each();
    if (auto done = read_list(&request_); !done) return done;
    if (!request_.empty() || (accepted_ & kLimitsMayLack) != 0) return {};
    return no_limit();
  }

  Done read_each() {
    while (next_is("EACH")) {
      if (request_.each.size() == algorithms::kLimitsMax) {
        return "ERR syntax error: EACH stands once for each key, at most " +
               std::to_string(algorithms::kLimitsMax) + " times";
      }
      ++at_;
      request_.each.emplace_back();
      if (auto done = read_list(&request_.each.back()); !done) return done;
      if (request_.each.back().empty()) return no_limit();
    }
    return {};
  }

  Done read_list(AskedLimits* list) {
    while (true) {
      const size_t before = list->limits.size() + (list->policy.empty() ? 0 : 1);
      auto parsed = algorithms::parse_limits(words_.subspan(at_), before, zones_);
      if (!parsed) return "ERR " + parsed.error();
      at_ += parsed->words;
      append(std::move(*parsed), list);
      if (!next_is("POLICY")) return {};
      if (auto done = read_policy(list); !done) return done;
    }
  }

  static void append(algorithms::ParsedLimits parsed, AskedLimits* list) {
    if (!parsed.names.empty() || !list->names.empty()) {
      list->names.resize(list->limits.size());
      parsed.names.resize(parsed.limits.size());
      list->names.insert(list->names.end(), parsed.names.begin(), parsed.names.end());
    }
    list->limits.insert(list->limits.end(), parsed.limits.begin(), parsed.limits.end());
  }

  Done no_limit() const {
    if (at_ == words_.size()) return "ERR a limit must be given: " + limit_form();
    return "ERR syntax error at " + algorithms::quoted(words_[at_]) +
           ": a limit must come here: " + limit_form() + hint_about(words_[at_], false);
  }

  static std::string limit_form() {
    return "a rate such as 100/1m, " + algorithms::algorithm_names() +
           " with its rate, or POLICY with a name";
  }

  Done read_policy(AskedLimits* list) {
    ++at_;
    if (at_ == words_.size()) return std::string("ERR POLICY must be followed by a name");
    const std::string_view name = words_[at_];
    if (name.empty() || name.size() > kPolicyNameBytesMax) return policy_name_error(name);
    if (!list->policy.empty()) {
      return "ERR syntax error at POLICY " + algorithms::quoted(name) +
             ": a key takes one policy, and " + algorithms::quoted(list->policy) +
             " was named before";
    }
    list->policy = name;
    list->policy_at = list->limits.size();
    ++at_;
    return {};
  }

  Done read_option() {
    const std::string_view word = words_[at_];
    const auto row = std::find_if(std::begin(kOptions), std::end(kOptions), [&](const auto& each) {
      return (accepted_ & each.option) != 0 && equals_ignoring_case(each.name, word);
    });
    if (row == std::end(kOptions)) return unknown(word);
    const std::string name(row->name);
    if ((seen_ & row->option) != 0) return "ERR syntax error: " + name + " is given twice";
    seen_ |= row->option;
    ++at_;
    if (!row->has_value) return set_flag(row->option);
    if (at_ == words_.size()) return "ERR syntax error: " + name + " must be followed by a value";
    return set_value(row->option, words_[at_++]);
  }

  Done set_flag(RequestOption option) {
    if (option == kUptoOption) request_.upto = true;
    if (option == kShadowOption) request_.shadow = true;
    if (option == kForceOption) request_.force = true;
    if (option == kLegacyOption) request_.legacy = true;
    if (option == kProblemOption) request_.problem = true;
    if (option == kPartitionOption) request_.partition = true;
    if ((option & kAllHeaders) != 0) request_.headers = true;
    if (request_.headers || option == kFullOption) request_.full = true;
    return {};
  }

  Done set_value(RequestOption option, std::string_view text) {
    if (option == kCostOption) return set_costs("COST", text, &request_.costs);
    if (option == kKeyCostsOption) return set_costs("KEYCOSTS", text, &request_.key_costs);
    if (option == kIdOption) return set_id(text);
    if (option == kOnChangeOption) return set_on_change(text);
    if (option == kHoldOption) return set_hold(text);
    if (option == kTraceOption) return check_trace(text);
    const auto time_ns = algorithms::parse_time(text);
    const bool timeout = option == kTimeoutOption;
    if (!time_ns || *time_ns > kTimeoutNsMax) {
      return std::string("ERR ") + (timeout ? "TIMEOUT" : "MAXWAIT") + " must be " +
             std::string(algorithms::kTimeForm) + ", at most " +
             algorithms::format_duration(kTimeoutNsMax) + ", got " + algorithms::quoted(text);
    }
    (timeout ? request_.timeout_ns : request_.max_wait_ns) = *time_ns;
    return {};
  }

  // Not without a unit: most who leave it out think of seconds.
  Done set_hold(std::string_view text) {
    const auto time_ns = request_.hold_ns = algorithms::parse_duration(text);
    if (time_ns && *time_ns > 0 && *time_ns <= kHoldNsMax) return {};
    return "ERR HOLD must be " + std::string(algorithms::kDurationForm) + ", above 0 and at most " +
           algorithms::format_duration(kHoldNsMax) + ", got " + algorithms::quoted(text);
  }

  Done check_trace(std::string_view text) {
    request_.traced = true;
    if (parse_trace_parent(text)) return {};
    return "ERR TRACEPARENT must be as W3C Trace Context has it, such as "
           "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, got " +
           algorithms::quoted(text);
  }

  Done set_on_change(std::string_view text) {
    if (!request_.policy.empty() && request_.limits.empty())
      return std::string("ERR syntax error: a policy's ONCHANGE is set by RL.POLICY SET");
    request_.on_change = parse_mode(text);
    if (request_.on_change) return {};
    return "ERR ONCHANGE must be USED, RESET, ASIS, PROPORTIONAL or ADDITIVE, got " +
           algorithms::quoted(text);
  }

  Done set_id(std::string_view text) {
    if (text.empty() || text.size() > kIdBytesMax) {
      return id_error(text);
    }
    request_.id = text;
    request_.id_word = at_ - 1;  // it was read
    return {};
  }

  static Done set_costs(std::string_view name, std::string_view text, std::vector<int64_t>* costs) {
    auto parsed = parse_costs(name, text);
    if (!parsed) return parsed.error();
    *costs = std::move(*parsed);
    return {};
  }

  Done unknown(std::string_view word) const {
    std::vector<std::string_view> names;
    for (const WordRow& row : kOptions) {
      if ((accepted_ & row.option) != 0) names.push_back(row.name);
    }
    const AskedLimits& last = request_.each.empty() ? request_ : request_.each.back();
    std::string text = "ERR syntax error at " + algorithms::quoted(word) + ": expected ";
    if (seen_ == 0 && !last.empty()) {
      if (last.policy.empty() || last.policy_at < last.limits.size()) {
        const auto& algorithm = *last.limits.back().algorithm;
        text += "an option of " + std::string(algorithm.name) + " (" +
                algorithms::option_names(algorithm) + "), ";
      }
      text += "another limit, or ";
    }
    return text + (names.empty() ? "nothing" : algorithms::list_of(names)) +
           hint_about(word, seen_ != 0);
  }

  Args words_;
  uint32_t accepted_;
  const algorithms::Zones* zones_;
  size_t at_ = 0;
  uint32_t seen_ = 0;
  LimiterRequest request_;
};

}  // namespace

std::string policy_name_error(std::string_view name) {
  return "ERR a policy's name must have 1 to " + std::to_string(kPolicyNameBytesMax) +
         " bytes, got " + std::to_string(name.size());
}

std::string id_error(std::string_view id) {
  return "ERR ID must have 1 to " + std::to_string(kIdBytesMax) + " bytes, got " +
         std::to_string(id.size());
}

Result<std::vector<int64_t>, std::string> parse_costs(std::string_view name,
                                                      std::string_view text) {
  std::vector<int64_t> costs;
  if (text.size() > kCostsMax * kCostBytesMax) text = text.substr(0, kCostsMax * kCostBytesMax);
  for (size_t begin = 0; begin <= text.size();) {
    if (costs.size() == kCostsMax) {
      return "ERR " + std::string(name) + " takes at most " + std::to_string(kCostsMax) +
             " numbers, one for each limit of each key";
    }
    const size_t end = std::min(text.find(',', begin), text.size());
    const auto cost = resp::parse_int64(text.substr(begin, end - begin));
    if (!cost || *cost < 0 || *cost > algorithms::kCostMax) {
      return "ERR " + std::string(name) + " must be an integer " +
             algorithms::between(0, algorithms::kCostMax) +
             ", or one for each limit with commas between, got " + algorithms::quoted(text);
    }
    costs.push_back(*cost);
    begin = end + 1;
  }
  return costs;
}

size_t LimiterRequest::heap_bytes() const {
  const auto of = [](const AskedLimits& asked) {
    return weir::heap_bytes(asked.limits) + weir::heap_bytes(asked.names) +
           weir::heap_bytes(asked.policy);
  };
  size_t bytes = of(*this) + weir::heap_bytes(each) + weir::heap_bytes(costs) +
                 weir::heap_bytes(key_costs) + weir::heap_bytes(id);
  for (const AskedLimits& asked : each) bytes += of(asked);
  return bytes;
}

Result<LimiterRequest, std::string> parse_request(Args words, uint32_t options,
                                                  const algorithms::Zones* zones) {
  return RequestReader(words, options, zones).read();
}

Result<void, std::string> check_fit(const LimiterRequest& request, size_t limits) {
  if (request.costs.size() > 1 && request.costs.size() != limits) {
    return "ERR COST must be one number, or one for each of the " + std::to_string(limits) +
           " limits, got " + std::to_string(request.costs.size());
  }
  return {};
}

}  // namespace weir::server
