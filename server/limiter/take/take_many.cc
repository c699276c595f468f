#include "server/limiter/take/take_many.h"

#include <algorithm>
#include <string>

#include "server/limiter/policy/request_hints.h"
#include "server/limiter/take/decide.h"
#include "server/limiter/take/full_answer.h"
#include "server/limiter/take/holds.h"
#include "server/limiter/take/limiters.h"
#include "server/limiter/take/policy_effect.h"
#include "server/limiter/take/queue.h"
#include "server/limiter/take/record.h"
#include "server/limiter/take/remembered.h"
#include "server/limiter/take/resolve.h"
#include "server/limiter/take/single.h"
#include "server/limiter/take/take.h"

namespace weir::server {
namespace {

using Keys = std::span<const std::string_view>;

// One key with its part of the request.
struct Part {
  Limiter limiter;
  LimiterRequest request;
};

// The limits of each key, before the keys are read, and the policies that are named for them, empty
// for none.
struct Shares {
  std::vector<NamedLimits> limits;
  std::vector<std::string_view> policies;
};

std::string count_error(Keys keys, size_t limits, std::string_view what) {
  return "ERR RL.MTAKE takes " + std::string(what) +
         " for each key: " + std::to_string(keys.size()) + " keys, " + std::to_string(limits) +
         " " + (what == "one limit" ? "limits" : "groups") + hint_about_keys(keys);
}

// The limit of key `i` of `keys` keys. A policy without limits stands for as many keys as there are
// left over by those beside it.
Result<NamedLimits, size_t> share_of(const NamedLimits& all, size_t keys, size_t i) {
  const size_t limits = all.limits.size();
  if (all.kind() == PolicyKind::kBlocked && limits == keys) return all.none();
  if (all.kind() == PolicyKind::kLimits || limits >= keys) {
    return limits == keys ? Result<NamedLimits, size_t>(all.only(i)) : limits;
  }
  const size_t left_over = keys - limits;
  const size_t at = all.policy->at;
  if (i - at < left_over) return all.none();
  return all.only(i < at ? i : i - left_over);
}

// Without EACH limit i is key i's.
Result<Shares, std::string> spread(Call& call, Keys keys, const LimiterRequest& request) {
  Shares shares;
  shares.limits.reserve(keys.size());
  shares.policies.reserve(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto all = expand(call, keys[i], request);
    if (!all) return all.error();
    auto one = share_of(*all, keys.size(), i);
    if (!one) return count_error(keys, one.error(), "one limit");
    shares.policies.push_back(one->policy ? std::string_view(request.policy) : "");
    shares.limits.push_back(std::move(*one));
  }
  return shares;
}

Result<Shares, std::string> shares_of(Call& call, Keys keys, const LimiterRequest& request) {
  if (request.each.empty()) return spread(call, keys, request);
  if (request.each.size() != keys.size()) {
    return count_error(keys, request.each.size(), "one EACH");
  }
  Shares shares;
  for (size_t i = 0; i < keys.size(); ++i) {
    auto limits = expand(call, keys[i], request.each[i]);
    if (!limits) return limits.error();
    shares.policies.push_back(request.each[i].policy);
    shares.limits.push_back(std::move(*limits));
  }
  return shares;
}

// The costs count the limits of all keys, in order, or the keys.
Result<void, std::string> check_shares(const LimiterRequest& request, const Shares& shares) {
  if (!request.key_costs.empty()) {
    if (request.key_costs.size() == shares.limits.size()) return {};
    return "ERR KEYCOSTS must be one number for each of the " +
           std::to_string(shares.limits.size()) + " keys, got " +
           std::to_string(request.key_costs.size());
  }
  size_t all = 0;
  for (const NamedLimits& share : shares.limits) all += share.limits.size();
  if (all == 0) return {};  // policies answer for all keys
  return check_fit(request, all);
}

// `first` of its limits among those of all keys.
LimiterRequest request_of_key(const LimiterRequest& whole, const Shares& shares, size_t key,
                              size_t first) {
  LimiterRequest part;
  part.policy = shares.policies[key];
  const NamedLimits& share = shares.limits[key];
  if (!whole.key_costs.empty()) {
    part.costs = {whole.key_costs[key]};
  } else if (whole.costs.size() == 1 || has_fixed_answer(share)) {
    part.costs = {*std::max_element(whole.costs.begin(), whole.costs.end())};
  } else {
    const auto begin = whole.costs.begin() + static_cast<std::ptrdiff_t>(first);
    part.costs.assign(begin, begin + static_cast<std::ptrdiff_t>(share.limits.size()));
  }
  part.upto = whole.upto;
  part.shadow = whole.shadow;
  part.force = whole.force;
  part.full = whole.full;
  part.hold_ns = whole.hold_ns;
  return part;
}

Result<std::vector<Part>, ErrorReplied> resolve_parts(Call& call, Keys keys,
                                                      const LimiterRequest& request,
                                                      Shares& shares) {
  std::vector<Part> parts;
  size_t first = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    NamedLimits& share = shares.limits[i];
    if (request.on_change) share.own_carry_over = *request.on_change;
    auto limiter = Limiter::read(call, keys[i]);
    if (!limiter) return limiter.error();
    const auto named = limiter->name(share);
    if (!named) return reply_error(call, named.error());
    if (const auto room = check_room_for_hold(call, *limiter, request); !room) {
      return reply_error(call, room.error());
    }
    parts.push_back({std::move(*limiter), request_of_key(request, shares, i, first)});
    first += share.limits.size();
  }
  return parts;
}

// Decides and records.
TakenOfEach take_parts(Call& call, std::vector<Part>& parts) {
  std::vector<DecidedKey> keys;
  for (Part& part : parts) {
    keys.push_back({.limiter = part.limiter, .request = part.request});
    keys.back().stands = denied_by_queue(call, part.limiter, part.request);
  }
  decide(call, keys);
  TakenOfEach taken;
  for (const DecidedKey& key : keys) taken.answers.push_back(key.decision.answer);
  const bool shadow = parts[0].request.shadow;
  taken.denied_by = denier(taken.answers, shadow);
  for (DecidedKey& key : keys) {
    if (taken.denied_by < 0) {
      record(call, key.limiter, key.decision);
    } else if (key.decision.changed) {
      key.limiter.save();
    }
  }
  if (taken.denied_by >= 0) {
    const auto denying = static_cast<size_t>(taken.denied_by);
    count_denial(call, parts[denying].limiter, taken.answers[denying], shadow);
  }
  return taken;
}

// Answers which key speaks for all: the one that denies, else the one whose limit has least left.
size_t deciding_key(const TakenOfEach& taken) {
  if (taken.denied_by >= 0) return static_cast<size_t>(taken.denied_by);
  const auto left = [](const Answer& answer) {
    return answer.rows.empty() ? algorithms::kNever : answer.verdict.remaining;
  };
  return static_cast<size_t>(std::ranges::min_element(taken.answers, {}, left) -
                             taken.answers.begin());
}

// With FULL: a map with `allowed`, `retry_ms`, `index` of the deciding key and `keys`; with HEADERS
// what is told of all keys.
void write_full(Call& call, resp::ReplyWriter& reply, const LimiterRequest& request,
                const std::vector<Part>& parts, const TakenOfEach& taken) {
  const bool denies = taken.denied_by >= 0;
  const bool allowed = !denies || request.shadow;
  const auto longest_ns =
      denies ? taken.answers[static_cast<size_t>(taken.denied_by)].verdict.retry_after_ns : 0;
  std::vector<AnsweredKey> keys;
  for (size_t i = 0; i < parts.size(); ++i) {
    keys.push_back({parts[i].limiter.key(), parts[i].request, taken.answers[i]});
  }
  reply.map(4 + told_members(request, allowed));
  reply.bulk("allowed");
  reply.integer(allowed ? 1 : 0);
  reply.bulk("retry_ms");
  reply.integer(milliseconds_up(longest_ns));
  reply.bulk("index");
  reply.integer(taken.denied_by);
  reply.bulk("keys");
  reply.array(static_cast<int64_t>(parts.size()));
  for (const AnsweredKey& key : keys) write_full_answer(call, reply, key);
  write_told(reply, {request, keys, deciding_key(taken), allowed});
}

void write_verdicts(Call& call, const LimiterRequest& request, const TakenOfEach& taken) {
  call.reply.array(2 + static_cast<int64_t>(taken.answers.size()));
  call.reply.integer(taken.denied_by < 0 || request.shadow ? 1 : 0);
  call.reply.integer(taken.denied_by);
  for (const Answer& answer : taken.answers) write_verdict(call.reply, answer, request.upto);
}

// Keeps what was made for each key; answers how long the reply is to be remembered.
int64_t remember_answers(Call& call, Keys keys, const TakenOfEach& taken, const RequestName& name) {
  int64_t for_ms = kRememberedMs;
  for (size_t i = 0; i < keys.size(); ++i) {
    const Granted& granted = taken.answers[i].granted;
    remember_made(call, keys[i], granted, name);
    for_ms = std::min(for_ms, remembered_ms(granted));
  }
  return for_ms;
}

}  // namespace

