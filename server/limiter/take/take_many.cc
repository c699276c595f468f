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
#include "server/limiter/take/take.h"

namespace weir::server {
namespace {

using algorithms::Limit;

using Keys = std::span<const std::string_view>;

// One key with its part of the request.
struct Part {
  Limiter limiter;
  LimiterRequest request;
  Answer answer = {};
};

// The limits of one key, before the key is read.
struct Share {
  NamedLimits limits;
  std::string policy;
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
Result<std::vector<Share>, std::string> spread(Call& call, Keys keys,
                                               const LimiterRequest& request) {
  std::vector<Share> shares;
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto all = expand(call, keys[i], request);
    if (!all) return all.error();
    auto one = share_of(*all, keys.size(), i);
    if (!one) return count_error(keys, one.error(), "one limit");
    const bool of_policy = one->policy.has_value();
    shares.push_back({std::move(*one), of_policy ? request.policy : std::string()});
  }
  return shares;
}

Result<std::vector<Share>, std::string> shares_of(Call& call, Keys keys,
                                                  const LimiterRequest& request) {
  if (request.each.empty()) return spread(call, keys, request);
  if (request.each.size() != keys.size()) {
    return count_error(keys, request.each.size(), "one EACH");
  }
  std::vector<Share> shares;
  for (size_t i = 0; i < keys.size(); ++i) {
    auto limits = expand(call, keys[i], request.each[i]);
    if (!limits) return limits.error();
    shares.push_back({std::move(*limits), request.each[i].policy});
  }
  return shares;
}

// The costs count the limits of all keys, in order, or the keys.
Result<void, std::string> check_shares(const LimiterRequest& request,
                                       const std::vector<Share>& shares) {
  if (!request.key_costs.empty()) {
    if (request.key_costs.size() == shares.size()) return {};
    return "ERR KEYCOSTS must be one number for each of the " + std::to_string(shares.size()) +
           " keys, got " + std::to_string(request.key_costs.size());
  }
  std::vector<Limit> all;
  for (const Share& share : shares) {
    all.insert(all.end(), share.limits.limits.begin(), share.limits.limits.end());
  }
  if (all.empty()) return {};  // policies answer for all keys
  return check_fit(request, all);
}

// `first` of its limits among those of all keys.
LimiterRequest request_of_key(const LimiterRequest& whole, const Share& share, size_t key,
                              size_t first) {
  LimiterRequest part;
  part.policy = share.policy;
  if (!whole.key_costs.empty()) {
    part.costs = {whole.key_costs[key]};
  } else if (whole.costs.size() == 1 || has_fixed_answer(share.limits)) {
    part.costs = {*std::max_element(whole.costs.begin(), whole.costs.end())};
  } else {
    const auto begin = whole.costs.begin() + static_cast<std::ptrdiff_t>(first);
    part.costs.assign(begin, begin + static_cast<std::ptrdiff_t>(share.limits.limits.size()));
  }
  part.upto = whole.upto;
  part.shadow = whole.shadow;
  part.force = whole.force;
  part.full = whole.full;
  part.hold_ns = whole.hold_ns;
  return part;
}

Result<std::vector<Part>, ErrorReplied> resolve_parts(Call& call, Keys keys,
                                                      const LimiterRequest& request) {
  const auto shares = shares_of(call, keys, request);
  if (!shares) return reply_error(call, shares.error());
  if (const auto fit = check_shares(request, *shares); !fit) return reply_error(call, fit.error());
  std::vector<Part> parts;
  size_t first = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    Share share = (*shares)[i];
    if (request.on_change) share.limits.own_carry_over = *request.on_change;
    auto limiter = Limiter::read(call, keys[i]);
    if (!limiter) return limiter.error();
    const auto named = limiter->name(share.limits);
    if (!named) return reply_error(call, named.error());
    if (const auto room = check_room_for_hold(call, *limiter, request); !room) {
      return reply_error(call, room.error());
    }
    parts.push_back({std::move(*limiter), request_of_key(request, share, i, first)});
    first += share.limits.limits.size();
  }
  return parts;
}

// Answers the index of the key that denies, by the longest wait, ties to the first; -1 if all
// allow.
int64_t denier(const std::vector<Part>& parts) {
  int64_t index = -1;
  int64_t longest_ns = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!denies(parts[i].answer, parts[i].request)) continue;
    const int64_t retry_ns = parts[i].answer.verdict.retry_after_ns;
    if (index >= 0 && retry_ns <= longest_ns) continue;
    index = static_cast<int64_t>(i);
    longest_ns = retry_ns;
  }
  return index;
}

