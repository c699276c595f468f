#include "server/limiter/policy/policy_words.h"

#include <iterator>

#include "algorithms/words.h"
#include "base/ascii.h"
#include "resp/numbers.h"
#include "server/limiter/policy/request_hints.h"

namespace weir::server {
namespace {

using algorithms::CarryOver;

// These words have the order of CarryOver.
constexpr std::string_view kModes[] = {"RESET", "ASIS", "PROPORTIONAL", "ADDITIVE", "USED"};
constexpr std::string_view kModeList = "USED, RESET, ASIS, PROPORTIONAL or ADDITIVE";

class PolicyReader {
 public:
  PolicyReader(Args words, const algorithms::Zones& zones,
               algorithms::BareTimes bare_times = algorithms::BareTimes::kRefused)
      : words_(words), zones_(zones), bare_times_(bare_times) {}

  Result<Policy, std::string> read() {
    if (auto done = read_effect(); !done) return done.error();
    while (at_ < words_.size()) {
      if (auto done = read_option(); !done) return done.error();
    }
    return policy_;
  }

  Result<Policy, std::string> read_effect_alone() {
    if (auto done = read_effect(); !done) return done.error();
    if (at_ == words_.size()) return policy_;
    return "ERR syntax error at " + algorithms::quoted(words_[at_]) + ": expected " +
           (policy_.limits.empty() ? "nothing" : "another limit") + hint_about(words_[at_], false);
  }

 private:
  using Done = Result<void, std::string>;

  bool next_is(std::string_view word) const {
    return at_ < words_.size() && equals_ignoring_case(words_[at_], word);
  }

  Done read_effect() {
    if (next_is("UNLIMITED") || next_is("BLOCKED")) {
      policy_.kind = next_is("BLOCKED") ? PolicyKind::kBlocked : PolicyKind::kUnlimited;
      ++at_;
      return {};
    }
    auto parsed = algorithms::parse_limits(words_, 0, &zones_, bare_times_);
    if (!parsed) return "ERR " + parsed.error();
    if (parsed->limits.empty()) {
      return "ERR a limit must be given: a rate such as 100/1m, or " +
             algorithms::algorithm_names() + " with its rate";
    }
    if (const auto apart = algorithms::check_names(parsed->names, parsed->limits); !apart) {
      return "ERR " + apart.error();
    }
    policy_.limits = std::move(parsed->limits);
    policy_.names = std::move(parsed->names);
    at_ = parsed->words;
    return {};
  }

  Done read_option() {
    const std::string_view word = words_[at_];
    const bool limits = policy_.kind == PolicyKind::kLimits;
    if (next_is("ONCHANGE") && !has_mode_) return read_mode();
    if (limits && !has_percent_ && next_is("SHADOW")) {
      ++at_;
      has_percent_ = true;
      policy_.percent = 0;
      return {};
    }
    if (limits && !has_percent_ && next_is("PERCENT")) return read_percent();
    std::string text = "ERR syntax error at " + algorithms::quoted(word) + ": expected ";
    if (limits && !has_percent_ && !has_mode_) text += "another limit, ";
    if (limits && !has_percent_) text += "SHADOW, PERCENT with a number, ";
    if (limits && !has_percent_) text += "or ";
    text += has_mode_ ? "nothing" : "ONCHANGE with " + std::string(kModeList);
    if (equals_ignoring_case(word, "POLICY")) return text + "; a policy names no other";
    if (limits && has_percent_ && (next_is("SHADOW") || next_is("PERCENT")))
      return text + "; SHADOW is PERCENT 0: one of them is given, once";
    return text + (equals_ignoring_case(word, "SHADOW") ? "" : hint_about(word, false));
  }

  Done read_mode() {
    ++at_;
    const auto mode = at_ < words_.size() ? parse_mode(words_[at_]) : std::nullopt;
    if (!mode) {
      return "ERR ONCHANGE must be " + std::string(kModeList) + ", got '" +
             (at_ < words_.size() ? algorithms::shown(words_[at_]) : "nothing") + "'";
    }
    ++at_;
    has_mode_ = true;
    policy_.mode = *mode;
    return {};
  }

  Done read_percent() {
    ++at_;
    const auto percent = at_ < words_.size() ? resp::parse_int64(words_[at_]) : std::nullopt;
    if (!percent || *percent < 0 || *percent > 100) {
      return "ERR PERCENT must be an integer between 0 and 100, got '" +
             (at_ < words_.size() ? algorithms::shown(words_[at_]) : "nothing") + "'";
    }
    ++at_;
    has_percent_ = true;
    policy_.percent = static_cast<uint8_t>(*percent);
    return {};
  }

  Args words_;
  const algorithms::Zones& zones_;
  const algorithms::BareTimes bare_times_;
  size_t at_ = 0;
  bool has_mode_ = false;
  bool has_percent_ = false;
  Policy policy_;
};

}  // namespace

Result<Policy, std::string> parse_policy(Args words, const algorithms::Zones& zones,
                                         algorithms::BareTimes bare_times) {
  return PolicyReader(words, zones, bare_times).read();
}

Result<Policy, std::string> parse_effect(Args words, const algorithms::Zones& zones) {
  return PolicyReader(words, zones).read_effect_alone();
}

std::string effect_text(const Policy& policy, algorithms::LimitStyle style) {
  if (policy.kind == PolicyKind::kUnlimited) return "UNLIMITED";
  if (policy.kind == PolicyKind::kBlocked) return "BLOCKED";
  std::string text = algorithms::format_limits(policy.limits, policy.names, style);
  if (policy.percent == 0) return text + " SHADOW";
  if (policy.percent < 100) text += " PERCENT " + std::to_string(policy.percent);
  return text;
}

std::string policy_text(const Policy& policy) {
  std::string text = effect_text(policy, algorithms::LimitStyle::kShort);
  if (policy.mode == CarryOver::kUsed) return text;
  return text + " ONCHANGE " + std::string(mode_name(policy.mode));
}

std::string_view mode_name(CarryOver mode) { return kModes[static_cast<size_t>(mode)]; }

std::optional<CarryOver> parse_mode(std::string_view word) {
  for (size_t i = 0; i < std::size(kModes); ++i) {
    if (equals_ignoring_case(word, kModes[i])) return static_cast<CarryOver>(i);
  }
  return std::nullopt;
}

}  // namespace weir::server