void take_many(Call& call, Keys keys, const LimiterRequest& request) {
  if (recalled(call, keys[0], request.id)) return;
  if (call.limiters.limiting == Limiting::kShadow && !request.shadow && !request.force) {
    LimiterRequest shadowed = request;  // then the keys are tried together, all or none
    shadowed.shadow = true;
    return take_many(call, keys, shadowed);
  }
  auto shares = shares_of(call, keys, request);
  if (!shares) return call.reply.error(shares.error());
  if (const auto fit = check_shares(request, *shares); !fit) return call.reply.error(fit.error());
  std::vector<Part> parts;  // with FULL, and where not all keys are of the common case
  auto taken = request.only_takes() && !request.full
                   ? take_few_of_each(call, keys, shares->limits, request)
                   : std::nullopt;
  if (!taken) {
    auto resolved = resolve_parts(call, keys, request, *shares);
    if (!resolved) return;
    parts = std::move(*resolved);
    taken = take_parts(call, parts);
  }
  const bool remembers = taken->denied_by < 0 && !request.id.empty();
  const RequestName name{keys[0], request.id};
  const int64_t for_ms = remembers ? remember_answers(call, keys, *taken, name) : 0;
  if (request.full && remembers) {
    return reply_and_remember(call, name, for_ms, [&](resp::ReplyWriter& reply) {
      write_full(call, reply, request, parts, *taken);
    });
  }
  const size_t begin = call.reply.buffer()->size();
  if (request.full) {
    write_full(call, call.reply, request, parts, *taken);
  } else {
    write_verdicts(call, request, *taken);
  }
  if (remembers) remember(call, name, begin, for_ms);
}

}  // namespace weir::server
