#include "server/limiter/request.h"

#include <algorithm>

#include "algorithms/algorithm.h"
#include "algorithms/limit_text.h"
#include "algorithms/words.h"
#include "base/ascii.h"
#include "resp/numbers.h"

namespace weir::server {
namespace {

using Done = Result<void, std::string>;

struct WordRow {
  RequestOption option;
  std::string_view name;
  bool has_value;
};
constexpr WordRow kOptions[] = {
    {kCostOption, "COST", true},       {kUptoOption, "UPTO", false},
    {kShadowOption, "SHADOW", false},  {kForceOption, "FORCE", false},
    {kIdOption, "ID", true},           {kTimeoutOption, "TIMEOUT", true},
    {kMaxWaitOption, "MAXWAIT", true},
};

std::string quoted(std::string_view word) { return "'" + algorithms::shown(word) + "'"; }

class RequestReader {
 public:
  RequestReader(Args words, uint32_t options) : words_(words), accepted_(options) {}

  Result<LimiterRequest, std::string> read() {
    if (auto done = read_limits(); !done) return done.error();
    while (at_ < words_.size()) {
      if (auto done = read_option(); !done) return done.error();
    }
    if ((accepted_ & kTimeoutOption) != 0 && !request_.timeout_ms) {
      return std::string("ERR TIMEOUT must be given: milliseconds, 0 waits for ever");
    }
    if (request_.force && (request_.upto || request_.shadow)) {
      return std::string("ERR syntax error: FORCE goes neither with UPTO nor with SHADOW");
    }
    if (request_.upto && request_.costs.size() > 1) {
      return std::string("ERR syntax error: UPTO takes one COST for all limits");
    }
    return request_;
  }

 private:
  Done read_limits() {
    if (words_.size() > at_ && equals_ignoring_case(words_[at_], "POLICY")) {
      return read_policy();
    }
    auto parsed = algorithms::parse_limits(words_);
    if (!parsed) return "ERR " + parsed.error();
    at_ = parsed->words;
    request_.limits = std::move(parsed.value().limits);
    if (!request_.limits.empty() || (accepted_ & kLimitsMayLack) != 0) return {};
    if (at_ == words_.size()) return "ERR a limit must be given: " + limit_form();
    return "ERR syntax error at " + quoted(words_[at_]) +
           ": a limit must come here: " + limit_form();
  }

  static std::string limit_form() {
    return algorithms::algorithm_names() + " with its rate, or POLICY with a name";
  }

  Done read_policy() {
    if (words_.size() < 2) return std::string("ERR POLICY must be followed by a name");
    if (words_[1].empty() || words_[1].size() > kPolicyNameBytesMax) {
      return policy_name_error(words_[1]);
    }
    request_.policy = words_[1];
    at_ = 2;
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
    return {};
  }

  Done set_value(RequestOption option, std::string_view text) {
    if (option == kCostOption) return set_costs(text);
    if (option == kIdOption) return set_id(text);
    const auto ms = resp::parse_int64(text);
    const bool timeout = option == kTimeoutOption;
    if (!ms || *ms < 0 || *ms > kTimeoutMsMax) {
      return std::string("ERR ") + (timeout ? "TIMEOUT" : "MAXWAIT") +
             " must be milliseconds between 0 and " + std::to_string(kTimeoutMsMax) + ", got " +
             quoted(text);
    }
    (timeout ? request_.timeout_ms : request_.max_wait_ms) = *ms;
    return {};
  }

  Done set_id(std::string_view text) {
    if (text.empty() || text.size() > kIdBytesMax) {
      return id_error(text);
    }
    request_.id = text;
    return {};
  }

  Done set_costs(std::string_view text) {
    auto costs = parse_costs("COST", text);
    if (!costs) return costs.error();
    request_.costs = std::move(*costs);
    return {};
  }

  Done unknown(std::string_view word) const {
    std::vector<std::string_view> names;
    for (const WordRow& row : kOptions) {
      if ((accepted_ & row.option) != 0) names.push_back(row.name);
    }
    std::string text = "ERR syntax error at " + quoted(word) + ": expected ";
    if (!request_.limits.empty() && seen_ == 0) {
      const auto& algorithm = *request_.limits.back().algorithm;
      const std::string options = algorithms::option_names(algorithm);
      if (!options.empty()) {
        text += "an option of " + std::string(algorithm.name) + " (" + options + "), ";
      }
      text += "another limit, or ";
    }
    return text + (names.empty() ? "nothing" : algorithms::list_of(names));
  }

  Args words_;
  uint32_t accepted_;
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
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const auto cost = resp::parse_int64(text.substr(begin, end - begin));
    if (!cost || *cost < 0 || *cost > algorithms::kCostMax) {
      return "ERR " + std::string(name) + " must be an integer " +
             algorithms::between(0, algorithms::kCostMax) +
             ", or one for each limit with commas between, got " + quoted(text);
    }
    costs.push_back(*cost);
    begin = end + 1;
  }
  return costs;
}

Result<LimiterRequest, std::string> parse_request(Args words, uint32_t options) {
  return RequestReader(words, options).read();
}

Result<void, std::string> check_fit(const LimiterRequest& request,
                                    const std::vector<algorithms::Limit>& limits) {
  if (request.costs.size() > 1 && request.costs.size() != limits.size()) {
    return "ERR COST must be one number, or one for each of the " + std::to_string(limits.size()) +
           " limits, got " + std::to_string(request.costs.size());
  }
  return {};
}

}  // namespace weir::server