// Decides and records; answers as denier() does.
int64_t take_parts(Call& call, std::vector<Part>& parts) {
  std::vector<DecidedKey> keys;
  for (Part& part : parts) {
    keys.push_back({.limiter = part.limiter, .request = part.request});
    keys.back().stands = denied_by_queue(call, part.limiter, part.request);
  }
  decide(call, keys);
  for (size_t i = 0; i < keys.size(); ++i) parts[i].answer = keys[i].decision.answer;
  const int64_t denied_by = denier(parts);
  for (DecidedKey& key : keys) {
    if (denied_by < 0) {
      record(call, key.limiter, key.decision);
    } else if (key.decision.changed) {
      key.limiter.save();
    }
  }
  if (denied_by >= 0) {
    const Part& denying = parts[static_cast<size_t>(denied_by)];
    count_denial(call, denying.limiter, denying.answer, denying.request.shadow);
  }
  return denied_by;
}

// Answers which key speaks for all: the one that denies, else the one whose limit has least left.
size_t deciding_key(const std::vector<AnsweredKey>& keys, int64_t denied_by) {
  if (denied_by >= 0) return static_cast<size_t>(denied_by);
  const auto left = [](const AnsweredKey& key) {
    return key.answer.rows.empty() ? algorithms::kNever : key.answer.verdict.remaining;
  };
  return static_cast<size_t>(std::ranges::min_element(keys, {}, left) - keys.begin());
}

// With FULL: a map with `allowed`, `retry_ms`, `index` of the deciding key and `keys`; with HEADERS
// what is told of all keys.
void write_full(Call& call, resp::ReplyWriter& reply, const LimiterRequest& request,
                const std::vector<Part>& parts, int64_t denied_by) {
  const bool denies = denied_by >= 0;
  const bool allowed = !denies || parts[0].request.shadow;
  const auto longest_ns =
      denies ? parts[static_cast<size_t>(denied_by)].answer.verdict.retry_after_ns : 0;
  std::vector<AnsweredKey> keys;
  for (const Part& part : parts) keys.push_back({part.limiter.key(), part.request, part.answer});
  reply.map(4 + told_members(request, allowed));
  reply.bulk("allowed");
  reply.integer(allowed ? 1 : 0);
  reply.bulk("retry_ms");
  reply.integer(milliseconds_up(longest_ns));
  reply.bulk("index");
  reply.integer(denied_by);
  reply.bulk("keys");
  reply.array(static_cast<int64_t>(parts.size()));
  for (const AnsweredKey& key : keys) write_full_answer(call, reply, key);
  write_told(reply, {request, keys, deciding_key(keys, denied_by), allowed});
}

void write_verdicts(Call& call, const std::vector<Part>& parts, int64_t denied_by, bool upto) {
  call.reply.array(2 + static_cast<int64_t>(parts.size()));
  call.reply.integer(denied_by < 0 || parts[0].request.shadow ? 1 : 0);
  call.reply.integer(denied_by);
  for (const Part& part : parts) write_verdict(call.reply, part.answer, upto);
}

// Keeps what was made for each key; answers how long the reply is to be remembered.
int64_t remember_parts(Call& call, const std::vector<Part>& parts, const RequestName& name) {
  int64_t for_ms = kRememberedMs;
  for (const Part& part : parts) {
    remember_made(call, part.limiter.key(), part.answer.granted, name);
    for_ms = std::min(for_ms, remembered_ms(part.answer.granted));
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
  auto parts = resolve_parts(call, keys, request);
  if (!parts) return;
  const int64_t denied_by = take_parts(call, *parts);
  const bool remembers = denied_by < 0 && !request.id.empty();
  const RequestName name{keys[0], request.id};
  const int64_t for_ms = remembers ? remember_parts(call, *parts, name) : 0;
  if (request.full && remembers) {
    return reply_and_remember(call, name, for_ms, [&](resp::ReplyWriter& reply) {
      write_full(call, reply, request, *parts, denied_by);
    });
  }
  const size_t begin = call.reply.buffer()->size();
  if (request.full) {
    write_full(call, call.reply, request, *parts, denied_by);
  } else {
    write_verdicts(call, *parts, denied_by, request.upto);
  }
  if (remembers) remember(call, name, begin, for_ms);
}

}  // namespace weir::server
