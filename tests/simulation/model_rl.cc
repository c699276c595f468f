// RL.TAKE, PEEK, REFUND and RESET in the model, on keys named rl:N, each under one set of limits.
//
// The verdicts are the algorithms' own: they have their laws elsewhere. What is modelled is what
// the server does with them: which limits are charged, what is kept, until when, and what a crash
// leaves of it.
#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/limit_text.h"
#include "algorithms/limiter_record.h"
#include "algorithms/take_all.h"
#include "tests/simulation/model.h"
#include "tests/simulation/violation.h"

namespace weir::simulation {
namespace {

using algorithms::LimitState;
using States = std::vector<LimitState>;

struct Asked {
  std::vector<algorithms::Limit> limits;
  int64_t cost = 1;
};

Asked parse(const Args& args) {
  const std::vector<std::string_view> words(args.begin() + 2, args.end());
  const auto parsed = algorithms::parse_limits(words);
  if (!parsed) throw Violation("the simulation asks for no limit: " + parsed.error());
  const bool has_cost = parsed->words < words.size();
  return {parsed->limits, has_cost ? std::stoll(std::string(words.back())) : 1};
}

States load(const Record& record) {
  States states(algorithms::kLimitsMax);
  const auto head = algorithms::read_record(record.text, states);
  if (!head) throw Violation("the model holds a record that is none");
  states.resize(head->limits);
  return states;
}

States load_or_fresh(const Step& step, const Record* record, const Asked& asked) {
  if (record != nullptr) return load(*record);
  States states;
  for (const auto& limit : asked.limits) {
    states.push_back({limit, algorithms::fresh_state(limit, step.now_ns)});
  }
  return states;
}

void store(const Step& step, const States& states) {
  int64_t gone_ns = 0;
  for (const LimitState& each : states) {
    const auto& algorithm = *each.limit.algorithm;
    gone_ns = std::max(gone_ns, algorithm.expires_at_ns(each.limit, each.state));
  }
  if (gone_ns <= step.now_ns) {
    step.contents().records.erase(step.args[1]);
    return;
  }
  Record record{.is_limiter = true};
  algorithms::write_record(states, record.text);
  const int64_t expires_ms = algorithms::expires_at_ms(states);
  record.expire_at_ms = expires_ms == algorithms::kNever ? 0 : expires_ms;
  step.contents().put(step.args[1], std::move(record), step.now_ms());
}

std::vector<algorithms::Guard> guards_of(States* states, int64_t cost) {
  std::vector<algorithms::Guard> guards;
  for (LimitState& each : *states) {
    guards.push_back({.limit = &each.limit, .state = &each.state, .cost = cost});
  }
  return guards;
}

int64_t milliseconds(int64_t duration_ns) {
  return duration_ns == algorithms::kNever ? -1 : (duration_ns + 999'999) / 1'000'000;
}

Expected reply_of(const algorithms::Verdict& verdict, size_t index) {
  return exactly(
      array({integer(verdict.allowed ? 1 : 0), integer(verdict.limit), integer(verdict.remaining),
             integer(milliseconds(verdict.retry_after_ns)),
             integer(milliseconds(verdict.reset_after_ns)), integer(static_cast<int64_t>(index))}));
}

Expected decide(const Step& step, bool peek) {
  const Record* record = step.find(step.args[1]);
  if (record != nullptr && !record->is_limiter) return wrong_type();
  const Asked asked = parse(step.args);
  States states = load_or_fresh(step, record, asked);
  auto guards = guards_of(&states, asked.cost);
  const auto all =
      algorithms::take_all(guards, {.now_ns = step.now_ns, .peek = peek, .wall = step.wall});
  const bool changed =
      std::any_of(guards.begin(), guards.end(), [](const auto& g) { return g.verdict.changed; });
  if (changed && !peek) store(step, states);
  return reply_of(guards[all.deciding].verdict, all.deciding);
}

Expected take(const Step& step) { return decide(step, false); }
Expected peek(const Step& step) { return decide(step, true); }

Expected refund(const Step& step) {
  const Record* record = step.find(step.args[1]);
  if (record == nullptr) return null();
  if (!record->is_limiter) return wrong_type();
  States states = load(*record);
  bool changed = false;
  for (LimitState& each : states) {
    changed |= algorithms::refund(
                   each.limit, each.state,
                   {.now_ns = step.now_ns, .permits = std::stoll(step.args[2]), .wall = step.wall})
                   .changed;
  }
  if (changed) store(step, states);
  auto guards = guards_of(&states, 0);
  const auto all =
      algorithms::take_all(guards, {.now_ns = step.now_ns, .peek = true, .wall = step.wall});
  return reply_of(guards[all.deciding].verdict, all.deciding);
}

Expected reset(const Step& step) {
  const Record* record = step.find(step.args[1]);
  if (record != nullptr && !record->is_limiter) return wrong_type();
  if (record == nullptr) return number(0);
  step.contents().records.erase(step.args[1]);
  return number(1);
}

}  // namespace

RunInModel rl_in_model(std::string_view name) {
  if (name == "RL.TAKE") return take;
  if (name == "RL.PEEK") return peek;
  if (name == "RL.REFUND") return refund;
  if (name == "RL.RESET") return reset;
  return nullptr;
}

}  // namespace weir::simulation
