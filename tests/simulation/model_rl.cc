// RL.TAKE, PEEK, REFUND, REPORT and RESET in the model, on keys named rl:N, each under one set of
// limits, with holds, which are not settled here, and bans.
//
// The verdicts are the algorithms' own: they have their laws elsewhere. What is modelled is what
// the server does with them: which limits are charged, what is kept, until when, and what a crash
// leaves of it.
#include <algorithm>
#include <string>
#include <vector>

#include "algorithms/adaptive.h"
#include "algorithms/limit_text.h"
#include "algorithms/limiter_record.h"
#include "algorithms/take_all.h"
#include "base/time_units.h"
#include "server/limiter/take/limiter.h"
#include "server/os/time_zones.h"
#include "tests/simulation/model.h"
#include "tests/simulation/violation.h"

namespace weir::simulation {
namespace {

using algorithms::LimitState;

// The limits of a key, and how often it has changed since it has holds.
struct States : std::vector<LimitState> {
  using std::vector<LimitState>::vector;
  uint64_t changes = 0;
};

const algorithms::Zones& zones() {
  static const server::TimeZones zones;
  return zones.given();
}

struct Asked {
  std::vector<algorithms::Limit> limits;
  int64_t cost = 1;
  int64_t hold_ns = 0;
};

Asked parse(const Args& args) {
  const std::vector<std::string_view> words(args.begin() + 2, args.end());
  const auto parsed = algorithms::parse_limits(words, 0, &zones());
  if (!parsed) throw Violation("the simulation asks for no limit: " + parsed.error());
  Asked asked{.limits = parsed->limits};
  for (size_t at = parsed->words; at + 1 < words.size(); at += 2) {
    const int64_t value = std::stoll(std::string(words[at + 1]));
    if (words[at] == "COST") asked.cost = value;
    if (words[at] == "HOLD") asked.hold_ns = value * kNsPerMs;
  }
  return asked;
}

States load(const Record& record, int64_t now_ns) {
  States states(algorithms::kLimitsMax);
  const auto head = algorithms::read_record(record.text, states, &zones());
  if (!head) throw Violation("the model holds a record that is none");
  states.resize(head->limits);
  states.changes = head->changes.value_or(0);
  if (record.held_until_ns == 0) return states;
  for (LimitState& each : states) {
    if (each.limit.algorithm->used == nullptr) continue;
    each.low_water.note(states.changes, algorithms::used(each.limit, each.state, now_ns));
  }
  return states;
}

// What gave permits back, or made the limit smaller, is a low.
void note_lows(States* states, int64_t now_ns) {
  for (LimitState& each : *states) {
    const auto marks = each.low_water.marks();
    const int64_t used = algorithms::used(each.limit, each.state, now_ns);
    if (!marks.empty() && used < marks.back().used) each.low_water.note(states->changes, used);
  }
}

States load_or_fresh(const Step& step, const Record* record, const Asked& asked) {
  States states;
  if (record != nullptr) {
    states = load(*record, step.now_ns);
    for (LimitState& each : states) algorithms::follow_ban(each.limit.ban, each.ban, step.now_ns);
    return states;
  }
  for (const auto& limit : asked.limits) {
    states.push_back({limit, algorithms::fresh_state(limit, step.now_ns)});
    if (limit.adaptive.is_set()) states.back().adaptive.round_ns = step.now_ns;
  }
  return states;
}

// What of adaptive limits was used before this step; 0 for those that are new.
std::vector<int64_t> used_before(const Step& step, size_t limits) {
  std::vector<int64_t> used(limits);
  const Record* record = step.find(step.args[1]);
  if (record == nullptr) return used;
  const States before = load(*record, step.now_ns);
  for (size_t i = 0; i < limits; ++i) {
    used[i] = algorithms::used_permits(before[i].limit, before[i].state, step.now_ns);
  }
  return used;
}

// Counts what was taken; answers until when the limits are kept for reports.
int64_t touch_adaptive(const Step& step, States* states, bool takes) {
  int64_t kept_ns = 0;
  for (size_t i = 0; i < states->size(); ++i) {
    LimitState& each = (*states)[i];
    if (!each.limit.adaptive.is_set()) continue;
    if (takes) {
      algorithms::count_taken(each.adaptive,
                              algorithms::used_permits(each.limit, each.state, step.now_ns) -
                                  used_before(step, states->size())[i]);
    }
    each.adaptive.touched_ns = step.now_ns;
    kept_ns = step.now_ns + algorithms::kAdaptiveKeptNs;
  }
  return kept_ns;
}

void store(const Step& step, States states, int64_t held_until_ns, bool takes = true) {
  if (held_until_ns <= step.now_ns) held_until_ns = 0;
  int64_t gone_ns = std::max(held_until_ns, touch_adaptive(step, &states, takes));
  for (const LimitState& each : states) {
    const auto& algorithm = *each.limit.algorithm;
    gone_ns = std::max({gone_ns, algorithm.expires_at_ns(each.limit, each.state),
                        algorithms::ban_expires_at_ns(each.limit.ban, each.ban)});
  }
  if (gone_ns <= step.now_ns) {
    step.contents().records.erase(step.args[1]);
    return;
  }
  Record record{.is_limiter = true, .held_until_ns = held_until_ns};
  if (held_until_ns != 0) {
    ++states.changes;
    note_lows(&states, step.now_ns);
  }
  algorithms::append_record(
      {.limits = states.size(),
       .named = states.size(),
       .holds = held_until_ns != 0,
       .changes = held_until_ns != 0 ? std::optional(states.changes) : std::nullopt},
      states, record.text);
  const int64_t expires_ms = algorithms::units_up(gone_ns, kNsPerMs);
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

int64_t held_until(const Record* record) { return record == nullptr ? 0 : record->held_until_ns; }

// The limit whose ban runs longest, if any does.
size_t banned_limit(const Step& step, const States& states) {
  size_t longest = states.size();
  int64_t rest_ns = 0;
  for (size_t i = 0; i < states.size(); ++i) {
    if (algorithms::ban_rest(states[i].ban, step.now_ns) <= rest_ns) continue;
    rest_ns = algorithms::ban_rest(states[i].ban, step.now_ns);
    longest = i;
  }
  return longest;
}

Expected denied_by_ban(const Step& step, States* states, const Asked& asked, size_t limit) {
  const algorithms::AllRequest look{.now_ns = step.now_ns, .peek = true, .wall = step.wall};
  auto guards = guards_of(states, asked.cost);
  const auto own = algorithms::take_all(guards, look);
  const int64_t own_ns = own.allowed ? 0 : guards[own.deciding].verdict.retry_after_ns;
  auto plain = guards_of(states, 0);
  algorithms::take_all(plain, look);
  algorithms::Verdict verdict = plain[limit].verdict;
  verdict.allowed = false;
  verdict.retry_after_ns =
      std::max(own_ns, algorithms::ban_rest((*states)[limit].ban, step.now_ns));
  return reply_of(verdict, limit);
}

// Counts the denials; answers how long the ban is that begins, 0 if none does.
int64_t count_denials(const Step& step, const std::vector<algorithms::Guard>& guards,
                      States* states, bool* changed) {
  int64_t begun_ns = 0;
  for (size_t i = 0; i < guards.size(); ++i) {
    LimitState& each = (*states)[i];
    if (!each.limit.ban.is_set() || guards[i].verdict.allowed) continue;
    *changed = true;
    if (algorithms::count_denial(each.limit.ban, each.ban, step.now_ns)) {
      begun_ns = std::max(begun_ns, each.limit.ban.for_ns);
    }
  }
  return begun_ns;
}

Expected decide(const Step& step, bool peek) {
  const Record* record = step.find(step.args[1]);
  if (record != nullptr && !record->is_limiter) return wrong_type();
  const Asked asked = parse(step.args);
  States states = load_or_fresh(step, record, asked);
  const size_t banned = banned_limit(step, states);
  if (banned < states.size() && asked.cost > 0) return denied_by_ban(step, &states, asked, banned);
  auto guards = guards_of(&states, asked.cost);
  const auto all =
      algorithms::take_all(guards, {.now_ns = step.now_ns, .peek = peek, .wall = step.wall});
  bool changed =
      std::any_of(guards.begin(), guards.end(), [](const auto& g) { return g.verdict.changed; });
  algorithms::Verdict verdict = guards[all.deciding].verdict;
  if (!all.allowed && !peek) {
    verdict.retry_after_ns =
        std::max(verdict.retry_after_ns, count_denials(step, guards, &states, &changed));
  }
  const bool holds = asked.hold_ns > 0 && all.allowed && !peek;
  const bool held = holds && asked.cost > 0;
  const int64_t until_ns = held ? step.now_ns + asked.hold_ns + server::kLateSettleNs : 0;
  if (changed && !peek) store(step, states, std::max(held_until(record), until_ns));
  Expected expected = reply_of(verdict, all.deciding);
  if (held) expected.kind = Expected::Kind::kWithId;
  if (holds && !held) expected.value.elements.push_back(null().value);
  return expected;
}

Expected take(const Step& step) {
  return step.args[2] == "POLICY" ? take_by_policy(step) : decide(step, false);
}
Expected peek(const Step& step) { return decide(step, true); }

Expected refund(const Step& step) {
  const Record* record = step.find(step.args[1]);
  if (record == nullptr) return null();
  if (!record->is_limiter) return wrong_type();
  States states = load(*record, step.now_ns);
  bool changed = false;
  for (LimitState& each : states) {
    changed |= algorithms::refund(
                   each.limit, each.state,
                   {.now_ns = step.now_ns, .permits = std::stoll(step.args[2]), .wall = step.wall})
                   .changed;
  }
  if (changed) store(step, states, record->held_until_ns);
  auto guards = guards_of(&states, 0);
  const auto all =
      algorithms::take_all(guards, {.now_ns = step.now_ns, .peek = true, .wall = step.wall});
  return reply_of(guards[all.deciding].verdict, all.deciding);
}

Expected report(const Step& step) {
  const Record* record = step.find(step.args[1]);
  if (record == nullptr) return null();
  if (!record->is_limiter) return wrong_type();
  States states = load(*record, step.now_ns);
  resp::Value counts = array({});
  for (size_t i = 0; i < states.size(); ++i) {
    LimitState& each = states[i];
    const algorithms::Adaptive& rule = each.limit.adaptive;
    if (!rule.is_set()) continue;
    const int64_t count = algorithms::count_after(
        each.limit, each.adaptive, {.now_ns = step.now_ns, .failed = step.args[2] == "FAIL"});
    algorithms::change_count(each.limit, each.state, count, step.now_ns);
    counts.elements.push_back(array({bulk(algorithms::limit_name({}, each.limit, i)),
                                     integer(count), integer(rule.min), integer(rule.max)}));
  }
  if (counts.elements.empty()) return error("ERR no limit that the key was");
  store(step, states, record->held_until_ns, false);
  return exactly(std::move(counts));
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
  if (name == "RL.REPORT") return report;
  if (name == "RL.RESET") return reset;
  return nullptr;
}

}  // namespace weir::simulation
