#include "server/limiter/take/adapt.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "algorithms/limit_text.h"
#include "algorithms/words.h"
#include "server/command/arguments.h"
#include "server/limiter/policy/request.h"
#include "server/limiter/take/limiter.h"
#include "server/limiter/take/limiters.h"

namespace weir::server {
namespace {

using algorithms::Limit;

void reply_counts(Call& call, std::span<const std::string> names, std::span<const Limit> limits) {
  call.reply.array(
      std::ranges::count_if(limits, [](const Limit& limit) { return limit.adaptive.is_set(); }));
  for (size_t i = 0; i < limits.size(); ++i) {
    const algorithms::Adaptive& rule = limits[i].adaptive;
    if (!rule.is_set()) continue;
    call.reply.array(4);
    call.reply.bulk(algorithms::limit_name(names, limits[i], i));
    call.reply.integer(limits[i].count);
    call.reply.integer(rule.min);
    call.reply.integer(rule.max);
  }
}

std::vector<Limit> limits_of(std::span<const HeldLimit> held) {
  std::vector<Limit> limits;
  for (const HeldLimit& each : held) limits.push_back(each.limit);
  return limits;
}

}  // namespace

void report_to_key(Call& call, std::string_view key, const algorithms::Report& report) {
  auto limiter = Limiter::read(call, key);
  if (!limiter) return;
  if (!limiter->exists()) return call.reply.null_array();
  if (limiter->all().empty()) return call.reply.error(kWrongType);
  bool any = false;
  bool told = false;
  for (HeldLimit& held : limiter->named()) {
    if (!held.limit.adaptive.is_set()) continue;
    any = true;
    if (held.adaptive.is_shared) continue;
    told = true;
    const int64_t count = algorithms::count_after(held.limit, held.adaptive, report);
    algorithms::change_count(held.limit, held.state, count, call.now_ns);
    held.used_before = algorithms::used_permits(held.limit, held.state, call.now_ns);
  }
  if (!any) {
    return call.reply.error("ERR no limit that the key was last used with has ADAPTIVE: " +
                            algorithms::format_limits(limits_of(limiter->named())));
  }
  if (!told) {
    return call.reply.error(
        "ERR the key's counts are those of its policy, which RL.POLICY REPORT changes");
  }
  limiter->save();
  reply_counts(call, {}, limits_of(limiter->named()));
}

void report_to_policy(Call& call, std::string_view name, const algorithms::Report& report) {
  Policies& policies = call.limiters.policies;
  if (name.size() > kPolicyNameBytesMax || policies.find(name) == nullptr) {
    return call.reply.error("ERR no policy is named '" + algorithms::shown(name) +
                            "'; RL.POLICY SET makes one");
  }
  const auto done = policies.report(name, report);
  if (!done) return call.reply.error(done.error());
  const Policy* policy = policies.find(name);
  reply_counts(call, policy->names, policy->limits);
}

}  // namespace weir::server
